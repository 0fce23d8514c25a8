package opml_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"cloudburst/feed/opml"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func inputs(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/golden/*.opml")
	if err != nil || len(names) < 25 {
		t.Fatalf("%d golden inputs, %v", len(names), err)
	}
	return names
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func asJSON(t testing.TB, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// same compares output with a golden file.
func same(t *testing.T, golden string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(readFile(t, golden)), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

// sameOutline returns comparison options that ignore the problems of a document.
func sameOutline() cmp.Options {
	return cmp.Options{
		cmp.AllowUnexported(opml.Outline{}), cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(opml.Document{}, "Problems", "Encoding", "Version"),
	}
}

// printed writes a document and checks that a standard XML parser accepts it.
func printed(t testing.TB, d *opml.Document) []byte {
	t.Helper()
	out, err := d.AppendXML(nil)
	if err != nil {
		t.Fatalf("a parsed document cannot be written: %v", err)
	}
	dec := xml.NewDecoder(bytes.NewReader(out))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatalf("the output is not XML: %v\n%s", err, out)
		}
	}
}

func TestParsedOPMLMatchesGoldenFiles(t *testing.T) {
	t.Parallel()
	for _, name := range inputs(t) {
		base := strings.TrimSuffix(name, ".opml")
		t.Run(filepath.Base(base), func(t *testing.T) {
			t.Parallel()
			d, err := opml.Parse(bytes.NewReader(readFile(t, name)), nil)
			if err != nil {
				t.Fatal(err)
			}
			same(t, base+".json", asJSON(t, d))
			out := printed(t, d)
			same(t, base+".xml", out)

			again, err := opml.ParseBytes(out, nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if diff := cmp.Diff(d, again, sameOutline()); diff != "" {
				t.Errorf("the written document is parsed differently (-first +again):\n%s\n%s", diff, out)
			}
		})
	}
}

func TestJSONRoundTrip(t *testing.T) {
	t.Parallel()
	for _, name := range inputs(t) {
		d, err := opml.ParseBytes(readFile(t, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		var again opml.Document
		if err := json.Unmarshal(asJSON(t, d), &again); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(asJSON(t, d), asJSON(t, &again)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
