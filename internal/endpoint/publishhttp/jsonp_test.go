package publishhttp

import (
	"net/http"
	"strings"
	"testing"

	"cloudburst/internal/author"
)

func TestJSONPCallsTheNamedFunction(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(1))
	for query, want := range map[string]string{
		"":                      "/**/feedCallback({",
		"&callback=":            "/**/feedCallback({",
		"&callback=my.app.$got": "/**/my.app.$got({",
	} {
		a := d.do(t, "GET", "/alice/rss.xml?format=jsonp"+query, "")
		a.is(t, query, http.StatusOK)
		a.has(t, query, "Content-Type", "text/javascript; charset=utf-8", "X-Content-Type-Options", "nosniff")
		if !strings.HasPrefix(a.body, want) || !strings.HasSuffix(a.body, "});\n") {
			t.Errorf("%s: %.60q, want %s", query, a.body, want)
		}
	}
	for _, bad := range []string{"alert(1)//", "a;b", "a<b", "1a", "a..b", "a%00", strings.Repeat("a", 300)} {
		d.do(t, "GET", "/alice/rss.xml?format=jsonp&callback="+bad, "").is(t, bad, http.StatusBadRequest)
	}
	other := d.do(t, "GET", "/alice/rss.xml?format=js&callback=alert(1)", "")
	other.is(t, "another format", http.StatusOK)
	if !strings.HasPrefix(other.body, "export default {") {
		t.Errorf("a module is %.60q", other.body)
	}
}
