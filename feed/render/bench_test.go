package render

import (
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"
)

// BenchmarkAppend writes a feed of about 40 kB in every format into an existing buffer.
func BenchmarkAppend(b *testing.B) {
	f, err := feed.ParseBytes(feedtest.Make(feedtest.RSSContent, 40_000, 1).Body, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, format := range Formats() {
		b.Run(format.Name, func(b *testing.B) {
			buf := written(b, f, format.Name)
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			for b.Loop() {
				buf, _, _ = Append(buf[:0], f, format.Name, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(f.Items)), "ns/item")
		})
	}
}
