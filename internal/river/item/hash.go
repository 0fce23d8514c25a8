package item

import (
	"cloudburst/feed"
	"strings"
)

// fnv is the 64-bit FNV-1a hash of strings.
type fnv uint64

const fnvBasis fnv = 14695981039346656037

func (h *fnv) add(s string) {
	x := *h
	for i := range len(s) {
		x ^= fnv(s[i])
		x *= 1099511628211
	}
	*h = (x ^ 0xff) * 1099511628211 // 0xff marks the end of a string, because the byte never occurs in UTF-8
}

// noText is the upper half of the hash of an item that has no text.
const noText int64 = 0

// hashOf hashes all displayed parts of an item: the text into the upper half, and links, authors,
// categories and files into the lower half. It ignores dates and visit counters, because a change of a date or counter is not
// an edit.
//
// spec:cloudburst#river-what-is-an-edit
func hashOf(it *feed.Item) int64 { return hashRepeating(it, 0) }

// maxRepeats is the number of elements that may repeat the author of an item of a podcast.
const maxRepeats = 3

// hadHash reports whether hash is the hash that earlier versions computed for it: they repeated an
// author whom several elements name.
func hadHash(it *feed.Item, hash int64) bool {
	for n := 1; n <= maxRepeats; n++ {
		if hashRepeating(it, n) == hash {
			return true
		}
	}
	return false
}

// hashRepeating is hashOf for an item that names its first author several more times.
func hashRepeating(it *feed.Item, times int) int64 {
	words, rest := fnvBasis, fnvBasis
	n := hashItem(&words, &rest, it, times, 0)
	upper := int64(words>>1) &^ (1<<32 - 1)
	if n == 0 {
		upper = noText
	}
	return upper | int64(rest>>32)
}

// hashItem adds an item and its nested items to both hashes, and returns the number of text
// bytes.
func hashItem(words, rest *fnv, it *feed.Item, times, depth int) (n int) {
	add := func(s string) { words.add(s); n += len(s) }
	add(it.Title.Value)
	add(it.Summary.Value)
	for i := range it.Content {
		add(it.Content[i].Value)
		rest.add(it.Content[i].Src)
		// Earlier versions could not show these, so items that they stored must count as changed.
		if typ := it.Content[i].Type; strings.HasPrefix(typ, "text/") && typ != "text/plain" && !isHTML(it.Content[i]) {
			rest.add(typ)
		}
		if src := it.Content[i].Src; src != "" && it.Link == "" {
			rest.add(src)
		}
	}
	rest.add(it.Link)
	hashByline(rest, it.Byline(), times)
	for i := range it.Categories {
		rest.add(it.Categories[i].Term)
		rest.add(it.Categories[i].Label)
	}
	for i := range it.Enclosures {
		rest.add(it.Enclosures[i].URL)
		rest.add(it.Enclosures[i].Type)
	}
	eachMedia(it, func(m *feed.MediaContent) { rest.add(m.URL) })
	if it.Media != nil {
		add(mediaWords(it.Media).Value)
	}
	if it.ITunes != nil {
		add(it.ITunes.Summary.Value)
		rest.add(it.ITunes.Duration)
		rest.add(it.ITunes.Image)
	}
	if m := it.More; m != nil {
		rest.add(ImageURL(m.Image))
		rest.add(m.BannerImage)
		if m.ExternalLink != "" { // without the condition, the hashes of all stored items would change
			rest.add(m.ExternalLink)
		}
		rest.add(m.Comments)
		for i := range m.InReplyTo {
			rest.add(m.InReplyTo[i].Ref)
			rest.add(m.InReplyTo[i].Href)
		}
		n += hashOutlines(words, m.Outlines)
	}
	if depth < maxNestedDepth {
		for i := range it.Items {
			n += hashItem(words, rest, &it.Items[i], times, depth+1)
		}
	}
	return n
}

// hashByline adds the names of the authors, and the first one several more times.
func hashByline(rest *fnv, byline []feed.Person, times int) {
	for i := range byline {
		rest.add(byline[i].Name)
	}
	if len(byline) > 0 {
		for range times {
			rest.add(byline[0].Name)
		}
	}
}

func hashOutlines(words *fnv, list []feed.Outline) (n int) {
	for i := range list {
		for _, a := range list[i].Attrs {
			if a.Name == "collapse" { // collapsing or expanding an outline is not an edit
				continue
			}
			words.add(a.Value)
			n += len(a.Value)
		}
		words.add("(")
		n += hashOutlines(words, list[i].Outlines)
		words.add(")")
	}
	return n
}
