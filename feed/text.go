package feed

import (
	"html"
	"strings"
	"unicode/utf8"

	"cloudburst/internal/charset"
	"cloudburst/internal/href"
	"cloudburst/internal/scan"
)

// Media types of texts.
const (
	plainText = "text/plain"
	htmlText  = "text/html"
	xhtmlText = "application/xhtml+xml"
)

// construct reads a text: plain text, escaped HTML or markup. kind is the media type if the element
// declares none.
func (p *parser) construct(kind string) Text { return itemText(p, kind, false) }

// isMarkup reports whether a text is HTML or XHTML.
func (t *Text) isMarkup() bool { return t.Type == htmlText || t.Type == xhtmlText }

// textAsWritten reads a text as written, and returns the base URL of its references.
func textAsWritten(p *parser, kind string) (Text, *href.Base) {
	t := Text{Type: kind, Language: dashed(p.r.Lang()), Base: p.base().String()}
	if !p.budget.take(len(t.Language) + len(t.Base)) {
		t.Base = ""
	}
	mode, base := "", p.base()
	if len(p.r.Attrs) > 0 {
		if typ, ok := p.r.Attr("type"); ok {
			t.Type = mediaType(typ)
		}
		mode = strings.ToLower(p.attr("mode"))
		if src := p.attr("src"); src != "" {
			t.Src = p.url(src)
		}
	}
	if t.Type == xhtmlText && mode != "escaped" && mode != "base64" {
		t.Value = p.r.Inner()
		if p.atom && p.f.Version == "1.0" { // in Atom 1.0, the <div> is not part of the text
			base = unwrapText(&t, base, &p.budget)
		}
	} else if isXML(t.Type) {
		t.Value = p.xmlContent()
	} else if text, markup := p.r.Leaf(); !markup {
		t.Value = text
	} else {
		base = p.inline(&t)
	}
	if mode == "base64" || t.Src == "" && binary(t.Type) {
		t.Value = strings.TrimSpace(charset.DecodeBase64(t.Value))
	}
	t.Value = p.fixDoubled(t.Value)
	p.guess(&t)
	return t, base
}

// isXML reports whether a media type is an XML type, including XHTML.
func isXML(t string) bool { return strings.HasSuffix(t, "+xml") || strings.HasSuffix(t, "/xml") }

// xmlContent reads XML of another type, escaped or not. Elements named entry or item inside the
// content are not items of this feed.
func (p *parser) xmlContent() string {
	name, depth := p.r.Siblings("", 0)
	defer p.r.Siblings(name, depth)
	text, markup := p.r.Leaf()
	if !markup {
		return text
	}
	return p.xmlText()
}

// inline reads markup that the author did not escape, and returns the base URL of its references.
// Its type is XHTML, whatever the element declares. An enclosing <div> is removed; a text with only
// <div> elements is plain text.
func (p *parser) inline(t *Text) *href.Base {
	t.Value = p.r.Inner()
	if text, ok := withoutDivs(t.Value); ok {
		t.Value = p.r.Decode(text)
		return p.base()
	}
	t.Type = xhtmlText
	return unwrapText(t, p.base(), &p.budget)
}

// unwrapText removes a <div> that encloses the whole text. The text keeps the language of the <div>,
// and unwrapText returns the base URL that its xml:base sets.
func unwrapText(t *Text, base *href.Base, budget *budget) *href.Base {
	whole := t.Value
	if t.Value = unwrap(whole); len(t.Value) == len(whole) {
		return base
	}
	tag := whole[:tagEnd(whole)]
	if !strings.Contains(tag, "xml:") {
		return base
	}
	if lang, ok := attributeOf(tag, "xml:lang"); ok && budget.take(len(lang)) {
		t.Language = dashed(lang)
	}
	ref, ok := attributeOf(tag, "xml:base")
	if !ok || budget.over {
		return base
	}
	inner := base.Child(ref)
	if !budget.take(len(inner.String())) {
		return base
	}
	t.Base = inner.String()
	return inner
}

