package discover_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bufio"

	"github.com/google/go-cmp/cmp"

	"cloudburst/feed/discover"
)

var update = flag.Bool("update", false, "write what is found into testdata")

// readPage splits a page of testdata: the URL and headers, an empty line, and the document.
func readPage(t *testing.T, file string) (address string, header http.Header, doc []byte) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, doc, ok := bytes.Cut(b, []byte("\n\n"))
	if !ok {
		t.Fatalf("%s has no empty line after its headers", file)
	}
	h, err := textproto.NewReader(bufio.NewReader(strings.NewReader(string(head) + "\n\n"))).ReadMIMEHeader()
	if err != nil {
		t.Fatal(err)
	}
	header = http.Header(h)
	address = header.Get("Url")
	header.Del("Url")
	return address, header, doc
}

func TestDiscoveredFeedsMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/pages/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 25 {
		t.Fatalf("%d pages: the search looks in the wrong place", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			address, header, doc := readPage(t, file)
			r := discover.HTML(doc, address, header)
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(r); err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".txt") + ".json"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got.String()); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}
