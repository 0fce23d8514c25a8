package formatcli

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/cli/clitest"
	"cloudburst/internal/cli/shell"
)

func TestDocumentationListsEveryJSONField(t *testing.T) {
	t.Parallel()
	doc := clitest.Described(t, "Parse")
	types := map[reflect.Type]bool{}
	clitest.PrintedTypes(reflect.TypeFor[feedLine](), types)
	clitest.PrintedTypes(reflect.TypeFor[shell.FailureLine](), types)
	// Headings that differ from the name of the type.
	titles := map[reflect.Type]string{
		reflect.TypeFor[shell.InputError]():                      "Error",
		reflect.TypeFor[shell.InputError]().Field(2).Type.Elem(): "Found",
		reflect.TypeFor[feedLine]():                              "Line", reflect.TypeFor[shell.FailureLine](): "Line",
	}
	want := map[string][]string{}
	for typ := range types {
		title := typ.Name()
		if other := titles[typ]; other != "" {
			title = other
		}
		want[title] = append(want[title], clitest.PrintedNames(typ)...)
	}
	for title, names := range want {
		// The problems of the line replace those of the feed.
		if title == "Feed" {
			names = slices.DeleteFunc(names, func(n string) bool { return n == "problems" })
		}
		have := slices.Compact(slices.Sorted(slices.Values(doc[title])))
		names = slices.Compact(slices.Sorted(slices.Values(names)))
		if !slices.Equal(have, names) {
			t.Errorf("%s: the document has %q, the program prints %q", title, have, names)
		}
	}
	if len(want) < 40 {
		t.Errorf("only %d types are printed", len(want))
	}
}

func TestDocumentationExamplesDecode(t *testing.T) {
	t.Parallel()
	lines := 0
	for line := range strings.Lines(clitest.Section(t, "Parse")) {
		if !strings.HasPrefix(line, `{"input":`) {
			continue
		}
		lines++
		into := any(new(feedLine))
		if strings.Contains(line, `","error":{`) {
			into = new(shell.FailureLine)
		}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(into); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if lines < 3 {
		t.Errorf("only %d examples", lines)
	}
}
