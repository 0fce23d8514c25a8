package feedfile

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"cloudburst/feed"
)

var update = flag.Bool("update", false, "rewrite the expected files")

func moment() time.Time { return time.Date(2026, 11, 22, 21, 45, 1, 0, time.UTC) }

// post returns an item with non-ASCII text, markup, a file and a category.
func post() *feed.Item {
	return &feed.Item{
		ID: "http://me.example/rss.xml#2026-11-22T21:45:01Z", IDFrom: feed.FromID,
		Title: feed.Text{Value: "Größe & <Maß>"}, Link: "http://me.example/größe?a=1&b=2",
		Summary:    feed.Text{Value: "<p>Zwei\nZeilen, 日本 &amp; ]]&gt;</p>", Type: "text/html"},
		Published:  feed.Date{UTC: moment(), Raw: "Sun, 22 Nov 2026 21:45:01 GMT"},
		Categories: []feed.Category{{Term: "Straße"}},
		Enclosures: []feed.Enclosure{{URL: "http://me.example/a.mp3", Type: "audio/mpeg", Length: 12}},
	}
}

func options() Options { return Options{URL: "http://me.example/rss.xml", Now: moment()} }

// TestAddingAnItemChangesOnlyItemsAndDates compares results with reviewed files: testdata/NAME.in and NAME.out.
func TestAddingAnItemChangesOnlyItemsAndDates(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.in")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, in := range files {
		t.Run(strings.TrimSuffix(filepath.Base(in), ".in"), func(t *testing.T) {
			t.Parallel()
			doc, err := os.ReadFile(in)
			if err != nil {
				t.Fatal(err)
			}
			o := options()
			if strings.Contains(in, "keep") {
				o.Keep = 2
			}
			got, added, err := Add(doc, post(), o)
			if err != nil {
				t.Fatal(err)
			}
			file := strings.TrimSuffix(in, ".in") + ".out"
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Error(d)
			}
			readable(t, got, added)
		})
	}
}

// readable parses the result as a feed reader does, and checks its first item.
func readable(t *testing.T, doc []byte, added Added) {
	t.Helper()
	f, err := feed.ParseBytes(doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Problems {
		if strings.Contains(p.Message, "entity of HTML") {
			continue // RSS 0.91 defines these entities
		}
		t.Errorf("line %d: %s", p.Line, p.Message)
	}
	if len(f.Items) != added.Items {
		t.Fatalf("%d items, not %d", len(f.Items), added.Items)
	}
	it, want := f.Items[0], post()
	if it.Title.Value != want.Title.Value && added.Format != "rss090" {
		t.Errorf("title %q", it.Title.Value)
	}
	text := want.Summary.Value
	if added.Format == "rss091" { // descriptions are plain text
		text = "Zwei Zeilen, 日本 & ]]>"
	}
	if added.Format != "rss090" && it.Summary.Value != text && (len(it.Content) == 0 || it.Content[0].Value != text) {
		t.Errorf("text %q %v, want %q", it.Summary.Value, it.Content, text)
	}
	switch added.Format {
	case "rss20", "rdf", "atom", "jsonfeed":
		if !it.Published.UTC.Equal(want.Published.UTC) && !it.Updated.UTC.Equal(want.Published.UTC) {
			t.Errorf("date %v", it.Published)
		}
	}
	switch added.Format {
	case "rss20", "atom", "jsonfeed":
		if it.ID != want.ID || len(it.Enclosures) != 1 || it.Enclosures[0].Length != 12 {
			t.Errorf("the item is %+v", it)
		}
	}
}

func utf16Bytes(text string, order binary.ByteOrder) []byte {
	var b bytes.Buffer
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		_ = binary.Write(&b, order, u)
	}
	return b.Bytes()
}

