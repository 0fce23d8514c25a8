// Package clitest contains test helpers that several packages of commands share.
package clitest

import (
	"reflect"
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

// Described returns the field names in the tables of a section of docs/reference/json.md, by heading.
func Described(t *testing.T, section string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	heading, names := "", false
	for line := range strings.Lines(Section(t, section)) {
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

// PrintedNames returns the JSON names of the fields of t, without embedded ones.
func PrintedNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if f := t.Field(i); !f.Anonymous && f.IsExported() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}
