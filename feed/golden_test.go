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

// goldenOptions is the content of the file NAME.opts next to a document.
type goldenOptions struct {
	URL          string      `json:"url"`
	ContentType  string      `json:"contentType"`
	Header       http.Header `json:"header"`
	KeepRelative bool        `json:"keepRelative"`
	Sanitize     bool        `json:"sanitize"` // by safe, below
	Stop         int         `json:"stop"`     // after so many items; 0: never
	Limits       feed.Limits `json:"limits"`
}

// safe stands for a sanitizer: what it was called for can be seen.
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

// goldenCase is a document of testdata.
type goldenCase struct {
	name    string
	doc     []byte
	golden  string // path
	options goldenOptions
}

// goldenFolders are the folders of testdata that hold documents and what is made of
// them: NAME.xml, NAME.json, … with NAME.golden and, for options, NAME.opts.
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
			t.Errorf("%s: there are two documents of this name", name)
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
				t.Errorf("%s belongs to no document", file)
			}
		}
	}
	if len(out) == 0 {
		t.Errorf("testdata/%s has no documents", folder)
	}
	return out
}

func TestEveryFormatHasEnoughDocuments(t *testing.T) {
	t.Parallel()
	const enough = 25
	for _, folder := range []string{"rss", "rdf", "atom", "atom03", "json", "cdf", "scriptingnews", "mcf", "redirect", "namespaces"} {
		if n := len(goldenCases(t, folder)); n < enough {
			t.Errorf("testdata/%s has %d documents, want %d", folder, n, enough)
		}
	}
}

// goldenOf is a feed, or why there is none, for a person to read.
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

func TestEveryDocumentIsReadAsItsGoldenFileHasIt(t *testing.T) {
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
					t.Errorf("not as %s (-want +got):\n%s", c.golden, diff)
				}
			})
		}
	}
}

// TestAFeedSurvivesItsOwnJSON holds for all golden documents: a feed printed as JSON
// and read back by encoding/json is the same feed.
func TestAFeedSurvivesItsOwnJSON(t *testing.T) {
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
		t.Errorf("a feed and itself after JSON (-before +after):\n%s", diff)
	}
}

// TestAReaderAndBytesGiveTheSame holds for all golden documents too.
func TestAReaderAndBytesGiveTheSame(t *testing.T) {
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
