package publishhttp

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/protocol/wsse"
)

const bobBasic = "bob:" + goodSecret

func wsseOf(name, secret string) string { return wsse.Header(name, secret, time.Now(), nil) }

func TestSecretGivesAccessByURLBasicAndWSSE(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(1))
	d.save(t, author.Private, hostedRSS(2))
	for _, document := range []string{"rss.xml", "feed.xml", "feed", "rss.xml?format=rss091"} {
		for what, a := range map[string]answer{
			"by address": d.do(t, "GET", "/alice/private/"+goodSelector+"."+goodSecret+"/"+document, ""),
			"by Basic":   d.do(t, "GET", "/alice/private/"+document, "", "basic", bobBasic),
			"by WSSE":    d.do(t, "GET", "/alice/private/"+document, "", "X-WSSE", wsseOf("bob", goodSecret), "Authorization", `WSSE profile="UsernameToken"`),
		} {
			a.is(t, what+" "+document, http.StatusOK, "Item 2")
			a.has(t, what+" "+document, "Cache-Control", "private, no-store", "Referrer-Policy", "no-referrer", "Link", "")
		}
	}
	a := d.do(t, "GET", "/alice/private/rss.xml", "", "basic", bobBasic)
	tag := a.Header.Get("ETag")
	d.do(t, "GET", "/alice/private/rss.xml", "", "basic", bobBasic, "If-None-Match", tag).is(t, "If-None-Match with credentials", http.StatusNotModified)
	d.do(t, "GET", "/alice/private/rss.xml", "", "If-None-Match", tag).is(t, "If-None-Match without credentials", http.StatusUnauthorized)
	d.do(t, "GET", "/alice/private/feed", "", "basic", bobBasic, "Accept", "application/json").has(t, "JSON", "Content-Type", "application/feed+json; charset=utf-8")
	d.do(t, "GET", "/alice/private/feed.exe", "", "basic", bobBasic).is(t, "unknown extension", http.StatusNotFound, "xml, rdf, atom")
	if len(d.hits) != 15 {
		t.Errorf("%d responses are reported, want 15", len(d.hits))
	}
	for _, h := range d.hits {
		if h.Feed != "alice/private" || h.Selector != goodSelector {
			t.Errorf("a private reader is reported as %+v", h)
		}
	}
}

func TestAllRefusedRequestsGetTheSameMessage(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Private, hostedRSS(2))
	seen := ""
	used := wsseOf("bob", goodSecret)
	d.do(t, "GET", "/alice/private/rss.xml", "", "X-WSSE", used).is(t, "the first time", http.StatusOK)
	for _, c := range []struct {
		what, target string
		headers      []string
	}{
		{"no credentials", "/alice/private/rss.xml", nil},
		{"no credentials, unknown user", "/zoe/private/rss.xml", nil},
		{"a wrong secret", "/alice/private/rss.xml", []string{"basic", "bob:x"}},
		{"a wrong reader", "/alice/private/feed.json", []string{"basic", "eve:" + goodSecret}},
		{"the password of the account", "/alice/private/rss.xml", []string{"basic", aliceBasic}},
		{"an unknown user", "/zoe/private/rss.xml", []string{"basic", bobBasic}},
		{"WSSE with a wrong secret", "/alice/private/rss.xml", []string{"X-WSSE", wsseOf("bob", "x")}},
		{"WSSE that came before", "/alice/private/rss.xml", []string{"X-WSSE", used}},
		{"WSSE that is broken", "/alice/private/rss.xml", []string{"X-WSSE", "UsernameToken x"}},
		{"WSSE that is broken, and Basic", "/alice/private/rss.xml", []string{"X-WSSE", "x", "basic", bobBasic}},
		{"Basic that is broken", "/alice/private/rss.xml", []string{"Authorization", "Basic x"}},
		{"bearer token", "/alice/private/rss.xml", []string{"Authorization", "Bearer " + tokenAll}},
		{"an unknown extension without credentials", "/alice/private/feed.exe", nil},
	} {
		a := d.do(t, "GET", c.target, "", c.headers...)
		a.is(t, c.what, http.StatusUnauthorized)
		a.has(t, c.what, "Cache-Control", "private, no-store", "Cross-Origin-Resource-Policy", "same-origin",
			"WWW-Authenticate", `Basic realm="private feed", charset="UTF-8" | `+wsse.Challenge("private feed"))
		if seen == "" {
			seen = a.body
		}
		if a.body != seen {
			t.Errorf("%s: %q, not %q", c.what, a.body, seen)
		}
	}
	seen = ""
	for _, target := range []string{"/alice/private/sel1.x/rss.xml", "/alice/private/x." + goodSecret + "/rss.xml", "/alice/private/./rss.xml", "/alice/private/x/rss.xml",
		"/zoe/private/sel1." + goodSecret + "/rss.xml", "/alice/private/sel1." + goodSecret + "/other", "/alice/private/", "/alice/private/other", "/alice/private//rss.xml"} {
		a := d.do(t, "GET", target, "", "basic", bobBasic)
		a.is(t, target, http.StatusNotFound)
		a.has(t, target, "Cache-Control", "private, no-store", "WWW-Authenticate", "")
		if seen == "" {
			seen = a.body
		}
		if a.body != seen {
			t.Errorf("%s: %q, not %q", target, a.body, seen)
		}
	}
	d.accounts.fail = fault.New(fault.TooMany, "Too many.")
	d.do(t, "GET", "/alice/private/sel1.x/rss.xml", "").is(t, "too many", http.StatusTooManyRequests)
	d.do(t, "GET", "/alice/private/rss.xml", "", "basic", bobBasic).is(t, "too many", http.StatusTooManyRequests)
}

