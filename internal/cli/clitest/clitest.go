// Package clitest contains test helpers that several packages of commands share.
package clitest

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/docs"
)

// Section returns the text of a section of docs/reference/json.md.
func Section(t *testing.T, name string) string {
	t.Helper()
	doc, err := docs.Files.ReadFile("reference/json.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "\n## "+name+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// Field is a field of a declaration in the documentation.
type Field struct {
	Name, Type string
	Optional   bool // the program omits the field if it has no value
}

// Declarations has the fields of the TypeScript interfaces in a text. Key: name of an interface.
type Declarations map[string][]Field

var (
	declaration = regexp.MustCompile(`(?s)interface (\w+)(?: extends \w+)? \{(.*?)\}`)
	field       = regexp.MustCompile(`(\w+)(\??): ([\w\[\]]+)`)
	comment     = regexp.MustCompile(` //.*`)
)

// Declared parses the interfaces in the code blocks of a text that are marked as ts.
func Declared(text string) Declarations {
	found := Declarations{}
	for i, block := range strings.Split(text, "```") {
		code, ok := strings.CutPrefix(block, "ts\n")
		if !ok || i%2 == 0 {
			continue
		}
		for _, d := range declaration.FindAllStringSubmatch(comment.ReplaceAllString(code, ""), -1) {
			fields := []Field{}
			for _, f := range field.FindAllStringSubmatch(d[2], -1) {
				fields = append(fields, Field{f[1], f[3], f[2] != ""})
			}
			found[d[1]] = fields
		}
	}
	return found
}

// Check compares the fields of the interface called name with the JSON fields of Go types. It
// reports differences as test errors.
func (d Declarations) Check(t *testing.T, name string, types ...reflect.Type) {
	t.Helper()
	want := []Field{}
	for _, typ := range types {
		for i := range typ.NumField() {
			if f := typ.Field(i); !f.Anonymous && f.IsExported() {
				want = append(want, printedField(f))
			}
		}
	}
	byName := func(a, b Field) int { return strings.Compare(a.Name, b.Name) }
	have := slices.SortedFunc(slices.Values(d[name]), byName)
	slices.SortStableFunc(want, byName)
	// A field of an earlier type hides a field with the same name in a later type.
	want = slices.CompactFunc(want, func(a, b Field) bool { return a.Name == b.Name })
	for i := range min(len(have), len(want)) {
		if want[i].Type == "" { // the type has its own encoding, or is a struct
			want[i].Type = have[i].Type
		}
	}
	if !slices.Equal(have, want) {
		t.Errorf("%s: the document declares\n%v\nthe program prints\n%v", name, have, want)
	}
}

// printedField returns the declaration that matches a Go field. Its Type is "" for a struct and for
// a type with its own encoding.
func printedField(f reflect.StructField) Field {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	out := Field{Name: name, Optional: strings.Contains(options, "omit")}
	typ, suffix := f.Type, ""
	for {
		switch {
		case typ == reflect.TypeFor[time.Time]():
			out.Type = "Time" + suffix
		case typ.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Marshaler]()):
		case typ.Kind() == reflect.Pointer:
			typ = typ.Elem()
			continue
		case typ.Kind() == reflect.Slice:
			typ, suffix = typ.Elem(), suffix+"[]"
			continue
		case typ.Kind() == reflect.String || strings.Contains(options, "string"):
			out.Type = "string" + suffix
		case typ.Kind() == reflect.Bool:
			out.Type = "boolean" + suffix
		case typ.ConvertibleTo(reflect.TypeFor[float64]()):
			out.Type = "number" + suffix
		}
		return out
	}
}

// PrintedTypes adds t and the types of its fields, recursively, to found.
func PrintedTypes(t reflect.Type, found map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		PrintedTypes(t.Elem(), found)
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() || found[t] {
			return
		}
		found[t] = true
		for i := range t.NumField() {
			PrintedTypes(t.Field(i).Type, found)
		}
	}
}
