package feed

import (
	"strings"

	"cloudburst/internal/scan"
)

// Extension contains attributes and elements for which there is no field. It is nil if there are
// none.
type Extension struct {
	Attrs   []Attr `json:"attrs,omitempty"`   // attributes of other vocabularies
	Unknown []Node `json:"unknown,omitempty"` // unknown elements
}

// extend adds attributes and elements to an extension.
func extend(to **Extension, attrs []Attr, unknown []Node) {
	if len(attrs)+len(unknown) > 0 {
		e := orNew(to)
		e.Attrs, e.Unknown = append(e.Attrs, attrs...), append(e.Unknown, unknown...)
	}
}

// foreignAttrs returns the attributes of the current element that belong to vocabularies
// without fields. Attributes that only locate an XML schema are skipped.
func (p *parser) foreignAttrs() (list []Attr) {
	for i := range p.r.Attrs {
		a := &p.r.Attrs[i]
		prefix := scan.Prefix(a.Name)
		if prefix == "" || prefix == "xml" || prefix == "xmlns" || strings.EqualFold(prefix, "rdf") || p.r.SpaceOf(prefix) != nsUnknown {
			continue
		}
		uri := p.r.URI(prefix)
		if strings.HasSuffix(uri, "/XMLSchema-instance") {
			continue
		}
		if !p.countUnknown(len(uri)) {
			break
		}
		list = append(list, Attr{Name: a.Name, Space: uri, Value: p.r.Decode(a.Raw)})
	}
	return list
}

// keepParts stores an element without a field as a node. The node contains the parts that were
// already read.
func (p *parser) keepParts(name string, e *Extension) {
	n := Node{Name: scan.Local(name), Prefix: scan.Prefix(name), Attrs: e.Attrs, Children: e.Unknown}
	n.Space = p.r.URI(n.Prefix)
	if p.countUnknown(len(n.Space)) {
		to := p.others()
		*to = append(*to, n)
	}
}
