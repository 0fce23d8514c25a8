package render

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
)

// Each case sets one value of a feed and its item. A format writes the value, or left-out names its kind.
func TestValuesAreWrittenOrReportedAsLeftOut(t *testing.T) {
	t.Parallel()
	const page, words = "https://m.example/mark", "mark"
	when := feed.Date{Raw: "2026-01-02T03:04:05Z", UTC: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	text, number := feed.Text{Value: words}, 7
	place := []feed.Geometry{{Type: "Point", Coordinates: [][]float64{{12, 13}}}}
	keywords := &feed.Media{MediaInfo: feed.MediaInfo{Keywords: []string{words}}}
	file := feed.Enclosure{URL: "https://a.example/f", Type: "audio/mpeg"}
	for _, c := range []struct {
		name, mark string
		set        func(*feed.Feed, *feed.Item, *feed.More)
	}{
		{"documentation", page, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Docs = page }},
		{"rating", words, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Rating = words }},
		{"information", words, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Info = text }},
		{"ID of the feed", page, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.ID = page }},
		{"next page", page, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Next = page }},
		{"language", "de-AT", func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Language = "de-AT" }},
		{"subtitle", words, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Subtitle = text }},
		{"rights", words, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Rights = text }},
		{"creation date", "2026", func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Created = when }},
		{"author", words, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Authors = []feed.Person{{Name: words}} }},
		{"portrait", page, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Authors = []feed.Person{{Name: "x", Avatar: page}} }},
		{"contributor", words, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Contributors = []feed.Person{{Name: words}} }},
		{"publisher", words, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Publisher = &feed.Person{Name: words} }},
		{"category", words, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Categories = []feed.Category{{Term: words}} }},
		{"generator", words, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Generator = &feed.Generator{Name: words} }},
		{"icon", page, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Icon = page }},
		{"caption", words, func(f *feed.Feed, _ *feed.Item, _ *feed.More) {
			f.Image = &feed.Image{URL: "https://a.example/i", Link: "https://a.example/", Description: words}
		}},
		{"link of the feed", page, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Links = []feed.Link{{Rel: "via", Href: page}} }},
		{"hub", page, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Hubs = []feed.Hub{{Type: "WebSub", URL: page}} }},
		{"ttl", "67", func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Hints.TTL = "67" }},
		{"skipped hour", "13", func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Hints.SkipHours = []string{"13"} }},
		{"update period", "weekly", func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Hints.UpdatePeriod = "weekly" }},
		{"update base", "2026", func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Hints.UpdateBase = when }},
		{"end", "expired", func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Hints.Expired = true }},
		{"archive", "archive", func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Hints.Archive = true }},
		{"licence", page, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Licenses = []string{page} }},
		{"address for errors", page, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.ErrorReports = page }},
		{"account", words, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Accounts = []feed.Account{{Name: words}} }},
		{"search", "77", func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Search = &feed.Search{TotalResults: "77"} }},
		{"place", "12", func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Where = place }},
		{"iTunes", words, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.ITunes = &feed.ITunes{Subtitle: words} }},
		{"media", words, func(f *feed.Feed, _ *feed.Item, _ *feed.More) { f.Media = keywords }},
		{"attribute", "y:mark", func(f *feed.Feed, _ *feed.Item, _ *feed.More) {
			f.Attrs = []feed.Attr{{Space: "urn:y", Name: "y:mark", Value: "z"}}
		}},

		{"author of the item", words, func(_ *feed.Feed, it *feed.Item, _ *feed.More) { it.Authors = []feed.Person{{Name: words}} }},
		{"page of the author", page, func(_ *feed.Feed, it *feed.Item, _ *feed.More) { it.Authors = []feed.Person{{Name: "x", URL: page}} }},
		{"contributor to the item", words, func(_ *feed.Feed, it *feed.Item, _ *feed.More) { it.Contributors = []feed.Person{{Name: words}} }},
		{"full text", words, func(_ *feed.Feed, it *feed.Item, _ *feed.More) { it.Content = []feed.Text{text} }},
		{"remote text", page, func(_ *feed.Feed, it *feed.Item, _ *feed.More) {
			it.Content = []feed.Text{{Src: page, Type: htmlText}}
		}},
		{"file", file.URL, func(_ *feed.Feed, it *feed.Item, _ *feed.More) { it.Enclosures = []feed.Enclosure{file} }},
		{"link of the item", page, func(_ *feed.Feed, it *feed.Item, _ *feed.More) { it.Links = []feed.Link{{Rel: "via", Href: page}} }},
		{"page of the source", page, func(_ *feed.Feed, it *feed.Item, _ *feed.More) {
			it.Source = &feed.Source{URL: "https://a.example/s", Link: page}
		}},
		{"rights of the source", words, func(_ *feed.Feed, it *feed.Item, _ *feed.More) {
			it.Source = &feed.Source{URL: "https://a.example/s", Rights: text}
		}},
		{"creation of the item", "2026", func(_ *feed.Feed, _ *feed.Item, m *feed.More) { m.Created = when }},
		{"draft", "draft", func(_ *feed.Feed, _ *feed.Item, m *feed.More) { m.Draft = true }},
		{"language of the item", "de-AT", func(_ *feed.Feed, _ *feed.Item, m *feed.More) { m.Language = "de-AT" }},
		{"banner", page, func(_ *feed.Feed, _ *feed.Item, m *feed.More) { m.BannerImage = page }},
		{"external link", page, func(_ *feed.Feed, _ *feed.Item, m *feed.More) { m.ExternalLink = page }},
		{"comments", page, func(_ *feed.Feed, _ *feed.Item, m *feed.More) { m.Comments = page }},
		{"feed of comments", page, func(_ *feed.Feed, _ *feed.Item, m *feed.More) { m.CommentsFeed = page }},
		{"number of comments", ">7<", func(_ *feed.Feed, _ *feed.Item, m *feed.More) { m.CommentCount = &number }},
		{"section", words, func(_ *feed.Feed, _ *feed.Item, m *feed.More) { m.Section = words }},
		{"reply", page, func(_ *feed.Feed, _ *feed.Item, m *feed.More) { m.InReplyTo = []feed.InReplyTo{{Ref: page}} }},
		{"licence of the item", page, func(_ *feed.Feed, _ *feed.Item, m *feed.More) { m.Licenses = []string{page} }},
		{"place of the item", "12", func(_ *feed.Feed, _ *feed.Item, m *feed.More) { m.Where = place }},
	} {
		base := func() *feed.Feed {
			return &feed.Feed{Format: feed.RSS, Title: feed.Text{Value: "T"}, // the page of the feed would be left out by OPML
				Items: []feed.Item{{ID: "https://a.example/1", IDFrom: feed.FromLink, Link: "https://a.example/1", Title: feed.Text{Value: "I"}}}}
		}
		for _, format := range strings.Fields("rss090 rss091 rss092 rss093 rss094 rss20 rdf atom atom03 jsonfeed cdf scriptingnews opml") {
			f, more := base(), feed.More{}
			c.set(f, &f.Items[0], &more)
			if !reflect.ValueOf(more).IsZero() {
				f.Items[0].More = &more
			}
			if doc := rendered(t, f, format, nil); !strings.Contains(doc, c.mark) && leftOut(t, f, format) == leftOut(t, base(), format) {
				t.Errorf("%s: %s is not reported as left out: %s", format, c.name, doc)
			}
		}
	}
}

func TestLengthsOfFilesAreReportedByAtom03(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Items: []feed.Item{{ID: "urn:1", Enclosures: []feed.Enclosure{{URL: "https://a.example/1.mp3", Type: "audio/mpeg", Length: 123}}}}}
	if got, want := leftOut(t, f, "atom03"), "titles, lengths and durations of enclosures"; got != want {
		t.Errorf("left out: %q, want %q", got, want)
	}
	if got := leftOut(t, f, "atom"); got != "" {
		t.Errorf("Atom 1.0: left out: %q", got)
	}
}
