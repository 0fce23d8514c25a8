package feed_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files; review them before you commit")

// goldenOptions is the content of a file NAME.opts in testdata.
type goldenOptions struct {
	URL          string      `json:"url"`
	ContentType  string      `json:"contentType"`
	Header       http.Header `json:"header"`
	KeepRelative bool        `json:"keepRelative"`
	Sanitize     bool        `json:"sanitize"` // use the function safe as Sanitize
	Stop         int         `json:"stop"`     // number of items after which to stop; 0: never
	Limits       feed.Limits `json:"limits"`
}

// safe is a sanitizer that marks the texts for which it was called.
func safe(html string) string {
	return "<!-- safe -->" + strings.ReplaceAll(html, "<script", "<no-script")
}

func (g goldenOptions) options() *feed.Options {
	o := &feed.Options{URL: g.URL, Header: http.Header{}, KeepRelative: g.KeepRelative, Limits: g.Limits}
	for name, values := range g.Header {
		for _, v := range values {
			o.Header.Add(name, v)
		}
	}
	if g.ContentType != "" {
		o.Header.Set("Content-Type", g.ContentType)
	}
	if g.Sanitize {
		o.Sanitize = safe
	}
	if g.Stop > 0 {
		left := g.Stop
		o.Item = func(*feed.Item) bool { left--; return left > 0 }
	}
	return o
}

// goldenCase is one document of testdata.
type goldenCase struct {
	name    string
	doc     []byte
	golden  string // path of the golden file
	options goldenOptions
}

// goldenFolders returns the folders of testdata. They contain documents (NAME.xml, NAME.json,
// …), the expected results (NAME.golden) and options (NAME.opts).
func goldenFolders(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "fuzz" {
			out = append(out, e.Name())
		}
	}
	return out
}

func goldenCases(t testing.TB, folder string) []goldenCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var out []goldenCase
	have := map[string]bool{}
	for _, file := range files {
		ext := filepath.Ext(file)
		if ext == ".golden" || ext == ".opts" {
			continue
		}
		name := strings.TrimSuffix(file, ext)
		if have[name] {
			t.Errorf("%s: two documents have this name", name)
		}
		have[name] = true
		c := goldenCase{name: filepath.Base(name), golden: name + ".golden"}
		if c.doc, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		if opts, err := os.ReadFile(name + ".opts"); err == nil {
			d := json.NewDecoder(bytes.NewReader(opts))
			d.DisallowUnknownFields()
			if err := d.Decode(&c.options); err != nil {
				t.Errorf("%s.opts: %v", name, err)
			}
		}
		out = append(out, c)
	}
	for _, file := range files {
		if ext := filepath.Ext(file); ext == ".golden" || ext == ".opts" {
			if !have[strings.TrimSuffix(file, ext)] {
				t.Errorf("%s: there is no document with this name", file)
			}
		}
	}
	if len(out) == 0 {
		t.Errorf("testdata/%s has no documents", folder)
	}
	return out
}

func TestEveryFormatHasEnoughGoldenDocuments(t *testing.T) {
	t.Parallel()
	const enough = 25
	for _, folder := range []string{"rss", "rdf", "atom", "atom03", "json", "cdf", "scriptingnews", "mcf", "redirect", "namespaces"} {
		if n := len(goldenCases(t, folder)); n < enough {
			t.Errorf("testdata/%s has %d documents, want %d", folder, n, enough)
		}
	}
}

// goldenOf returns a feed, or the error, as readable JSON.
func goldenOf(t *testing.T, f *feed.Feed, err error) string {
	t.Helper()
	var v any = f
	if err != nil {
		var not *feed.NotFeedError
		if !errors.As(err, &not) {
			t.Fatal(err)
		}
		v = map[string]string{"error": err.Error(), "looks": not.Looks, "detail": not.Detail, "encoding": not.Encoding}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestParsedFeedsMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	for _, folder := range goldenFolders(t) {
		for _, c := range goldenCases(t, folder) {
			t.Run(folder+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				f, err := feed.ParseBytes(bytes.Clone(c.doc), c.options.options())
				got := goldenOf(t, f, err)
				if *update {
					if err := os.WriteFile(c.golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(c.golden)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("not equal to %s (-want +got):\n%s", c.golden, diff)
				}
			})
		}
	}
}

// TestFeedJSONRoundTrip encodes the feeds of all golden documents as JSON and decodes them
// with encoding/json.
func TestFeedJSONRoundTrip(t *testing.T) {
	t.Parallel()
	for _, folder := range goldenFolders(t) {
		for _, c := range goldenCases(t, folder) {
			t.Run(folder+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				f, err := feed.ParseBytes(bytes.Clone(c.doc), c.options.options())
				if err == nil {
					sameAfterJSON(t, f)
				}
			})
		}
	}
}

func sameAfterJSON(t *testing.T, f *feed.Feed) {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	back := new(feed.Feed)
	if err := json.Unmarshal(text, back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, back); diff != "" {
		t.Errorf("the feed changed in a JSON round trip (-before +after):\n%s", diff)
	}
}

// TestParseMatchesParseBytes parses all golden documents with both Parse and ParseBytes.
func TestParseMatchesParseBytes(t *testing.T) {
	t.Parallel()
	for _, folder := range goldenFolders(t) {
		for _, c := range goldenCases(t, folder) {
			t.Run(folder+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				f, err := feed.ParseBytes(bytes.Clone(c.doc), c.options.options())
				g, readErr := feed.Parse(onlyReader{bytes.NewReader(c.doc)}, c.options.options())
				if diff := cmp.Diff(goldenOf(t, f, err), goldenOf(t, g, readErr)); diff != "" {
					t.Errorf("-bytes +reader:\n%s", diff)
				}
			})
		}
	}
}
