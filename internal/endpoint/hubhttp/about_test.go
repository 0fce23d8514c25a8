package hubhttp

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"cloudburst/internal/hub"
	"cloudburst/protocol/cnws"
)

func TestFeedMetadataIsShortPlainTextWithValidURLs(t *testing.T) {
	t.Parallel()
	rss := func(inside string) string { return "<rss version='2.0'><channel>" + inside + "</channel></rss>" }
	for name, c := range map[string]struct {
		body   string
		header http.Header
		want   hub.About
	}{
		"a feed": {
			rss("<title>A site</title><link>http://a.test/#top</link><description>Its\n words</description>"), nil,
			hub.About{Title: "A site", Home: "http://a.test/", Description: "Its words"},
		},
		"the newest item at any position": {
			rss("<item><title>old</title><pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate></item><item><title>new</title><pubDate>Tue, 02 Jan 2024 00:00:00 GMT</pubDate><description>text</description></item>"), nil,
			hub.About{ItemTitle: "new", ItemText: "text"},
		},
		"not a feed, with Link header": {
			"not a feed", http.Header{"Link": {"<http://a.test/self>; rel=self"}},
			hub.About{Self: "http://a.test/self"},
		},
		"invalid URLs": {rss("<link>javascript:alert(1)</link>"), nil, hub.About{}},
		"too long URL": {rss("<link>http://a.test/" + strings.Repeat("x", 2048) + "</link>"), nil, hub.About{}},
	} {
		if got := about("http://a.test/rss.xml", c.header, []byte(c.body)); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	long := about("http://a.test/rss.xml", nil, []byte(rss("<title>"+strings.Repeat("é", 400)+"</title><description>"+strings.Repeat("é ", 2000)+"</description>")))
	if n := utf8.RuneCountInString(long.Title); n != 255 {
		t.Errorf("a title of %d characters", n)
	}
	words := "A long title " + strings.Repeat("of many words, ", 20)
	if got := about("http://a.test/rss.xml", nil, []byte(rss("<title>"+words+"</title>"))).Title; got != cnws.CutTitle(words) || !strings.HasSuffix(got, ", of many words…") {
		t.Errorf("the title is %q", got)
	}
	if n := utf8.RuneCountInString(long.Description); n > 2000 || n < 1990 {
		t.Errorf("a description of %d characters", n)
	}
	for _, s := range []string{"http://a.test/\x01", "http://a.test/ x", "http://a.test/\xff", "HTTP://", "http://[", ""} {
		if got := webURL(s); got != "" {
			t.Errorf("%q is an address: %q", s, got)
		}
	}
}
