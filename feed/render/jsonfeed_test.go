package render

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/href"

	"github.com/google/go-cmp/cmp"
)

// asJSONFeed reduces a parsed feed to its content, without the details of its encoding.
func asJSONFeed(f *feed.Feed) *feed.Feed {
	f.Problems, f.Encoding, f.Version = nil, "", ""
	byName := func(a, b feed.Node) int { return strings.Compare(a.Name, b.Name) } // the order of members has no meaning
	slices.SortStableFunc(f.Unknown, byName)
	for _, t := range []*feed.Text{&f.Title, &f.Subtitle, &f.Info} {
		t.Base = ""
	}
	mails(f.Authors)
	for i := range f.Items {
		it := &f.Items[i]
		it.IDFrom = ""
		mails(it.Authors)
		slices.SortStableFunc(it.Unknown, byName)
		it.Title.Base, it.Summary.Base = "", ""
		for j := range it.Content {
			it.Content[j].Base = ""
		}
		if it.Content == nil { // JSON Feed requires a text, so the summary is used
			it.Content, it.Summary = []feed.Text{it.Summary}, feed.Text{}
			if it.Content[0].Value == "" {
				it.Content = nil
			}
		}
		for _, d := range []*feed.Date{&it.Published, &it.Updated} {
			if _, err := time.Parse(time.RFC3339, d.Raw); err != nil { // the written date then has the required form
				d.Raw = ""
				if !d.UTC.IsZero() {
					d.Raw = d.UTC.Format(time.RFC3339Nano)
				}
			}
		}
		for j := range it.Enclosures {
			if e := &it.Enclosures[j]; e.Type == "" {
				if e.Type = href.MediaType(e.URL); e.Type == "" {
					e.Type = "application/octet-stream"
				}
			}
		}
	}
	return f
}

// mails gives persons without a URL a mailto URL.
func mails(list []feed.Person) {
	for i := range list {
		if p := &list[i]; p.URL == "" && p.Email != "" {
			p.URL = "mailto:" + p.Email
		}
	}
}

func TestJSONFeedRoundTrip(t *testing.T) {
	t.Parallel()
	// These documents change in a round trip; the value is the reason.
	other := map[string]string{
		"odd-words.json":   "numbers that JSON does not have are texts",
		"wrong-kinds.json": "what stood in a wrong place is in its own now, and what was around it is gone",
		"ids-made.json":    "an ID that was made is one that is said",
	}
	files, err := filepath.Glob("../testdata/json/*.json")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			doc, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f, err := feed.ParseBytes(doc, nil)
			if err != nil {
				return // the document is not a feed
			}
			out := rendered(t, f, "jsonfeed", nil)
			if !json.Valid([]byte(out)) {
				t.Fatalf("invalid JSON: %s", out)
			}
			again, err := feed.ParseBytes([]byte(out), nil)
			if err != nil {
				t.Fatal(err)
			}
			if other[filepath.Base(file)] != "" {
				return
			}
			if diff := cmp.Diff(asJSONFeed(f), asJSONFeed(again)); diff != "" {
				t.Errorf("%s\n%s", diff, out)
			}
		})
	}
}

