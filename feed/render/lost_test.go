package render

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/cputime"
)

// leftOut returns the kinds of content that the warning left-out lists, or "" without that warning.
func leftOut(t *testing.T, f *feed.Feed, format string) string {
	t.Helper()
	_, warnings, err := Append(nil, f, format, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		if w.Rule == "left-out" {
			_, list, _ := strings.Cut(w.Text, ": ")
			return strings.TrimSuffix(list, ".")
		}
	}
	return ""
}

func TestJSONFeedWarnsOfOmittedData(t *testing.T) {
	t.Parallel()
	date := feed.Date{Raw: "2026-01-02T03:04:05Z", UTC: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	n := 3
	item := func(it feed.Item) feed.Feed { return feed.Feed{Format: feed.RSS, Items: []feed.Item{it}} }
	for _, c := range []struct {
		want string
		f    feed.Feed
	}{
		{"", feed.Feed{Format: feed.RSS, Title: feed.Text{Value: "T"}, Link: "https://a.example/", Links: []feed.Link{{Rel: "alternate", Href: "https://a.example/"}, {Rel: "self", Href: "https://a.example/f"}}}},
		{"", item(feed.Item{Link: "https://a.example/1", Links: []feed.Link{{Rel: "alternate", Href: "https://a.example/1"}}, Published: date, Updated: date, Categories: []feed.Category{{Term: "c"}}})},
		{"identifiers", feed.Feed{Format: feed.RSS, ID: "urn:x-a:1"}},
		{"dates", feed.Feed{Updated: date}},
		{"rights and licences", feed.Feed{Rights: feed.Text{Value: "r"}}},
		{"categories", feed.Feed{Categories: []feed.Category{{Term: "c"}}}},
		{"the generator", feed.Feed{Generator: &feed.Generator{Name: "g"}}},
		{"update schedules", feed.Feed{Hints: feed.Hints{TTL: "60"}}},
		{"images", feed.Feed{Image: &feed.Image{URL: "https://a.example/i", Title: "t"}}},
		{"clouds", feed.Feed{Clouds: []feed.Cloud{{Path: "/nowhere"}}}},
		{"other details of persons", feed.Feed{Contributors: []feed.Person{{Name: "Ann"}}}},
		{"email addresses of persons", feed.Feed{Authors: []feed.Person{{Name: "Ann", URL: "https://a.example/ann", Email: "ann@a.example"}}}},
		{"links other than to the page", feed.Feed{Links: []feed.Link{{Rel: "via", Href: "https://b.example/"}}}},
		{"modules", feed.Feed{TextInput: &feed.TextInput{Title: "t"}}},
		{"category schemes", item(feed.Item{Categories: []feed.Category{{Term: "c", Scheme: "urn:s"}}})},
		{"sources of items", item(feed.Item{Source: &feed.Source{URL: "https://b.example/"}})},
		{"comments", item(feed.Item{More: &feed.More{CommentCount: &n}})},
		{"modules", item(feed.Item{More: &feed.More{Section: "s"}})},
		{"places", item(feed.Item{More: &feed.More{Where: []feed.Geometry{{Type: "Point", Coordinates: [][]float64{{1, 2}}}}}})},
		{"full texts", item(feed.Item{Content: []feed.Text{{Value: "<svg/>", Type: "image/svg+xml"}}})},
	} {
		if got := leftOut(t, &c.f, "jsonfeed"); got != c.want {
			t.Errorf("left out: %q, want %q", got, c.want)
		}
	}
}

func TestImagesAreNotTextsOfJSONFeed(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Items: []feed.Item{{ID: "1", Summary: feed.Text{Value: "A photo.", Type: plainText}, Content: []feed.Text{{Value: "aVZCT1J3", Type: "image/png"}}}}}
	if doc := rendered(t, f, "jsonfeed", nil); !strings.Contains(doc, `"content_text": "A photo."`) || strings.Contains(doc, "aVZCT1J3") {
		t.Error(doc)
	}
}

func TestDetailsOfFilesAreWrittenOrReported(t *testing.T) {
	t.Parallel()
	item := func(files ...feed.Enclosure) *feed.Feed {
		return &feed.Feed{Items: []feed.Item{{ID: "1", Enclosures: files}}}
	}
	short := feed.Enclosure{URL: "https://a.example/1.mp3", Type: "audio/mpeg", Duration: 61.5}
	named := feed.Enclosure{URL: "https://a.example/2.mp3", Type: "audio/mpeg", Title: "Two"}
	for _, c := range []struct {
		format, want, left string
		f                  *feed.Feed
	}{
		{"rss20", "<itunes:duration>62</itunes:duration>", "", item(short)},
		{"rdf", "<itunes:duration>62</itunes:duration>", "identifiers", item(short)},
		{"atom", "<itunes:duration>62</itunes:duration>", "", item(short)},
		{"rss20", "", "titles, lengths and durations of enclosures", item(short, short)},
		{"rss20", "", "titles, lengths and durations of enclosures", item(named)},
		{"atom", `title="Two"`, "", item(named)},
		{"rss093", "", "identifiers, titles, lengths and durations of enclosures", item(short)},
	} {
		if doc, left := rendered(t, c.f, c.format, nil), leftOut(t, c.f, c.format); !strings.Contains(doc, c.want) || left != c.left || c.want == "" && strings.Contains(doc, "duration") {
			t.Errorf("%s: left out %q, want %q and %q in %s", c.format, left, c.left, c.want, doc)
		}
	}
	own := item(short)
	own.Items[0].ITunes = &feed.ITunes{Duration: "1:01"}
	if doc := rendered(t, own, "rss20", nil); strings.Count(doc, "<itunes:duration>") != 1 || !strings.Contains(doc, "<itunes:duration>1:01<") {
		t.Error(doc)
	}
}

func TestLineBreaksOfJSONFeedAreWrittenToRSS(t *testing.T) {
	t.Parallel()
	text := feed.Text{Value: "One <two>\nthree", Type: plainText}
	for _, c := range []struct {
		from feed.Format
		want string
	}{{feed.JSONFeed, "One &lt;two&gt;<br>\nthree"}, {feed.Atom, "One &lt;two&gt;\nthree"}} {
		for _, it := range []feed.Item{{ID: "1", Summary: text}, {ID: "1", Content: []feed.Text{text}}} {
			f := reread(t, []byte(rendered(t, &feed.Feed{Format: c.from, Items: []feed.Item{it}}, "rss20", nil)))
			if got := f.Items[0].Summary.Value; got != c.want {
				t.Errorf("from %s: %q, want %q", c.from, got, c.want)
			}
		}
	}
}

// The items have n licences and n links.
func TestLicencesAreComparedWithLinksInLinearTime(t *testing.T) { // not parallel, because it measures the time
	spent := func(n int) time.Duration {
		more := &feed.More{}
		it := feed.Item{ID: "1", More: more}
		for i := range n {
			more.Licenses = append(more.Licenses, fmt.Sprint("https://a.example/", i))
			it.Links = append(it.Links, feed.Link{Rel: "license", Href: fmt.Sprint("https://b.example/", i)})
		}
		f, least := &feed.Feed{Items: []feed.Item{it}}, time.Hour
		for range 3 {
			least = min(least, cputime.Of(func() { rendered(t, f, "rss20", nil) }))
		}
		return least
	}
	if few, many := spent(2_000), spent(16_000); many > 24*few { // linear time: 8 times as much; quadratic time: 64 times
		t.Errorf("%v for 2,000 licences and %v for 16,000", few, many)
	}
}
