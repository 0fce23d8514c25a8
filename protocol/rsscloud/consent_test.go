package rsscloud_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"cloudburst/protocol/rsscloud"
)

const (
	consentChallenge = "0123456789abcdef0123456789abcdef"
	consentFeed      = "http://f.example/"
)

func TestChallengeInResponseIsConsentUnlessTheResponseEchoesTheRequest(t *testing.T) {
	t.Parallel()
	const c = consentChallenge
	query := "url=http%3A%2F%2Ff.example%2F&challenge=" + c
	for _, tc := range []struct {
		name        string
		status      int
		contentType string
		body        string
		want        error
	}{
		{"the challenge", 200, "text/plain", c, nil},
		{"the challenge with no type", 200, "", c, nil},
		{"the challenge as PHP sends it", 200, "text/html; charset=UTF-8", c + "\n", nil},
		{"within text", 202, "text/plain", "ok: " + c + " thanks", nil},
		{"within a page", 200, "text/html", "<html><body><p>" + c + "</p></body></html>", nil},
		{"in JSON", 200, "application/json", `{"challenge":"` + c + `"}`, nil},
		{"299", 299, "text/plain", c, nil},
		{"as a JSON string", 200, "application/json", `"` + c + `"` + "\n", nil},
		{"the only text of an XML document", 200, "text/xml", `<?xml version="1.0"?>` + "\n<challenge>" + c + "</challenge>", nil},
		{"with a byte order mark", 200, "text/plain", "\ufeff" + c + "\r\n", nil},
		{"behind a percent sign", 200, "text/plain", "done 100%" + c, nil},
		{"after the query without the feed", 200, "text/plain", "challenge=" + c + " is accepted: " + c, nil},
		{"echoed query and the challenge itself", 200, "text/html", "<!-- " + query + " -->" + c, rsscloud.ErrEcho},
		{"300", 300, "text/plain", c, rsscloud.ErrRefused},
		{"404", 404, "text/plain", c, rsscloud.ErrRefused},
		{"500", 500, "text/plain", c, rsscloud.ErrRefused},
		{"not there", 200, "text/plain", "hello", rsscloud.ErrRefused},
		{"empty", 204, "", "", rsscloud.ErrRefused},
		{"half of it", 200, "text/plain", c[:20], rsscloud.ErrRefused},
		{"behind 4 KiB", 200, "text/plain", strings.Repeat(" ", 4096) + c, nil},
		{"at the end of 64 KiB", 200, "text/plain", strings.Repeat("x\n", 32<<10-16) + c, nil},
		{"in a long page", 200, "text/html", "<p>" + strings.Repeat("words ", 9000) + "</p><p>" + c + "</p>", nil},
		{"behind 64 KiB", 200, "text/plain", strings.Repeat(" ", 64<<10) + c, rsscloud.ErrRefused},
		{"across 64 KiB", 200, "text/plain", strings.Repeat(" ", 64<<10-6) + c, rsscloud.ErrRefused},
		{"search page, in its text", 200, "text/html", "<p>Nothing found for /?" + query + "</p>", rsscloud.ErrEcho},
		{"search page, escaped", 200, "text/html", "<p>Nothing for ?url=x&amp;challenge=" + c + "</p>", rsscloud.ErrEcho},
		{"search page, equals sign as a reference", 200, "text/html", "challenge&#61;" + c, rsscloud.ErrEcho},
		{"search page, encoded", 200, "text/html", "<p>next=%2F%3Furl%3Dx%26challenge%3D" + c + "</p>", rsscloud.ErrEcho},
		{"search page, encoded twice", 200, "text/html", "challenge%253d" + c, rsscloud.ErrEcho},
		{"search page, in a link", 200, "text/html", `<a href="/?` + query + `">login</a>`, rsscloud.ErrEcho},
		{"search page, in a field", 200, "text/html", `<input type=hidden name=challenge value="` + c + `">`, rsscloud.ErrEcho},
		{"search page, in its title", 200, "text/html", "<title>" + c + "</title>", rsscloud.ErrEcho},
		{"search page, in a script", 200, "text/html", "<script>var q={challenge:'" + c + "'}</script>", rsscloud.ErrEcho},
		{"search page, in a broken tag", 200, "text/html", "<a href='" + c, rsscloud.ErrEcho},
		{"XHTML", 200, "application/xhtml+xml", "<p>challenge=" + c + "</p>", rsscloud.ErrEcho},
		{"broken parameters of the type", 200, "text/html;;charset", "challenge=" + c, rsscloud.ErrEcho},
		{"twice in the query", 200, "text/html", query + " " + query, rsscloud.ErrEcho},
	} {
		if err := rsscloud.CheckConsent(tc.status, tc.contentType, []byte(tc.body), c, consentFeed); !errors.Is(err, tc.want) || err == nil != (tc.want == nil) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
	if err := rsscloud.CheckConsent(200, "text/plain", []byte("x"), "", consentFeed); err == nil {
		t.Error("an empty challenge is accepted")
	}
}

// echoes returns the forms in which servers repeat the query of a request, with their media
// types.
func echoes(r *http.Request) map[string]string {
	q := r.URL.Query()
	u, c := q.Get("url"), q.Get("challenge")
	dump, _ := httputil.DumpRequest(r, false)
	object := func(v any) string { b, _ := json.MarshalIndent(v, "", "  "); return string(b) }
	return map[string]string{
		"the request line":             r.Method + " " + r.URL.RequestURI() + " HTTP/1.1\r\n",
		"the request with its header":  string(dump),
		"the query":                    r.URL.RawQuery,
		"the query, as a reference":    html.EscapeString(r.URL.RawQuery),
		"the query, percent-encoded":   "next=" + url.QueryEscape(r.URL.RequestURI()),
		"the query, encoded twice":     "next=" + url.QueryEscape(url.QueryEscape(r.URL.RequestURI())),
		"the query in a JSON string":   object(r.URL.RequestURI()),
		"arguments as JSON":            object(map[string]any{"args": map[string]string{"challenge": c, "url": u}, "url": "http://victim.example" + r.URL.RequestURI()}),
		"lists as JSON":                object(q),
		"values as JSON":               object([]string{c, u}),
		"slashes escaped in JSON":      `["` + strings.ReplaceAll(u, "/", `\/`) + `","` + c + `"]`,
		"the challenge alone as JSON":  object(map[string]any{"ok": true, "args": map[string]string{"challenge": c}}),
		"the challenge as a JSON list": object(map[string]any{"challenge": []string{c}, "n": 1}),
		"XML":                          "<args><challenge>" + c + "</challenge><url>" + html.EscapeString(u) + "</url></args>",
		"XML without the URL":          "<args><x>1</x><challenge>" + c + "</challenge></args>",
		"XML attributes":               `<args><arg name="url">` + html.EscapeString(u) + `</arg><arg name="challenge">` + c + `</arg></args>`,
		"a map as Go prints it":        fmt.Sprint(map[string][]string(q)),
		"an array as PHP prints it":    "Array\n(\n    [url] => " + u + "\n    [challenge] => " + c + "\n)\n",
		"an array as PHP dumps it":     fmt.Sprintf("array(2) {\n  [\"url\"]=>\n  string(%d) \"%s\"\n  [\"challenge\"]=>\n  string(32) \"%s\"\n}\n", len(u), u, c),
		"YAML":                         "url: " + u + "\nchallenge: " + c + "\n",
		"a table":                      "<table><tr><th>url</th><td>" + html.EscapeString(u) + "</td></tr><tr><th>challenge</th><td>" + c + "</td></tr></table>",
		"truncated values in a table":  "<table><tr><td>" + html.EscapeString(u[:min(len(u), 60)]) + "…</td></tr><tr><td>" + c + "</td></tr></table>",
		"values in text, wrapped":      "You asked for " + u[:10] + "\n" + u[10:] + "\nand " + c,
		"CSV":                          `"` + u + `","` + c + `"`,
	}
}

// TestEchoedQueryIsNotConsent covers each form of echo in each media type, for feeds whose
// URLs are encoded differently when repeated.
func TestEchoedQueryIsNotConsent(t *testing.T) {
	t.Parallel()
	types := []string{"text/plain", "text/plain; charset=utf-8", "text/html", "application/xhtml+xml", "application/json", "text/xml",
		"application/xml", "application/octet-stream", "text/csv", "application/problem+json", ""}
	for _, feed := range []string{
		"http://feeds.example/rss.xml", "https://feeds.example:8443/a/b?c=d&e=f", "http://feeds.example/%2525252541%2525",
		"http://feeds.example/&amp;copy=1&copy=2", "http://feeds.example/\"'<b>\\x", "http://münchen.example/café",
		"http://feeds.example/" + strings.Repeat("long/", 200),
	} {
		r := httptest.NewRequest(http.MethodGet, rsscloud.ChallengeURL("http://victim.example/echo?x=1", feed, consentChallenge), nil)
		for shape, body := range echoes(r) {
			for _, kind := range types {
				if err := rsscloud.CheckConsent(200, kind, []byte(body), consentChallenge, feed); !errors.Is(err, rsscloud.ErrEcho) {
					t.Errorf("%s as %q, of %.60s: %v\n%s", shape, kind, feed, err, body)
				}
			}
		}
	}
}

// TestResponseOfOnlyTheChallengeIsConsentInEachMediaType covers the responses of real aggregators.
func TestResponseOfOnlyTheChallengeIsConsentInEachMediaType(t *testing.T) {
	t.Parallel()
	const c = consentChallenge
	for _, kind := range []string{"text/plain", "text/html; charset=UTF-8", "application/json", "text/xml", "application/octet-stream", ""} {
		for _, body := range []string{c, c + "\n", "  " + c + "\r\n", `"` + c + `"`, `{"challenge":"` + c + `"}`, "{ \"challenge\" : \"" + c + "\" }\n"} {
			if err := rsscloud.CheckConsent(200, kind, []byte(body), c, consentFeed); err != nil {
				t.Errorf("%q as %q: %v", body, kind, err)
			}
		}
	}
}
