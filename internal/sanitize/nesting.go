package sanitize

import "strings"

// endOthers ends what cannot go on when e begins.
func (b *builder) endOthers(e *element) {
	switch {
	case e.is(inList):
		b.endListItem(e)
	case e.name == "rt" || e.name == "rp":
		b.endRuby()
	case e.name == "a":
		b.forget(e)
		b.endAnchor(e)
	}
	if e.is(block) {
		b.endParagraph()
	}
	for e.is(heading) && b.inside(heading) {
		b.popTo(len(b.stack) - 1) // and what this ends around it may be in a heading too
	}
}

// endParagraph ends an open paragraph with all that is in it.
func (b *builder) endParagraph() {
	for i := len(b.stack) - 1; i >= 0 && !b.stack[i].e.is(boundary); i-- {
		if b.stack[i].e.name == "p" {
			b.popTo(i)
			return
		}
	}
}

// endListItem ends the item before e, unless a list has begun in it.
func (b *builder) endListItem(e *element) {
	for i := len(b.stack) - 1; i >= 0; i-- {
		at := b.stack[i].e
		if at == e || e.name != "li" && at.is(inList) && at.name != "li" {
			b.popTo(i)
			return
		}
		if at.is(special) && at.name != "address" && at.name != "div" && at.name != "p" {
			return
		}
	}
}

// endRuby ends the annotation before, and what ends by itself.
func (b *builder) endRuby() {
	for i := len(b.stack) - 1; i >= 0 && !b.stack[i].e.is(boundary); i-- {
		if b.stack[i].e.name != "ruby" {
			continue
		}
		for top := b.top(); top != nil && (top.is(inList) || top.name == "p" || top.name == "rt" || top.name == "rp"); top = b.top() {
			b.popTo(len(b.stack) - 1)
		}
		return
	}
}

// endAnchor ends a link that is open: there are no links in links.
func (b *builder) endAnchor(e *element) {
	for i := len(b.stack) - 1; i >= 0; i-- {
		at := b.stack[i].e
		if at == e {
			b.stack[i].ended = true
			b.popTo(i)
			return
		}
		if at.is(tablePart) && at.is(boundary) {
			return
		}
	}
}

// inTable says whether the place is in a table, but in no cell of it.
func (b *builder) inTable() bool {
	top := b.top()
	return top != nil && (top.name == "table" || top.is(tablePart) && !top.is(boundary))
}

// lastTable is where the innermost open table is, -1 for none.
func (b *builder) lastTable() int {
	for i := len(b.stack) - 1; i >= 0; i-- {
		if b.stack[i].e.name == "table" {
			return i
		}
	}
	return -1
}

// makeRoom ends and begins parts of the innermost table so that e can begin. It
// says whether there is a table.
func (b *builder) openTableContext(e *element) bool {
	t := b.lastTable()
	if t < 0 {
		return false
	}
	in := func(depth int, names string) bool {
		return len(b.stack) > t+depth && strings.Contains(names, b.stack[t+depth].e.name)
	}
	const sections = "tbody thead tfoot"
	switch e.name {
	case "caption", "colgroup", "tbody", "thead", "tfoot":
		b.popTo(t + 1)
	case "col":
		if in(1, "colgroup") {
			b.popTo(t + 2)
			return true
		}
		b.popTo(t + 1)
		b.open(elements["colgroup"], nil)
	case "tr":
		b.needSection(t, in(1, sections))
	default: // td, th
		if in(1, sections) && in(2, "tr") {
			b.popTo(t + 3)
			return true
		}
		b.needSection(t, in(1, sections))
		b.open(elements["tr"], nil)
	}
	return true
}

// needSection ends all in the section of the table at t, or begins one.
func (b *builder) needSection(t int, has bool) {
	if has {
		b.popTo(t + 2)
		return
	}
	b.popTo(t + 1)
	b.open(elements["tbody"], nil)
}

// endTable ends a table or a part of one.
func (b *builder) endTable(e *element) {
	for i := len(b.stack) - 1; i >= 0; i-- {
		if b.stack[i].e == e {
			b.popTo(i)
			return
		}
		if b.stack[i].e.name == "table" {
			return
		}
	}
}

// startForeign begins an element inside of a drawing or formula. It says whether
// that is all; otherwise the drawing has ended, and the element is HTML.
func (b *builder) startForeign(name string, next func() (string, string, bool), closed bool) bool {
	space := "math "
	if b.inside(svg) {
		space = "svg "
	}
	e := elements[space+name]
	switch {
	case e == nil && isBreakout(name) && (!b.inside(leaf) || elements[name].is(block)):
		for b.inside(foreign) {
			b.popTo(len(b.stack) - 1)
		}
		return false
	case e == nil || b.inside(leaf) || len(b.stack) >= maxDepth:
		return true
	case e.is(hidden):
		if !closed {
			b.skip = name
		}
		return true
	}
	b.open(e, next)
	if closed {
		b.popTo(len(b.stack) - 1)
	}
	return true
}

// endForeign ends an element of the drawing or formula that the place is in, and
// says whether there was one.
func (b *builder) endForeign(name string) bool {
	for i := len(b.stack) - 1; i >= 0 && b.stack[i].e.is(foreign); i-- {
		if strings.EqualFold(b.stack[i].e.name, name) {
			b.popTo(i)
			return true
		}
	}
	return false
}
