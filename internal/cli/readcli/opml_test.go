package readcli

import (
	"reflect"
	"slices"
	"testing"

	"cloudburst/feed/opml"
	"cloudburst/internal/cli/clitest"
)

func TestDocumentationListsEveryFieldOfOPML(t *testing.T) {
	t.Parallel()
	doc := clitest.Described(t, "OPML")
	line := append(clitest.PrintedNames(reflect.TypeFor[outlineLine]()), clitest.PrintedNames(reflect.TypeFor[opml.Document]())...)
	for title, names := range map[string][]string{
		"OPML line":    append(line, "error"),
		"Head":         clitest.PrintedNames(reflect.TypeFor[opml.Head]()),
		"OPML outline": clitest.PrintedNames(reflect.TypeFor[opml.Outline]()),
		"Namespace":    clitest.PrintedNames(reflect.TypeFor[opml.Namespace]()),
		"OPML problem": clitest.PrintedNames(reflect.TypeFor[opml.Problem]()),
	} {
		want := slices.Compact(slices.Sorted(slices.Values(names)))
		if have := slices.Sorted(slices.Values(doc[title])); !slices.Equal(have, want) {
			t.Errorf("%s: the document has %q, the program prints %q", title, have, want)
		}
	}
}
