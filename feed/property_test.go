package feed_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"
	"cloudburst/internal/fulltest"

	"github.com/google/go-cmp/cmp"
)

// validDocument is an XML document without problems, and its feed.
type validDocument struct {
	name string
	doc  []byte
	feed *feed.Feed
	root int // offset after the tags by which the document is recognized as a feed
}

// validDocuments returns the golden documents without problems, and some generated ones.
func validDocuments(t *testing.T) []validDocument {
	t.Helper()
	var out []validDocument
	add := func(name string, doc []byte) {
		f, err := feed.ParseBytes(doc, nil)
		if err != nil || len(f.Problems) > 0 || !utf8.Valid(doc) {
			return
		}
		if f.Format == feed.JSONFeed || f.Format == feed.MCF { // items of these formats can depend on later parts of the document
			return
		}
		root := afterTag(doc, 0)
		if bytes.Contains(doc[:root], []byte("RDF")) { // the root rdf:RDF does not show that the document is a feed
			root = afterTag(doc, root)
		}
		out = append(out, validDocument{name, doc, f, root})
	}
	for _, folder := range goldenFolders(t) {
		for _, c := range goldenCases(t, folder) {
			if len(c.doc) < 20_000 && c.options.ContentType == "" {
				add(folder+"/"+c.name, c.doc)
			}
		}
	}
	for _, kind := range feedtest.Kinds() {
		add(string(kind), feedtest.Make(kind, 6000, 7).Body)
	}
	if len(out) < 20 {
		t.Fatalf("only %d documents", len(out))
	}
	return out
}

// afterTag returns the offset after the next start tag.
func afterTag(doc []byte, i int) int {
	for ; i+1 < len(doc); i++ {
		if c := doc[i+1] | 0x20; doc[i] == '<' && 'a' <= c && c <= 'z' {
			return i + bytes.IndexByte(doc[i:], '>') + 1
		}
	}
	return i
}

// forEach runs a test for every document.
func forEach(t *testing.T, test func(t *testing.T, w validDocument)) {
	t.Helper()
	for _, w := range validDocuments(t) {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

// mustParse parses a document that contains a feed.
func mustParse(t *testing.T, doc []byte, what string, args ...any) *feed.Feed {
	t.Helper()
	f, err := feed.ParseBytes(doc, nil)
	if err != nil {
		t.Fatalf(what+": %v", append(args, err)...)
	}
	return f
}

func TestTruncatedDocumentKeepsCompleteItems(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	forEach(t, func(t *testing.T, w validDocument) {
		step, most := max(1, len(w.doc)/100), 0
		for n := w.root; n < len(w.doc); n += step {
			f := mustParse(t, w.doc[:n:n], "truncated after %d bytes", n)
			if len(f.Items) < most {
				t.Fatalf("truncated after %d bytes: %d items, but %d after fewer bytes", n, len(f.Items), most)
			}
			if most = len(f.Items); most > 1 {
				if diff := cmp.Diff(w.feed.Items[:most-1], f.Items[:most-1]); diff != "" {
					t.Fatalf("truncated after %d bytes, -want +got:\n%s", n, diff)
				}
			}
		}
	})
}

func TestDocumentWithFlippedBitsIsParsedAsFeed(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, w validDocument) {
		random := rand.New(rand.NewPCG(3, uint64(len(w.doc))))
		for range 60 {
			doc := bytes.Clone(w.doc)
			for range 1 + random.IntN(8) {
				if rest := len(doc) - w.root; rest > 0 {
					doc[w.root+random.IntN(rest)] ^= 1 << random.IntN(8)
				}
			}
			checkFeed(t, mustParse(t, doc, "with flipped bits"))
		}
	})
}

func TestDocumentWithMissingOrRepeatedPartIsParsedAsFeed(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	forEach(t, func(t *testing.T, w validDocument) {
		random := rand.New(rand.NewPCG(4, uint64(len(w.doc))))
		tail := w.doc[w.root:]
		if len(tail) == 0 {
			return
		}
		for range 60 {
			a, b, to := random.IntN(len(tail)), random.IntN(len(tail)), random.IntN(len(tail))
			piece := tail[min(a, b):max(a, b)]
			doc := bytes.Join([][]byte{w.doc[:w.root], tail[:to], piece, tail[to:]}, nil)
			checkFeed(t, mustParse(t, doc, "with a repeated part"))
			doc = bytes.Join([][]byte{w.doc[:w.root], tail[:min(a, b)], tail[max(a, b):]}, nil)
			checkFeed(t, mustParse(t, doc, "with a missing part"))
		}
	})
}

func TestParserKeepsItemsOfTheFirstIfADocumentIsRepeated(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, w validDocument) {
		f := mustParse(t, append(bytes.Clone(w.doc), w.doc...), "repeated")
		if len(f.Items) < len(w.feed.Items) || len(f.Problems) == 0 {
			t.Fatalf("%d items, %d problems", len(f.Items), len(f.Problems))
		}
		if diff := cmp.Diff(w.feed.Items, f.Items[:len(w.feed.Items)]); diff != "" {
			t.Errorf("-single +repeated:\n%s", diff)
		}
	})
}

func TestAppendedDocumentDoesNotChangeItemsOfTheFirst(t *testing.T) {
	t.Parallel()
	all := validDocuments(t)
	for i, w := range all {
		other := all[(i*7+11)%len(all)]
		t.Run(w.name+"+"+other.name, func(t *testing.T) {
			t.Parallel()
			f := mustParse(t, append(bytes.Clone(w.doc), other.doc...), "followed by another feed")
			if f.Format != w.feed.Format || len(f.Items) < len(w.feed.Items) {
				t.Fatalf("format %s with %d items", f.Format, len(f.Items))
			}
			if diff := cmp.Diff(w.feed.Items, f.Items[:len(w.feed.Items)]); diff != "" {
				t.Errorf("-alone +followed by another feed:\n%s", diff)
			}
		})
	}
}

func TestTextBeforeAndAfterADocumentIsSkipped(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	before := []string{
		"\n \n", "some words\n", "<!-- a comment -->", "HTTP/1.1 200 OK\r\nServer: s\r\n\r\n", "\ufeff\ufeff",
		"<br />\n<b>Warning</b>: a function in /var/w/f.php on line <b>3</b><br />\n", "]]>", "<?php ?>", "\x00\x01", "&nbsp;", "< ", "--> }",
	}
	after := []string{
		"\n", "words", "<!-- unfinished", "<script>x</script>", "</rss></feed>", "\x00", "<![CDATA[", "<", "&", "<?", "<html><body>",
	}
	forEach(t, func(t *testing.T, w validDocument) {
		same := func(what string, doc string) {
			f := mustParse(t, []byte(doc), "with junk %q", what)
			if diff := cmp.Diff(w.feed.Items, f.Items); diff != "" {
				t.Errorf("with junk %q, -want +got:\n%s", what, diff)
			}
			if f.Title != w.feed.Title || f.Format != w.feed.Format || f.Version != w.feed.Version {
				t.Errorf("with junk %q: %s %s, %v", what, f.Format, f.Version, f.Title)
			}
		}
		for _, junk := range before {
			same(junk, junk+string(w.doc))
		}
		for _, junk := range after {
			same(junk, string(w.doc)+junk)
			same(junk, strings.TrimSpace(string(w.doc))+junk)
		}
	})
}
