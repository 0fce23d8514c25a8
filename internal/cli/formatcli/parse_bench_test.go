package formatcli

import (
	"bytes"
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"
	"cloudburst/internal/sanitize"
)

// BenchmarkParsePrint measures parsing, sanitizing and printing a feed separately.
func BenchmarkParsePrint(b *testing.B) {
	for _, kind := range feedtest.Kinds() {
		d := feedtest.Make(kind, 200e3, 5)
		f, err := feed.ParseBytes(d.Body, nil)
		if err != nil {
			b.Fatal(err)
		}
		for name, work := range map[string]func() error{
			"parse":    func() error { _, err := feed.ParseBytes(d.Body, nil); return err },
			"sanitize": func() error { _, err := feed.ParseBytes(d.Body, &feed.Options{Sanitize: sanitize.HTML}); return err },
		} {
			b.Run(string(kind)+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(d.Body)))
				for b.Loop() {
					if err := work(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(string(kind)+"/print", func(b *testing.B) {
			b.SetBytes(int64(len(d.Body)))
			var w bytes.Buffer
			for b.Loop() {
				w.Reset()
				if err := printFeed(&w, "-", f, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
