package fulltext

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"

	"cloudburst/internal/charset"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/limit"
	"cloudburst/internal/text"
)

// Summary describes a page, for a preview of a link to it.
type Summary struct {
	URL         string // URL of the page, as requested
	Title       string // one line, at most 300 characters
	Description string // one line, at most 1,000 characters
	Image       string // absolute URL; "": none
}

// These are the limits of summaries.
const (
	summaryBytes = 512 << 10 // bytes to read of a page; the head of a page is at its beginning
	summaryTags  = 2000
	summaryTime  = 8 * time.Second
	summaryRate  = 1.0 / 3 // summaries per second and user
	summaryBurst = 20
	maxTitle     = 300
	maxExcerpt   = 1000
)

// FirstFetcher fetches the beginning of pages; *fetch.Client implements it.
type FirstFetcher interface {
	GetFirst(ctx context.Context, r fetch.Request, n int64) (*fetch.Response, error)
}

// Summaries reads the summaries of pages for authors. Fetch and Now are required.
type Summaries struct {
	Fetch FirstFetcher
	Now   func() time.Time

	once  sync.Once
	users *limit.Limiter
}

// Get reads the summary of a page for a user. fault.TooMany: the user exceeds summaryRate.
// fault.Invalid: address is not a URL. fault.Unreadable: there is no response, or no page with a
// title.
//
// spec:cloudburst#link-card
func (s *Summaries) Get(ctx context.Context, user, address string) (Summary, error) {
	s.once.Do(func() { s.users = limit.New(summaryRate, summaryBurst, 10_000) })
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || len(address) > 2048 {
		return Summary{}, fault.New(fault.Invalid, "%q is not the URL of a page: it must begin with http:// or https://.", text.ClipRunes(address, 200))
	}
	if wait, ok := s.users.Take(user, s.Now()); !ok {
		busy := fault.New(fault.TooMany, "You asked for many link previews at once. Try again in a few seconds.")
		busy.RetryAfter = wait
		return Summary{}, busy
	}
	ctx, cancel := context.WithTimeout(ctx, summaryTime)
	defer cancel()
	where := text.ClipRunes(fetch.Redact(address), 200)
	res, err := s.Fetch.GetFirst(ctx, fetch.Request{URL: address, Accept: "text/html, application/xhtml+xml;q=0.9"}, summaryBytes)
	if err != nil {
		return Summary{}, fault.Wrap(fault.Unreadable, err, "%s", strings.Replace(requestProblem(where, err).text, " Open the original instead.", " The post keeps its link.", 1))
	}
	if trouble := responseProblem(where, res, s.Now()); trouble != nil {
		return Summary{}, fault.New(fault.Unreadable, "%s", strings.Replace(trouble.text, " Open the original instead.", " The post keeps its link.", 1))
	}
	out := summarize(charset.Decode(res.Body, res.Header.Get("Content-Type")).Text, res.URL)
	if out.URL = address; out.Title == "" {
		return Summary{}, fault.New(fault.Unreadable, "The page %s has no title to show. The post keeps its link.", where)
	}
	return out, nil
}

// summarize reads the summary in the head of a page: OpenGraph, then Twitter cards, then HTML.
//
// See https://ogp.me/.
func summarize(page, address string) Summary {
	z := html.NewTokenizer(strings.NewReader(page))
	z.SetMaxBuf(64 << 10)
	found := map[string]string{}
	put := func(name, value string) {
		if value = strings.Join(strings.Fields(value), " "); value != "" && found[name] == "" {
			found[name] = value
		}
	}
	inTitle := false
	for n := 0; n < summaryTags; n++ {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		switch kind {
		case html.TextToken:
			if inTitle {
				put("title", string(z.Text()))
			}
		case html.EndTagToken:
			inTitle = false
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			switch string(name) {
			case "title":
				inTitle = true
			case "meta":
				if more {
					put(metaOf(z))
				}
			case "base":
				if more {
					put("base", attrsOf(z)["href"])
				}
			}
		}
	}
	first := func(names ...string) string {
		for _, name := range names {
			if v := found[name]; v != "" {
				return v
			}
		}
		return ""
	}
	return Summary{
		Title:       text.ClipRunes(first("og:title", "twitter:title", "title"), maxTitle),
		Description: text.ClipRunes(first("og:description", "twitter:description", "description"), maxExcerpt),
		Image:       absoluteImage(first("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src"), found["base"], address),
	}
}

func attrsOf(z *html.Tokenizer) map[string]string {
	all := map[string]string{}
	for more, n := true, 0; more && n < 50; n++ {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, there := all[string(key)]; !there {
			all[string(key)] = string(value)
		}
	}
	return all
}

// metaOf returns the name and the value of a meta element.
func metaOf(z *html.Tokenizer) (name, value string) {
	a := attrsOf(z)
	if name = a["property"]; name == "" {
		name = a["name"]
	}
	return strings.ToLower(strings.TrimSpace(name)), a["content"]
}

// absoluteImage returns the absolute URL of an image, "" if the URL is not http or https.
func absoluteImage(ref, base, address string) string {
	at, err := url.Parse(address)
	if ref == "" || err != nil {
		return ""
	}
	if to, err := at.Parse(base); base != "" && err == nil {
		at = to
	}
	u, err := at.Parse(ref)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || len(u.String()) > 2048 {
		return ""
	}
	return u.String()
}
