package opml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// subscriptions returns the feeds and included lists of a document.
func subscriptions(d *Document) (all []string) {
	for folders, o := range d.All() {
		if o.FeedURL() != "" || o.IncludeURL() != "" {
			all = append(all, fmt.Sprintf("%q %q %q %q", folders, o.FeedURL(), o.IncludeURL(), o.Title))
		}
	}
	return all
}

func walked(s *Stream) (all []string, err error) {
	_, err = s.Walk(func(folders []string, o *Outline) error {
		if len(o.Outlines)+len(o.Attrs)+len(o.Unknown) > 0 {
			return errors.New("an outline of a stream has something below it")
		}
		all = append(all, fmt.Sprintf("%q %q %q %q", folders, o.FeedURL(), o.IncludeURL(), o.Title))
		return nil
	})
	return all, err
}

// longList returns a list with folders, comments, included lists, and names that are not
// ASCII.
func longList(lines int) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\r\n<opml version=\"2.0\" xmlns:x=\"http://x.example/\"><head><title>Ärger &amp; Freude</title></head>\n<body>\n")
	for i := range lines {
		switch i % 50 {
		case 0:
			fmt.Fprintf(&b, "<outline text=\"Mappe ß %d\">\n", i)
		case 10:
			fmt.Fprintf(&b, "<outline text=\"inner\"><outline type=\"include\" text=\"list\" url=\"http://l%d.example/x.opml\"/>\n", i)
		case 20:
			b.WriteString("</outline>\n")
		case 30:
			fmt.Fprintf(&b, "<!-- <outline xmlUrl=\"http://comment.example/\"/> %s -->\n", strings.Repeat("é>", i%997))
		case 40:
			fmt.Fprintf(&b, "<outline xmlUrl='http://n%d.example/'>name in it<x:y>z</x:y></outline>\n", i)
		case 49:
			b.WriteString("</outline>\n")
		default:
			fmt.Fprintf(&b, "\t<outline text=\"Feed ü %d\" title=\"T &lt;%d&gt;\" xmlUrl=\"http://f%d.example/rss?a=1&amp;b=2\" x:own=\"1\"/>\n", i, i, i)
		}
	}
	b.WriteString("</body></opml>\n")
	return b.String()
}

func TestStreamReturnsTheSameOutlinesAsParse(t *testing.T) {
	t.Parallel()
	doc := longList(2000)
	d, err := ParseBytes([]byte(doc), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := subscriptions(d)
	for _, piece := range []int{512, 513, 514, 777, 4096, streamPiece} {
		s, err := openPieces(strings.NewReader(doc), nil, piece)
		if err != nil {
			t.Fatal(err)
		}
		if s.whole {
			t.Errorf("with pieces of %d bytes the document is in memory", piece)
		}
		got, err := walked(s)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("with pieces of %d bytes (-whole +stream): %v\n%s", piece, err, diff)
		}
		feeds := 0
		for range d.Feeds() {
			feeds++
		}
		if s.Feeds != feeds {
			t.Errorf("%d feeds are counted; want %d", s.Feeds, feeds)
		}
	}
}

