package render

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
)

func TestFormatsAreSelectedByNameOrExtension(t *testing.T) {
	t.Parallel()
	names, exts := map[string]bool{}, map[string]bool{}
	for _, f := range Formats() {
		if got, err := Lookup(f.Name); err != nil || got != f || names[f.Name] {
			t.Errorf("Lookup(%q) = %v, %v", f.Name, got, err)
		}
		if got, ok := ByExt(f.Ext); f.Ext != "" && (!ok || got != f || exts[f.Ext]) {
			t.Errorf("ByExt(%q) = %v, %v", f.Ext, got, ok)
		}
		if formatWriter(f.Name) == nil || f.Title == "" || !strings.Contains(f.Type, "/") {
			t.Errorf("%s has empty fields", f.Name)
		}
		names[f.Name], exts[f.Ext] = true, true
	}
	for _, ext := range strings.Fields("xml rdf atom json csv tsv php phps pl sto py rb js opml cdf html txt") {
		if !exts[ext] {
			t.Errorf("nothing has the extension %s", ext)
		}
	}
	if _, ok := ByExt(""); ok {
		t.Error("no extension found something")
	}
}

func TestUnknownFormatErrorListsTheFormats(t *testing.T) {
	t.Parallel()
	dst := []byte("before")
	got, _, err := Append(dst, new(feed.Feed), "rss3\x00", nil)
	var unknown *UnknownFormatError
	if !errors.As(err, &unknown) || unknown.Name != "rss3\x00" || string(got) != "before" {
		t.Fatalf("%q, %v", got, err)
	}
	for _, f := range Formats() {
		if !strings.Contains(err.Error(), " "+f.Name) {
			t.Errorf("%q does not name %s", err, f.Name)
		}
	}
	if strings.Contains(err.Error(), "\x00") || !strings.HasPrefix(err.Error(), "render: ") {
		t.Errorf("%q", err)
	}
}

