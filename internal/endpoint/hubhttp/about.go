package hubhttp

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	feedformat "cloudburst/feed"
	"cloudburst/feed/discover"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/wirehttp"
)

// Limits for the stored description of a topic, in characters.
const (
	aboutTitle = 255
	aboutText  = 2000
	aboutURL   = 2048 // in bytes
)

// about returns the description that a document declares. A document that is not a feed can still
// declare its own URL in a header.
//
// spec:cnws-2003#plain-text
func about(address string, header http.Header, body []byte) hub.About {
	f, err := feedformat.ParseBytes(body, &feedformat.Options{URL: address, Header: header})
	if err != nil {
		return hub.About{Self: webURL(discover.Header(header, address).Self)}
	}
	a := hub.About{
		Title: plainLine(f.Title, aboutTitle), Description: plainLine(f.Subtitle, aboutText),
		Self: webURL(f.Self), Home: webURL(f.Link),
	}
	if h := discover.Header(header, address); h.Self != "" {
		a.Self = webURL(h.Self)
	}
	if it := newest(f.Items); it != nil {
		a.ItemTitle, a.ItemText = plainLine(it.Title, aboutTitle), plainLine(it.Summary, aboutText)
		for _, c := range it.Content {
			if a.ItemText == "" {
				a.ItemText = plainLine(c, aboutText)
			}
		}
	}
	return a
}

// About returns the description that one of this server's own documents declares.
func About(address, contentType string, body []byte) hub.About {
	return about(address, http.Header{"Content-Type": {contentType}}, body)
}

// newest returns the item with the latest date, or the first item if none has a date.
func newest(items []feedformat.Item) *feedformat.Item {
	var best *feedformat.Item
	var at time.Time
	for i := range items {
		it := &items[i]
		when := it.Published.UTC
		if it.Updated.UTC.After(when) {
			when = it.Updated.UTC
		}
		if best == nil || when.After(at) {
			best, at = it, when
		}
	}
	return best
}

// plainLine returns a text without markup, on one line of at most limit characters. It cuts a longer
// text behind a word.
//
// spec:cnws-2003#title-length
func plainLine(t feedformat.Text, limit int) string {
	s := t.Value
	if t.Type != "text/plain" {
		s = sanitize.Text(s)
	}
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\uFFFD")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	head := string([]rune(s)[:limit-1])
	if i := strings.LastIndexByte(head, ' '); i > len(head)/2 { // otherwise the text ends with one long word, or its script has no spaces
		head = head[:i]
	}
	return strings.TrimRight(head, " ,;") + "…"
}

// webURL returns s without its fragment if s is a valid http or https URL, else "".
func webURL(s string) string {
	s, _, _ = strings.Cut(s, "#")
	if len(s) > aboutURL || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return ""
	}
	return s
}

// Discoverer finds the feeds of a page for the hub. It implements hub.Discoverer.
type Discoverer struct {
	Client endpoint.Getter
}

// Discover reads the page at url once and returns the URLs of its feeds. The result includes links
// that only look like feeds: the hub checks only the feeds with subscribers.
func (d *Discoverer) Discover(ctx context.Context, url string) ([]string, error) {
	got, err := d.Client.Get(ctx, fetch.Request{URL: url})
	if err != nil {
		return nil, unreadable(url, err)
	}
	if !got.OK() {
		return nil, fault.New(fault.Unreadable, "The page %s could not be read: its server answered %s.", endpoint.DisplayURL(url), wirehttp.StatusText(got.Status))
	}
	res := discover.HTML(got.Body, got.URL, got.Header)
	urls := []string{url}
	if got.URL != url {
		urls = append(urls, got.URL)
	}
	if res.Self != "" {
		urls = append(urls, res.Self)
	}
	for _, l := range res.Links {
		urls = append(urls, l.URL)
	}
	return urls, nil
}
