package render

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/feed"
)

// appendJSONFeed writes JSON Feed 1.1. Members that package feed preserved from a JSON Feed
// are written in their original place. Members of any feed whose names begin with an
// underscore are written too.
//
// spec:jsonfeed11-2020#version, spec:jsonfeed11-2020#members
func appendJSONFeed(w *writer) {
	j := &jsonWriter{writer: w}
	f := w.f
	j.open('{')
	j.text("version", "https://jsonfeed.org/version/1.1")
	title := plainOf(&f.Title)
	if title == "" {
		w.warn("title", "title", "JSON Feed requires a title, and this feed has none; an empty title is written.")
	}
	j.text("title", title)
	j.url("home_page_url", f.Link)
	j.url("feed_url", w.self())
	j.some("description", plainOf(&f.Subtitle))
	j.some("user_comment", plainOf(&f.Info))
	if next := j.whole(olderPage(f), "next_url"); next != j.whole(w.self(), "feed_url") {
		j.some("next_url", next)
	}
	if f.Image != nil {
		j.url("icon", f.Image.URL)
	}
	j.url("favicon", f.Icon)
	j.authors(f.Authors, f.Unknown)
	j.some("language", w.language(f.Language, "language"))
	if f.Hints.Expired {
		j.name("expired")
		w.b = append(w.b, "true"...)
	}
	j.hubs()
	j.extensions(f.Unknown, knownInFeed)
	j.lostOfFeed()
	j.name("items")
	j.open('[')
	j.items(f.Items)
	j.shut(']')
	j.shut('}')
	w.b = append(w.b, '\n')
}

// olderPage returns the URL of older items: the next page or, if there is none, the archive. JSON
// Feed has one member for both.
//
// spec:jsonfeed11-2020#next-url
func olderPage(f *feed.Feed) string {
	if f.Next != "" {
		return f.Next
	}
	for i := range f.Links {
		if f.Links[i].Rel == "prev-archive" {
			return f.Links[i].Href
		}
	}
	return ""
}

// jsonWriter writes JSON.
type jsonWriter struct {
	*writer
	nested bool   // the warning about nested items was added
	ids    unique // IDs of the items so far
}

// open begins an object or list.
func (j *jsonWriter) open(bracket byte) {
	j.b = append(j.b, bracket)
	j.depth++
}

func (j *jsonWriter) shut(bracket byte) {
	j.depth--
	if c := j.b[len(j.b)-1]; c != '{' && c != '[' {
		j.b = dataLine(j.b, j.depth)
	}
	j.b = append(j.b, bracket)
}

// next writes the separator before the next value of the object or list.
func (j *jsonWriter) next() {
	if c := j.b[len(j.b)-1]; c != '{' && c != '[' {
		j.b = append(j.b, ',')
	}
	j.b = dataLine(j.b, j.depth)
}

// name begins a member; its value follows.
func (j *jsonWriter) name(key string) {
	j.next()
	j.b = append(quoteJSON(j.b, key), ": "...)
}

// text writes a string member.
func (j *jsonWriter) text(key, s string) {
	j.name(key)
	j.b = quoteJSON(j.b, j.validText(s, key))
}

// some writes a string member unless it is empty.
func (j *jsonWriter) some(key, s string) {
	if s != "" {
		j.text(key, s)
	}
}

// url writes a URL, unless it is empty.
func (j *jsonWriter) url(key, s string) { j.some(key, j.whole(s, key)) }

// whole returns an absolute URL without invalid characters; For an invalid URL it returns "" and
// adds a warning. If the feed has no base URL, a relative URL stays relative.
//
// spec:jsonfeed11-2020#urls
func (j *jsonWriter) whole(s, where string) string {
	if s != "" && schemeLen(s) == 0 && j.base() == "" && visible(s) {
		return escapeIRI(s, false)
	}
	return j.reference(s, where, true, false)
}

// date writes a date. If the original text has the required form, it is kept, because it contains
// the time zone.
//
// spec:jsonfeed11-2020#dates
func (j *jsonWriter) date(key string, d *feed.Date) {
	if !j.moment(d, key) {
		return
	}
	j.name(key)
	j.b = append(j.b, '"')
	if isJSONDate(d) {
		j.b = append(j.b, d.Raw...)
	} else {
		j.b = appendRFC3339(j.b, d.UTC)
	}
	j.b = append(j.b, '"')
}

// isJSONDate reports whether the original text of a date has the form of JSON Feed.
func isJSONDate(d *feed.Date) bool {
	const form = "2006-01-02T15:04:05Z"
	if len(d.Raw) < len(form) || d.Raw[4] != '-' || d.Raw[10] != 'T' { // check this first, because creating a parse error is slow
		return false
	}
	t, err := time.Parse(time.RFC3339, d.Raw)
	return err == nil && t.Equal(d.UTC)
}

