package feed

import (
	"hash/fnv"
	"strings"

	"cloudburst/internal/href"
)

// hashed reports whether an ID with this origin is a hash of texts of the item.
func (from IDFrom) hashed() bool { return from == FromTitleDate || from == FromContent }

// identity is the ID of an item and its origin.
type identity struct {
	id   string
	from IDFrom
}

// identify sets the ID of an item. A hash uses the texts as written, so the ID stays the same
// when the feed moves to another URL, and with or without sanitizing.
func (p *parser) identify(it *Item) {
	identify(it)
	n := p.identified
	p.identified++
	if p.plain {
		p.identities = append(p.identities, identity{it.ID, it.IDFrom})
		return
	}
	if !it.IDFrom.hashed() || !p.changed {
		return
	}
	if p.identities == nil {
		p.identities = p.plainIdentities()
	}
	if n < len(p.identities) {
		it.ID, it.IDFrom = p.identities[n].id, p.identities[n].from
	}
}

// plainIdentities parses the document again, without resolving references and without
// sanitizing. It returns the identities of all items, nested ones included, in the order in
// which the items end. Only feeds with items that have no ID, no link and no enclosure need
// this.
func (p *parser) plainIdentities() []identity {
	plain := &parser{f: &Feed{}, plain: true, binary: p.binary, identities: []identity{}} // identities is not nil, so that the document is parsed only once more
	plain.o = Options{KeepRelative: true, Limits: p.o.Limits}
	plain.o.Item = func(it *Item) bool {
		*it = Item{} // releases its memory
		return true
	}
	_ = plain.document(p.text) // ignore the error: p has already reported it and all problems
	return plain.identities
}

// FormerID returns the ID that earlier versions used, "" if it is the same. Instead of the texts as
// written, they hashed the resolved and sanitized texts, and they resolved a guid that is not a URL
// against the URL of the feed. base is the Base of the feed. A program that stores items by ID should
// also look for FormerID if it does not find ID.
func (it *Item) FormerID(base string) string {
	switch {
	case it.IDFrom == FromID:
		if former := href.New(base).Resolve(it.ID); former != it.ID {
			return former
		}
		return ""
	case !it.IDFrom.hashed():
		return ""
	case it.Title.Value != "" && it.Published.Raw != "":
		return digest(it.Title.Value, it.Published.Raw)
	case it.Title.Value != "" && it.Updated.Raw != "":
		return digest(it.Title.Value, it.Updated.Raw)
	}
	former := *it
	former.Items = append([]Item(nil), it.Items...)
	for i := range former.Items {
		if id := former.Items[i].FormerID(base); id != "" {
			former.Items[i].ID = id
		}
	}
	return contentDigest(&former)
}

// identify sets an ID that stays the same each time the feed is read.
func identify(it *Item) {
	switch {
	case it.ID != "":
		it.IDFrom = FromID
	case it.Link != "":
		it.ID, it.IDFrom = href.WithoutTracking(it.Link), FromLink
	case len(it.Enclosures) > 0:
		it.ID, it.IDFrom = it.Enclosures[0].URL, FromEnclosure
	case it.Title.Value != "" && it.Published.Raw != "":
		it.ID, it.IDFrom = digest(it.Title.Value, it.Published.Raw), FromTitleDate
	case it.Title.Value != "" && it.Updated.Raw != "":
		it.ID, it.IDFrom = digest(it.Title.Value, it.Updated.Raw), FromTitleDate
	default:
		it.ID, it.IDFrom = contentDigest(it), FromContent
	}
}

// contentDigest returns a hash of the content of an item.
func contentDigest(it *Item) string {
	parts := []string{it.Title.Value, it.Summary.Value}
	for _, c := range it.Content {
		parts = append(parts, c.Value)
	}
	for _, n := range it.Items {
		parts = append(parts, n.ID)
	}
	return digest(parts...)
}

// digest returns a short hash of texts.
func digest(parts ...string) string {
	h := fnv.New128a()
	for _, s := range parts {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	const hex = "0123456789abcdef"
	var b [32]byte
	for i, c := range h.Sum(nil) {
		b[2*i], b[2*i+1] = hex[c>>4], hex[c&15]
	}
	return "hash:" + string(b[:])
}

// guid reads the guid of an item or the id of Atom. A guid is a string, so the ID stays the same when the
// feed moves to another URL. A guid that is a URL is also the URL of the item unless isPermaLink is false.
// A relative id of Atom, which is invalid, is resolved, as in feedparser.
//
// spec:rss20-2003#guid-string
func (p *parser) guid(s *slots) {
	perma, given := p.r.Attr("ispermalink")
	isLink := !given || strings.EqualFold(strings.TrimSpace(perma), "true")
	guid := p.r.Local == "guid" || p.r.Local == "id" && !p.atom
	v := unfolded(p.leaf())
	if v == "" {
		return
	}
	if p.atom {
		v = p.url(v)
	}
	if *s.id != v {
		p.keepText(s.names.id, *s.id)
	}
	*s.id, s.names.id = v, p.r.Name
	if s.level == ofItem {
		p.item.IDFrom = FromID
		p.item.PermaLink = guid && isLink && (given || isWeb(v))
	}
}

// linkFromID sets the link of an item that names none: its guid or the id of Atom, if it is a URL, but
// not a guid with isPermaLink="false". A relative guid is a link only if isPermaLink is true.
func linkFromID(p *parser, it *Item) {
	if it.Link == "" && (it.PermaLink || p.atom && isWeb(it.ID)) {
		if link := p.url(it.ID); isWeb(link) {
			it.Link = link
		}
	}
	it.PermaLink = it.PermaLink && isWeb(it.ID)
}
