package charset

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// finish cleans the text and adds the remaining problems.
func (r *reading) finish(text []byte) Result {
	if !r.surveyed {
		r.found = survey(text)
	}
	clean, dropped, latin := clean(text, r.found)
	if dropped.count > 0 {
		r.reportCharacter(text, dropped.first, plural(dropped.count, "character", "characters")+
			" that XML forbids, the first "+name(text[dropped.first])+", dropped")
	}
	if latin.count > 0 {
		r.reportCharacter(text, latin.first, plural(latin.count, "control character was", "control characters were")+" read as windows-1252")
	}
	res := Result{
		Text:     strings.TrimLeft(view(clean), "\uFEFF"),
		Name:     r.used.name,
		From:     r.from,
		Declared: r.declared,
	}
	if r.latin {
		res.Name = r.used.superset
	}
	r.disagreements(res.Name)
	for i := range r.problems {
		m := r.problems[i].Message
		r.problems[i].Message = strings.ToUpper(m[:1]) + m[1:] + "."
	}
	res.Problems = r.problems
	return res
}

// name returns a description of a forbidden character. c is the first byte of the character in
// UTF-8.
func name(c byte) string {
	if c >= 0x80 {
		return "U+FFFE or U+FFFF"
	}
	return fmt.Sprintf("U+%04X", c)
}

// disagreements reports labels that contradict the encoding that was used.
func (r *reading) disagreements(used string) {
	add := func(format string, args ...any) {
		r.problems = append(r.problems, Problem{Kind: "encoding", Message: fmt.Sprintf(format, args...)})
	}
	really := r.used
	if r.latin {
		really = byName(used)
	}
	switch {
	case r.httpLabel == "":
	case r.http == nil:
		add("the Content-Type header names an unknown encoding, %s: read as %s", quote(r.httpLabel), used)
	case !agree(r.http, really):
		add("the Content-Type header declares %s, but the document is %s", r.http.name, used)
	}
	switch {
	case r.declared == "":
		switch {
		case r.guessed:
			add("the document declares no encoding: detected %s", used)
		case r.from == "default" && r.used.family != familyUTF8:
			add("the document is not UTF-8 and declares no encoding: read as %s", used)
		}
	case r.declaredCharset == nil:
		add("the document declares an unknown encoding, %s: read as %s", quote(r.declared), used)
	case agree(r.declaredCharset, really):
	case r.from == "http":
		add("the document declares %s, but the Content-Type header declares %s, which takes precedence", r.declaredCharset.name, r.http.name)
	default:
		add("the document declares %s, but is %s", r.declaredCharset.name, used)
	}
}

// agree reports whether two labels may mean the same encoding. Labels also agree if one of them only
// adds the byte order.
func agree(a, b *charset) bool {
	if a == nil || b == nil {
		return false
	}
	if a.family == familyWide && b.family == familyWide {
		short, long := a.name, b.name
		if len(short) > len(long) {
			short, long = long, short
		}
		return strings.HasPrefix(long, short)
	}
	return a == b || a.enc != nil && a.enc == b.enc && a.family == b.family && a.name != "iso-2022-kr"
}

// reportLost reports characters that became U+FFFD.
func (r *reading) reportLost(text []byte, bad finding) {
	if bad.count > 0 {
		r.reportCharacter(text, bad.first, plural(bad.count, "character is", "characters are")+" not in "+r.used.name+" and became U+FFFD")
	}
}

// reportCharacter reports a problem at a position of text.
func (r *reading) reportCharacter(text []byte, at int, message string) {
	line := 1 + bytes.Count(text[:at], []byte{'\n'})
	r.problems = append(r.problems, Problem{Kind: "character", Line: line, Message: message})
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// quote returns a label for a message, quoted and shortened.
func quote(label string) string {
	if len(label) > maxLabel {
		label = label[:maxLabel] + "…"
	}
	return strconv.Quote(label)
}
