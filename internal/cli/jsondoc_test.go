package cli

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// sectionOf is a section of docs/json.md.
func sectionOf(t *testing.T, name string) string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "\n## "+name+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// described reads a section of docs/json.md: the names in the tables below each of
// its headings.
func described(t *testing.T, section string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	heading, names := "", false
	for line := range strings.Lines(sectionOf(t, section)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "#"); ok {
			heading, names = strings.TrimLeft(title, "# "), false
		}
		cell, _, ok := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		switch cell = strings.TrimSpace(cell); {
		case !ok:
			names = false
		case cell == "name":
			names = true
		case names && strings.HasPrefix(cell, "`"):
			out[heading] = append(out[heading], strings.Trim(cell, "`"))
		}
	}
	return out
}

// printedTypes are the types that a value of t can have in it when it is printed.
func printedTypes(t reflect.Type, found map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		printedTypes(t.Elem(), found)
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() || found[t] {
			return
		}
		found[t] = true
		for i := range t.NumField() {
			printedTypes(t.Field(i).Type, found)
		}
	}
}

// printedNames are the names of t's own fields.
func printedNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if f := t.Field(i); !f.Anonymous && f.IsExported() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

func TestTheDocumentAndTheTypesHaveTheSameNames(t *testing.T) {
	t.Parallel()
	doc := described(t, "Parse")
	types := map[reflect.Type]bool{}
	printedTypes(reflect.TypeFor[feedLine](), types)
	printedTypes(reflect.TypeFor[failureLine](), types)
	// Two types have the name Link; a line is one of two types.
	titles := map[reflect.Type]string{
		reflect.TypeFor[inputError]():                      "Error",
		reflect.TypeFor[inputError]().Field(2).Type.Elem(): "Found",
		reflect.TypeFor[feedLine]():                        "Line", reflect.TypeFor[failureLine](): "Line",
	}
	want := map[string][]string{}
	for typ := range types {
		title := typ.Name()
		if other := titles[typ]; other != "" {
			title = other
		}
		want[title] = append(want[title], printedNames(typ)...)
	}
	for title, names := range want {
		// What the line says of problems, it says instead of the feed.
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

func TestTheDocumentsExamplesAreLinesOfTheseTypes(t *testing.T) {
	t.Parallel()
	lines := 0
	for line := range strings.Lines(sectionOf(t, "Parse")) {
		if !strings.HasPrefix(line, `{"input":`) {
			continue
		}
		lines++
		into := any(new(feedLine))
		if strings.Contains(line, `","error":{`) {
			into = new(failureLine)
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
