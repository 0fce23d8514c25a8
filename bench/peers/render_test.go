package peers_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	gorilla "github.com/gorilla/feeds"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"
	"cloudburst/feed/render"
)

// posts returns a feed of 40 kB that resembles real feeds, in the types of the peer. Its items
// use all fields that the peer can write.
func posts(b *testing.B) *gorilla.Feed {
	b.Helper()
	f, err := feed.ParseBytes(feedtest.Make(feedtest.RSSContent, 40_000, 1).Body, nil)
	if err != nil {
		b.Fatal(err)
	}
	alice := &gorilla.Author{Name: "Alice", Email: "alice@a.example"}
	out := &gorilla.Feed{
		Title: f.Title.Value, Link: &gorilla.Link{Href: f.Link}, Description: f.Subtitle.Value, Author: alice,
		Created: f.Items[0].Published.UTC, Updated: f.Items[0].Published.UTC, Id: f.Link, Copyright: f.Rights.Value,
	}
	for _, it := range f.Items {
		out.Add(&gorilla.Item{
			Title: it.Title.Value, Link: &gorilla.Link{Href: it.Link}, Id: it.Link, IsPermaLink: "true", Author: alice,
			Created: it.Published.UTC, Updated: it.Published.UTC, Description: it.Summary.Value, Content: it.Content[0].Value,
			Enclosure: &gorilla.Enclosure{Url: it.Link + ".mp3", Length: "123456", Type: "audio/mpeg"},
		})
	}
	return out
}

// BenchmarkRender writes the same feed with package render and with the peer. Our feed is parsed
// from the document of the peer, so both have the same fields. The benchmark measures items with
// full content, which the peer copies into CDATA in RSS, and items with summaries only, which
// both must escape.
func BenchmarkRender(b *testing.B) {
	for _, short := range []bool{false, true} {
		peer, name := posts(b), "whole"
		if short {
			name = "short"
			for _, it := range peer.Items {
				it.Content = ""
			}
		}
		for _, c := range []struct {
			format string
			write  func(w io.Writer) error
		}{{"rss20", peer.WriteRss}, {"atom", peer.WriteAtom}, {"jsonfeed", peer.WriteJSON}} {
			if short && c.format == "jsonfeed" {
				continue // JSON Feed requires content, so our document would have more fields
			}
			b.Run(name+"/"+c.format, func(b *testing.B) { renderVersusPeer(b, c.format, c.write) })
		}
	}
}

func renderVersusPeer(b *testing.B, format string, write func(w io.Writer) error) {
	var theirs bytes.Buffer
	if err := write(&theirs); err != nil {
		b.Fatal(err)
	}
	f, err := feed.ParseBytes(bytes.Clone(theirs.Bytes()), nil)
	if err != nil {
		b.Fatal(err)
	}
	ours, _, err := render.Append(nil, f, format, nil)
	if err != nil {
		b.Fatal(err)
	}
	again, err := feed.ParseBytes(bytes.Clone(ours), nil)
	if err != nil {
		b.Fatal(err)
	}
	if got, want := fields(again), fields(f); got != want {
		b.Fatalf("our document contains\n%.2000s\nand theirs\n%.2000s", got, want)
	}
	// With one processor, garbage collection counts for the writer that causes it.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var best [2]time.Duration
	for b.Loop() {
		best[0] = fastest(best[0], func() { ours, _, err = render.Append(ours[:0], f, format, nil) })
		if err != nil {
			b.Fatal(err)
		}
		best[1] = fastest(best[1], func() {
			theirs.Reset()
			err = write(&theirs)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	items := float64(len(f.Items))
	b.ReportMetric(float64(best[0].Nanoseconds())/items, "ns/item/ours")
	b.ReportMetric(float64(best[1].Nanoseconds())/items, "ns/item/gorilla")
	b.ReportMetric(float64(best[1])/float64(best[0]), "x/gorilla")
	b.ReportMetric(float64(len(ours)), "B/ours")
	b.ReportMetric(float64(theirs.Len()), "B/gorilla")
}

// fastest calls write 50 times and returns the mean time of a call, or best if best is shorter. A
// best of 0 is ignored.
func fastest(best time.Duration, write func()) time.Duration {
	const inRow = 50
	runtime.GC()
	begin := time.Now()
	for range inRow {
		write()
	}
	if took := time.Since(begin) / inRow; best == 0 || took < best {
		best = took
	}
	return best
}

// fields returns all fields of the items as text, to compare two feeds.
func fields(f *feed.Feed) string {
	var all strings.Builder
	for _, it := range f.Items {
		fmt.Fprintf(&all, "%s|%s|%s|%s|%s|%s", it.ID, it.Title.Value, it.Link, it.Summary.Value, it.Published.UTC, it.Updated.UTC)
		for _, t := range it.Content {
			fmt.Fprintf(&all, "|%s %s", t.Type, t.Value)
		}
		for _, p := range it.Authors {
			fmt.Fprintf(&all, "|%s", p.Name)
		}
		for _, e := range it.Enclosures {
			fmt.Fprintf(&all, "|%s %s %d", e.URL, e.Type, e.Length)
		}
		all.WriteString("\n")
	}
	return all.String()
}