func TestEncodingIsPreserved(t *testing.T) {
	t.Parallel()
	const body = "<rss version=\"2.0\"><channel><title>M%cX</title>\n<item><title>a</title></item></channel></rss>"
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		text := "<?xml version=\"1.0\" encoding=\"UTF-16\"?>" + strings.Replace(body, "%c", "ü😀", 1)
		got, added, err := Add(utf16Bytes(text, order), post(), options())
		if err != nil {
			t.Fatal(err)
		}
		readable(t, got, added)
		if !bytes.HasPrefix(got, utf16Bytes(text, order)[:60]) {
			t.Error("the beginning changed")
		}
	}
	for name, char := range map[string]string{"windows-1252": "\x80", "ISO-8859-1": "\xfc", "Shift_JIS": "\x83\x5c", "gb2312": "\xd6\xd0"} {
		text := "<?xml version='1.0' encoding='" + name + "'?>" + strings.Replace(body, "%c", char, 1)
		got, added, err := Add([]byte(text), post(), options())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		before, after, _ := strings.Cut(text, "<item>")
		if !strings.HasPrefix(string(got), before) || !strings.HasSuffix(string(got), "<item>"+after) {
			t.Errorf("%s: the feed is now %q", name, got)
		}
		readable(t, got, added)
	}
	marked := "\ufeff" + strings.Replace(body, "%c", "ü", 1)
	if got, added, err := Add([]byte(marked), post(), options()); err != nil || !strings.HasPrefix(string(got), "\ufeff<rss") {
		t.Errorf("UTF-8 with a byte order mark: %q, %v", got, err)
	} else {
		readable(t, got, added)
	}
}

func TestInvalidFileIsRejectedWithAReason(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		"<rss version='2.0'><channel><item></channel></rss>":                "line 1",
		"<rss version='2.0'><channel><title>&nbsp;</title></channel></rss>": "entity",
		"<rss version='2.0'><channel><title>x":                              "broken",
		"<rss version='2.0'><channel/></rss>":                               "without a place for items",
		"<rss version='2.0'></rss>":                                         "without a place for items",
		"<rss/><rss/>":                                                      "two root elements",
		"<html><body>Hello</body></html>":                                   "<html>",
		"<opml version='2.0'><body/></opml>":                                "<opml>",
		"Hello":                                                             "outside of its markup",
		" \n":                                                               "is empty",
		"<rss version='2.0'><channel><title>\xff</title></channel></rss>": "byte 36",
		"<?xml version='1.0' encoding='utf-7'?><rss/>":                    "utf-7",
		"\xff\xfe\x00\x00": "UTF-32",
		"\xff\xfe<\x00r":   "within a character",
		"\xff\xfe\x00\xd8": "UTF-16",
		`{"version":"https://jsonfeed.org/version/1.1"}`:                       "list of items",
		`{"version":"https://jsonfeed.org/version/1.1","items":{}}`:            "not a list",
		`{"version":"https://jsonfeed.org/version/1.1","items":[{]}`:           "broken",
		`{"version":"https://jsonfeed.org/version/1.1","items":[],"items":[]}`: "two lists",
		`{"version":"https://jsonfeed.org/version/1.1","items":[]} x`:          "after its end",
		`{"items":[]}`: "not a JSON Feed",
		`<rdf:RDF xmlns:rdf="` + nsRDF + `"><channel/></rdf:RDF>`: "only RSS",
		"<rss version='2.0'>" + strings.Repeat("<a>", 300):        "deep",
	} {
		got, _, err := Add([]byte(doc), post(), options())
		if err == nil || !strings.Contains(err.Error(), want) || got != nil {
			t.Errorf("%.80q: %v, %q", doc, err, got)
		}
	}
	if _, _, err := Add(make([]byte, MaxFile+1), post(), options()); err == nil {
		t.Error("a file that is too large was accepted")
	}
	old := `<rss version="2.0"><channel><item><pubDate>Sun, 01 Nov 2026 00:00:00 GMT</pubDate></item><item><pubDate>Mon, 02 Nov 2026 00:00:00 GMT</pubDate></item></channel></rss>`
	o := options()
	o.Keep = 2
	if _, _, err := Add([]byte(old), post(), o); err == nil || !strings.Contains(err.Error(), "oldest item first") {
		t.Errorf("items of a feed with its newest item last were dropped: %v", err)
	}
}

func TestNewFeedHasTheGivenTitleAndLink(t *testing.T) {
	t.Parallel()
	o := options()
	if _, _, err := Add(nil, post(), o); err == nil {
		t.Error("a feed was created without Options.New")
	}
	o.New = &feed.Feed{Title: feed.Text{Value: "Mine"}, Link: "http://me.example/",
		Clouds: []feed.Cloud{{Domain: "hub.example", Port: "5337", Path: "/rsscloud/pleaseNotify", Protocol: "http-post"}},
		Hubs:   []feed.Hub{{Type: "WebSub", URL: "http://hub.example/websub"}}}
	got, added, err := Add(nil, post(), o)
	if err != nil {
		t.Fatal(err)
	}
	readable(t, got, added)
	f, _ := feed.ParseBytes(got, nil)
	if !added.New || f.Title.Value != "Mine" || f.Self != o.URL || len(f.Clouds) != 1 || len(f.Hubs) != 1 {
		t.Errorf("%+v", f)
	}
	second, added, err := Add(got, post(), o)
	if err != nil || added.New || added.Items != 2 {
		t.Errorf("%+v %v\n%s", added, err, second)
	}
}

