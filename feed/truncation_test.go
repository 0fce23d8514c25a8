package feed_test

import (
	"bytes"
	"strings"
	"testing"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
)

// pieces is how many beginnings of a document are tried.
const pieces = 17

// TestWhatIsBeforeACutIsNeverLost holds for all golden documents in XML: the longer
// the beginning of a document is, the more items are read, and all but the last of
// them are what they are in the whole. JSON may say at its end what its items are, and
// items of MCF refer to people who come later.
func TestWhatIsBeforeACutIsNeverLost(t *testing.T) {
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
						t.Errorf("%d bytes have %d items, fewer bytes had %d", at, len(got), before)
					}
					before = len(got)
					if before > len(whole) {
						t.Fatalf("%d bytes have %d items, the whole has %d", at, before, len(whole))
					}
					for i := 0; i < before-1 && folder != "mcf"; i++ {
						if diff := cmp.Diff(whole[i], got[i]); diff != "" {
							t.Errorf("item %d of %d bytes (-whole +cut):\n%s", i+1, at, diff)
						}
					}
				}
			})
		}
	}
}

// itemsOf reads the first n bytes of a document. A beginning that is no feed yet has
// no items.
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
