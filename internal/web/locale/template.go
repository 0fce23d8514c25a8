package locale

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Translate returns the source of a template in the language: each text of it, and each attribute
// that people read, in words of the catalogue.
//
// A text is everything between two tags of blocks, with its actions and inline tags, so
// that a whole sentence is one key: "Signed in as <bdi>{{.User}}</bdi>." The tags of a key have no
// attributes; the second tag of a name is <a2>. White space is one space. If a text
// has no words outside its elements and branches, each element and each branch has its own key.
//
// In English, Translate removes the functions that translate values: say, moment and exact.
func (l *Locale) Translate(file, source string) string {
	if l.IsEnglish() {
		return valueFuncs.ReplaceAllStringFunc(source, func(s string) string {
			m := valueFuncs.FindStringSubmatch(s)
			path := strings.TrimSuffix(m[3], ".")
			return m[1] + map[string]string{"say": m[3], "moment": path + ".Text", "exact": path + ".Exact"}[m[2]] + m[4]
		})
	}
	return Rewrite(source, func(key string) string {
		if found, ok := l.words[file+": "+key]; ok {
			return found
		}
		return l.Words(key)
	})
}

// valueFuncs are actions that only translate or write a field.
var valueFuncs = regexp.MustCompile(`(\{\{-? ?)(say|moment|exact) (\$?\.[\w.]*)( ?-?\}\})`)

// Rewrite returns the source of a template with another text for each key; see Translate.
func Rewrite(source string, text func(key string) string) string {
	w := &rewriter{text: text, tokens: tokenize(source)}
	w.pair()
	var out strings.Builder
	for from := 0; from < len(w.tokens); {
		if w.tokens[from].boundary {
			out.WriteString(w.tag(w.tokens[from]))
			from++
			continue
		}
		to := from
		for to < len(w.tokens) && !w.tokens[to].boundary {
			to++
		}
		out.WriteString(w.run(from, to))
		from = to
	}
	return out.String()
}

type kind int

const (
	plainText kind = iota
	value          // an action that writes a value, or a void element such as <br>
	openTag
	closeTag
	openControl
	elseControl
	endControl
	outside // a token that is never part of a text: a block tag, a definition or raw text
)

type token struct {
	kind     kind
	source   string
	name     string // name of the tag
	partner  int    // index of the token at the other end of the pair
	boundary bool   // the token ends a text
}

// inlineTags are the elements that can be part of a sentence.
var inlineTags = map[string]bool{"a": true, "bdi": true, "span": true, "strong": true, "em": true, "code": true, "kbd": true, "b": true, "i": true, "small": true, "abbr": true, "time": true, "samp": true}

// codeTags are the elements whose content no language changes.
var codeTags = map[string]bool{"code": true, "kbd": true, "samp": true}

var rawTags = regexp.MustCompile(`^<(script|style|pre|svg|symbol)[\s>]`)

func tokenize(s string) (all []token) {
	for s != "" {
		n, t := next(s)
		t.source, t.partner = s[:n], -1
		t.boundary = t.kind == outside
		all = append(all, t)
		s = s[n:]
	}
	return all
}

// next returns the first token of s and its length.
func next(s string) (int, token) {
	switch {
	case strings.HasPrefix(s, "{{"):
		n := actionEnd(s)
		return n, token{kind: actionKind(s[:n])}
	case rawTags.MatchString(s):
		name := rawTags.FindStringSubmatch(s)[1]
		if i := strings.Index(s, "</"+name+">"); i >= 0 {
			return i + len(name) + 3, token{kind: outside}
		}
	case strings.HasPrefix(s, "<!--"):
		if i := strings.Index(s, "-->"); i >= 0 {
			return i + 3, token{kind: outside}
		}
	}
	if s[0] == '<' && len(s) > 1 && (s[1] == '/' || s[1] == '!' || unicode.IsLetter(rune(s[1]))) {
		n := tagEnd(s)
		name := strings.ToLower(strings.TrimRight(tagName.FindString(s), " "))
		closing := strings.HasPrefix(name, "</")
		name = strings.TrimLeft(name, "</")
		switch {
		case !inlineTags[strings.TrimRight(name, "0123456789")]:
			return n, token{kind: outside}
		case closing:
			return n, token{kind: closeTag, name: name}
		}
		return n, token{kind: openTag, name: name}
	}
	n := 1
	for n < len(s) && s[n] != '<' && !strings.HasPrefix(s[n:], "{{") {
		n++
	}
	return n, token{kind: plainText}
}

