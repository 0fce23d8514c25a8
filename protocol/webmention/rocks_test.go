package webmention_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"cloudburst/protocol/webmention"
)

// The numbers are those of the discovery tests at webmention.rocks. Each page is at /page/NUMBER,
// and its endpoint is /endpoint, unless the row states another endpoint.
func TestEndpointIsDiscoveredInHeaderAndMarkup(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		number, what string
		links        []string // values of Link headers
		body         string
		want         string // path of the expected endpoint; "": /endpoint
	}{
		{number: "1", what: "Link header, relation without quotes, relative URL", links: []string{`</endpoint>; rel=webmention`}},
		{number: "2", what: "Link header, relation without quotes, absolute URL", links: []string{`<ORIGIN/endpoint>; rel=webmention`}},
		{number: "3", what: "link element, relative URL", body: `<html><head><link rel="webmention" href="/endpoint"></head></html>`},
		{number: "4", what: "link element, absolute URL", body: `<html><head><link rel="webmention" href="ORIGIN/endpoint"></head></html>`},
		{number: "5", what: "a element, relative URL", body: `<p>This page has <a rel="webmention" href="/endpoint">an endpoint</a>.`},
		{number: "6", what: "a element, absolute URL", body: `<p>This page has <a rel="webmention" href="ORIGIN/endpoint">an endpoint</a>.`},
		{number: "7", what: "Link header in unusual case", links: []string{`</endpoint>; REL=WebMention`}},
		{number: "8", what: "Link header, relation in quotes", links: []string{`</endpoint>; rel="webmention"`}},
		{number: "9", what: "link element with several relations", body: `<link rel="webmention somethingelse" href="/endpoint">`},
		{number: "10", what: "Link header with several relations", links: []string{`</endpoint>; rel="webmention somethingelse"`}},
		{number: "11", what: "Link header before link and a", links: []string{`</endpoint>; rel=webmention`}, body: `<link rel="webmention" href="/error"><a rel="webmention" href="/error">x</a>`},
		{number: "12", what: "exact relation only", body: `<link rel="not-webmention" href="/error"><link rel="webmention" href="/endpoint">`},
		{number: "13", what: "comment", body: `<!-- <a href="/error" rel="webmention"></a> --><a href="/endpoint" rel="webmention">x</a>`},
		{number: "14", what: "escaped HTML", body: `<code>&lt;a href="/error" rel="webmention"&gt;&lt;/a&gt;</code><a href="/endpoint" rel="webmention">x</a>`},
		{number: "15", what: "empty href is the page itself", body: `<link rel="webmention" href="">`, want: "/page/15"},
		{number: "16", what: "a before link", body: `<a href="/endpoint" rel="webmention">x</a><link rel="webmention" href="/error">`},
		{number: "17", what: "link before a", body: `<link rel="webmention" href="/endpoint"><a href="/error" rel="webmention">x</a>`},
		{number: "18", what: "several Link headers", links: []string{`</error>; rel="other"`, `</endpoint>; rel="webmention"`}},
		{number: "19", what: "one Link header with several links", links: []string{`</error>; rel="other", </endpoint>; rel="webmention"`}},
		{number: "20", what: "link without href", body: `<link rel="webmention"><a href="/endpoint" rel="webmention">x</a>`},
		{number: "21", what: "query of the endpoint", body: `<link rel="webmention" href="/endpoint?query=yes">`, want: "/endpoint?query=yes"},
		{number: "22", what: "relative to the path", body: `<link rel="webmention" href="22/endpoint">`, want: "/page/22/endpoint"},
		{number: "23", what: "redirect", body: `<link rel="webmention" href="endpoint">`, want: "/moved/endpoint"},
		{number: "base", what: "base element", body: `<base href="/other/"><link rel="webmention" href="endpoint">`, want: "/other/endpoint"},
		{number: "header", what: "empty target in a header", links: []string{`<>; rel=webmention`}, want: "/page/header"},
		{number: "script", what: "script and template", body: `<script>"<a rel=webmention href=/error>"</script><template><a rel=webmention href=/error></a></template><a rel=webmention href=/endpoint>x</a>`},
		{number: "scheme", what: "unusable scheme", body: `<a rel=webmention href="javascript:alert(1)">x</a><a rel=webmention href=/endpoint>x</a>`},
		{number: "fragment", what: "fragment of the endpoint", body: `<a rel=webmention href="/endpoint#x">x</a>`},
	} {
		t.Run(tt.number, func(t *testing.T) {
			t.Parallel()
			srv := site(t, func(w http.ResponseWriter, r *http.Request, origin string) {
				if r.URL.Path == "/page/23" {
					http.Redirect(w, r, "/moved/page", http.StatusFound)
					return
				}
				for _, l := range tt.links {
					w.Header().Add("Link", replaceOrigin(l, origin))
				}
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = w.Write([]byte(replaceOrigin(tt.body, origin)))
			})
			want := tt.want
			if want == "" {
				want = "/endpoint"
			}
			d, err := (&webmention.Client{}).Discover(t.Context(), srv+"/page/"+tt.number)
			if err != nil || d.Endpoint != srv+want {
				t.Errorf("%s: found %q, %v; want %q", tt.what, d.Endpoint, err, srv+want)
			}
		})
	}
}

func TestPageWithoutEndpointReceivesNoWebmention(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ contentType, body string }{
		"no link":    {"text/html", `<p>Hello`},
		"plain text": {"text/plain", `<link rel="webmention" href="/endpoint">`},
		"an image":   {"image/png", "\x89PNG"},
	} {
		srv := site(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Type", c.contentType)
			_, _ = w.Write([]byte(c.body))
		})
		if d, err := (&webmention.Client{}).Discover(t.Context(), srv+"/"); !errors.Is(err, webmention.ErrNoEndpoint) || d.URL != srv+"/" {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

func TestEndpointDiscoveryReportsStatusAndEndlessRedirects(t *testing.T) {
	t.Parallel()
	srv := site(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		if r.URL.Path == "/loop" {
			http.Redirect(w, r, "/loop", http.StatusFound)
			return
		}
		http.NotFound(w, r)
	})
	_, err := (&webmention.Client{}).Discover(t.Context(), srv+"/missing")
	if e, ok := errors.AsType[*webmention.Error](err); !ok || e.Status != http.StatusNotFound {
		t.Errorf("a missing page: %v", err)
	}
	if _, err := (&webmention.Client{}).Discover(t.Context(), srv+"/loop"); err == nil {
		t.Error("an endless redirect has a result")
	}
	if _, err := (&webmention.Client{}).Discover(t.Context(), "ftp://example.com/"); err == nil {
		t.Error("an ftp URL has a result")
	}
}

// site starts a server and returns its origin.
func site(t *testing.T, serve func(w http.ResponseWriter, r *http.Request, origin string)) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, "http://"+r.Host) }))
	t.Cleanup(srv.Close)
	return srv.URL
}
