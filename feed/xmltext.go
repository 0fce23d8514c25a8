package feed

import (
	"strings"

	"cloudburst/internal/scan"
)

// xmlText returns the content of the current element as self-contained XML, with the
// declarations of all used prefixes.
func (p *parser) xmlText() string {
	w := xmlWriter{p: p}
	for depth := p.r.Depth(); ; {
		switch p.next() {
		case scan.Start:
			w.start()
			continue
		case scan.Text:
			w.closeTag(">")
			xmlEscape(&w.b, p.r.Chars())
			continue
		case scan.End:
			if p.r.Depth() >= depth {
				w.end(p.r.Name)
				continue
			}
		}
		return strings.TrimSpace(w.b.String())
	}
}

// xmlWriter writes XML.
type xmlWriter struct {
	p     *parser
	b     strings.Builder
	open  bool // the > of the last start tag is not written yet
	scope []declaration
	sizes []int // for each open element, the length of scope outside of it
}

type declaration struct{ prefix, uri string }

func (w *xmlWriter) start() {
	r := w.p.r
	w.closeTag(">")
	w.b.WriteByte('<')
	w.b.WriteString(r.Name)
	w.sizes = append(w.sizes, len(w.scope))
	for i := range r.Attrs {
		a := &r.Attrs[i]
		value := r.Decode(a.Raw)
		if a.Name == "xmlns" || strings.HasPrefix(a.Name, "xmlns:") {
			w.enter(strings.TrimPrefix(a.Name[len("xmlns"):], ":"), value)
		}
		w.attribute(a.Name, value)
	}
	w.declare(scan.Prefix(r.Name))
	for i := range r.Attrs {
		if prefix := scan.Prefix(r.Attrs[i].Name); prefix != "" && prefix != "xmlns" {
			w.declare(prefix)
		}
	}
	w.open = true
}

// declare declares a prefix whose declaration is outside of the copied text.
func (w *xmlWriter) declare(prefix string) {
	uri := w.p.r.URI(prefix)
	if prefix == "xml" || uri == w.known(prefix) || !w.p.budget.take(len(uri)) {
		return
	}
	w.enter(prefix, uri)
	if prefix != "" {
		prefix = ":" + prefix
	}
	w.attribute("xmlns"+prefix, uri)
}

// enter records the namespace of a prefix inside the open element. The list is limited in length,
// because it is searched for every name.
func (w *xmlWriter) enter(prefix, uri string) {
	const limit = 256
	if len(w.scope) < limit {
		w.scope = append(w.scope, declaration{prefix, uri})
	}
}

func (w *xmlWriter) known(prefix string) string {
	for i := len(w.scope) - 1; i >= 0; i-- {
		if w.scope[i].prefix == prefix {
			return w.scope[i].uri
		}
	}
	return ""
}

func (w *xmlWriter) attribute(name, value string) {
	w.b.WriteByte(' ')
	w.b.WriteString(name)
	w.b.WriteString(`="`)
	xmlEscape(&w.b, value)
	w.b.WriteByte('"')
}

func (w *xmlWriter) end(name string) {
	n := len(w.sizes) - 1
	w.scope, w.sizes = w.scope[:w.sizes[n]], w.sizes[:n]
	if w.open {
		w.closeTag("/>")
		return
	}
	w.b.WriteString("</")
	w.b.WriteString(name)
	w.b.WriteByte('>')
}

func (w *xmlWriter) closeTag(with string) {
	if w.open {
		w.b.WriteString(with)
		w.open = false
	}
}

func xmlEscape(b *strings.Builder, s string) {
	for {
		i := strings.IndexAny(s, `&<>"`)
		if i < 0 {
			b.WriteString(s)
			return
		}
		b.WriteString(s[:i])
		switch s[i] {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '"':
			b.WriteString("&quot;")
		}
		s = s[i+1:]
	}
}
