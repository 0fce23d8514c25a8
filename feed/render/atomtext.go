package render

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"cloudburst/feed"
	"cloudburst/internal/href"
	"cloudburst/internal/xmlsafe"
)

// textIfAny writes a text, if there is one.
func (a *atom) textIfAny(name string, t *feed.Text) {
	if t.Value != "" {
		a.text(name, t, false)
	}
}

// text writes a text construct: plain text, HTML or XHTML. title is true for texts that are
// plain unless they declare a type.
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

// textKind returns the kind of a text. An undeclared text that looks like HTML is HTML, except
// in titles.
func textKind(t *feed.Text, title bool) string {
	switch {
	case t.Type == "" && !title && href.LooksLikeHTML(t.Value):
		return htmlText
	case strings.HasPrefix(t.Type, "multipart/"), strings.HasPrefix(t.Type, "message/"): // Atom does not allow these types
		return plainText
	}
	return t.Type
}

// inHTML writes the rest of a start tag and escaped HTML.
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

// inXHTML writes the rest of a start tag and well-formed markup within a <div> in the XHTML
// namespace.
func (a *atom) inXHTML(t *feed.Text) {
	if a.format == "atom03" {
		a.b = append(a.b, ` type="application/xhtml+xml" mode="xml"`...)
	} else {
		a.b = append(a.b, ` type="xhtml"`...)
	}
	a.inherit(t)
	a.b = append(a.b, '>')
	if a.format == "atom03" && isElement(t.Value) { // Atom 0.3 does not require a <div> around the element
		a.b = append(a.b, t.Value...)
		return
	}
	a.b = append(a.b, `<div xmlns="http://www.w3.org/1999/xhtml">`...)
	a.b = append(append(a.b, t.Value...), "</div>"...)
}

// inherit writes the language and base URL of a text if they differ from those of the feed.
func (a *atom) inherit(t *feed.Text) {
	if t.Language != a.lang && t.Language != "" {
		a.optional("xml:lang", a.language(t.Language, ""))
	}
	if t.Base != a.base && t.Base != "" && validIRI(t.Base) {
		a.attr("xml:base", t.Base)
	}
}

// isBalanced reports whether markup is well-formed XML, so that it can be written unchanged.
func isBalanced(s string) bool {
	const before, after = `<div xmlns="http://www.w3.org/1999/xhtml">`, "</div>"
	if !utf8.ValidString(s) || strings.Contains(s, "<?") || strings.Contains(s, "<!") {
		return false
	}
	n, err := xmlsafe.Read(strings.NewReader(before+s+after), xmlsafe.Options{MaxBytes: int64(len(s)) + 100, MaxElements: len(s) + 1, Charset: "utf-8"})
	return err == nil && steadyNames(n) && isMarkup(n)
}

// isMarkup reports whether an element may occur within XHTML. XHTML elements may, and so may
// elements of vocabularies that are not feed formats.
//
// spec:atom-rfc4287#text-constructs
func isMarkup(n *xmlsafe.Node) bool {
	if s := spaceOfURI(n.Space); n.Space == "" || s != spNone && s != spXHTML || isCoreSpace(bareURI(n.Space)) {
		return false
	}
	return !slices.ContainsFunc(n.Nodes, func(c *xmlsafe.Node) bool { return !isMarkup(c) })
}

// steadyNames reports whether the name of an element is valid in every edition of XML, and is not a
// name that lenient parsers would take for an element of the feed.
func steadyNames(n *xmlsafe.Node) bool {
	if n == nil || !isName(n.Local) || structural(n.Local) {
		return false
	}
	return !slices.ContainsFunc(n.Attrs, func(a xmlsafe.Attr) bool { return !isName(a.Local) }) &&
		!slices.ContainsFunc(n.Nodes, func(c *xmlsafe.Node) bool { return !steadyNames(c) })
}

// isXMLType reports whether t is an XML media type.
func isXMLType(t string) bool { return strings.HasSuffix(t, "+xml") || strings.HasSuffix(t, "/xml") }

// content writes the full text of an entry, which may have any type and may be remote.
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

// mimeOf returns the media type of remote content.
func mimeOf(kind string) string {
	switch {
	case kind == "":
		return htmlText
	case !validMIME(kind):
		return "application/octet-stream"
	}
	return kind
}

// otherContent writes the rest of a start tag and content that is not HTML.
func (a *atom) otherContent(t *feed.Text, kind string) {
	if kind == plainText || kind == "" || !validMIME(kind) {
		if kind != "" && kind != plainText {
			a.mime(kind, "content") // adds the warning
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

// isElement reports whether s is a single XML element in a namespace of its own. An entry can
// contain such an element unchanged.
func isElement(s string) bool {
	if len(s) < 3 || s[0] != '<' || strings.Contains(s, "<?") || strings.Contains(s, "<!") || !utf8.ValidString(s) {
		return false
	}
	n, err := xmlsafe.Read(strings.NewReader(s), xmlsafe.Options{MaxBytes: int64(len(s)) + 1, MaxElements: len(s) + 1, Charset: "utf-8"})
	return err == nil && n.Space != "" && steadyNames(n)
}

// inBase64 encodes data for XML. Data that is already in Base64 stays unchanged.
func inBase64(s string) string {
	if raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), "")); err == nil && len(raw) > 0 && !holdsText(raw) {
		return s
	}
	return base64.StdEncoding.EncodeToString([]byte(s))
}

// holdsText reports whether bytes are text that XML can contain.
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
