package xmlsafe

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

func (p *parser) startTag() error {
	if len(p.open) == 0 && p.root != nil {
		return p.errorf("there is a second root element")
	}
	if len(p.open) >= p.o.MaxDepth {
		return p.fail(ErrTooComplex, fmt.Sprintf("elements are nested more than %d deep", p.o.MaxDepth))
	}
	if p.elements++; p.elements > p.o.MaxElements {
		return p.fail(ErrTooComplex, fmt.Sprintf("there are more than %d elements", p.o.MaxElements))
	}
	n := &Node{Line: p.lineHere()}
	if len(p.open) > 0 {
		n.parent, n.At = p.top().node, len(p.top().text)
	}
	p.pos++
	var err error
	if n.Prefix, n.Local, err = p.qname(); err != nil {
		return err
	}
	closed, err := p.attributes(n)
	if err != nil {
		return err
	}
	if err := p.resolve(n); err != nil {
		return err
	}
	if n.parent == nil {
		p.root = n
	} else {
		n.parent.Nodes = append(n.parent.Nodes, n)
	}
	if closed {
		p.bindings -= len(n.decls)
		return nil
	}
	p.push(n)
	return nil
}

// push opens n and reuses the text buffer of a closed element at this depth.
func (p *parser) push(n *Node) {
	if len(p.open) < cap(p.open) {
		p.open = p.open[:len(p.open)+1]
		p.top().node = n
		p.top().text = p.top().text[:0]
		return
	}
	p.open = append(p.open, frame{node: n})
}

func (p *parser) endTag() error {
	if len(p.open) == 0 {
		return p.errorf("an end tag without a start tag")
	}
	f := p.top()
	p.pos += 2
	prefix, local, err := p.qname()
	if err != nil {
		return err
	}
	if prefix != f.node.Prefix || local != f.node.Local {
		return p.errorf("<%s> of line %d is closed by </%s>",
			cut(f.node.Name()), f.node.Line, cut(rawName(prefix, local)))
	}
	p.space()
	if !p.take('>') {
		return p.errorf("the end tag </%s> has no \">\"", cut(f.node.Name()))
	}
	f.node.Text = string(f.text)
	p.bindings -= len(f.node.decls)
	p.open = p.open[:len(p.open)-1]
	return nil
}

// attributes reads up to the end of the start tag. closed reports whether the tag is an
// empty-element tag.
func (p *parser) attributes(n *Node) (closed bool, err error) {
	for {
		spaced := p.space()
		switch {
		case p.take('>'):
			return false, nil
		case p.has("/>"):
			p.pos += 2
			return true, nil
		case p.pos >= len(p.src):
			return false, p.errorf("the document ends inside the tag <%s", cut(n.Name()))
		case !spaced:
			return false, p.errorf("an invalid character in the tag <%s", cut(n.Name()))
		}
		if len(n.Attrs)+len(n.decls) >= p.o.MaxAttrs {
			return false, p.fail(ErrTooComplex,
				fmt.Sprintf("an element has more than %d attributes", p.o.MaxAttrs))
		}
		if err := p.attribute(n); err != nil {
			return false, err
		}
	}
}

func (p *parser) attribute(n *Node) error {
	prefix, local, err := p.qname()
	if err != nil {
		return err
	}
	p.space()
	if !p.take('=') {
		return p.errorf("the attribute %s has no value", cut(rawName(prefix, local)))
	}
	p.space()
	raw, err := p.quoted()
	if err != nil {
		return err
	}
	if bytes.IndexByte(raw, '<') >= 0 {
		return p.errorf("the attribute %s contains a \"<\"", cut(rawName(prefix, local)))
	}
	value, _, bad := p.expand(nil, raw, true)
	if bad != nil {
		return bad
	}
	switch {
	case prefix == "xmlns":
		return p.declare(n, local, string(value))
	case prefix == "" && local == "xmlns":
		return p.declare(n, "", string(value))
	}
	n.Attrs = append(n.Attrs, Attr{Prefix: prefix, Local: local, Value: string(value)})
	return nil
}

func (p *parser) declare(n *Node, prefix, space string) error {
	switch {
	case prefix == "xmlns", space == XMLNSSpace,
		prefix != "" && space == "",
		(prefix == "xml") != (space == XMLSpace):
		return p.errorf("the namespace declaration of %q is not allowed", cut(prefix))
	}
	for _, d := range n.decls {
		if d.prefix == prefix {
			return p.errorf("the namespace prefix %q is declared twice", cut(prefix))
		}
	}
	// Each name is looked up in all declarations in scope, so their number must be limited.
	if p.bindings++; p.bindings > p.o.MaxAttrs {
		return p.fail(ErrTooComplex, fmt.Sprintf("more than %d namespaces are in scope", p.o.MaxAttrs))
	}
	n.decls = append(n.decls, binding{prefix, space})
	return nil
}

// resolve sets the namespaces of an element and its attributes, and rejects duplicate attributes.
func (p *parser) resolve(n *Node) error {
	var ok bool
	if n.Space, ok = n.lookup(n.Prefix); !ok && n.Prefix != "" && !p.o.LoosePrefixes {
		return p.errorf("the prefix of <%s> is not declared", cut(n.Name()))
	}
	for i := range n.Attrs {
		a := &n.Attrs[i]
		if a.Prefix != "" {
			if a.Space, ok = n.lookup(a.Prefix); !ok && !p.o.LoosePrefixes {
				return p.errorf("the prefix of the attribute %s is not declared", cut(rawName(a.Prefix, a.Local)))
			}
		}
		for _, b := range n.Attrs[:i] {
			if a.Local == b.Local && a.Space == b.Space && (a.Space != "" || a.Prefix == b.Prefix) {
				return p.errorf("the attribute %s is duplicated", cut(rawName(a.Prefix, a.Local)))
			}
		}
	}
	return nil
}

// qname reads a name with at most one colon.
func (p *parser) qname() (prefix, local string, err error) {
	local, err = p.name()
	if err != nil {
		return "", "", err
	}
	if p.take(':') {
		prefix = local
		if local, err = p.name(); err != nil {
			return "", "", err
		}
	}
	return prefix, local, nil
}

// name reads a name without a colon.
func (p *parser) name() (string, error) {
	start := p.pos
	for p.pos < len(p.src) {
		r, n := rune(p.src[p.pos]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(p.src[p.pos:])
		}
		if !isNameChar(r) || p.pos == start && !isNameStart(r) {
			break
		}
		p.pos += n
	}
	if p.pos == start {
		return "", p.errorf("a name is missing or starts with an invalid character")
	}
	return string(p.src[start:p.pos]), nil
}
