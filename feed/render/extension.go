package render

import (
	"strings"

	"cloudburst/feed"
)

// extension writes elements of other vocabularies within an element of the format: a person, a
// source or an image. Known vocabularies describe only feeds and items, so only elements of unknown
// vocabularies are written.
func (w *writer) extension(e *feed.Extension) {
	if e == nil {
		return
	}
	for i := range e.Unknown {
		n := &e.Unknown[i]
		switch {
		case n.Name == "":
			w.lose(lostUnknown, strings.TrimSpace(n.Text) != "")
		case !w.isUnknown(n):
			w.warn("unknown-element", n.Name, titleOf(w.format), " does not allow this element here, or allows it only once; it is omitted.")
		case !isLateFOAF(n) || w.newer("foaf:"+n.Name, true):
			w.tree(n)
		}
	}
}

// isUnknown reports whether the element's vocabulary is unknown.
func (w *writer) isUnknown(n *feed.Node) bool {
	if n.Space == "" && n.Prefix == "" {
		return w.foreign(n, true)
	}
	return w.foreign(n, true) && spaceOfURI(n.Space) == spNone && spaceOfPrefix(n.Prefix) == spNone
}

// loseExtension records that the format cannot represent the extension of an element.
func (w *writer) loseExtension(e *feed.Extension) {
	w.lose(lostUnknown, e != nil && len(e.Attrs)+len(e.Unknown) > 0)
}

// foreignAttrs writes attributes of unknown vocabularies into the current start tag. Every XML
// format allows them.
//
// spec:rss20-2003#extending
func (w *writer) foreignAttrs(list []feed.Attr) {
	if len(list) == 0 {
		return
	}
	own := make([]feed.Attr, 0, len(list))
	for _, a := range list {
		prefix, local, qualified := strings.Cut(a.Name, ":")
		switch {
		case !qualified, prefix == "xml", prefix == "xmlns", isCoreSpace(bareURI(a.Space)), spaceOfURI(a.Space) != spNone,
			a.Space == "" && spaceOfPrefix(prefix) != spNone:
			w.warn("unknown-attribute", a.Name, titleOf(w.format), " does not allow this attribute here; it is omitted.")
			continue
		case spaceOfPrefix(prefix) != spNone: // the prefix has a fixed meaning for the child elements
			a.Name = local
		}
		own = append(own, a)
	}
	w.plainAttrs(own)
}

// openExtended is like open, and also writes attributes of other vocabularies.
func (w *writer) openExtended(name string, list []feed.Attr, attrs ...string) {
	w.tag(name, attrs)
	w.foreignAttrs(list)
	w.b = append(w.b, '>')
	w.depth++
}

// elementExtended is like element, and also writes attributes of other vocabularies.
func (w *writer) elementExtended(name, text string, list []feed.Attr, attrs ...string) {
	if len(list) == 0 {
		w.element(name, text, attrs...)
		return
	}
	w.tag(name, attrs)
	w.foreignAttrs(list)
	w.b = append(w.b, '>')
	w.escape(text, name, inText)
	w.endTag(name)
}

// attrsOf returns an item's attributes of other vocabularies.
func attrsOf(it *feed.Item) []feed.Attr {
	if it.More == nil {
		return nil
	}
	return it.More.Attrs
}

// ownAttrs returns an element's attributes of other vocabularies.
func ownAttrs(e *feed.Extension) []feed.Attr {
	if e == nil {
		return nil
	}
	return e.Attrs
}
