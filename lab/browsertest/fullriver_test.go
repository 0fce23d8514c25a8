package browsertest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/lab/outside"
	"cloudburst/protocol/rsscloud"
)

// fullRiver is a running program whose river contains items of all kinds.
type fullRiver struct {
	*running
	server   *feedServer
	notified *servedFeed
	ids      map[string]int64 // key: name of a source; value: its ID
}

// newFullRiver starts the program, and returns when the program has read its feeds.
func newFullRiver(t *testing.T) *fullRiver {
	t.Helper()
	r := &fullRiver{running: start(t, conf(t)), server: newFeedServer(t), ids: map[string]int64{}}
	now := time.Now()
	screenshots := posts(3, "A walk in the hills")
	screenshots[0].Text = fmt.Sprintf(`<p>We went up in the morning.</p><p><img src="%s/hill.png" alt="A hill under a sky" width="320" height="180"></p><p>And came <a href="%s/way">down</a> again, with <em>some</em> <code>code</code>:</p><pre>for { walk() } // %s</pre><blockquote><p>It was nice.</p></blockquote><ul><li>one<li>two</ul>`, r.server.URL, r.server.URL, strings.Repeat("on and on ", 20))
	screenshots[1].Text = "<p>" + strings.Repeat("A long story of many words, which goes on for a while. ", 60) + "</p>"
	screenshots[1].More = `<category>hills</category><category>a category of many words that is rather long</category><author>anna@example.org (Anna Example)</author><comments>` + r.server.URL + `/comments</comments>`
	screenshots[2].Title = "AHeadlineWithoutAnySpaceThatIsLongerThanAPhoneIsWideAndThenSomeMoreLettersThatGoOnAndOn"
	r.read("walks", r.server.feed("/walks.xml", "Walks", "", screenshots...), "Nature")
	small := []post{}
	for i := range 5 {
		small = append(small, post{Text: fmt.Sprintf("<p>A short thought, number %d, with a link to <a href=%q>somewhere</a>.</p>", 5-i, r.server.URL+"/a/rather/long/address/that/has/no/end?with=a&query=in-it"), At: now.Add(-time.Duration(i+2) * time.Hour)})
	}
	small[1].More = `<source:outline text="Things to do"><source:outline text="Water the flowers"/><source:outline text="Write"><source:outline text="A letter &lt;b&gt;today&lt;/b&gt;"/></source:outline></source:outline>`
	r.notified = r.server.feed("/small.xml", "Small thoughts of somebody whose name is long", rsscloud.CloudAt(r.base).String(), small...)
	r.read("small", r.notified, "People", "Nature")
	show := posts(2, "Talking")
	show[0].More = fmt.Sprintf(`<enclosure url="%s/talk.wav" type="audio/wav" length="160044"/>`, r.server.URL)
	show[1].More = fmt.Sprintf(`<enclosure url="%s/map.pdf" type="application/pdf" length="2000000"/><enclosure url="%s/hill.png" type="image/png" length="1000"/>`, r.server.URL, r.server.URL)
	r.read("show", r.server.feed("/show.xml", "The Show", "", show...), "Listening while the dishes are done")
	r.read("rtl", r.server.feed("/rtl.xml", "\u05d7\u05d3\u05e9\u05d5\u05ea", "<language>he</language>", post{Title: "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd, hello", Text: "<p>\u05d6\u05d4 \u05d8\u05e7\u05e1\u05d8 \u05de\u05d9\u05de\u05d9\u05df \u05dc\u05e9\u05de\u05d0\u05dc.</p>", At: now.Add(-time.Hour)}))
	r.read("many", r.server.feed("/many.xml", "Many", "", posts(60, "One of many")...), "Archive")
	r.addFailingFeeds(t)
	yes := true
	for _, name := range []string{"Nature", "People"} {
		if err := r.river("").PutCategory(t.Context(), name, client.CategoryChange{Public: &yes}); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []client.ForwardingRequest{{Via: "webhook", Target: r.server.URL + "/hook/with/an/address/that/is/rather/long/for/a/phone"}, {Via: "webhook", Target: r.server.URL + "/other", Category: "Nature", Paused: true}} {
		if _, err := r.river("").PutForwarding(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	r.server.put("/paper", "text/html; charset=utf-8", `<!doctype html><title>The Paper</title><link rel="alternate" type="application/rss+xml" title="The News" href="/news.xml"><link rel="alternate" type="application/rss+xml" title="The sports" href="/sports.xml">`)
	r.server.feed("/news.xml", "The News", "")
	r.server.feed("/sports.xml", "The Sports", "")
	var doc bytes.Buffer
	fmt.Fprintf(&doc, `<opml version="2.0"><head><title>A list of somebody</title></head><body><outline type="rss" text="Walks" xmlUrl="%s/walks.xml"/></body></opml>`, r.server.URL)
	r.server.put("/list.opml", "text/x-opml", doc.String())
	if _, err := r.river("").ImportOPML(t.Context(), nil, client.OPMLOptions{URL: r.server.URL + "/list.opml", Follow: true}); err != nil {
		t.Fatal(err)
	}
	star := []client.ID{}
	for it, err := range r.river("").Items(t.Context(), client.ItemQuery{Source: fmt.Sprint(r.ids["walks"])}) {
		if err != nil {
			t.Fatal(err)
		}
		star = append(star, client.ID(it.ID))
	}
	on := true
	if _, err := r.river("").Mark(t.Context(), client.MarkRequest{IDs: star[:2], Starred: &on}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *fullRiver) read(name string, p *servedFeed, categories ...string) {
	r.t.Helper()
	r.ids[name] = r.follow("", p.url(), categories...).ID
}

// addFailingFeeds follows two feeds. Then the first feed fails with status 500, and the second
// feed is gone with status 410.
func (r *fullRiver) addFailingFeeds(t *testing.T) {
	t.Helper()
	for _, name := range []string{"failing", "gone"} {
		p := r.server.feed("/"+name+".xml", "A feed that is "+name, rsscloud.CloudAt(r.base).String(), posts(1, "Old news")...)
		r.read(name, p, "People")
		r.server.put("/"+name+".xml", "status", map[string]string{"failing": "500", "gone": "410"}[name])
		r.ping(p.url())
		outside.Until(t, "the feed "+name+" is checked again", func() bool {
			got, err := r.river("").Explain(t.Context(), p.url())
			return err == nil && len(got.Checks) > 1
		})
	}
}
