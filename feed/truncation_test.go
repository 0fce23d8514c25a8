package feed_test

import (
	"bytes"
	"strings"
	"testing"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
)

// pieces is the number of truncated versions of a document, plus one.
const pieces = 17

// TestLessTruncatedDocumentNeverHasFewerItems truncates all golden XML documents. A longer
// beginning never has fewer items, and all items except the last equal those of the whole document.
// JSON is excluded because its items can depend on later members, and MCF because its items can
// refer to later persons.
func TestLessTruncatedDocumentNeverHasFewerItems(t *testing.T) {
	t.Parallel()
	for _, folder := range goldenFolders(t) {
		if folder == "json" {
			continue
		}
		for _, c := range goldenCases(t, folder) {
			t.Run(folder+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				whole := itemsOf(t, c, len(c.doc))
				before := 0
				for k := 1; k < pieces; k++ {
					at := len(c.doc) * k / pieces
					got := itemsOf(t, c, at)
					if len(got) < before {
						t.Errorf("the first %d bytes have %d items, but fewer bytes have %d", at, len(got), before)
					}
					before = len(got)
					if before > len(whole) {
						t.Fatalf("the first %d bytes have %d items, but the whole document has %d", at, before, len(whole))
					}
					for i := 0; i < before-1 && folder != "mcf"; i++ {
						if diff := cmp.Diff(whole[i], got[i]); diff != "" {
							t.Errorf("item %d of the first %d bytes (-whole +truncated):\n%s", i+1, at, diff)
						}
					}
				}
			})
		}
	}
}

// itemsOf parses the first n bytes of a document. If these bytes are not recognized as a feed, it
// returns no items.
func itemsOf(t *testing.T, c goldenCase, n int) []feed.Item {
	t.Helper()
	f, err := feed.ParseBytes(bytes.Clone(c.doc[:n]), c.options.options())
	if err != nil {
		if !strings.HasPrefix(err.Error(), "feed: ") {
			t.Fatal(err)
		}
		return nil
	}
	return f.Items
}
