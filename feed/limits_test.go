package feed_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"cloudburst/feed"
)

// limited is a kind of document that can exceed one of the limits.
type limited struct {
	name   string
	doc    func(n int) string // returns a document with n of the parts that the limit concerns
	set    func(l *feed.Limits, n int)
	usual  int // the default of the limit
	most   int // maximum that applies even without the limit; 0: none
	count  func(f *feed.Feed) int
	slack  int // permitted difference between the number of parts and the limit
	reason string
}

func limitedDocuments() []limited {
	const strange = `<rss version="2.0" xmlns:x="urn:x"><channel><title>T</title>`
	unknown := func(f *feed.Feed) int { return sizeOf(f).unknown }
	items := func(f *feed.Feed) int { return len(f.Items) }
	depth := func(f *feed.Feed) int {
		n := 2 // the elements rss and channel count too
		for nodes := f.Unknown; len(nodes) > 0; nodes = nodes[0].Children {
			n++
		}
		return n
	}
	setItems := func(l *feed.Limits, n int) { l.Items = n }
	setUnknown := func(l *feed.Limits, n int) { l.Unknown = n }
	setDepth := func(l *feed.Limits, n int) { l.Depth = n }
	return []limited{
		{"items", each(inRSS, "<item><guid>%d</guid></item>", "</channel></rss>"), setItems, 1000, 0, items, 0, "items"},
		{"entries", each(`<feed xmlns="http://www.w3.org/2005/Atom">`, "<entry><id>%d</id></entry>", "</feed>"), setItems, 1000, 0, items, 0, "items"},
		{"items of JSON", func(n int) string {
			return strings.Replace(each(inJSON, `{"id":"%d","content_text":"c"},`, "]}")(n), ",]}", "]}", 1)
		}, setItems, 1000, 0, items, 0, "items"},
		{"depth", func(n int) string {
			return strange + strings.Repeat("<x:a>", n-2) + strings.Repeat("</x:a>", n-2) + "</channel></rss>"
		},
			setDepth, 100, 4000, depth, 0, "deeper"},
		{"attributes", func(n int) string {
			return strange + each("<x:a", ` b%d="v"`, "/></channel></rss>")(n)
		}, func(l *feed.Limits, n int) { l.Attributes = n }, 256, 0, func(f *feed.Feed) int { return len(f.Unknown[0].Attrs) }, 0, "attributes"},
		{"unknown elements", many(strange, "<x:a/>", "</channel></rss>"), setUnknown, 20_000, 0, unknown, 0, "unknown"},
		{"unknown elements in an item", many(strange+"<item>", "<x:a/>", "</item></channel></rss>"), setUnknown, 20_000, 0, unknown, 0, "unknown"},
		{"unknown attributes", func(n int) string { return strange + strings.Repeat(`<x:a b="" c=""/>`, n/3) + "</channel></rss>" }, setUnknown, 20_000, 0, unknown, 2, "unknown"},
		{"unknown texts", func(n int) string {
			return strange + "<x:a>" + strings.Repeat("t<x:b/>", (n-1)/2) + "</x:a></channel></rss>"
		}, setUnknown, 20_000, 0, unknown, 1, "unknown"},
		{"unknown values of JSON", func(n int) string {
			return inJSON[:len(inJSON)-len(`"items":[`)] + `"_x":{"a":[` + strings.Repeat(`"b",`, n-3) + `"b"]},"items":[]}`
		}, setUnknown, 20_000, 0, unknown, 1, "values"},
		{"bytes", func(n int) string {
			const end = "</title></channel></rss>"
			return "<rss version='2.0'><channel><title>" + strings.Repeat("t", n-len(end)-35) + end
		}, func(l *feed.Limits, n int) { l.Bytes = n }, 5 << 20, 0, func(f *feed.Feed) int { return len(f.Title.Value) }, 60, "bytes"},
		{"bytes of JSON", func(n int) string {
			return inJSON + `{"id":"` + strings.Repeat("t", n-len(inJSON)-37) + `","content_text":"c"}]}`
		},
			func(l *feed.Limits, n int) { l.Bytes = n }, 5 << 20, 0, func(f *feed.Feed) int { return len(f.Items[0].ID) }, 150, "bytes"},
	}
}

func about(n, want, slack int) bool { return want-slack <= n && n <= want+slack }

// limits returns the messages of problems about limits.
func limits(f *feed.Feed) []string {
	var out []string
	for _, p := range f.Problems {
		if p.Kind == feed.ProblemLimit {
			out = append(out, p.Message)
		}
	}
	return out
}

