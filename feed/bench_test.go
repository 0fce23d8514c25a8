package feed_test

import (
	"bytes"
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"
)

// BenchmarkParse parses a generated corpus, one benchmark for each kind. bench/peers compares
// the results with other parsers.
func BenchmarkParse(b *testing.B) {
	sets := map[feedtest.Kind][]feedtest.Document{}
	for _, d := range feedtest.Corpus(1) {
		sets[d.Kind] = append(sets[d.Kind], d)
		sets["all"] = append(sets["all"], d)
		if d.Latin1 {
			sets["latin-1"] = append(sets["latin-1"], d)
		}
		if len(d.Body) < 10e3 {
			sets["small"] = append(sets["small"], d)
		}
	}
	for _, kind := range append(feedtest.Kinds(), "latin-1", "small", "all") {
		b.Run(string(kind), func(b *testing.B) { benchmarkParse(b, sets[kind]) })
	}
}

func benchmarkParse(b *testing.B, docs []feedtest.Document) {
	size := 0
	for _, d := range docs {
		size += len(d.Body)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, d := range docs {
			if _, err := feed.ParseBytes(d.Body, &feed.Options{URL: d.URL}); err != nil {
				b.Fatalf("%s: %v", d.Name, err)
			}
		}
	}
}

// BenchmarkParseReader parses from a reader of unknown length.
func BenchmarkParseReader(b *testing.B) {
	d := feedtest.Make(feedtest.RSSContent, 100e3, 1)
	b.SetBytes(int64(len(d.Body)))
	b.ReportAllocs()
	for b.Loop() {
		r := onlyReader{bytes.NewReader(d.Body)}
		if _, err := feed.Parse(r, nil); err != nil {
			b.Fatal(err)
		}
	}
}

type onlyReader struct{ r *bytes.Reader }

func (o onlyReader) Read(p []byte) (int, error) { return o.r.Read(p) }
