package feedfile

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"cloudburst/feed"
	"cloudburst/feed/render"
)

// fragment is an item rendered in a separate document.
type fragment struct {
	text  string            // XML of the element
	scope map[string]string // key: prefix; value: namespace
	about string            // rdf:about of the item in RSS 1.0, which the table of contents references
	lost  []string
}

// fragmentOf renders an item in a format.
func fragmentOf(it *feed.Item, format string, o Options) (fragment, error) {
	f := &feed.Feed{Title: feed.Text{Value: "x"}, Link: o.URL, Items: []feed.Item{*it}}
	f.Authors = []feed.Person{{Name: "x"}} // prevents a generated author in the Atom entry
	doc, warnings, err := render.Append(nil, f, format, &render.Options{Self: o.URL})
	if err != nil {
		return fragment{}, &Error{Msg: "the item could not be written: " + err.Error(), Err: err}
	}
	s, err := scanXML(&document{text: string(doc)})
	if err != nil || len(s.items) != 1 {
		return fragment{}, &Error{Msg: "the item could not be written as " + format, Err: err}
	}
	out := fragment{text: string(doc[s.items[0].start:s.items[0].end]), scope: s.scope}
	for _, w := range warnings {
		if isLoss(w) {
			out.lost = append(out.lost, w.Text)
		}
	}
	if format == "rdf" {
		out.about = aboutOf(out.text)
	}
	return out, nil
}

// isLoss reports whether a warning is about the item and not about a generated field.
func isLoss(w render.Warning) bool {
	return !isFiller(w.Rule) && (strings.HasPrefix(w.Path, "item") || w.Path == "" && w.Rule == "left-out")
}

// isFiller reports whether a warning is about a generated field. The format requires the field and
// items do not have it, so nothing is lost.
func isFiller(rule string) bool {
	return slices.Contains([]string{"updated-made", "content-made", "summary-made", "author-made", "id-made"}, rule)
}

// aboutOf returns the attribute rdf:about of an element.
func aboutOf(text string) string {
	tok, err := xml.NewDecoder(strings.NewReader(text)).Token()
	if el, ok := tok.(xml.StartElement); err == nil && ok {
		for _, a := range el.Attr {
			if a.Name.Local == "about" {
				return a.Value
			}
		}
	}
	return ""
}

// layout is the indentation style of a document.
type layout struct {
	line   string // "\n", "\r\n", or "" for a document on one line
	end    string // line ending inside texts
	indent string // indentation of an item
	unit   string // additional indentation for each level
}

// layoutOf detects the layout. lead is the white space before an item; inner is the white space
// before the item's first child.
func layoutOf(text, lead, inner string) layout {
	l := layout{line: "\n", end: "\n", unit: "  "}
	if strings.Contains(text, "\r\n") {
		l.line, l.end = "\r\n", "\r\n"
	}
	i := strings.LastIndexByte(lead, '\n')
	if i < 0 {
		return layout{end: l.end}
	}
	l.indent = lead[i+1:]
	if strings.HasPrefix(l.indent, "\t") {
		l.unit = "\t"
	}
	if j := strings.LastIndexByte(inner, '\n'); j >= 0 {
		if more, ok := strings.CutPrefix(inner[j+1:], l.indent); ok {
			l.unit = more
		}
	}
	return l
}

// layOut formats the fragment for a document. scope has the document's prefixes, space is its
// default namespace, and l is its layout.
func (f fragment) layOut(scope map[string]string, space string, l layout, ascii bool) (string, error) {
	var b strings.Builder
	dec := xml.NewDecoder(strings.NewReader(f.text))
	depth, used := 0, []string{}
	pendingSpace := ""   // white space that is not yet written
	var before xml.Token // token before pendingSpace
	for {
		at := int(dec.InputOffset())
		tok, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", &Error{Msg: "the item could not be written", Err: err}
		}
		raw := f.text[at:dec.InputOffset()]
		_, starts := tok.(xml.StartElement)
		_, ends := tok.(xml.EndElement)
		_, started := before.(xml.StartElement)
		if text, ok := tok.(xml.CharData); ok && strings.TrimSpace(string(text)) == "" {
			pendingSpace += raw
			continue
		}
		if el, ok := tok.(xml.StartElement); ok {
			used = append(used, prefixes(el)...)
		}
		if ends {
			depth--
		}
		switch {
		case pendingSpace == "":
		case (starts || ends) && (!started || starts): // white space between two tags is replaced by the layout
			if l.line != "" {
				b.WriteString(l.line + l.indent + strings.Repeat(l.unit, depth))
			}
		default:
			b.WriteString(pendingSpace)
		}
		pendingSpace = ""
		b.WriteString(raw)
		if starts && !strings.HasSuffix(raw, "/>") {
			depth++
		}
		if starts && strings.HasSuffix(raw, "/>") {
			tok = xml.EndElement{}
			if _, err := dec.RawToken(); err != nil { // skip the end tag
				return "", &Error{Msg: "the item could not be written", Err: err}
			}
		}
		before = tok
	}
	text := f.declare(b.String(), used, scope, space)
	if ascii {
		text = toASCII(text)
	}
	if l.end == "\r\n" {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	return text, nil
}

// prefixes returns the prefixes of an element and its attributes.
func prefixes(el xml.StartElement) []string {
	list := []string{el.Name.Space}
	for _, a := range el.Attr {
		list = append(list, a.Name.Space)
	}
	return list
}

// declare adds the namespace declarations that the document lacks.
func (f fragment) declare(text string, used []string, scope map[string]string, space string) string {
	slices.Sort(used)
	more := ""
	if scope[""] != space {
		more = ` xmlns="` + escape(space) + `"`
	}
	for _, p := range slices.Compact(used) {
		if p == "" || p == "xml" || p == "xmlns" || f.scope[p] == "" || scope[p] == f.scope[p] {
			continue
		}
		more += fmt.Sprintf(` xmlns:%s="%s"`, p, escape(f.scope[p]))
	}
	i := strings.IndexAny(text, " \t\r\n/>")
	return text[:i] + more + text[i:]
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // writing to a strings.Builder never fails
	return b.String()
}

// toASCII replaces each non-ASCII character by a numeric reference. CDATA sections cannot contain
// references, so they become normal text.
func toASCII(s string) string {
	var b strings.Builder
	for s != "" {
		before, after, found := strings.Cut(s, "<![CDATA[")
		writeReferences(&b, before)
		if !found {
			break
		}
		inside, rest, _ := strings.Cut(after, "]]>")
		writeReferences(&b, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(inside))
		s = rest
	}
	return b.String()
}

func writeReferences(b *strings.Builder, s string) {
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(b, "&#%d;", r)
		}
	}
}