// TestParserReportsReachedLimitAndParsesTheRest tests each limit with its default, with a smaller
// value, switched off, and with a document that just reaches the limit.
func TestParserReportsReachedLimitAndParsesTheRest(t *testing.T) {
	t.Parallel()
	for _, c := range limitedDocuments() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			read := func(n, limit int) (*feed.Feed, []string) {
				o := &feed.Options{Limits: feed.Limits{Bytes: -1}}
				c.set(&o.Limits, limit)
				f, err := feed.Parse(strings.NewReader(c.doc(n)), o)
				if err != nil {
					t.Fatal(err)
				}
				return f, limits(f)
			}
			exceeded := func(n, limit, want int) {
				f, reported := read(n, limit)
				if got := c.count(f); !about(got, want, c.slack) || len(reported) != 1 || !strings.Contains(reported[0], c.reason) {
					t.Errorf("%d parts with a limit of %d: got %d, reported %q", n, limit, got, reported)
				}
			}
			kept := func(n, limit int) {
				f, reported := read(n, limit)
				if got := c.count(f); !about(got, n, c.slack) || len(reported) > 0 {
					t.Errorf("%d parts with a limit of %d: got %d, reported %q", n, limit, got, reported)
				}
			}
			exceeded(c.usual+1+c.slack, 0, c.usual)
			kept(c.usual, 0)
			small := max(20, c.usual/10)
			exceeded(small+1+c.slack, small, small)
			kept(small, small)
			kept(2*c.usual, -1)
			if c.most > 0 {
				exceeded(c.most+1, -1, c.most)
				kept(c.most, c.most+1)
			}
		})
	}
}

func TestProblemsBeyondTheReportLimitAreCounted(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]func(n int) string{
		"XML":  many(inRSS, "</x>", "</channel></rss>"),
		"text": many(inItem+"<description>", "& ", "</description></item></channel></rss>"),
		"JSON": func(n int) string {
			return inJSON + strings.Repeat(`{"id":"1","content_text":1},`, n/2) + `{"id":"2","content_text":"c"}]}`
		},
	} {
		for _, limit := range []int{0, 5} {
			want := limit
			if limit == 0 {
				want = 100
			}
			f, err := feed.ParseBytes([]byte(doc(1000)), &feed.Options{Limits: feed.Limits{Problems: limit}})
			if err != nil {
				t.Fatal(err)
			}
			last := f.Problems[len(f.Problems)-1]
			reported, n := 0, 0
			_, scanErr := fmt.Sscanf(last.Message, "There are %d more", &n)
			for _, p := range f.Problems {
				if p.Kind != feed.ProblemMore {
					reported++
				}
			}
			if last.Kind != feed.ProblemMore || scanErr != nil || reported != want {
				t.Errorf("%s: %d problems, the last one is %v", name, reported, last)
			}
			if all, err := feed.ParseBytes([]byte(doc(1000)), &feed.Options{Limits: feed.Limits{Problems: -1}}); err != nil || len(all.Problems) != reported+n {
				t.Errorf("%s: %d problems without a limit (%v); with a limit %d listed and %d counted", name, len(all.Problems), err, reported, n)
			}
		}
	}
}

func TestReachedLimitIsReportedAfterAHundredOtherProblems(t *testing.T) {
	t.Parallel()
	wrong := strings.Repeat("</x>", 500)
	for name, doc := range map[string]string{
		"items":   inRSS + wrong + strings.Repeat("<item/>", 1001),
		"depth":   inRSS + wrong + strings.Repeat("<a>", 200),
		"unknown": inRSS + wrong + strings.Repeat("<zz/>", 20_001),
		"JSON":    inJSON + strings.Repeat(`{"id":"1","content_text":1},`, 1001) + "]}",
	} {
		f, err := feed.ParseBytes([]byte(doc), nil)
		if err != nil || len(limits(f)) != 1 {
			t.Errorf("%s: reported %q, %v", name, limits(f), err)
		}
	}
	f, err := feed.ParseBytes([]byte(inRSS+wrong+strings.Repeat("<a>", 90)+strings.Repeat("<b><c><d><e><f><g><h><i><j><k></k></j></i></h></g></f></e></d></c></b>", 5000)), nil)
	if err != nil || len(f.Problems) > 120 {
		t.Errorf("%d problems, %v", len(f.Problems), err)
	}
}

// TestTooLongListIsTruncated parses a list whose elements need much more memory than their
// markup.
func TestTooLongListIsTruncated(t *testing.T) {
	t.Parallel()
	doc := inMedia + strings.Repeat("<media:content/>", 100_000) + "<title>T</title></item><item><title>U</title></item></channel></rss>"
	f, err := feed.ParseBytes([]byte(doc), nil)
	if err != nil || len(limits(f)) != 1 {
		t.Fatalf("reported %q, %v", limits(f), err)
	}
	if n := len(f.Items[0].Media.Contents); n < 1000 || n == 100_000 {
		t.Errorf("%d of 100,000 files were stored", n)
	}
	if f.Items[0].Title.Value != "T" || f.Items[1].Title.Value != "U" {
		t.Error("the content after the list was not parsed")
	}
}

