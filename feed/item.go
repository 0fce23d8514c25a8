package feed

import (
	"strconv"
	"unsafe"
)

// readItem reads the current element into a new item of the feed.
func (p *parser) readItem() { p.readItemAs(p.itemBody) }

// readItemAs is like readItem for formats whose items have elements of their own. body reads the
// current element into the current item.
func (p *parser) readItemAs(body func()) {
	if len(p.f.Items) >= p.o.Limits.Items {
		if !p.limited {
			p.limited = true
			p.problem(ProblemLimit, p.r.Offset(), "There are more than "+strconv.Itoa(p.o.Limits.Items)+" items; the rest is not read.")
		}
		p.r.Skip()
		return
	}
	if len(p.f.Items) == cap(p.f.Items) {
		p.grow()
	}
	p.f.Items = p.f.Items[:len(p.f.Items)+1] // the new element is zero, because the capacity beyond the length was never used
	p.item = &p.f.Items[len(p.f.Items)-1]
	body()
	it := p.item
	p.item = nil
	if p.o.Item != nil && !p.o.Item(it) {
		p.stopped = true
	}
}

// grow increases the capacity for items. It estimates how many items follow from the average length
// of the items so far.
func (p *parser) grow() {
	n := len(p.f.Items)
	more := 4
	if n == 0 {
		p.from = p.r.Offset()
	} else {
		each := max((p.r.Offset()-p.from)/n, 32)
		more = p.r.UnreadLen()/each*9/8 + 4
	}
	more = max(min(more, p.o.Limits.Items-n), 1)
	p.f.Items = append(make([]Item, 0, n+more), p.f.Items...)
}

// itemBody reads the elements of the current item.
func (p *parser) itemBody() {
	s := itemSlots(p.item)
	if len(p.r.Attrs) > 0 {
		if about := unfolded(p.rdfAttr("about")); about != "" {
			p.item.ID, p.item.IDFrom, s.names.id = about, FromID, "rdf:about"
		}
		p.cdfAttributes(s)
		if attrs := p.foreignAttrs(); attrs != nil {
			p.more().Attrs = attrs
		}
	}
	p.each(func() { p.element(s) })
	if p.item.Link == "" && s.names.id == "rdf:about" && isWeb(p.item.ID) {
		p.item.Link = p.item.ID
	}
	p.itemDone()
}

// nestedItem reads an item within an item.
//
// spec:rsscloud-2009#item-namespace
func (p *parser) nestedItem() {
	if !p.budget.take(int(unsafe.Sizeof(Item{}))) { // charge the budget before the nested items are read
		p.r.Skip()
		return
	}
	outer := p.item
	p.nested++
	p.item = new(Item)
	p.itemBody()
	outer.Items = appendDoubling(outer.Items, *p.item)
	p.nested--
	p.item = outer
}

// itemDone sets the fields that depend on other fields.
func (p *parser) itemDone() {
	it := p.item
	p.dropHalfPoint()
	linkFromID(p, it)
	if p.waiting > 0 {
		resolveWaiting(p, it, pageOf(p, it))
	}
	if p.nested == 0 {
		p.waiting = 0
	}
	if it.More != nil && it.More.empty() {
		it.More = nil
	}
	p.identify(it)
}

// empty reports whether all fields of m are zero.
func (m *More) empty() bool {
	return m.Created.Raw == "" && m.Expires.Raw == "" && m.Edited.Raw == "" && !m.Draft && m.Rights == (Text{}) &&
		m.Publisher == nil && m.Language == "" && m.Image == nil && m.BannerImage == "" && m.ExternalLink == "" &&
		m.Comments == "" && m.CommentAPI == "" && m.CommentsFeed == "" && m.CommentCount == nil &&
		m.Section == "" && m.Department == "" && m.HitParade == nil && m.InReplyTo == nil && m.Licenses == nil &&
		m.OriginalLink == "" && m.OriginalMedia == "" && m.Where == nil && m.Chapters == nil && m.ChaptersVersion == "" && m.Markdown == "" &&
		m.Outlines == nil && m.Accounts == nil && m.LocalTime == "" && m.TextInput == nil && m.Attrs == nil
}

// duplicates reports items with the same ID.
func (p *parser) duplicates() {
	if len(p.f.Items) < 2 {
		return
	}
	seen := make(map[string]struct{}, len(p.f.Items))
	reported := 0
	for i := range p.f.Items {
		id := p.f.Items[i].ID
		if _, ok := seen[id]; ok && reported < 10 {
			reported++
			p.problemAt(ProblemDuplicate, 0, "item["+strconv.Itoa(i+1)+"]", "Another item has the same id: "+quote(id)+". Readers will show one of them only.")
		}
		seen[id] = struct{}{}
	}
}