func TestPrivateFeedContainsNeitherHubNorItsURL(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Private, strings.Replace(hostedRSS(2), "<item>",
		`<cloud domain="other.example" port="80" path="/" registerProcedure="" protocol="http-post"/>
		<link xmlns="http://www.w3.org/2005/Atom" rel="hub" href="https://other.example/hub"/>
		<link xmlns="http://www.w3.org/2005/Atom" rel="self" href="https://other.example/self"/><item>`, 1))
	for _, f := range render.Formats() {
		target := "/alice/private/" + goodSelector + "." + goodSecret + "/rss.xml?format=" + f.Name
		a := d.do(t, "GET", target, "", "Accept-Encoding", "br")
		a.is(t, f.Name, http.StatusOK)
		a.has(t, f.Name, "Link", "", "Content-Encoding", "")
		for _, word := range []string{goodSecret, goodSelector, "/websub", "pleaseNotify", "/private/", "other.example", "cloud>", "<cloud"} {
			if strings.Contains(a.body, word) {
				t.Errorf("%s has %q: %s", f.Name, word, a.body)
			}
			for name, values := range a.Header {
				if strings.Contains(strings.Join(values, " "), word) {
					t.Errorf("%s: the header %s has %q", f.Name, name, word)
				}
			}
		}
	}
	if strings.Contains(d.logged.String(), goodSecret) {
		t.Errorf("the log has the secret: %s", d.logged)
	}
}

func TestPublicFeedIsServedUntilPrivateFeedIsSaved(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	at := "/alice/private/" + goodSelector + "." + goodSecret + "/rss.xml"
	d.do(t, "GET", at, "").is(t, "no saved feed", http.StatusNotFound)
	d.save(t, author.Public, hostedRSS(1))
	d.do(t, "GET", at, "").is(t, "public feed", http.StatusOK, "Item 1")
	d.save(t, author.Private, hostedRSS(2))
	d.do(t, "GET", at, "").is(t, "private feed", http.StatusOK, "Item 2")
	d.do(t, "GET", "/alice/rss.xml", "").is(t, "public feed at its own URL", http.StatusOK, "Item 1</title>")
	d.do(t, "DELETE", "/alice/private/rss.xml", "", "basic", aliceBasic).is(t, "DELETE", http.StatusNoContent)
	d.do(t, "GET", at, "").is(t, "gone feed", http.StatusGone)
	a := d.do(t, "DELETE", at, "", "basic", aliceBasic)
	a.is(t, "DELETE at the URL of a reader", http.StatusMethodNotAllowed)
	a.has(t, "DELETE at the URL of a reader", "Allow", "GET, HEAD, OPTIONS")
}

func TestRequestsForPrivateFeedsAreNotLogged(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Private, hostedRSS(2))
	d.accounts.fail = fault.New(fault.Unavailable, "The store is away.")
	d.do(t, "GET", "/alice/private/"+goodSelector+"."+goodSecret+"/rss.xml", "").is(t, "by address", http.StatusServiceUnavailable, "The store is away.")
	d.do(t, "GET", "/alice/private/rss.xml", "", "basic", bobBasic).is(t, "by Basic", http.StatusServiceUnavailable)
	log := d.logged.String()
	if !strings.Contains(log, "store is away") {
		t.Errorf("the trouble is not in the log: %s", log)
	}
	if slices.ContainsFunc([]string{goodSecret, goodSelector, "bob"}, func(s string) bool { return strings.Contains(log, s) }) {
		t.Errorf("the log has what only the reader knows: %s", log)
	}
}
