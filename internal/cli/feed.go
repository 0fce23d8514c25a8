package cli

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/rsscloud"
)

const (
	maxFeed  = 5 << 20 // bytes of a feed that are read
	feedTime = 20 * time.Second
)

// document is a feed as its server gave it.
type document struct {
	URL      string // as it was named
	Final    string // where the redirects ended
	Body     []byte
	Modified time.Time // Last-Modified; zero: it does not say
}

// readFeed fetches a feed, with the caller's own rights: the person who types the
// URL may read what they like.
func (p *Program) readFeed(ctx context.Context, feed string) (document, error) {
	ctx, cancel := context.WithTimeout(ctx, feedTime)
	defer cancel()
	if err := rsscloud.CheckFeedURL(feed); err != nil {
		return document{}, usageError{fmt.Errorf("%q is not the URL of a feed: it needs http:// or https:// and a host", feed)}
	}
	req, err := http.NewRequestWithContext(ctx, "GET", feed, nil)
	if err != nil {
		return document{}, err
	}
	req.Header.Set("User-Agent", p.agent())
	req.Header.Set("Cache-Control", "no-cache")
	h := p.HTTP
	if h == nil {
		h = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
	}
	res, err := h.Do(req)
	if err != nil {
		return document{}, fmt.Errorf("%s cannot be read: %w", feed, plainNetError(err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return document{}, fmt.Errorf("%s cannot be read: its server answers %d %s", feed, res.StatusCode, http.StatusText(res.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxFeed+1))
	if err != nil {
		return document{}, fmt.Errorf("%s cannot be read to its end: %w", feed, err)
	}
	if len(body) > maxFeed {
		return document{}, fmt.Errorf("%s is larger than %d MiB", feed, maxFeed>>20)
	}
	d := document{URL: feed, Final: feed, Body: body}
	if res.Request != nil {
		d.Final = res.Request.URL.String()
	}
	if t, err := http.ParseTime(res.Header.Get("Last-Modified")); err == nil {
		d.Modified = t
	}
	return d, nil
}

func (p *Program) agent() string { return "Cloudburst/" + p.Version + " (command line)" }

// plainNetError leaves out the method and the URL, which the sentence has already.
func plainNetError(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// cloud finds the feed's <cloud> element.
func (d document) cloud() (rsscloud.Cloud, error) {
	c, err := rsscloud.FindCloud(d.Body, d.Final)
	if errors.Is(err, rsscloud.ErrNoCloud) {
		return c, fmt.Errorf("%s has no <cloud> element that can be used, so nobody can be asked about its changes (%w)", d.URL, err)
	}
	return c, err
}

// item is the newest thing in a feed, as far as a short look can tell.
type item struct {
	Title, Link, Text string
	At                time.Time // when it was published; zero: it does not say
}

// String is what to show of it in one line.
func (i item) String() string {
	text := i.Title
	if text == "" {
		text = i.Text
	}
	if text == "" {
		text = i.Link
	}
	return short(clean(text), 100)
}

// newestItem looks for the newest item of RSS, RDF or Atom, and for the newest
// date that the feed gives for itself. A broken feed gives what stands before the
// break.
func (d document) newestItem() (newest item, changed time.Time) {
	dec := xml.NewDecoder(bytes.NewReader(d.Body))
	dec.Strict = false
	dec.Entity = xml.HTMLEntity
	dec.CharsetReader = westernReader
	var now *item
	found := false
	for {
		t, err := dec.Token()
		if err != nil {
			return newest, changed
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch name := t.Name.Local; {
			case now == nil && (name == "item" || name == "entry"):
				now = &item{}
			case isText(name):
				value := textOf(dec)
				if at := parseDate(value); !at.IsZero() && at.After(changed) && isDate(name) {
					changed = at
				}
				if now != nil {
					now.set(name, value)
				}
			case now != nil && name == "link":
				now.Link = atomLink(now.Link, t)
			}
		case xml.EndElement:
			if now != nil && (t.Name.Local == "item" || t.Name.Local == "entry") {
				if !found || now.At.After(newest.At) {
					newest, found = *now, true
				}
				now = nil
			}
		}
	}
}

func isDate(name string) bool {
	switch name {
	case "pubDate", "lastBuildDate", "updated", "published", "date":
		return true
	}
	return false
}

func isText(name string) bool {
	switch name {
	case "title", "description", "summary", "content", "encoded", "guid":
		return true
	}
	return isDate(name)
}

func (i *item) set(name, value string) {
	switch {
	case isDate(name):
		if at := parseDate(value); at.After(i.At) {
			i.At = at
		}
	case name == "title" && i.Title == "":
		i.Title = value
	case name == "guid" && i.Link == "" && strings.HasPrefix(value, "http"):
		i.Link = value
	case name != "title" && name != "guid" && i.Text == "":
		i.Text = value
	}
}

func atomLink(have string, t xml.StartElement) string {
	href, rel := "", ""
	for _, a := range t.Attr {
		switch a.Name.Local {
		case "href":
			href = a.Value
		case "rel":
			rel = a.Value
		}
	}
	if href != "" && (rel == "" || rel == "alternate") {
		return href
	}
	return have
}

// textOf reads up to the end of the element that has just begun, without markup.
func textOf(dec *xml.Decoder) string {
	var b strings.Builder
	for depth := 1; depth > 0; {
		t, err := dec.Token()
		if err != nil {
			break
		}
		switch t := t.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			if b.Len() < 4096 {
				b.Write(t)
			}
		}
	}
	return withoutTags(b.String())
}

// withoutTags makes one line of text of a piece of HTML. It is for reading on a
// terminal: nothing of it is ever shown as HTML.
func withoutTags(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "<")
		b.WriteString(before)
		if !ok {
			break
		}
		_, after, ok := strings.Cut(rest, ">")
		if !ok {
			b.WriteString("<" + rest)
			break
		}
		b.WriteByte(' ')
		s = after
	}
	return strings.Join(strings.Fields(html.UnescapeString(b.String())), " ")
}

// parseDate reads the dates that feeds have; the zero time when it cannot.
func parseDate(text string) time.Time {
	text = strings.TrimSpace(text)
	for _, layout := range []string{time.RFC1123Z, time.RFC1123, time.RFC3339, "Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST",
		"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 MST", time.RFC822Z, time.RFC822} {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		// Go takes a zone's name that it does not know for UTC; then the date is a guess.
		if name, offset := t.Zone(); offset == 0 && name != "" && name != "UTC" && name != "GMT" && name != "Z" {
			return time.Time{}
		}
		return t
	}
	return time.Time{}
}

// westernReader reads the one-byte encodings of Western Europe, and lets others
// pass as they are: a title with a few wrong letters is better than none.
func westernReader(name string, r io.Reader) (io.Reader, error) {
	switch strings.ToLower(name) {
	case "iso-8859-1", "latin1", "windows-1252", "us-ascii":
		return &latin1{r: r}, nil
	}
	return r, nil
}

type latin1 struct {
	r    io.Reader
	rest []byte
}

func (l *latin1) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		var in [1024]byte
		n, err := l.r.Read(in[:])
		for _, b := range in[:n] {
			l.rest = utf8.AppendRune(l.rest, rune(b))
		}
		if n == 0 {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}
