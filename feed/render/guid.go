package render

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"strings"

	"cloudburst/feed"
)

// guid returns a globally unique identifier of an item: its ID if that is a URL or URN, and
// otherwise a URN that is derived from the feed's identifier and the ID. The URN contains a UUID of
// version 5 in the URL name space, so it is the same every time.
//
// spec:datafeeds-2006#guid
func (w *writer) guid(it *feed.Item) string {
	if id := w.id(it); isGlobal(id) {
		return id
	}
	return w.uuid(it.ID)
}

// id returns the item's ID as documents contain it. An ID that is a hash becomes a URN,
// because "hash" is not a registered scheme.
func (w *writer) id(it *feed.Item) string {
	if it.IDFrom == feed.FromTitleDate || it.IDFrom == feed.FromContent {
		return w.uuid(it.ID)
	}
	return it.ID
}

// uuid returns a URN derived from the identifiers of the feed and of a part of it. The URL of the
// document is used only if the feed has no other identifier, because a document may have several
// URLs.
func (w *writer) uuid(id string) string {
	const addresses = "\x6b\xa7\xb8\x11\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8"
	sum := sha1.Sum([]byte(addresses + cmp.Or(w.f.ID, w.f.Link, w.f.Self, w.o.Self) + "#" + id))
	sum[6] = sum[6]&0x0f | 5<<4
	sum[8] = sum[8]&0x3f | 0x80
	b := append(make([]byte, 0, 45), "urn:uuid:"...)
	for i, n := range [...]int{0, 4, 6, 8, 10} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, sum[n:[...]int{4, 6, 8, 10, 16}[i]])
	}
	return string(b)
}

// isGlobal reports whether an identifier is unique outside of its feed too.
func isGlobal(id string) bool {
	if strings.ContainsAny(id, " \t\n\r") {
		return false
	}
	scheme, rest, ok := strings.Cut(id, ":")
	if !ok || rest == "" {
		return false
	}
	switch strings.ToLower(scheme) {
	case "urn", "tag":
		return true
	}
	for i := range len(scheme) {
		c := scheme[i]
		if !isLetter(c) && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return scheme != "" && strings.HasPrefix(rest, "//") && len(rest) > 2
}

// guid writes the ID of an item once. It also writes an ID that parsers derive from the link
// or an enclosure, because many programs require a guid. It omits a derived ID that another
// item already has.
//
// spec:rss20-2003#guid-permalink
func (r *rss) guid(it *feed.Item) {
	switch {
	case it.ID == "":
		return
	case r.v < 200:
		r.lose(lostIDs, hasGUID(it) && it.ID != it.Link)
		return
	case !hasGUID(it):
		if !r.ids.add(it.ID) {
			return
		}
		if it.ID == it.Link && r.webIRI(it.ID) {
			r.element("guid", it.ID)
		} else {
			r.element("guid", it.ID, "isPermaLink", "false")
		}
		return
	}
	id := r.id(it)
	if !r.ids.add(id) {
		r.warn("id-duplicate", "id", "Another item has the same ID, so a number is added: ", short(id), ".")
		id = r.ids.another(id)
	} else if it.PermaLink && r.webIRI(id) {
		r.element("guid", id)
		return
	}
	r.element("guid", id, "isPermaLink", "false")
}