func FuzzAdd(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.in")
	for _, name := range files {
		if b, err := os.ReadFile(name); err == nil {
			f.Add(b, 0)
			f.Add(b, 1)
		}
	}
	f.Add(utf16Bytes("<rss><channel></channel></rss>", binary.LittleEndian), 3)
	f.Fuzz(func(t *testing.T, doc []byte, keep int) {
		if len(doc) > 1<<16 || len(doc) == 0 {
			return
		}
		o := options()
		o.Keep = max(keep, 0)
		got, added, err := Add(doc, post(), o)
		if err != nil {
			if got != nil && added.Items > 0 {
				t.Error("a result was returned with the error: ", err)
			}
			if strings.Contains(err.Error(), "without damage") {
				t.Errorf("%q became %q: %v", doc, got, err)
			}
			return
		}
		if o.Keep == 0 && len(got) < len(doc)-200 {
			t.Errorf("%d bytes became %d", len(doc), len(got))
		}
	})
}

func TestLineEndingsArePreserved(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"lines":         "<?xml version=\"1.0\"?>\n<rss version=\"2.0\">\n<channel>\n<title>x</title><link>http://e.x/</link><description>d</description>\n<item><title>a</title></item>\n</channel></rss>\n",
		"on one line":   "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>x</title><link>http://e.x/</link><description>d</description></channel></rss>\n",
		"ASCII":         "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<rss version=\"2.0\">\n<channel>\n<title>x</title><link>http://e.x/</link><description>d</description>\n</channel></rss>\n",
		"after another": "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>x</title>\n<link>http://e.x/</link><description>d</description><item><title>a</title></item></channel></rss>\n",
	} {
		it := feed.Item{ID: "urn:1", Title: feed.Text{Value: "T", Type: "text/plain"}, Summary: feed.Text{Value: "<p>one</p>\n<p>two \u00e9</p>", Type: "text/html"}}
		out, _, err := Add([]byte(strings.ReplaceAll(doc, "\n", "\r\n")), &it, Options{URL: "http://e.x/rss.xml", Now: time.Unix(1e9, 0)})
		if err != nil {
			t.Fatal(name, err)
		}
		if rest := strings.ReplaceAll(string(out), "\r\n", ""); strings.ContainsAny(rest, "\r\n") || !strings.Contains(rest, "two") {
			t.Errorf("%s: %q", name, out)
		}
	}
}

func TestAddedItemWithGeneratedFieldsCausesNoWarnings(t *testing.T) {
	t.Parallel()
	const doc = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>x</title><id>urn:x</id><updated>2020-01-01T00:00:00Z</updated></feed>`
	at := feed.Date{UTC: time.Unix(1e9, 0).UTC()}
	it := feed.Item{ID: "urn:1", Published: at, Title: feed.Text{Value: "T"}, Items: []feed.Item{{ID: "urn:2", Title: feed.Text{Value: "within"}}}}
	_, added, err := Add([]byte(doc), &it, Options{URL: "http://e.x/atom.xml", Now: at.UTC})
	if err != nil || len(added.Lost) > 0 {
		t.Errorf("%v %q", err, added.Lost)
	}
}

func TestReplyInJSONFeedIsReportedAsLost(t *testing.T) {
	t.Parallel()
	const doc = `{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[]}`
	for _, tt := range []struct {
		more feed.More
		want []string
	}{
		{feed.More{Markdown: "*hi*", Outlines: []feed.Outline{{Attrs: []feed.Attr{{Name: "text", Value: "hi"}}}}}, nil},
		{feed.More{Markdown: "*hi*", InReplyTo: []feed.InReplyTo{{Href: "http://r.example/1"}}}, []string{"JSON Feed cannot represent the post that an item replies to."}},
		{feed.More{Markdown: "*hi*", Comments: "http://r.example/1"}, []string{"JSON Feed 1.1 cannot represent: comments."}},
	} {
		it := feed.Item{ID: "urn:1", Title: feed.Text{Value: "T"}, Summary: feed.Text{Value: "<p>hi</p>", Type: "text/html"}, More: &tt.more}
		_, added, err := Add([]byte(doc), &it, options())
		if d := cmp.Diff(tt.want, added.Lost); err != nil || d != "" {
			t.Error(err, d)
		}
	}
}