func TestInvalidJSONPCallbackIsRejected(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b", "1a", "a.", ".a", "a..b", "alert(1)", "a-b", "ä", "function", "a.if", "a\n", strings.Repeat("a", 300)} {
		_, _, err := Append(nil, new(feed.Feed), "rss20", &Options{Callback: name})
		var bad *CallbackError
		if !errors.As(err, &bad) || bad.Callback != name {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "a", "_", "$", "feeds.show", "a1.b2.$c"} {
		if _, _, err := Append(nil, new(feed.Feed), "rss20", &Options{Callback: name}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestAppendKeepsThePrefixAndIsDeterministic(t *testing.T) {
	t.Parallel()
	for _, format := range Formats() {
		for seed := range uint64(20) {
			f := randomFeed(seed)
			want := written(t, f, format.Name)
			got, _, _ := Append([]byte("before"), f, format.Name, nil)
			if string(got) != "before"+string(want) {
				t.Fatalf("%s: behind other bytes it is\n%s\nwant\n%s", format.Name, got, want)
			}
			if !bytes.Equal(written(t, f, format.Name), want) {
				t.Fatalf("%s is not the same twice", format.Name)
			}
			if diff := cmp.Diff(randomFeed(seed), f); diff != "" {
				t.Fatalf("%s changed the feed, -want +got:\n%s", format.Name, diff)
			}
		}
	}
}

func TestRenderOptionsReplaceFeedValues(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{
		Title: feed.Text{Value: "t"}, Link: "https://a.example/", Self: "https://old.example/",
		Links:  []feed.Link{{Rel: "self", Href: "https://old.example/"}, {Rel: "hub", Href: "https://hub.example/"}},
		Hubs:   []feed.Hub{{Type: "WebSub", URL: "https://hub.example/"}, {Type: "rssCloud", URL: "https://cloud.example/ping"}},
		Clouds: []feed.Cloud{{Domain: "old.example", Port: "80", Path: "/", Protocol: "http-post"}},
	}
	doc, warnings, err := Append(nil, f, "rss20", &Options{
		Self: "https://new.example/rss.xml", Hubs: []string{"https://own.example/", "https://hub.example/"},
		Cloud:     &feed.Cloud{Domain: "new.example", Port: "443", Path: "/rsscloud", Protocol: "http-post"},
		Generator: &feed.Generator{Name: "It"},
	})
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	got := reread(t, doc)
	want := []feed.Hub{{Type: "WebSub", URL: "https://own.example/"}, {Type: "WebSub", URL: "https://hub.example/"}, {Type: "rssCloud", URL: "https://cloud.example/ping"}}
	if !slices.Equal(got.Hubs, want) || got.Self != "https://new.example/rss.xml" || len(got.Clouds) != 1 || got.Cloud.Domain != "new.example" || got.Generator.Name != "It" {
		t.Errorf("%s", doc)
	}
	if strings.Contains(string(doc), "old.example") {
		t.Errorf("the document has the replaced value:\n%s", doc)
	}
}

func TestOmittedOrShortenedValuesCauseWarnings(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 30)
	many := make([]feed.Item, 16)
	for i := range many {
		many[i] = feed.Item{Title: feed.Text{Value: "t"}, Link: "https://a.example/"}
	}
	for _, c := range []struct {
		format, want string
		f            feed.Feed
	}{
		{"rss090", "title-length title", feed.Feed{Title: feed.Text{Value: long}}},
		{"rss091", "title-length item[1]/title", feed.Feed{Items: []feed.Item{{Title: feed.Text{Value: long}}}}},
		{"rss091", "description-length item[1]/description", feed.Feed{Items: []feed.Item{{Summary: feed.Text{Value: long + long + long + long}}}}},
		{"rss091", "title-made item[1]/title", feed.Feed{Items: []feed.Item{{Summary: feed.Text{Value: "words"}}}}},
		{"rss091", "language-missing language", feed.Feed{}},
		{"rss091", "items ", feed.Feed{Items: many}},
		{"rss090", "items ", feed.Feed{Items: many}},
		{"rdf", "link-made item[1]/link", feed.Feed{Items: []feed.Item{{Title: feed.Text{Value: "t"}}}}},
		{"rdf", "about-duplicate item[2]/id", feed.Feed{Items: []feed.Item{{ID: "urn:x-a:1"}, {ID: "urn:x-a:1"}}}},
		{"rss20", "id-duplicate item[2]/id", feed.Feed{Items: []feed.Item{{ID: "1"}, {ID: "1"}}}},
		{"rss20", "id-duplicate item[1]/item[2]/id", feed.Feed{Items: []feed.Item{{ID: "0", Items: []feed.Item{{ID: "1"}, {ID: "1"}}}}}},
		{"rss20", "cloud-incomplete cloud", feed.Feed{Clouds: []feed.Cloud{{Domain: "a.example"}}}},
		{"rss20", "enclosure-type item[1]/enclosure", feed.Feed{Items: []feed.Item{{Enclosures: []feed.Enclosure{{URL: "https://a.example/"}}}}}},
		{"rss20", "image-size image/width", feed.Feed{Link: "https://a.example/", Image: &feed.Image{URL: "https://a.example/i", Width: 500}}},
		{"rss20", "textinput-incomplete textInput", feed.Feed{TextInput: &feed.TextInput{Name: "q"}}},
		{"rss20", "skipHours skipHours", feed.Feed{Hints: feed.Hints{SkipHours: []string{"24"}}}},
		{"rss20", "date pubDate", feed.Feed{Published: feed.Date{Raw: "soon"}}},
		{"rss20", "relative item[1]/link", feed.Feed{Items: []feed.Item{{Link: "a.html"}}}},
		{"rss092", "left-out ", feed.Feed{Items: []feed.Item{{Authors: []feed.Person{{Name: "Ann"}}}}}},
	} {
		_, warnings, err := Append(nil, &c.f, c.format, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, w := range warnings {
			found = found || w.Rule+" "+w.Path == c.want
			if !strings.HasSuffix(w.Text, ".") {
				t.Errorf("%q is not a sentence", w.Text)
			}
		}
		if !found {
			t.Errorf("%s: no warning %q in %v", c.format, c.want, warnings)
		}
	}
}

func TestRelativeURLsAreResolvedAgainstTheFeed(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{
		Title: feed.Text{Value: "t"}, Link: "/", Self: "https://a.example/feeds/rss.xml",
		Items: []feed.Item{{Link: "../one", More: &feed.More{Comments: "#c"}, Enclosures: []feed.Enclosure{{URL: "1.mp3", Type: "audio/mpeg"}}}},
	}
	for _, format := range []string{"rss20", "rdf", "atom", "jsonfeed"} {
		doc, warnings, _ := Append(nil, f, format, nil)
		got := reread(t, doc)
		if got.Link != "https://a.example/" || got.Items[0].Link != "https://a.example/one" || got.Items[0].Enclosures[0].URL != "https://a.example/feeds/1.mp3" {
			t.Errorf("%s: %v\n%s", format, warnings, doc)
		}
	}
}

func TestNumberOfRenderWarningsIsLimited(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Items: make([]feed.Item, 500)}
	_, warnings, _ := Append(nil, f, "rdf", nil)
	if len(warnings) != maxWarnings+1 || warnings[maxWarnings].Rule != "more" {
		t.Errorf("%d warnings, the last %v", len(warnings), warnings[len(warnings)-1])
	}
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestWriteReturnsTheErrorOfItsWriter(t *testing.T) {
	t.Parallel()
	want := errors.New("full")
	if _, err := Write(broken{want}, new(feed.Feed), "rss20", nil); !errors.Is(err, want) {
		t.Error(err)
	}
	var out strings.Builder
	if _, err := Write(&out, new(feed.Feed), "rss20", nil); err != nil || !strings.HasSuffix(out.String(), "</rss>\n") {
		t.Errorf("%v, %s", err, &out)
	}
}

func TestDepthOfNestedItemsIsLimited(t *testing.T) {
	t.Parallel()
	it := feed.Item{Title: feed.Text{Value: "t"}}
	for range 10_000 {
		it = feed.Item{Title: feed.Text{Value: "t"}, Items: []feed.Item{it}}
	}
	checkRSS(t, written(t, &feed.Feed{Link: "https://a.example/", Items: []feed.Item{it}}, "rss20"), "rss20")
}

func TestItemsWithTheSameIDGetDistinctIDs(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Link: "https://a.example/"}
	for i := range 3 * fewNames {
		f.Items = append(f.Items, feed.Item{ID: "x", Title: feed.Text{Value: strings.Repeat("t", i+1)}, Items: []feed.Item{{ID: "x"}}})
	}
	for _, format := range []string{"rss20", "rdf"} {
		doc := written(t, f, format)
		checkRSS(t, doc, format)
		if got := reread(t, doc); len(got.Problems) > 0 {
			t.Errorf("%s: %v", format, got.Problems)
		}
	}
}

func TestHTMLWordsReturnsTheReadableText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "plain": "plain", "a &amp; b": "a & b", "<p>One<p>Two": "One\nTwo", "a<br>b": "a\nb", "<b>a</b>b": "ab", "<!-- c -->x": "x",
		"<script>alert('<p>')</script>x": "x", "<style>p{}</style>y": "y", `<a title="a>b">c</a>`: "c", "1 < 2": "1 < 2", "<": "<", "<p": "",
		"a\n\n  b": "a\n\n  b", "<i>a\n\n  b</i>": "a b", "<td>a</td><td>b</td>": "a b", "<script>never": "", "&lt;b&gt;": "<b>", "<h1>T</h1>x": "T\nx",
	} {
		if got := htmlWords(in); got != want {
			t.Errorf("htmlWords(%q) = %q, want %q", in, got, want)
		}
	}
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"one two three", 100, "one two three"}, {"one two three", 9, "one two…"}, {"abcdefghij", 5, "abcd…"}, {"日本語日本語", 4, "日本語…"}, {"  a \n b ", 10, "a b"}, {"abc", 3, "abc"},
	} {
		if got := FirstWords(c.in, c.n); got != c.want {
			t.Errorf("FirstWords(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestFastURLCheckMatchesTheSlowCheck(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		s := "https://a.example/" + string([]byte{byte(c)}) + "b"
		if want := iriByte(byte(c)) && c < 0x80 && c != '[' && c != ']'; plainWeb(s) != want {
			t.Errorf("%q: %v, want %v", s, !want, want)
		}
	}
	for _, s := range []string{"", "http://", "https://", "http:///x", "https://?q", "http://#f", "ftp://a.example/", "HTTP://a.example/", "/x", "http:/a"} {
		if plainWeb(s) {
			t.Errorf("%q is plain", s)
		}
	}
}

func TestMediaTypeTokensContainOnlyASCII(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		want := c > ' ' && c < 0x7f && !strings.ContainsRune(`()<>@,;:\"/[]?=`, rune(c))
		if token("a"+string([]byte{byte(c)})) != want {
			t.Errorf("%q: %v, want %v", byte(c), !want, want)
		}
	}
}

