package opml_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/feed/opml"
)

// FuzzParse checks that any input is OPML or yields a NotOPMLError, and that a parsed document
// survives writing and parsing unchanged.
func FuzzParse(f *testing.F) {
	for _, name := range inputs(f) {
		f.Add(readFile(f, name))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		d, err := opml.ParseBytes(doc, nil)
		if err != nil {
			if _, ok := errors.AsType[*opml.NotOPMLError](err); !ok {
				t.Fatalf("another error: %v", err)
			}
			return
		}
		out := printed(t, d)
		again, err := opml.ParseBytes(out, nil)
		if err != nil {
			t.Fatalf("the written document cannot be parsed: %v\n%s", err, out)
		}
		if diff := cmp.Diff(d, again, sameOutline()); diff != "" {
			t.Fatalf("the written document is parsed differently (-first +again):\n%s\n%s", diff, out)
		}
		asJSON(t, d)
	})
}

// FuzzDate checks that JSON can represent every parsed date.
func FuzzDate(f *testing.F) {
	for _, raw := range []string{"Fri, 20 Nov 2026 08:00:00 GMT", "2026-11-20T08:00:00+02:00", "20 Nov 26 08:00 EST", "Fri Nov 20 08:00:00 2026"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		asJSON(t, opml.Date(raw))
	})
}
