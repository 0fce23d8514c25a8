package render

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"cloudburst/feed"
	"cloudburst/internal/href"
	"cloudburst/internal/xmlsafe"
)

// textIfAny writes a text that may be missing.
func (a *atom) textIfAny(name string, t *feed.Text) {
	if t.Value != "" {
		a.text(name, t, false)
	}
}

// text writes words, which are text, HTML or XHTML. title says that HTML is not
// expected in a text that has no type.
//
// spec:atom-rfc4287#text-constructs
func (a *atom) text(name string, t *feed.Text, title bool) {
	a.tag(name, nil)
	switch kind := textKind(t, title); {
	case kind == htmlText, kind == xhtmlText && !isBalanced(t.Value):
		a.inHTML(t)
	case kind == xhtmlText:
		a.inXHTML(t)
	default:
		a.inherit(t)
		a.b = append(a.b, '>')
		a.escape(t.Value, name, inText)
	}
	a.endTag(name)
}

// textKind is what a text is. One that does not say so is HTML where it looks like it,
// but for titles.
func textKind(t *feed.Text, title bool) string {
	switch {
	case t.Type == "" && !title && href.LooksLikeHTML(t.Value):
		return htmlText
	case strings.HasPrefix(t.Type, "multipart/"), strings.HasPrefix(t.Type, "message/"): // which Atom forbids
		return plainText
	}
	return t.Type
}

// inHTML writes the rest of a start tag and HTML, which is text to XML.
func (a *atom) inHTML(t *feed.Text) {
	if a.format == "atom03" {
		a.b = append(a.b, ` type="text/html" mode="escaped"`...)
	} else {
		a.b = append(a.b, ` type="html"`...)
	}
	a.inherit(t)
	a.b = append(a.b, '>')
	a.markup(t.Value, "")
}

// inXHTML writes the rest of a start tag and markup that is balanced, in the <div> that
// gives it its namespace.
func (a *atom) inXHTML(t *feed.Text) {
	if a.format == "atom03" {
		a.b = append(a.b, ` type="application/xhtml+xml" mode="xml"`...)
	} else {
		a.b = append(a.b, ` type="xhtml"`...)
	}
	a.inherit(t)
	a.b = append(a.b, '>')
	if a.format == "atom03" && isElement(t.Value) { // which has no <div> around it there
		a.b = append(a.b, t.Value...)
		return
	}
	a.b = append(a.b, `<div xmlns="http://www.w3.org/1999/xhtml">`...)
	a.b = append(append(a.b, t.Value...), "</div>"...)
}

// inherit writes the language and the base of a text where they are not those of the
// feed.
func (a *atom) inherit(t *feed.Text) {
	if t.Language != a.lang && t.Language != "" {
		a.optional("xml:lang", a.language(t.Language, ""))
	}
	if t.Base != a.base && t.Base != "" && validIRI(t.Base) {
		a.attr("xml:base", t.Base)
	}
}

// isBalanced reports markup that can stand in XML as it is.
func isBalanced(s string) bool {
	const before, after = `<div xmlns="http://www.w3.org/1999/xhtml">`, "</div>"
	if !utf8.ValidString(s) || strings.Contains(s, "<?") || strings.Contains(s, "<!") {
		return false
	}
	n, err := xmlsafe.Read(strings.NewReader(before+s+after), xmlsafe.Options{MaxBytes: int64(len(s)) + 100, MaxElements: len(s) + 1, Charset: "utf-8"})
	return err == nil && steadyNames(n) && isMarkup(n)
}

// isMarkup reports elements that may stand within XHTML: its own, and those of
// vocabularies that are not the ones of feeds.
//
// spec:atom-rfc4287#text-constructs
func isMarkup(n *xmlsafe.Node) bool {
	if s := spaceOfURI(n.Space); n.Space == "" || s != spNone && s != spXHTML || isCoreSpace(bareURI(n.Space)) {
		return false
	}
	for _, c := range n.Nodes {
		if !isMarkup(c) {
			return false
		}
	}
	return true
}

// steadyNames reports elements whose names are names in every edition of XML, and none
// that lenient readers take for parts of the feed.
func steadyNames(n *xmlsafe.Node) bool {
	if n == nil || !isName(n.Local) || structural(n.Local) {
		return false
	}
	for i := range n.Attrs {
		if !isName(n.Attrs[i].Local) {
			return false
		}
	}
	for _, c := range n.Nodes {
		if !steadyNames(c) {
			return false
		}
	}
	return true
}

// isXMLType reports types of XML.
func isXMLType(t string) bool { return strings.HasSuffix(t, "+xml") || strings.HasSuffix(t, "/xml") }

// content writes the text of an entry in full, which may be of any type and may be
// elsewhere.
//
// spec:atom-rfc4287#content
func (a *atom) content(t *feed.Text) {
	kind, src := textKind(t, false), a.ref(t.Src, "content")
	a.tag("content", nil)
	switch {
	case src != "":
		a.attr("src", src)
		a.attr("type", mimeOf(kind))
		a.inherit(t)
		a.b = append(a.b, "/>"...)
		return
	case kind == htmlText, kind == xhtmlText && !isBalanced(t.Value):
		a.inHTML(t)
	case kind == xhtmlText:
		a.inXHTML(t)
	default:
		a.otherContent(t, kind)
	}
	a.endTag("content")
}

// mimeOf is the type of content that is elsewhere.
func mimeOf(kind string) string {
	switch {
	case kind == "":
		return htmlText
	case !validMIME(kind):
		return "application/octet-stream"
	}
	return kind
}

// otherContent writes the rest of a start tag and content that is no HTML.
func (a *atom) otherContent(t *feed.Text, kind string) {
	if kind == plainText || kind == "" || !validMIME(kind) {
		if kind != "" && kind != plainText {
			a.mime(kind, "content") // which tells
		}
		a.inherit(t)
		a.b = append(a.b, '>')
		a.escape(t.Value, "content", inText)
		return
	}
	a.attr("type", kind)
	value, mode, inline := t.Value, "", false
	switch {
	case isXMLType(kind):
		if inline = isElement(value); !inline {
			mode = "escaped"
		}
	case !strings.HasPrefix(kind, "text/"):
		value, mode = inBase64(value), "base64"
	}
	if a.format == "atom03" {
		a.optional("mode", mode)
	}
	a.inherit(t)
	a.b = append(a.b, '>')
	if inline {
		a.b = append(a.b, value...)
	} else {
		a.escape(value, "content", inText)
	}
}

// isElement reports XML that can stand in an entry as it is: one element, with a
// namespace of its own.
func isElement(s string) bool {
	if len(s) < 3 || s[0] != '<' || strings.Contains(s, "<?") || strings.Contains(s, "<!") || !utf8.ValidString(s) {
		return false
	}
	n, err := xmlsafe.Read(strings.NewReader(s), xmlsafe.Options{MaxBytes: int64(len(s)) + 1, MaxElements: len(s) + 1, Charset: "utf-8"})
	return err == nil && n.Space != "" && steadyNames(n)
}

// inBase64 is data as it stands in XML. What is in that form already is data that no
// text can hold, and stays as it is.
func inBase64(s string) string {
	if raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), "")); err == nil && len(raw) > 0 && !holdsText(raw) {
		return s
	}
	return base64.StdEncoding.EncodeToString([]byte(s))
}

// holdsText reports bytes that are text which a feed can hold.
func holdsText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, c := range string(b) {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0xfffe || c == 0xffff {
			return false
		}
	}
	return true
}
