package scan

import "strings"

// Leaf reads the current element (after Start) to its end and returns its text, trimmed. If the
// current element contains another element, markup is true and Leaf reads nothing: call Inner, or
// continue with Next.
func (r *Reader) Leaf() (text string, markup bool) {
	if r.empty {
		r.Next()
		return "", false
	}
	if text, ok := r.quickLeaf(); ok {
		return text, false
	}
	m := r.mark()
	var parts []string
	for depth := len(r.stack); ; {
		switch r.Next() {
		case Text:
			parts = append(parts, r.Chars())
		case Start:
			r.restore(m)
			return "", true
		case End:
			if len(r.stack) < depth {
				return r.join(parts), false
			}
		case EOF:
			return r.join(parts), false
		}
	}
}

// quickLeaf is like Leaf for the most common content: text, or one CDATA section, and the end tag.
func (r *Reader) quickLeaf() (string, bool) {
	doc, pos, top := r.doc, r.pos, r.stack[len(r.stack)-1].name
	i := strings.IndexByte(doc[pos:], '<')
	if i < 0 {
		return "", false
	}
	raw, end, cdata := doc[pos:pos+i], pos+i, false
	if strings.HasPrefix(doc[end:], "<![CDATA[") {
		if !isSpace(raw) {
			return "", false
		}
		from := end + len("<![CDATA[")
		n := r.find("]]>", from)
		if n < 0 {
			return "", false
		}
		raw, end, cdata = doc[from:n], n+len("]]>"), true
		for end < len(doc) && space(doc[end]) {
			end++
		}
	}
	tag := doc[end:]
	if len(tag) < len(top)+3 || tag[1] != '/' || tag[0] != '<' || tag[2:2+len(top)] != top || tag[2+len(top)] != '>' {
		return "", false
	}
	r.tok = pos
	if raw = trim(raw); cdata {
		raw = r.newlines(raw)
	} else {
		raw = trim(r.Decode(raw))
	}
	r.pos = end + len(top) + 3
	r.pop()
	return raw, true
}

func (r *Reader) join(parts []string) string {
	switch len(parts) {
	case 0:
		return ""
	case 1:
		return trim(parts[0])
	}
	return trim(strings.Join(parts, ""))
}

// trim removes XML white space from both ends.
func trim(s string) string {
	for len(s) > 0 && space(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && space(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// mark is a position in the document to return to.
type mark struct{ pos, depth, bindings, unprefixed, quiet int }

func (r *Reader) mark() mark {
	return mark{pos: r.pos, depth: len(r.stack), bindings: len(r.bindings), unprefixed: r.unprefixed, quiet: r.quiet}
}

// restore returns to a mark whose elements are all still open.
func (r *Reader) restore(m mark) {
	r.quiet = max(r.quiet, r.pos)
	r.pos, r.stack, r.bindings, r.unprefixed = m.pos, r.stack[:m.depth], r.bindings[:m.bindings], m.unprefixed
	r.empty, r.ends, r.over = false, 0, 0
	top := &r.stack[m.depth-1]
	r.Name, r.Local, r.Space = top.name, r.local(top), int(top.space)
}

// Skip skips the current element with its content.
func (r *Reader) Skip() {
	for depth := len(r.stack); len(r.stack) >= depth; {
		if r.Next() == EOF {
			return
		}
	}
}

// Inner reads the current element to its end and returns its content as markup. It returns the
// source unchanged if possible. If the content has prefixes, CDATA sections, comments or errors,
// Inner rewrites the content: names have no prefixes, and text is escaped.
func (r *Reader) Inner() string {
	if r.empty {
		r.Next()
		return ""
	}
	if end, ok := r.clean(); ok {
		inner := trim(r.doc[r.pos:end])
		r.checkReferences(inner)
		r.tok, r.pos = end, end+len(r.stack[len(r.stack)-1].name)+3
		r.pop()
		return r.newlines(inner)
	}
	m := r.mark()
	depth, end := len(r.stack), 0
	r.copied = false
	for len(r.stack) >= depth {
		switch r.Next() {
		case Start:
			r.copied = r.copied || strings.IndexByte(r.Name, ':') >= 0
		case Text:
			r.copied = r.copied || !r.cdata && r.entities != nil && strings.IndexByte(r.chars, '&') >= 0
		}
		end = r.tok
	}
	if !r.copied {
		inner := trim(r.doc[m.pos:end])
		r.checkReferences(inner)
		return r.newlines(inner)
	}
	after := r.mark()
	name, local, space, ends := r.Name, r.Local, r.Space, r.ends
	r.rewind(m, depth)
	s := r.serialize(depth)
	r.pos, r.stack, r.bindings, r.ends = after.pos, r.stack[:after.depth], r.bindings[:after.bindings], ends
	r.unprefixed = after.unprefixed
	r.Name, r.Local, r.Space = name, local, space
	return s
}

// rewind is like restore for a mark whose element has been popped. The frame of this element is
// still in the array of r.stack.
func (r *Reader) rewind(m mark, depth int) {
	r.stack = r.stack[:depth]
	r.restore(m)
}

// serialize reads the rest of the open element at depth and returns its content as rewritten
// markup.
func (r *Reader) serialize(depth int) string {
	var b strings.Builder
	for {
		switch r.Next() {
		case Start:
			b.WriteByte('<')
			name := unprefixed(r.Name)
			b.WriteString(name)
			for k := range r.Attrs {
				a := &r.Attrs[k]
				if a.Name == "xmlns" || strings.HasPrefix(a.Name, "xmlns:") || a.Name == "" || !nameStart(a.Name[0]) {
					continue
				}
				b.WriteByte(' ')
				b.WriteString(a.Name)
				b.WriteString(`="`)
				escape(&b, r.Decode(a.Raw), true)
				b.WriteByte('"')
			}
			switch {
			case r.empty:
				r.Next()
				b.WriteString(" />")
			case void(r.Local):
				b.WriteString(" />")
			default:
				b.WriteByte('>')
			}
		case Text:
			escape(&b, r.Chars(), false)
		case End:
			if len(r.stack) < depth {
				return trim(b.String())
			}
			if !void(r.Local) {
				b.WriteString("</")
				b.WriteString(unprefixed(r.Name))
				b.WriteByte('>')
			}
		case EOF:
			return trim(b.String())
		}
	}
}

// void reports whether an element of HTML has no end tag.
func void(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}

func unprefixed(name string) string { return name[strings.IndexByte(name, ':')+1:] }

func escape(b *strings.Builder, s string, attr bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '&':
			b.WriteString("&amp;")
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		case c == '"' && attr:
			b.WriteString("&quot;")
		default:
			b.WriteByte(c)
		}
	}
}

// SkipTo skips events until at most depth elements are open.
func (r *Reader) SkipTo(depth int) {
	for len(r.stack) > depth {
		if r.Next() == EOF {
			return
		}
	}
}

// InnerText reads the current element to its end and returns all its text.
func (r *Reader) InnerText() string {
	var parts []string
	for depth := len(r.stack); len(r.stack) >= depth; {
		if r.Next() == Text {
			parts = append(parts, r.Chars())
		}
	}
	return r.join(parts)
}