var tagName = regexp.MustCompile(`^</?[a-zA-Z0-9]+`)

// actionEnd returns the length of the action at the start of s.
func actionEnd(s string) int {
	if strings.HasPrefix(s, "{{/*") || strings.HasPrefix(s, "{{- /*") {
		if i := strings.Index(s, "*/"); i >= 0 {
			return i + strings.Index(s[i:], "}}") + 2
		}
	}
	var quote byte
	for i := 2; i < len(s)-1; i++ {
		switch {
		case quote == '"' && s[i] == '\\':
			i++
		case quote != 0:
			if s[i] == quote {
				quote = 0
			}
		case s[i] == '"' || s[i] == '`':
			quote = s[i]
		case s[i] == '}' && s[i+1] == '}':
			return i + 2
		}
	}
	return len(s)
}

// tagEnd returns the length of the tag at the start of s, with the actions in it.
func tagEnd(s string) int {
	quoted := false
	for i := 1; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "{{"):
			i += actionEnd(s[i:]) - 1
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '>' && !quoted:
			return i + 1
		}
	}
	return len(s)
}

func actionKind(s string) kind {
	word, _, _ := strings.Cut(strings.TrimLeft(strings.TrimRight(s, "}"), "{- "), " ")
	switch strings.TrimRight(word, "-") {
	case "define", "block":
		return outside
	case "if", "range", "with":
		return openControl
	case "else":
		return elseControl
	case "end":
		return endControl
	}
	if strings.HasPrefix(word, "$") && strings.Contains(s, ":=") || strings.HasPrefix(word, "/*") {
		return outside
	}
	return value
}

// rewriter rewrites one template.
type rewriter struct {
	text   func(string) string
	tokens []token
}

// pair finds both ends of each element and each control structure. A token is a boundary if it has no
// partner, or if a boundary is between it and its partner.
func (w *rewriter) pair() {
	var open []int
	for i := range w.tokens {
		t := &w.tokens[i]
		switch t.kind {
		case openTag, openControl:
			open = append(open, i)
		case closeTag, endControl, elseControl:
			t.boundary = true
			for n := len(open) - 1; n >= 0; n-- {
				o := &w.tokens[open[n]]
				if (o.kind == openTag) != (t.kind == closeTag) || o.name != t.name {
					if t.kind == closeTag && o.kind == openControl {
						break // an element cannot begin in one branch and end in another
					}
					continue
				}
				for _, lost := range open[n+1:] {
					w.tokens[lost].boundary = true
				}
				t.partner, t.boundary = open[n], false
				if open = open[:n+1]; t.kind != elseControl {
					o.partner, open = i, open[:n]
				}
				break
			}
		}
	}
	for _, lost := range open {
		w.tokens[lost].boundary = true
	}
	w.spread()
}

// spread marks both ends of a pair, and its branches, as boundaries if a boundary is inside the pair.
func (w *rewriter) spread() {
	for changed := true; changed; {
		changed = false
		for i := range w.tokens {
			t := &w.tokens[i]
			if t.partner < i {
				continue
			}
			broken := t.boundary || w.tokens[t.partner].boundary
			for j := i; j <= t.partner && !broken; j++ {
				broken = w.tokens[j].boundary
			}
			for j := i; broken && j <= t.partner; j++ {
				if (j == i || w.tokens[j].partner == i) && !w.tokens[j].boundary {
					w.tokens[j].boundary, changed = true, true
				}
			}
		}
	}
}