func TestEscapingHandlesEveryByteAtEveryOffset(t *testing.T) {
	t.Parallel()
	for _, in := range []byte{inText, inAttr} {
		for c := range 256 {
			for at := range 20 {
				s := strings.Repeat("a", at) + string([]byte{byte(c)}) + strings.Repeat("b", 19-at)
				w := writer{f: new(feed.Feed)}
				w.escape(s, "", in)
				want := string([]byte{byte(c)})
				if specials[c]&in != 0 || c >= 0x80 {
					want = ""
					if c < 0x80 {
						want, _ = entity(want+string([]byte{byte(c)}), 0)
					}
				}
				if got := string(w.b); got != strings.Repeat("a", at)+want+strings.Repeat("b", 19-at) || (len(w.warnings) > 0) != (want == "") {
					t.Fatalf("%q in %d: %q, %v", s, in, got, w.warnings)
				}
			}
		}
	}
}

func TestTTLIsWrittenInTheElementsOfTheFormat(t *testing.T) {
	t.Parallel()
	for ttl, want := range map[string]map[string]string{
		"120": {"rss20": "<ttl>120</ttl>", "rdf": "<sy:updatePeriod>daily</sy:updatePeriod>\n    <sy:updateFrequency>12</sy:updateFrequency>", "cdf": `<INTERVALTIME MIN="120"/>`},
		"20":  {"rdf": "<sy:updatePeriod>hourly</sy:updatePeriod>\n    <sy:updateFrequency>3</sy:updateFrequency>", "atom": "<sy:updateFrequency>3</sy:updateFrequency>"},
		"11":  {"rdf": "", "atom": "", "cdf": `<INTERVALTIME MIN="11"/>`}, // 11 minutes do not divide any period
		"0":   {"rdf": "", "cdf": ""},
	} {
		for format, words := range want {
			doc, _, err := Append(nil, &feed.Feed{Hints: feed.Hints{TTL: ttl}}, format, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(doc), words) || words == "" && (strings.Contains(string(doc), "sy:update") || strings.Contains(string(doc), "SCHEDULE")) {
				t.Errorf("ttl %s in %s: want %q in\n%s", ttl, format, words, doc)
			}
		}
	}
}
