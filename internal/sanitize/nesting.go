package sanitize

import "strings"

// endOthers ends the elements that cannot continue when e begins.
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
		b.popTo(len(b.stack) - 1) // the element around a closed heading can also be a heading
	}
}

// endParagraph ends an open paragraph and all elements in it.
func (b *builder) endParagraph() {
	for i := len(b.stack) - 1; i >= 0 && !b.stack[i].e.is(boundary); i-- {
		if b.stack[i].e.name == "p" {
			b.popTo(i)
			return
		}
	}
}

// endListItem ends the previous item, unless a nested list has begun in it.
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

// endRuby ends the previous annotation and elements with implied end tags.
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

// endAnchor ends an open link: links cannot be nested.
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

// inTable reports whether the current place is in a table but not in a cell.
func (b *builder) inTable() bool {
	top := b.top()
	return top != nil && (top.name == "table" || top.is(tablePart) && !top.is(boundary))
}

// lastTable returns the index of the innermost open table, -1 if there is none.
func (b *builder) lastTable() int {
	for i := len(b.stack) - 1; i >= 0; i-- {
		if b.stack[i].e.name == "table" {
			return i
		}
	}
	return -1
}

// openTableContext ends and begins parts of the innermost table so that e can begin. It reports
// whether there is a table.
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
	default: // a cell: td or th
		if in(1, sections) && in(2, "tr") {
			b.popTo(t + 3)
			return true
		}
		b.needSection(t, in(1, sections))
		b.open(elements["tr"], nil)
	}
	return true
}

// needSection prepares the table at index t of the stack for a row. If has is true, the table has
// an open section, and needSection ends all elements in the section. Otherwise it begins a tbody.
func (b *builder) needSection(t int, has bool) {
	if has {
		b.popTo(t + 2)
		return
	}
	b.popTo(t + 1)
	b.open(elements["tbody"], nil)
}

// endTable ends a table or a part of a table.
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

// startForeign begins an element inside SVG or MathML. It returns false if the element ended the
// SVG or MathML and must be started as HTML.
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

// endForeign ends an element of the current SVG or MathML, and reports whether such an element was
// open.
func (b *builder) endForeign(name string) bool {
	for i := len(b.stack) - 1; i >= 0 && b.stack[i].e.is(foreign); i-- {
		if strings.EqualFold(b.stack[i].e.name, name) {
			b.popTo(i)
			return true
		}
	}
	return false
}