// run rewrites the tokens from index from to index to-1. None of these tokens may be a boundary.
func (w *rewriter) run(from, to int) string {
	var lead, tail string
	for from < to && w.isSpace(from) {
		lead += w.tokens[from].source
		from++
	}
	for from < to && w.isSpace(to-1) {
		tail = w.tokens[to-1].source + tail
		to--
	}
	if from == to {
		return lead + tail
	}
	first, last := &w.tokens[from], &w.tokens[to-1]
	if w.isSentence(from, to) {
		if first.kind == plainText {
			trimmed := strings.TrimLeft(first.source, " \n\t")
			lead, first.source = lead+first.source[:len(first.source)-len(trimmed)], trimmed
		}
		if last.kind == plainText {
			trimmed := strings.TrimRight(last.source, " \n\t")
			tail, last.source = last.source[len(trimmed):]+tail, trimmed
		}
		return lead + w.sentence(from, to) + tail
	}
	var out strings.Builder
	for i := from; i < to; i++ {
		t := w.tokens[i]
		out.WriteString(w.tag(t))
		if t.partner <= i {
			continue
		}
		for start := i + 1; start <= t.partner; { // rewrite the content, branch by branch
			end := start
			for end < t.partner && w.tokens[end].partner != i {
				end++
			}
			switch {
			case codeTags[t.name]:
				for _, inner := range w.tokens[start:end] {
					out.WriteString(inner.source)
				}
			case start < end:
				out.WriteString(w.run(start, end))
			}
			out.WriteString(w.tokens[end].source)
			start = end + 1
		}
		i = t.partner
	}
	return lead + out.String() + tail
}

func (w *rewriter) isSpace(i int) bool {
	return w.tokens[i].kind == plainText && strings.TrimSpace(w.tokens[i].source) == ""
}

// isSentence reports whether the tokens have text outside of elements and control structures.
func (w *rewriter) isSentence(from, to int) bool {
	for i := from; i < to; i++ {
		t := w.tokens[i]
		if t.kind == plainText && HasWords(t.source) {
			return true
		}
		if t.partner > i {
			i = t.partner
		}
	}
	return false
}

var entities = regexp.MustCompile(`&#?\w+;`)

// HasWords reports whether s has letters.
func HasWords(s string) bool {
	return strings.ContainsFunc(entities.ReplaceAllString(s, ""), unicode.IsLetter)
}

// sentence rewrites the tokens as one text with one key.
func (w *rewriter) sentence(from, to int) string {
	tags, seen, open := map[string]string{}, map[string]int{}, []string{}
	var key strings.Builder
	for _, t := range w.tokens[from:to] {
		switch t.kind {
		case openTag:
			name := t.name
			if seen[t.name]++; seen[t.name] > 1 {
				name += strconv.Itoa(seen[t.name])
			}
			tags["<"+name+">"], tags["</"+name+">"] = w.tag(t), "</"+t.name+">"
			open = append(open, name)
			key.WriteString("<" + name + ">")
		case closeTag:
			key.WriteString("</" + open[len(open)-1] + ">")
			open = open[:len(open)-1]
		default:
			key.WriteString(t.source)
		}
	}
	one := squeeze(key.String())
	var out strings.Builder
	for _, t := range tokenize(w.text(one)) {
		if source, ok := tags[t.source]; ok {
			t.source = source
		}
		out.WriteString(t.source)
	}
	return out.String()
}

var spaces = regexp.MustCompile(`\s+`)

func squeeze(s string) string { return strings.TrimSpace(spaces.ReplaceAllString(s, " ")) }

// readAttributes matches the attributes that people read.
var readAttributes = regexp.MustCompile(` (title|aria-label|placeholder|alt|label|data-say-\w+)="`)

// contentAttribute matches the attribute with the text of a description.
var contentAttribute = regexp.MustCompile(` (content)="`)

// tag returns the source of a tag, with the texts in its attributes rewritten.
func (w *rewriter) tag(t token) string {
	if t.source[0] != '<' || rawTags.MatchString(t.source) {
		return t.source
	}
	s := t.source
	readAttributes := readAttributes
	if strings.HasPrefix(s, `<meta name="description"`) {
		readAttributes = contentAttribute
	}
	var out strings.Builder
	for {
		at := readAttributes.FindStringIndex(s)
		if at == nil {
			out.WriteString(s)
			return out.String()
		}
		end := at[1]
		for end < len(s) && s[end] != '"' {
			if strings.HasPrefix(s[end:], "{{") {
				end += actionEnd(s[end:])
				continue
			}
			end++
		}
		out.WriteString(s[:at[1]])
		if key := s[at[1]:end]; HasWords(actions.ReplaceAllString(key, "")) {
			out.WriteString(w.text(key))
		} else {
			out.WriteString(key)
		}
		s = s[end:]
	}
}

var actions = regexp.MustCompile(`\{\{[^}]*\}\}`)
