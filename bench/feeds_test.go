package bench_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/cputime"
	"cloudburst/internal/river/item"
	"cloudburst/internal/sanitize"
)

var feedsFolder = flag.String("feeds", "", "folder with the feeds to read, instead of generated ones: go test ./bench -bench Feeds -args -feeds FOLDER")

// BenchmarkParseSanitizeAndPrintFeeds reports how many megabytes of feeds one second of CPU time
// parses, sanitizes and prints, including garbage collection. It reports the target next to each
// result. The best round of each step counts.
func BenchmarkParseSanitizeAndPrintFeeds(b *testing.B) {
	docs, size := feedsToRead(b)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	river, line := item.NewConverter(), new(bytes.Buffer)
	parse := func(doc []byte, o *feed.Options) *feed.Feed {
		f, err := feed.ParseBytes(doc, o)
		if err != nil {
			b.Fatal(err)
		}
		return f
	}
	clean := &feed.Options{Sanitize: sanitize.HTML}
	steps := []*struct {
		name    string
		target  float64 // MB/s; 0 means no target
		read    func(doc []byte)
		seconds float64 // CPU time of the best round
	}{
		{name: "parse", read: func(doc []byte) { parse(doc, nil) }},
		{name: "sanitized", target: 350, read: func(doc []byte) { parse(doc, clean) }},
		{name: "river", target: 350, read: func(doc []byte) {
			f := parse(doc, nil)
			for i := range f.Items {
				river.Content(f, &f.Items[i])
			}
		}},
		{name: "json", target: 250, read: func(doc []byte) {
			line.Reset()
			if err := shell.JSONLines(line).Encode(parse(doc, clean)); err != nil {
				b.Fatal(err)
			}
		}},
	}
	for b.Loop() {
		for _, s := range steps {
			took := cputime.Process(func() {
				for _, doc := range docs {
					s.read(doc)
				}
			}).Seconds()
			if s.seconds == 0 || took < s.seconds {
				s.seconds = took
			}
		}
	}
	for _, s := range steps {
		b.ReportMetric(float64(size)/1e6/s.seconds, "MB/s/"+s.name)
		if s.target > 0 {
			b.ReportMetric(s.target, "MB/s/"+s.name+"-target")
		}
	}
}

// feedsToRead returns documents of at least 10 MB, and their size.
func feedsToRead(b *testing.B) (docs [][]byte, size int) {
	b.Helper()
	if *feedsFolder == "" {
		for _, d := range feedtest.Corpus(1) {
			docs = append(docs, d.Body)
			size += len(d.Body)
		}
		return docs, size
	}
	names, err := filepath.Glob(filepath.Join(*feedsFolder, "*"))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		doc, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := feed.ParseBytes(doc, nil); err == nil { // skip documents that are not feeds
			docs = append(docs, doc)
			size += len(doc)
		}
	}
	if size == 0 {
		b.Fatalf("no feeds in %s", *feedsFolder)
	}
	for once := docs; size < 10e6; {
		docs = append(docs, once...)
		for _, doc := range once {
			size += len(doc)
		}
	}
	return docs, size
}
