package publishhttp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/xmlrpc"
)

// addCloud turns the cloud of alice's feed on or off.
func (d *harness) addCloud(t *testing.T, on bool) author.Feed {
	t.Helper()
	d.now = d.now.Add(time.Minute)
	f, err := d.authors.AddCloud(t.Context(), "alice", on)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCloudElementIsAddedOnlyWhileEnabled(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	doc := hostedRSS(2)
	d.save(t, author.Public, doc)
	was := d.do(t, "GET", "/alice/rss.xml", "")
	if was.body != doc {
		t.Fatalf("served is %q", was.body)
	}
	d.addCloud(t, true)
	with := d.do(t, "GET", "/alice/rss.xml", "", "If-None-Match", was.Header.Get("ETag"), "If-Modified-Since", was.Header.Get("Last-Modified"))
	with.is(t, "with a cloud", http.StatusOK)
	before, after, _ := strings.Cut(doc, "<channel>")
	if !strings.HasPrefix(with.body, before+"<channel><cloud ") || !strings.HasSuffix(with.body, after) {
		t.Errorf("other bytes have changed: %s", with.body)
	}
	c, err := rsscloud.FindCloud([]byte(with.body), public+"/alice/rss.xml")
	if err != nil || c.String() != rsscloud.CloudAt(public).String() {
		t.Errorf("the cloud is %v, %v", c, err)
	}
	d.do(t, "GET", "/alice/rss.xml", "", "If-None-Match", with.Header.Get("ETag")).is(t, "second GET", http.StatusNotModified)
	if privateSource := d.do(t, "GET", "/alice/private/rss.xml", "", "basic", "bob:"+goodSecret); privateSource.body != doc {
		t.Errorf("private readers get %s", privateSource.body)
	}
	d.do(t, "GET", "/alice/feed.xml", "").is(t, "as RSS 2.0", http.StatusOK, "<cloud ")

	// A document that was saved in the meantime also gets the cloud. The response to its PUT has no
	// validators, because the served bytes differ from the saved ones.
	put := d.do(t, "PUT", "/alice/rss.xml", hostedRSS(3), "basic", aliceBasic)
	put.is(t, "a new version", http.StatusNoContent)
	put.has(t, "a new version", "ETag", "", "Last-Modified", "", "Warning", "")
	now := d.do(t, "GET", "/alice/rss.xml", "")
	now.is(t, "the new version", http.StatusOK, "Item 3", "<cloud ")
	d.do(t, "PUT", "/alice/rss.xml", hostedRSS(4), "basic", aliceBasic, "If-Match", now.Header.Get("ETag")).is(t, "PUT with the served ETag", http.StatusNoContent)
	own := strings.Replace(doc, "<channel>", `<channel><cloud domain="other.example" port="80" path="/p" registerProcedure="" protocol="http-post"/>`, 1)
	put = d.do(t, "PUT", "/alice/rss.xml", own, "basic", aliceBasic)
	got := d.do(t, "GET", "/alice/rss.xml", "")
	if got.body != own || put.Header.Get("ETag") != got.Header.Get("ETag") {
		t.Errorf("a document with a cloud is served as %s", got.body)
	}

	d.do(t, "PUT", "/alice/rss.xml", doc, "basic", aliceBasic)
	d.addCloud(t, false)
	if off := d.do(t, "GET", "/alice/rss.xml", ""); off.body != doc || off.Header.Get("ETag") != was.Header.Get("ETag") {
		t.Errorf("switched off, it is served as %s", off.body)
	}
}

func TestSavingFeedWithoutCloudReturnsWarning(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	const missing = `299 - "The document names neither a cloud nor a hub, so programs`
	for what, c := range map[string]struct{ doc, want string }{
		"RSS 2.0":      {hostedRSS(1), missing},
		"RSS 0.91":     {`<rss version="0.91"><channel><title>t</title></channel></rss>`, `299 - "The document names neither a cloud nor a hub, and its format has no place`},
		"with a cloud": {strings.Replace(hostedRSS(1), "<channel>", rsscloudChannel, 1), ""},
	} {
		put := d.do(t, "PUT", "/alice/rss.xml", c.doc, "basic", aliceBasic)
		body, err := xmlrpc.Call{Method: methodSaveRSS, Params: []any{"alice", goodPassword, c.doc}}.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "/RPC2", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "text/xml")
		w := httptest.NewRecorder()
		d.rpc().ServeHTTP(w, r)
		for by, got := range map[string]string{"PUT": put.Header.Get("Warning"), "saveRss": w.Header().Get("Warning")} {
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("%s by %s: Warning %q", what, by, got)
			}
		}
	}
	d.do(t, "PUT", "/alice/private/rss.xml", hostedRSS(1), "basic", aliceBasic).has(t, "private feed", "Warning", "")
}

const rsscloudChannel = `<channel><cloud domain="hub.example" port="80" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post"/>`
