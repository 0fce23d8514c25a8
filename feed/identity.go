package feed

import (
	"hash/fnv"
	"strings"
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

// FormerID returns the hash that earlier versions used as the ID: they hashed the resolved
// and sanitized texts instead of the texts as written. It is "" if the ID is not a hash. A
// program that stores items by ID should also look for FormerID if it does not find ID.
func (it *Item) FormerID() string {
	switch {
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
		if id := former.Items[i].FormerID(); id != "" {
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
		it.ID, it.IDFrom = stableLink(it.Link), FromLink
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

// guid reads the guid of an item or the id of Atom. A guid is also the URL of the item unless
// isPermaLink is false.
func (p *parser) guid(s *slots) {
	perma, given := p.r.Attr("ispermalink")
	isLink := !given || strings.EqualFold(strings.TrimSpace(perma), "true")
	guid := p.r.Local == "guid" || p.r.Local == "id" && !p.atom
	v := unfolded(p.leaf())
	if v == "" {
		return
	}
	if isLink {
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

// linkFromID returns the link of an item that names none: its guid or the id of Atom, if it is a URL;
// "" for a guid with isPermaLink="false".
func linkFromID(it *Item, atom bool) string {
	if (it.PermaLink || atom) && isWeb(it.ID) {
		return it.ID
	}
	return ""
}

// stableLink returns a link without the query parameters that identify a campaign or a session,
// because these differ from read to read.
func stableLink(link string) string {
	i := strings.IndexByte(link, '?')
	if i < 0 {
		return link
	}
	query, fragment, _ := strings.Cut(link[i+1:], "#")
	steady, sep := append(make([]byte, 0, len(link)), link[:i]...), byte('?')
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if !isTracking(strings.ToLower(name[:min(len(name), longestTracking)])) {
			steady = append(append(steady, sep), pair...)
			sep = '&'
		}
	}
	if fragment != "" {
		steady = append(append(steady, '#'), fragment...)
	}
	return string(steady)
}

// longestTracking is greater than the length of the name of any tracking parameter, in bytes.
const longestTracking = 40

// isTracking reports whether a query parameter identifies a campaign or session, not a page.
func isTracking(name string) bool {
	if strings.HasPrefix(name, "utm_") || strings.HasPrefix(name, "at_") && len(name) > 5 {
		return true
	}
	switch name {
	case "fbclid", "gclid", "dclid", "msclkid", "mc_cid", "mc_eid", "igshid", "yclid", "_hsenc", "_hsmi",
		"phpsessid", "jsessionid", "sessionid", "session_id", "sid", "cmpid", "cid", "ns_mchannel", "ns_campaign", "ns_source",
		"xtor", "partner", "ref", "ref_src", "feature", "_ga", "rss":
		return true
	}
	return false
}
