package peers_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html/charset"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"
)

// engine is a parser of feeds with the best results that it has had so far.
type engine struct {
	name  string
	parse func(d feedtest.Document) error

	best   time.Duration // time of the best pass over all documents
	allocs uint64        // number of allocations in one pass
	memory uint64        // bytes allocated in one pass
}

// engines returns our parser with bytes, our parser with an io.Reader, the peer, and the
// tokenizer of the standard library. The tokenizer does less work than any parser.
func engines() []*engine {
	peer := gofeed.NewParser()
	return []*engine{
		{name: "ours", parse: func(d feedtest.Document) error {
			_, err := feed.ParseBytes(d.Body, &feed.Options{URL: d.URL})
			return err
		}},
		{name: "reader", parse: func(d feedtest.Document) error {
			_, err := feed.Parse(bytes.NewReader(d.Body), &feed.Options{URL: d.URL})
			return err
		}},
		{name: "gofeed", parse: func(d feedtest.Document) error {
			_, err := peer.Parse(bytes.NewReader(d.Body))
			return err
		}},
		{name: "tokens", parse: tokens},
	}
}

func tokens(d feedtest.Document) error {
	next := func() error { return nil }
	if d.Kind == feedtest.JSON {
		dec := json.NewDecoder(bytes.NewReader(d.Body))
		next = func() error { _, err := dec.Token(); return err }
	} else {
		dec := xml.NewDecoder(bytes.NewReader(d.Body))
		dec.CharsetReader = charset.NewReaderLabel
		next = func() error { _, err := dec.RawToken(); return err }
	}
	for {
		if err := next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// pass collects garbage, then parses all documents once and updates the best results.
func (e *engine) pass(docs []feedtest.Document) error {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	for _, d := range docs {
		if err := e.parse(d); err != nil {
			return fmt.Errorf("%s: %s: %w", e.name, d.Name, err)
		}
	}
	if took := time.Since(begin); e.best == 0 || took < e.best {
		e.best = took
	}
	runtime.ReadMemStats(&after)
	e.allocs, e.memory = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	return nil
}

// BenchmarkFeedParse parses a generated corpus with all parsers in turn. One processor runs them,
// so that garbage collection counts for the parser that causes it. The best run of each parser
// counts, because other programs can slow a run down. It prints a table for
// docs/internals/performance.md.
func BenchmarkFeedParse(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	all := feedtest.Corpus(1)
	sets := map[feedtest.Kind][]feedtest.Document{"all": all}
	for _, d := range all {
		sets[d.Kind] = append(sets[d.Kind], d)
	}
	table := "| documents | MB | MB/s | gofeed | times faster | encoding/xml, tokens alone | allocations/kB | gofeed | times fewer | memory/input | over a reader | gofeed |\n" +
		"| --- " + strings.Repeat("| ---: ", 11) + "|\n"
	for _, kind := range append(feedtest.Kinds(), "all") {
		b.Run(string(kind), func(b *testing.B) { table += compare(b, kind, sets[kind]) })
	}
	fmt.Fprint(os.Stderr, table)
}

// compare measures all engines with docs, and returns a row of the table.
func compare(b *testing.B, kind feedtest.Kind, docs []feedtest.Document) string {
	list := engines()
	size := 0
	for _, d := range docs {
		size += len(d.Body)
	}
	b.SetBytes(int64(size * len(list)))
	for b.Loop() {
		for _, e := range list {
			if err := e.pass(docs); err != nil {
				b.Fatal(err)
			}
		}
	}
	bytes := float64(size)
	speed := func(e *engine) float64 { return bytes / 1e6 / e.best.Seconds() }
	memory := func(e *engine) float64 { return float64(e.memory) / bytes }
	perKB := func(e *engine) float64 { return float64(e.allocs) / bytes * 1e3 }
	ours, reader, peer, tokens := list[0], list[1], list[2], list[3]
	for _, e := range list {
		b.ReportMetric(speed(e), "MB/s/"+e.name)
		b.ReportMetric(float64(e.allocs), "allocs/"+e.name)
		b.ReportMetric(memory(e), "memory/input/"+e.name)
	}
	faster, fewer := float64(peer.best)/float64(ours.best), float64(peer.allocs)/float64(ours.allocs)
	b.ReportMetric(faster, "x/gofeed")
	b.ReportMetric(fewer, "fewer-allocs")
	return fmt.Sprintf("| %s | %.1f | %.0f | %.0f | %.1f | %.0f | %.2f | %.1f | %.0f | %.2f | %.2f | %.1f |\n",
		kind, bytes/1e6, speed(ours), speed(peer), faster, speed(tokens), perKB(ours), perKB(peer), fewer, memory(ours), memory(reader), memory(peer))
}