// TestParserStopsReadingAtTheByteLimit counts the bytes that are read.
func TestParserStopsReadingAtTheByteLimit(t *testing.T) {
	t.Parallel()
	item := "<item><title>" + strings.Repeat("t", 6000) + "</title></item>"
	body := func() *counter {
		return &counter{r: io.MultiReader(strings.NewReader(inRSS), bytes.NewReader(bytes.Repeat([]byte(item), 8000)))}
	}
	r := body()
	f, err := feed.Parse(r, nil)
	if err != nil || len(limits(f)) != 1 || r.n > 4*(5<<20)+4 {
		t.Fatalf("read %d bytes, reported %q, %v", r.n, limits(f), err)
	}
	if want := (5<<20)/len(item) + 1; !about(len(f.Items), want, 1) {
		t.Errorf("%d items, want %d", len(f.Items), want)
	}
	r = body()
	if f, err = feed.Parse(r, &feed.Options{Limits: feed.Limits{Bytes: -1, Items: -1}}); err != nil || len(f.Items) != 8000 || len(limits(f)) > 0 {
		t.Errorf("without limits: %d items, %v", len(f.Items), err)
	}
}

func TestDocumentBeyondTheByteLimitIsNotTruncated(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		`<rss version="2.0"><channel><title>T</title><item><title>1</title><description><![CDATA[<p>two &amp; three</p>]]></description><!-- a <b> --><enclosure url="a" length='1'/>&amp;x</item></channel></rss>`,
		`{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[{"id":"1","content_text":"one"},{"id":"2","content_text":"two"}]}`,
	} {
		for n := 60; n < len(doc); n++ {
			f, err := feed.ParseBytes([]byte(doc), &feed.Options{Limits: feed.Limits{Bytes: n}})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range f.Problems {
				if p.Kind != feed.ProblemLimit && p.Kind != feed.ProblemValue && p.Kind != feed.ProblemMissing {
					t.Errorf("%s: problem %s, %s", doc[:n], p.Kind, p.Message)
				}
			}
		}
	}
}

// counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// TestDeeplyNestedFeedSurvivesJSONRoundTrip covers all nested structures. encoding/json does not decode
// more than 10,000 levels.
func TestDeeplyNestedFeedSurvivesJSONRoundTrip(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"elements":  inRSS + strings.Repeat("<zz>", 10_000),
		"items":     inRSS + `<item xmlns:rssCloud="http://rsscloud.org">` + strings.Repeat("<rssCloud:item>", 10_000),
		"headlines": inRSS + `<item xmlns:source="http://source.scripting.com/">` + strings.Repeat("<source:outline>", 10_000),
		"channels":  "<CHANNEL HREF='a'>" + strings.Repeat("<CHANNEL>", 10_000),
		"arrays":    inJSON + `{"_a":` + strings.Repeat("[", 10_000),
		"objects":   inJSON + strings.Repeat(`{"_a":`, 10_000),
	} {
		f, err := feed.ParseBytes([]byte(doc), &feed.Options{Limits: feed.Limits{Depth: -1}})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		back := new(feed.Feed)
		if err := json.Unmarshal(text, back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again, err := json.Marshal(back); err != nil || !bytes.Equal(text, again) || len(text) < 4000*10 {
			t.Errorf("%s: %d bytes of JSON changed to %d bytes, %v", name, len(text), len(again), err)
		}
	}
}

func TestTruncatedListIsReportedOnce(t *testing.T) {
	t.Parallel()
	for what, item := range map[string]string{
		"categories": numbered(1001, func(i int) string { return "<category>c" + strconv.Itoa(i) + "</category>" }),
		"persons":    numbered(1001, func(i int) string { return "<author>p" + strconv.Itoa(i) + "</author>" }),
		"chapters": `<psc:chapters xmlns:psc="http://podlove.org/simple-chapters">` +
			numbered(1001, func(i int) string { return `<psc:chapter start="` + strconv.Itoa(i) + `"/>` }) + "</psc:chapters>",
	} {
		f, err := feed.ParseBytes([]byte(rssItem(item)), nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, p := range f.Problems {
			if p.Kind == feed.ProblemLimit && strings.Contains(p.Message, what) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d problems about too many %s, want 1: %+v", n, what, f.Problems)
		}
	}
	same := rssItem(numbered(1000, func(i int) string { return "<category>c" + strconv.Itoa(i) + "</category>" }) + "<category>c7</category>")
	if f, err := feed.ParseBytes([]byte(same), nil); err != nil || len(f.Problems) > 0 {
		t.Errorf("a duplicate category exceeds the limit: %v %+v", err, f.Problems)
	}
}

func numbered(n int, one func(int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(one(i))
	}
	return b.String()
}
