package readcli

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/cli/clitest"
)

// riverDoc returns docs/reference/river-json.md and the field names in its tables, by heading.
func riverDoc(t *testing.T) (text string, names map[string][]string) {
	t.Helper()
	doc, err := os.ReadFile("../../../docs/reference/river-json.md")
	if err != nil {
		t.Fatal(err)
	}
	names = map[string][]string{}
	heading := ""
	for line := range strings.Lines(string(doc)) {
		if title, ok := strings.CutPrefix(line, "#"); ok {
			heading = strings.TrimSpace(strings.TrimLeft(title, "#"))
		}
		if cell, ok := strings.CutPrefix(line, "| `"); ok {
			name, _, _ := strings.Cut(cell, "`")
			names[heading] = append(names[heading], name)
		}
	}
	return string(doc), names
}

func TestRiverDocumentationListsEveryField(t *testing.T) {
	t.Parallel()
	_, have := riverDoc(t)
	titles := map[reflect.Type]string{
		reflect.TypeFor[riverLine]():           "River line",
		reflect.TypeFor[addedLine]():           "Added line",
		reflect.TypeFor[refreshLine]():         "Refresh line",
		reflect.TypeFor[knownLine]():           "Explained line",
		reflect.TypeFor[client.ImportedOPML](): "Imported list",
		reflect.TypeFor[client.AddedSource]():  "Added line", // in addition to input and error
	}
	types := map[reflect.Type]bool{}
	for _, printed := range []any{client.Item{}, riverLine{}, client.Source{}, addedLine{}, refreshLine{}, client.Category{}, knownLine{}, client.ImportedOPML{}, client.Forwarding{}, client.Filter{}, client.FilterPreview{}} {
		clitest.PrintedTypes(reflect.TypeOf(printed), types)
	}
	want := map[string][]string{}
	for typ := range types {
		title := titles[typ]
		switch {
		case typ.PkgPath() != "cloudburst/client" && title == "":
			continue // docs/reference/json.md describes it
		case title == "":
			title = typ.Name()
		}
		want[title] = append(want[title], clitest.PrintedNames(typ)...)
	}
	for title, names := range want {
		slices.Sort(names)
		if got := slices.Sorted(slices.Values(have[title])); !slices.Equal(got, names) {
			t.Errorf("%s: the document has %q, the program prints %q", title, got, names)
		}
		delete(have, title)
	}
	if len(have) > 0 {
		t.Errorf("the document lists fields that the program does not print: %v", have)
	}
}

func TestRiverDocumentationExamplesDecode(t *testing.T) {
	t.Parallel()
	text, _ := riverDoc(t)
	n := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		n++
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		var it client.Item
		if err := dec.Decode(&it); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if again, err := json.Marshal(it); err != nil || len(again) < len(strings.TrimSpace(line)) {
			t.Errorf("the example decodes and encodes to %s, %v", again, err)
		}
	}
	if n == 0 {
		t.Error("the document has no example")
	}
}
