package readcli

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/cli/clitest"
)

// riverDoc returns the content of docs/reference/river-json.md.
func riverDoc(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile("../../../docs/reference/river-json.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

func TestDocumentedTypesMatchOutputOfRiver(t *testing.T) {
	t.Parallel()
	doc := clitest.Declared(riverDoc(t))
	doc.Check(t, "RiverLine", reflect.TypeFor[riverLine]())
	doc.Check(t, "AddedLine", reflect.TypeFor[addedLine](), reflect.TypeFor[client.AddedSource]())
	doc.Check(t, "RefreshLine", reflect.TypeFor[refreshLine]())
	doc.Check(t, "ExplainedLine", reflect.TypeFor[knownLine]())
	printed := map[string]bool{"RiverLine": true, "AddedLine": true, "RefreshLine": true, "ExplainedLine": true, "AddedSource": true}
	types := map[reflect.Type]bool{}
	for _, line := range []any{client.Item{}, riverLine{}, client.Source{}, addedLine{}, refreshLine{}, client.Category{}, knownLine{}, client.ImportedOPML{}, client.Forwarding{}, client.Filter{}, client.FilterPreview{}, client.RefreshedSources{}, client.Person{}, client.ThreadReply{}} {
		clitest.PrintedTypes(reflect.TypeOf(line), types)
	}
	for typ := range types {
		if typ.PkgPath() != "cloudburst/client" || printed[typ.Name()] {
			continue // docs/reference/json.md declares the other types
		}
		doc.Check(t, typ.Name(), typ)
		printed[typ.Name()] = true
	}
	for name := range doc {
		if !printed[name] {
			t.Errorf("the program does not print the declared %s", name)
		}
	}
}

func TestDocumentedJSONExamplesOfRiverDecode(t *testing.T) {
	t.Parallel()
	text := riverDoc(t)
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
