package cli

import (
	"reflect"
	"slices"
	"testing"

	"cloudburst/feed/opml"
)

func TestTheDocumentAndOPMLHaveTheSameNames(t *testing.T) {
	t.Parallel()
	doc := described(t, "OPML")
	line := append(printedNames(reflect.TypeFor[outlineLine]()), printedNames(reflect.TypeFor[opml.Document]())...)
	for title, names := range map[string][]string{
		"OPML line":    append(line, "error"),
		"Head":         printedNames(reflect.TypeFor[opml.Head]()),
		"OPML outline": printedNames(reflect.TypeFor[opml.Outline]()),
		"Namespace":    printedNames(reflect.TypeFor[opml.Namespace]()),
		"OPML problem": printedNames(reflect.TypeFor[opml.Problem]()),
	} {
		want := slices.Compact(slices.Sorted(slices.Values(names)))
		if have := slices.Sorted(slices.Values(doc[title])); !slices.Equal(have, want) {
			t.Errorf("%s: the document has %q, the program prints %q", title, have, want)
		}
	}
}
