package fulltext_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/fulltext"
	"cloudburst/internal/text"
)

// page is a FirstFetcher that returns one page.
type page struct {
	body  string
	kind  string
	err   error
	asked int
}

func (p *page) GetFirst(_ context.Context, r fetch.Request, n int64) (*fetch.Response, error) {
	if p.asked++; p.err != nil {
		return nil, p.err
	}
	return &fetch.Response{Status: http.StatusOK, URL: "https://example.com/moved/page", Header: http.Header{"Content-Type": {p.kind}}, Body: []byte(p.body)}, nil
}

func summary(t *testing.T, p *page, user, url string) (fulltext.Summary, error) {
	t.Helper()
	if p.kind == "" {
		p.kind = "text/html; charset=utf-8"
	}
	s := &fulltext.Summaries{Fetch: p, Now: func() time.Time { return time.Unix(0, 0) }}
	return s.Get(t.Context(), user, url)
}

func TestPageSummaryIsReadFromItsHeadElement(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		head string
		want fulltext.Summary
	}{
		"OpenGraph": {`<title>No</title><meta property="og:title" content=" The
			lamp &amp; more "><meta property="og:description" content="Lit"><meta property="og:image" content="/lamp.png">`,
			fulltext.Summary{Title: "The lamp & more", Description: "Lit", Image: "https://example.com/lamp.png"}},
		"HTML":              {`<title>Only a title</title><meta name="Description" content="Words">`, fulltext.Summary{Title: "Only a title", Description: "Words"}},
		"base":              {`<base href="https://cdn.example/x/"><title>T</title><meta name="twitter:image" content="a.png">`, fulltext.Summary{Title: "T", Image: "https://cdn.example/x/a.png"}},
		"image of a script": {`<title>T</title><meta property="og:image" content="javascript:alert(1)">`, fulltext.Summary{Title: "T"}},
		"first title":       {`<title>One</title><svg><title>Two</title></svg>`, fulltext.Summary{Title: "One"}},
		"long":              {`<title>` + strings.Repeat("ä", 400) + `</title>`, fulltext.Summary{Title: text.ClipRunes(strings.Repeat("ä", 400), 300)}},
	} {
		got, err := summary(t, &page{body: "<!doctype html>" + c.head}, "alice", "https://example.com/page")
		c.want.URL = "https://example.com/page"
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestPageWithoutSummaryReturnsAReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page page
		url  string
		code fault.Code
	}{
		"no URL":        {page{}, "example.com", fault.Invalid},
		"other scheme":  {page{}, "ftp://example.com/", fault.Invalid},
		"with password": {page{}, "https://a:b@example.com/", fault.Invalid},
		"no title":      {page{body: "<p>x"}, "https://example.com/", fault.Unreadable},
		"an image":      {page{body: "x", kind: "image/png"}, "https://example.com/", fault.Unreadable},
		"no response":   {page{err: errors.New("refused")}, "https://example.com/", fault.Unreadable},
	} {
		if _, err := summary(t, &c.page, "alice", c.url); fault.CodeOf(err) != c.code || strings.Contains(fault.Message(err), "Open the original") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSummaryRequestsOfAUserAreRateLimited(t *testing.T) {
	t.Parallel()
	p := &page{body: "<title>T</title>", kind: "text/html"}
	s := &fulltext.Summaries{Fetch: p, Now: func() time.Time { return time.Unix(0, 0) }}
	var err error
	for range 30 {
		_, err = s.Get(t.Context(), "alice", "https://example.com/")
	}
	if fault.CodeOf(err) != fault.TooMany || p.asked != 20 {
		t.Errorf("%d requests, %v", p.asked, err)
	}
	if _, err := s.Get(t.Context(), "bob", "https://example.com/"); err != nil {
		t.Errorf("another user: %v", err)
	}
}
