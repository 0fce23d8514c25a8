package peers_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	gorilla "github.com/gorilla/feeds"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"
	"cloudburst/render"
)

// posts is a feed of 40 kB that resembles what is on the web, as the peer has it, with
// all that it can write of an item.
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

// BenchmarkRender writes a feed with us and with the peer, who both write the same
// fields: ours is what the peer's own document was read as. Once with the whole content,
// which the peer copies into CDATA where it writes RSS, and once with summaries alone,
// which both have to escape.
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
				continue // an item must have a content there, so ours would say more
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
		b.Fatalf("ours says\n%.2000s\nand theirs\n%.2000s", got, want)
	}
	sizes, items := []float64{float64(len(ours)), float64(theirs.Len())}, float64(len(f.Items))
	versus(b, "gorilla", func() {
		if ours, _, err = render.Append(ours[:0], f, format, nil); err != nil {
			b.Fatal(err)
		}
	}, func() {
		theirs.Reset()
		if err := write(&theirs); err != nil {
			b.Fatal(err)
		}
	})
	b.ReportMetric(items, "items")
	b.ReportMetric(sizes[0], "B/ours")
	b.ReportMetric(sizes[1], "B/gorilla")
}

// fields are what the items of a feed say.
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
