package feed_test

import (
	"errors"
	"strings"
	"testing"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
)

// summaryLines lists the link of a feed, and the titles, links and texts of its items.
func summaryLines(f *feed.Feed) string {
	var b strings.Builder
	b.WriteString(f.Link + "\n")
	for _, it := range f.Items {
		b.WriteString(it.Title.Value + " " + it.Link + " " + it.Summary.Value)
		for _, c := range it.Content {
			b.WriteString(c.Value)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Other vocabularies may contain whole items: RFC 4287 §6.4 allows elements of any kind in extensions.
func TestItemsInsideExtensionsAreNotItemsOfTheFeed(t *testing.T) {
	t.Parallel()
	const atom = `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:x="urn:x"><link href="http://a.example/"/>`
	const inner = `<entry><id>urn:i</id><title>Inner</title><link href="http://a.example/i"/></entry>`
	const outer = `<link href="http://a.example/o"/><content>outer text</content></entry></feed>`
	for name, c := range map[string]struct{ doc, want string }{
		"an entry in an entry": {
			atom + `<entry><title>Outer</title><x:entryLink>` + inner + `</x:entryLink>` + outer, "http://a.example/\nOuter http://a.example/o outer text\n",
		},
		"conflicting versions of an item": {
			`<rss version="2.0" xmlns:sx="http://www.microsoft.com/schemas/sse"><channel><link>http://a.example/</link><item><title>Outer</title><sx:sync><sx:conflicts><item><title>1</title></item><item><title>2</title></item></sx:conflicts></sx:sync><description>text</description></item><item><title>Next</title></item></channel></rss>`,
			"http://a.example/\nOuter  text\nNext  \n",
		},
		"a feed in a link": {
			atom + `<entry><title>Outer</title><link rel="http://schemas.example/lines" href="lines"><x:inline><feed><title>Lines</title>` + inner + inner + `</feed></x:inline></link>` + outer, "http://a.example/\nOuter http://a.example/o outer text\n",
		},
		"an entry in an extension of the feed": {
			atom + `<x:foo>` + inner + `</x:foo><entry><title>Item title</title>` + outer, "http://a.example/\nItem title http://a.example/o outer text\n",
		},
	} {
		f, err := feed.ParseBytes([]byte(c.doc), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, summaryLines(f)); diff != "" || len(f.Problems) > 0 {
			t.Errorf("%s: problems %v, -want +got\n%s", name, f.Problems, diff)
		}
	}
}

func TestFeedInsideAWebPageIsRead(t *testing.T) {
	t.Parallel()
	const rss = `<rss version="2.0"><channel><link>http://a.example/</link><item><title>1</title></item></channel><item><title>2<item><title>3</title></item></rss>`
	const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://a.example/"/><entry><title>1</title></entry><entry><title>2</title></entry><entry><title>3</title></entry></feed>`
	for _, doc := range []string{
		"<!DOCTYPE html>\n<html><body>" + rss + "</body></html>",
		`<html><head><title>T</title><meta charset="utf-8"><link rel="x" href="y"></head><body class="feed"><div><pre>` + rss + "</pre></div></body></html>",
		`<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>` + atom + "</body></html>",
		"<HTML><BODY>" + `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><link>http://a.example/</link></channel><item><title>1</title></item><item><title>2</title></item><item><title>3</title></item></rdf:RDF>`,
	} {
		f, err := feed.ParseBytes([]byte(doc), nil)
		if err != nil {
			t.Errorf("%s: %v", doc, err)
			continue
		}
		if got := summaryLines(f); got != "http://a.example/\n1  \n2  \n3  \n" || f.Problems[0].Kind != feed.ProblemJunk {
			t.Errorf("%s: %q, problems %v", doc, got, f.Problems)
		}
	}
}

func TestWebPageWithAnExampleOfAFeedIsNotAFeed(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`<script>if (x.indexOf('<feed') > 0) { y('<rss>') }</script>`,
		`<p>Write <rss version='2.0'> first.</p>`,
		"<textarea><rss version='2.0'><channel><title>T</title></channel></rss></textarea>",
		"<svg><feed></feed></svg>",
	} {
		f, err := feed.ParseBytes([]byte(`<!DOCTYPE html><html><head><link rel=alternate type=application/rss+xml href=/pod.xml></head><body>`+body+"</body></html>"), &feed.Options{URL: "http://a.example/"})
		if not, ok := errors.AsType[*feed.NotFeedError](err); !ok || len(not.Feeds) != 1 {
			t.Errorf("%s: %+v, %v", body, f, err)
		}
	}
}
