package readerui

import (
	"net/url"
	"strings"
	"testing"
)

func FuzzRiverQuery(f *testing.F) {
	for _, s := range []string{"", "category=a%2Fb&source=7&q=is:starred+x&before=1795198993947.77", "starred=1&unread=1", "source=-1", "before=1.2.3", "q=%ff%00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := url.ParseQuery(s)
		if err != nil {
			return
		}
		q := parseRiverQuery(v)
		back := parseRiverQuery(q.values())
		back.Before = q.Before
		if q.Wrong == "" && back != q {
			t.Errorf("%+v comes back as %+v", q, back)
		}
		if p, ok := parseRiverPlace(riverPlace(q.Before)); q.Before.ID != 0 && (!ok || p != q.Before) {
			t.Errorf("%v comes back as %v", q.Before, p)
		}
	})
}

func TestExportFileNameIsSafe(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"": "feeds.opml", "../../\"x\r\n": "feeds-x.opml", "例え": "feeds.opml", strings.Repeat("ab ", 100): "feeds-" + strings.TrimSuffix(strings.Repeat("ab-", 14)[:41], "-") + ".opml"} {
		if got := exportName(name); got != want && len(got) > 60 {
			t.Errorf("%q: %q", name, got)
		}
	}
}

func TestFeedURLSchemeIsReplacedByHTTP(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"feed://a.example/x": "https://a.example/x", "web+feed:http://a.example/": "http://a.example/", "FEED:https://a.example": "https://a.example", "https://a.example": "https://a.example", "feed": "feed", "": ""} {
		if got := plainAddress(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