func TestFeedsOfOtherFormatsAreConvertedToJSONFeed(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{
		Format: feed.RSS,
		Title:  feed.Text{Value: "Bread &amp; <b>butter</b>", Type: "text/html"},
		Link:   "http://example.org/", Self: "http://example.org/rss.xml",
		Clouds:  []feed.Cloud{{Domain: "cloud.example.org", Port: "80", Path: "/RPC2", Protocol: "http-post"}, {Domain: "s.example.org", Port: "443", Path: "ping"}, {Path: "/nowhere"}},
		Hubs:    []feed.Hub{{Type: "WebSub", URL: "http://hub.example/"}},
		Authors: []feed.Person{{Email: "a@example.org"}, {Raw: "somebody"}, {Role: "nobody"}},
		Unknown: []feed.Node{{Space: "http://x.example/", Prefix: "x", Name: "y"}, {Name: "_kept", Text: "1"}, {Name: "plain", Text: "2"}},
		Items: []feed.Item{
			{ID: "1", Summary: feed.Text{Value: "<p>Only a description</p>", Type: "text/html"},
				Published: feed.Date{Raw: "2026-11-20T10:00:00+02:00", UTC: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)},
				Updated:   feed.Date{Raw: "Fri, 20 Nov 2026 10:00:00 GMT", UTC: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)},
				Items:     []feed.Item{{ID: "1.1"}}},
			{ID: "2", Enclosures: []feed.Enclosure{{URL: "http://example.org/a.mp3?x#y", Length: 5}}, ITunes: &feed.ITunes{Seconds: 61, Image: "http://example.org/i.png"},
				Content: []feed.Text{{Src: "http://example.org/film", Type: "video/mp4"}},
				Media:   &feed.Media{Contents: []feed.MediaContent{{URL: "http://example.org/a.mp3?x#y"}, {URL: "http://example.org/b.webm", FileSize: "7", Duration: "1.5"}}}},
		},
	}
	out, warnings, err := Append(nil, f, "jsonfeed", &Options{Hubs: []string{"http://own.example/", "http://hub.example/"}, Self: "http://example.org/feed.json"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"version":"https://jsonfeed.org/version/1.1","title":"Bread & butter","home_page_url":"http://example.org/","feed_url":"http://example.org/feed.json",` +
		`"authors":[{"url":"mailto:a@example.org"},{"name":"somebody"}],` +
		`"hubs":[{"type":"WebSub","url":"http://own.example/"},{"type":"WebSub","url":"http://hub.example/"},{"type":"rssCloud","url":"http://cloud.example.org/RPC2"},{"type":"rssCloud","url":"https://s.example.org/ping"}],` +
		`"_kept":"1","items":[` +
		`{"id":"1","content_html":"<p>Only a description</p>","date_published":"2026-11-20T10:00:00+02:00","date_modified":"2026-11-20T10:00:00Z"},` +
		`{"id":"1.1","content_text":""},` +
		`{"id":"2","content_text":"","image":"http://example.org/i.png","attachments":[` +
		`{"url":"http://example.org/a.mp3?x#y","mime_type":"audio/mpeg","size_in_bytes":5,"duration_in_seconds":61},` +
		`{"url":"http://example.org/film","mime_type":"video/mp4"},` +
		`{"url":"http://example.org/b.webm","mime_type":"video/webm","size_in_bytes":7,"duration_in_seconds":1.5}]}]}`
	var got, wanted any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Error(diff)
	}
	rules := []string{}
	for _, w := range warnings {
		rules = append(rules, w.Path+" "+w.Rule)
	}
	if got, want := strings.Join(rules, ", "), "unknown unknown, item[1]/items nested, item[2]/enclosures attachment-type, item[2]/enclosures attachment-type,  left-out"; got != want {
		t.Errorf("warnings are %s, not %s", got, want)
	}
}

func TestItemTextCannotInjectJSON(t *testing.T) {
	t.Parallel()
	for name, s := range hostileTexts() {
		if doc := rendered(t, filled(s), "jsonfeed", nil); !json.Valid([]byte(doc)) {
			t.Fatalf("%s: %s", name, doc)
		}
		f := filled(s)
		f.Items[0].Enclosures[0].URL = "https://a.example/" // without a URL the file would be omitted
		doc := rendered(t, f, "jsonfeed", nil)
		var got struct {
			Title string
			Items []struct {
				ID          string
				Content     string `json:"content_html"`
				Attachments []struct {
					Mime string `json:"mime_type"`
				}
			}
		}
		if err := json.Unmarshal([]byte(doc), &got); err != nil {
			t.Fatalf("%s: %v in %s", name, err, doc)
		}
		want := strings.ToValidUTF8(s, "")
		if got.Title != want || len(got.Items) != 2 || got.Items[0].ID != want || got.Items[0].Content != want || got.Items[0].Attachments[0].Mime != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestNextURLOfJSONFeedPointsToTheArchive(t *testing.T) {
	t.Parallel()
	archive := feed.Link{Rel: "prev-archive", Href: "https://a.example/archive/5/feed.json"}
	for _, c := range []struct {
		f    feed.Feed
		want string
	}{
		{feed.Feed{Links: []feed.Link{archive}}, archive.Href},
		{feed.Feed{Next: "https://a.example/feed.json?page=2", Links: []feed.Link{archive}}, "https://a.example/feed.json?page=2"},
		{feed.Feed{}, ""},
	} {
		doc, _, err := Append(nil, &c.f, "jsonfeed", &Options{Self: "https://a.example/feed.json"})
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Next string `json:"next_url"`
		}
		if err := json.Unmarshal(doc, &got); err != nil || got.Next != c.want {
			t.Errorf("next_url is %q, not %q (%v) in %s", got.Next, c.want, err, doc)
		}
	}
}

func TestNestedItemsWithinTheFullTextAreNotRepeatedInJSONFeed(t *testing.T) {
	t.Parallel()
	text := func(s string) feed.Text { return feed.Text{Value: s, Type: "text/html"} }
	f := &feed.Feed{Title: feed.Text{Value: "T"}, Items: []feed.Item{{
		ID: "1", Content: []feed.Text{text("<ul><li>a<ul><li>b</li></ul></li></ul>")},
		Items: []feed.Item{{ID: "1#1", Summary: text("a"), Items: []feed.Item{{ID: "1#1.1", Summary: text("b")}}}},
	}}}
	f.Items[0].Items[0].Items = append(f.Items[0].Items[0].Items, feed.Item{ID: "1#1.2"}) // this item is empty
	for i, c := range []struct {
		last string
		want int
	}{{"b", 1}, {"elsewhere", 4}, {"b", 1}, {"elsewhere", 4}} {
		if i == 2 { // the text has the form of an RSS item
			f.Items[0].Summary, f.Items[0].Content = f.Items[0].Content[0], nil
		}
		f.Items[0].Items[0].Items[0].Summary = text(c.last)
		doc, _, err := Append(nil, f, "jsonfeed", &Options{Self: "https://a.example/feed.json"})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(doc), `"id":`); n != c.want {
			t.Errorf("with %q inside there are %d items, not %d: %s", c.last, n, c.want, doc)
		}
	}
}
