package render

import (
	"testing"
	"time"

	"cloudburst/feed"
)

// goldenFeed returns a feed with most fields set.
func goldenFeed() *feed.Feed {
	return &feed.Feed{
		Title: feed.Text{Value: "Ada's weblog", Type: "text/plain"}, Link: "http://example.org/",
		Subtitle: feed.Text{Value: "Bread, <em>butter</em> & \"feeds\"", Type: "text/html"}, Language: "en",
		Updated: feed.Date{UTC: time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)}, Image: &feed.Image{URL: "http://example.org/logo.png", Title: "Logo", Width: 88},
		Authors: []feed.Person{{Name: "Ada", Email: "ada@example.org"}}, Hubs: []feed.Hub{{Type: "WebSub", URL: "http://hub.example/"}},
		Clouds: []feed.Cloud{{Domain: "cloud.example", Port: "5337", Path: "/rsscloud/pleaseNotify", Protocol: "http-post"}},
		Self:   "http://example.org/rss.xml", Hints: feed.Hints{TTL: "60"},
		Items: []feed.Item{
			{ID: "http://example.org/1", PermaLink: true, Link: "http://example.org/1", Title: feed.Text{Value: "First: naïve ☕", Type: "text/plain"},
				Content:   []feed.Text{{Value: "<p>Hello, <a href=\"http://example.com/\">world</a>.</p>\n<p>€ 5</p>", Type: "text/html"}},
				Published: feed.Date{UTC: time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)}, Authors: []feed.Person{{Name: "Bo", URL: "http://example.org/bo"}},
				Categories: []feed.Category{{Term: "baking"}, {Term: "news", Scheme: "http://example.org/subjects"}},
				Enclosures: []feed.Enclosure{{URL: "http://example.org/1.mp3", Type: "audio/mpeg", Length: 5_000_000_000, Duration: 61.5}},
				Items:      []feed.Item{{ID: "1-1", Title: feed.Text{Value: "An answer", Type: "text/plain"}}}},
			{ID: "2", Summary: feed.Text{Value: "Tabs\tand\nlines, \"quotes\"; \\ and $x @y #{z} ?>", Type: "text/plain"}},
		},
	}
}

func TestRenderedDataAndPagesMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"jsonfeed", "csv", "tsv", "phps", "storable", "php", "perl", "python", "ruby", "js", "jsonp", "html", "text"} {
		doc, warnings, err := Append(nil, goldenFeed(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "small."+name, doc, warnings)
	}
}
