package feed_test

import (
	"errors"
	"fmt"
	"strings"

	"cloudburst/feed"
)

func Example() {
	doc := `<rss version="2.0"><channel>
		<title>Weather</title>
		<link>http://weather.example/</link>
		<item><title>Storm</title><pubDate>Fri, 20 Nov 2026 08:30 EST</pubDate></item>
		<item><description>Just words, without a title.</description></item>
	</channel></rss>`

	f, err := feed.Parse(strings.NewReader(doc), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Format, f.Version, f.Title.Value, f.Link)
	for _, item := range f.Items {
		fmt.Printf("%q %q %s\n", item.Title.Value, item.Summary.Value, item.Published.UTC)
	}
	// Output:
	// rss 2.0 Weather http://weather.example/
	// "Storm" "" 2026-11-20 13:30:00 +0000 UTC
	// "" "Just words, without a title." 0001-01-01 00:00:00 +0000 UTC
}

// Parse reads a broken document as far as possible and lists the repairs.
func ExampleParse_repairs() {
	doc := `<rss version="2.0">
<channel>
<title>Fish & chips</title>
<item><title>One<link>http://chips.example/1</link></item>
<item><title>Two</title>`

	f, err := feed.Parse(strings.NewReader(doc), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Title.Value, len(f.Items))
	for _, p := range f.Problems {
		fmt.Println(p.Line, p.Kind)
	}
	// Output:
	// Fish & chips 2
	// 3 entity
	// 4 unclosed
	// 5 truncated
}

// Options.Item stops the parser at the first item that is not new.
func ExampleOptions_item() {
	doc := `<feed xmlns="http://www.w3.org/2005/Atom">
		<entry><id>tag:example.com,2026:3</id></entry>
		<entry><id>tag:example.com,2026:2</id></entry>
		<entry><id>tag:example.com,2026:1</id></entry>
	</feed>`
	known := map[string]bool{"tag:example.com,2026:2": true}

	_, err := feed.Parse(strings.NewReader(doc), &feed.Options{
		Item: func(item *feed.Item) bool {
			if known[item.ID] {
				return false
			}
			fmt.Println("new:", item.ID)
			return true
		},
	})
	fmt.Println(err)
	// Output:
	// new: tag:example.com,2026:3
	// <nil>
}

// The error for a document that is not a feed names its type; for a web page, it lists the feeds
// of the page.
func ExampleNotFeedError() {
	page := `<!DOCTYPE html><html><head>
		<link rel="alternate" type="application/atom+xml" href="/atom.xml">
	</head><body>Hello</body></html>`

	_, err := feed.Parse(strings.NewReader(page), &feed.Options{URL: "http://weblog.example/"})
	if e, ok := errors.AsType[*feed.NotFeedError](err); ok {
		fmt.Println(e.Looks, e.Feeds[0].URL)
	}
	// Output: html http://weblog.example/atom.xml
}

// A clone of an item does not keep the document in memory.
func ExampleItem_Clone() {
	f, err := feed.ParseBytes([]byte(`<rss version="2.0"><channel><item><guid>a</guid></item></channel></rss>`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	kept := f.Items[0].Clone()
	fmt.Println(kept.ID, kept.IDFrom)
	// Output: a id
}