// attributeOf returns the value of an attribute of a tag.
func attributeOf(tag, name string) (value string, ok bool) {
	for {
		before, after, more := strings.Cut(tag, "=")
		after = strings.TrimLeft(after, " \t\r\n")
		if !more || after == "" || after[0] != '"' && after[0] != '\'' {
			return "", false
		}
		value, tag, _ = strings.Cut(after[1:], after[:1])
		if fields := strings.Fields(before); len(fields) > 0 && fields[len(fields)-1] == name {
			return html.UnescapeString(value), true
		}
	}
}

// withoutDivs returns the text of markup that contains only <div> tags; for other markup, ok is
// false.
func withoutDivs(s string) (string, bool) {
	var b strings.Builder
	for rest := s; ; {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		if rest = rest[i:]; !hasTag(rest, "<div") && !hasTag(rest, "</div") {
			return "", false
		}
		rest = rest[tagEnd(rest):]
	}
	return strings.TrimSpace(b.String()), true
}

// guess checks whether a text without a type is HTML, in formats that do not declare types.
func (p *parser) guess(t *Text) {
	if !p.atom && t.Type == plainText && href.LooksLikeHTML(t.Value) {
		t.Type = htmlText
	}
}

// markup resolves the references in HTML against base and sanitizes it, as the options require. It
// reports whether the HTML had relative references.
func (p *parser) markup(t *Text, base *href.Base) (relative bool) {
	written := t.Value
	if !p.o.KeepRelative && !p.budget.over {
		if v := resolveMarkup(t, base); p.budget.take(len(v) - len(t.Value)) {
			t.Value = v
		}
		relative = t.Value != written
	}
	sanitizeText(p, t)
	p.changed = p.changed || t.Value != written
	return relative
}

// sanitizeText sanitizes HTML if the options require it.
func sanitizeText(p *parser, t *Text) {
	if p.o.Sanitize != nil {
		t.Value = strings.Trim(p.o.Sanitize(t.Value), " \t\n\r\f") // trim white space next to removed elements
	}
}

// resolveMarkup returns a text with its references resolved against base or, in XHTML, against the
// xml:base of the elements around them.
//
// spec:atom-rfc4287#base
func resolveMarkup(t *Text, base *href.Base) string {
	s := t.Value
	if t.Type != xhtmlText || !strings.Contains(s, "xml:base") {
		return href.HTML(s, base)
	}
	limit := 4*len(s) + 1<<16 // of the result and all bases; a document beyond it is hostile
	var out strings.Builder
	var outer []openBase // bases outside of the elements with xml:base
	from := 0
	use := func(to int, next *href.Base) {
		out.WriteString(href.HTML(s[from:to], base))
		from, base = to, next
	}
	r := scan.New(s, scan.Options{})
	for kind := r.Next(); kind != scan.EOF; kind = r.Next() {
		if n := len(outer) - 1; kind == scan.End && n >= 0 && r.Depth() < outer[n].depth {
			use(len(s)-r.UnreadLen(), outer[n].base)
			outer = outer[:n]
		} else if kind == scan.Start && r.Base != "" {
			outer = append(outer, openBase{r.Depth(), base})
			use(r.Offset(), base.Child(r.Base))
			limit -= len(base.String())
		}
		if out.Len() > limit {
			return s
		}
	}
	use(len(s), base)
	return out.String()
}

// fixDoubled repairs double encoding if the whole document was encoded twice. A single text is not
// enough, because an article about encodings can quote such characters. In almost every document,
// the first accented letter already shows that the encoding is correct.
func (p *parser) fixDoubled(s string) string {
	i := strings.IndexByte(s, 0xC3)
	if i < 0 || i+2 >= len(s) || s[i+2] < 0xC2 || !p.isDoubled() {
		return s
	}
	return charset.FixDoubleEncoding(s)
}