func TestStreamReportsProblemsWithLineNumbers(t *testing.T) {
	t.Parallel()
	doc := strings.Replace(longList(2000), "</body>", "<outline text=\"x\" xmlUrl=\"http://last.example/\" text=\"y\"/></body>", 1)
	o := &Options{Limits: Limits{Problems: 10_000}}
	s, err := openPieces(strings.NewReader(doc), o, 700)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Walk(func([]string, *Outline) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	want, err := ParseBytes([]byte(doc), o)
	if err != nil {
		t.Fatal(err)
	}
	last := func(d *Document) Problem {
		for _, p := range d.Problems {
			if strings.Contains(p.Message, "is duplicated") {
				return p
			}
		}
		return Problem{}
	}
	if diff := cmp.Diff(last(want), last(got)); diff != "" || last(want).Line == 0 {
		t.Error(diff)
	}
	if got.Head.Title != want.Head.Title {
		t.Errorf("the title is %q", got.Head.Title)
	}
}

func TestStreamRepairsUnclosedOutlinesAndDecodesCharsets(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"not closed": `<opml><body><outline text="F"><outline text="a" xmlUrl="http://a.example/"><outline text="b" xmlUrl="http://b.example/"></outline></body></opml>`,
		"latin 1":    "<?xml version='1.0' encoding='iso-8859-1'?><opml><body><outline text='\xe9'><outline title='\xe8' text='b' xmlUrl='http://b.example/'/></outline></body></opml>",
		"a banner":   "Warning: x\n<opml><body><outline text='b' xmlUrl='http://b.example/'/></body></opml>",
		"cut off":    `<opml><body><outline text="a" xmlUrl="http://a.example/"/><outline text="b" xmlU`,
	} {
		d, err := ParseBytes([]byte(doc), nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(strings.NewReader(doc), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := walked(s)
		if diff := cmp.Diff(subscriptions(d), got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		kinds := func(d *Document) (list []string) {
			for _, p := range d.Problems {
				if p.Kind != ProblemMore {
					list = append(list, fmt.Sprint(p.Kind, p.Line))
				}
			}
			return list
		}
		again, err := s.Walk(func([]string, *Outline) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range kinds(d) {
			if !strings.Contains(strings.Join(kinds(again), " "), kind) {
				t.Errorf("%s: the problem %s is not reported: %v", name, kind, kinds(again))
			}
		}
	}
}

func TestStreamReportsReachedLimits(t *testing.T) {
	t.Parallel()
	doc := longList(3000)
	for name, limits := range map[string]Limits{"bytes": {Bytes: 10_001}, "outlines": {Outlines: 100}} {
		s, err := openPieces(strings.NewReader(doc), &Options{Limits: limits}, 4096)
		if err != nil {
			t.Fatal(err)
		}
		d, err := s.Walk(func([]string, *Outline) error { return nil })
		if err != nil || s.Feeds > 200 || s.Feeds < 50 {
			t.Errorf("%s: %d feeds, %v", name, s.Feeds, err)
			continue
		}
		if text := fmt.Sprint(d.Problems); !strings.Contains(text, ProblemLimit) {
			t.Errorf("%s: %s", name, text)
		}
	}
	s, err := openPieces(strings.NewReader(doc), &Options{Limits: Limits{Bytes: len(doc)}}, 4096)
	if err != nil || s.cut {
		t.Error("a document of just the limit is cut", err)
	}
}

func TestWalkStopsAtTheErrorOfItsCallback(t *testing.T) {
	t.Parallel()
	s, err := openPieces(strings.NewReader(longList(1000)), nil, 1024)
	if err != nil {
		t.Fatal(err)
	}
	enough, n := errors.New("enough"), 0
	if _, err := s.Walk(func([]string, *Outline) error { n++; return enough }); !errors.Is(err, enough) || n != 1 {
		t.Errorf("%d visits, %v", n, err)
	}
	if got, err := walked(s); len(got) < s.Feeds || err != nil {
		t.Errorf("%d outlines the second time, %v", len(got), err)
	}
}

// endless is a list that is generated while it is read.
type endless struct {
	lines, at int
	rest      []byte
}

func (e *endless) Seek(int64, int) (int64, error) { e.at, e.rest = 0, nil; return 0, nil }

func (e *endless) Read(b []byte) (int, error) {
	for len(e.rest) == 0 {
		switch {
		case e.at == 0:
			e.rest = []byte("<opml version='2.0'><head/><body>")
		case e.at == e.lines:
			e.rest = []byte("</body></opml>")
		case e.at > e.lines:
			return 0, io.EOF
		default:
			// Each element has another name: the scanner's cache of names must not keep the pieces
			// in memory.
			e.rest = fmt.Appendf(nil, "<outline text='%d' xmlUrl='http://f%d.example/'><Name%d>%s</Name%d></outline>words\n", e.at, e.at, e.at, bytes.Repeat([]byte("x"), 300), e.at)
		}
		e.at++
	}
	n := copy(b, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// This test does not run in parallel, because it measures the heap.
func TestStreamUsesConstantMemory(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const lines = 100_000
	before, peak, n := heap(), int64(0), 0
	s, err := Open(&endless{lines: lines}, &Options{Limits: Limits{Bytes: -1}})
	if err != nil || s.Feeds != lines-1 {
		t.Fatal(err)
	}
	_, err = s.Walk(func([]string, *Outline) error {
		if n++; n%20_000 == 0 {
			peak = max(peak, heap()-before)
		}
		return nil
	})
	if err != nil || n != lines-1 {
		t.Fatal(n, err)
	}
	if peak > 3<<20 {
		t.Errorf("a stream of 40 MB uses %d KiB of memory", peak>>10)
	}
}

// FuzzOutlineStream checks that a stream has the same subscriptions as the document parsed in memory.
func FuzzOutlineStream(f *testing.F) {
	f.Add([]byte(longList(60)))
	f.Add([]byte(`<opml><body><outline text="F"><outline text="a" xmlUrl="http://a.example/"><outline text="b" xmlUrl="http://b.example/"></outline></body></opml>`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		d, err := ParseBytes(doc, nil)
		s, failed := Open(bytes.NewReader(doc), nil)
		if (err == nil) != (failed == nil) {
			t.Fatalf("in memory %v, as a stream %v", err, failed)
		}
		if err != nil {
			return
		}
		var want []string
		for folders, o := range d.Feeds() {
			want = append(want, fmt.Sprintf("%q %q", folders, o.FeedURL()))
		}
		var got []string
		_, err = s.Walk(func(folders []string, o *Outline) error {
			if o.FeedURL() != "" {
				got = append(got, fmt.Sprintf("%q %q", folders, o.FeedURL()))
			}
			return nil
		})
		if len(got) != len(want) || len(got) != s.Feeds || err != nil {
			t.Fatalf("%v, %d counted (-memory +stream):\n%s", err, s.Feeds, cmp.Diff(want, got))
		}
	})
}