// authors writes each author of the feed or of an item once.
func (j *jsonWriter) authors(list []feed.Person, unknown []feed.Node) {
	if !slices.ContainsFunc(list, func(p feed.Person) bool { return p != feed.Person{} }) {
		return
	}
	parts := jsonParts{list: "authors", nodes: unknown}
	j.name("authors")
	j.open('[')
	for i := range list {
		p := &list[i]
		name, url, avatar := p.Name, j.whole(p.URL, "authors"), j.whole(p.Avatar, "authors")
		if url == "" && p.Email != "" {
			url = j.whole("mailto:"+p.Email, "authors")
		}
		if name == "" && url == "" {
			name = p.Raw
		}
		if name == "" && url == "" && avatar == "" || isRepeated(list, i) {
			continue
		}
		j.next()
		j.open('{')
		j.some("name", name)
		j.some("url", url)
		j.some("avatar", avatar)
		j.lose(lostMail, p.Email != "" && !strings.HasPrefix(url, "mailto:"))
		j.loseExtension(p.Extension)
		j.part(&parts, i)
		j.shut('}')
	}
	j.shut(']')
}

// hubs writes the notification endpoints. A cloud becomes a hub of the type rssCloud.
//
// spec:jsonfeed11-2020#hubs
func (j *jsonWriter) hubs() {
	var named []feed.Hub
	parts := jsonParts{list: "hubs", nodes: j.f.Unknown}
	one := func(h feed.Hub, index int) {
		const limit = 100
		h.URL = j.whole(h.URL, "hubs")
		if h.URL == "" || visibleText(h.Type) == "" || len(named) >= limit || slices.Contains(named, h) {
			return
		}
		if named == nil {
			j.name("hubs")
			j.open('[')
		}
		named = append(named, h)
		j.next()
		j.open('{')
		j.text("type", h.Type)
		j.text("url", h.URL)
		if index >= 0 {
			j.part(&parts, index)
		}
		j.shut('}')
	}
	for _, url := range j.o.Hubs {
		one(feed.Hub{Type: "WebSub", URL: url}, -1)
	}
	for i, h := range j.f.Hubs {
		one(h, i)
	}
	for _, c := range j.clouds() {
		one(feed.Hub{Type: "rssCloud", URL: cloudURL(&c)}, -1)
	}
	if named != nil {
		j.shut(']')
	}
}

// cloudURL returns the URL of a cloud's endpoint, or "" if the cloud has none.
func cloudURL(c *feed.Cloud) string {
	if !isHost(c.Domain) || c.Port != "" && !digits(c.Port) {
		return ""
	}
	scheme, usual := "http", "80"
	if c.Port == "443" || strings.HasPrefix(c.Protocol, "https") {
		scheme, usual = "https", "443"
	}
	u := scheme + "://" + c.Domain
	if c.Port != "" && c.Port != usual {
		u += ":" + c.Port
	}
	if !strings.HasPrefix(c.Path, "/") {
		u += "/"
	}
	return u + c.Path
}

// isHost reports whether s is a host name or an IP address.
func isHost(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isWordByte(c) && c < utf8.RuneSelf && c != '.' && c != '-' && c != '_' {
			return addressLiteral(s)
		}
	}
	return s != ""
}

// items writes items. Nested items follow their parent, because the format has no nested
// items.
func (j *jsonWriter) items(list []feed.Item) {
	for i := range list {
		j.enter(i)
		it := &list[i]
		j.next()
		j.open('{')
		j.item(it)
		j.shut('}')
		if len(it.Items) > 0 && len(j.at) < deepestItems && !includesNested(it) {
			if !j.nested {
				j.nested = true
				j.warn("nested", "items", "JSON Feed does not support nested items; they are written after their parent.")
			}
			j.items(it.Items)
		}
		j.leave()
	}
}

// includesNested reports whether the full text of an item contains the texts of its nested
// items, in order.
func includesNested(it *feed.Item) bool {
	rest := it.Summary.Value // in RSS without content:encoded, the summary is the full text
	if len(it.Content) > 0 {
		rest = it.Content[0].Value
	}
	said := false
	var all func(list []feed.Item) bool
	all = func(list []feed.Item) bool {
		for i := range list {
			in := &list[i]
			_, after, found := strings.Cut(rest, in.Summary.Value)
			if !found || in.Summary.Value == "" && (in.Title.Value != "" || len(in.Content)+len(in.Enclosures) > 0) {
				return false
			}
			said = said || in.Summary.Value != ""
			if rest = after; !all(in.Items) {
				return false
			}
		}
		return true
	}
	return all(it.Items) && said
}

// number writes a member that is a positive whole number.
func (j *jsonWriter) number(key string, n int64) {
	if n > 0 {
		j.name(key)
		j.b = strconv.AppendInt(j.b, n, 10)
	}
}