// isDoubled reports whether the whole document was encoded in UTF-8 twice.
func (p *parser) isDoubled() bool {
	if p.doubled == nil {
		text := p.text
		if strings.IndexFunc(text, func(c rune) bool { return c >= utf8.RuneSelf }) < 0 { // all other characters are written as references
			text = html.UnescapeString(text)
		}
		doubled := charset.FixDoubleEncoding(text) != text
		if p.doubled = &doubled; doubled {
			p.problemAt(ProblemEncoding, 0, "", "The document was encoded in UTF-8 twice; one encoding is undone.")
		}
	}
	return *p.doubled
}

// mediaType returns the full media type of a text type.
func mediaType(s string) string {
	switch s = strings.ToLower(strings.TrimSpace(s)); s {
	case "text", "plain":
		return plainText
	case "html":
		return htmlText
	case "xhtml":
		return xhtmlText
	}
	return s
}

// binary reports whether content of a media type must be base64.
func binary(t string) bool {
	return !strings.HasPrefix(t, "text/") && !isXML(t)
}

// unwrap removes a <div> that encloses the whole text, as in the XHTML of Atom.
func unwrap(s string) string {
	if len(s) < 5 || !strings.EqualFold(s[:4], "<div") || s[4] != '>' && s[4] != ' ' && s[4] != '\n' && s[4] != '\t' && s[4] != '\r' && s[4] != '/' {
		return s
	}
	if begin, end := tagEnd(s), len(s)-len("</div>"); begin <= end && s[end:] == "</div>" && s[begin-2] != '/' && onlyDiv(s[begin:end]) {
		return strings.TrimSpace(s[begin:end])
	}
	depth, rest := 0, s
	for {
		i := strings.IndexByte(rest, '<')
		if i < 0 { // the end tag of the <div> is missing, because the document was truncated
			return strings.TrimSpace(s[tagEnd(s):])
		}
		rest = rest[i:]
		end := tagEnd(rest)
		switch {
		case hasTag(rest, "</div"):
			if depth--; depth == 0 {
				if strings.TrimSpace(rest[end:]) != "" {
					return s
				}
				begin := tagEnd(s)
				return strings.TrimSpace(s[begin : len(s)-len(rest)])
			}
		case hasTag(rest, "<div") && rest[end-2] != '/':
			depth++
		case hasTag(rest, "<div") && depth == 0: // an empty element: <div/>
			if strings.TrimSpace(rest[end:]) != "" {
				return s
			}
			return ""
		}
		rest = rest[end:]
	}
}

// onlyDiv reports whether s contains no <div>.
func onlyDiv(s string) bool {
	for _, name := range [...]string{"div", "DIV", "Div"} {
		if strings.Contains(s, name) {
			return false
		}
	}
	return true
}

// hasTag reports whether s begins with the tag whose name is at the end of tag.
func hasTag(s, tag string) bool {
	if len(s) <= len(tag) || !strings.EqualFold(s[:len(tag)], tag) {
		return false
	}
	switch s[len(tag)] {
	case '>', ' ', '\n', '\t', '\r', '/':
		return true
	}
	return false
}

// tagEnd returns the length of the tag at the start of s. A > inside a quoted attribute value does
// not end the tag.
func tagEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '>':
			return i + 1
		case '"', '\'':
			n := strings.IndexByte(s[i+1:], s[i])
			if n < 0 {
				return len(s)
			}
			i += n + 1
		}
	}
	return len(s)
}

func dashed(lang string) string {
	if strings.IndexByte(lang, '_') < 0 {
		return lang
	}
	return strings.ReplaceAll(lang, "_", "-")
}

// quote returns a shortened value in quotes, for messages.
func quote(s string) string {
	return "“" + short(s) + "”"
}

func short(s string) string {
	const limit = 60
	if len(s) > limit {
		s = s[:cut(s, limit)] + "…"
	}
	return s
}
