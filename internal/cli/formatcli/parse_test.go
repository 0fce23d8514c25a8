package formatcli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/feed"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/sanitize"
)

// parseLines runs the command parse. It returns the decoded lines of the output, standard error and
// the exit code.
func parseLines(t *testing.T, in string, args ...string) (rows []map[string]any, reported string, code int) {
	t.Helper()
	var out, progress bytes.Buffer
	p := inShell(shell.Shell{In: strings.NewReader(in), Out: &out, Err: &progress, Version: "1"})
	code = p.Run(t.Context(), append([]string{"parse"}, args...))
	for line := range strings.Lines(out.String()) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		rows = append(rows, row)
	}
	return rows, progress.String(), code
}

// at returns the value in a decoded line at a path of names and indexes.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

// site starts a server with valid, redirected, compressed and broken feeds.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	const rss = `<rss version="2.0"><channel><title>T</title><item><guid isPermaLink="false">1</guid><link>one</link></item></channel></rss>`
	mux := http.NewServeMux()
	serve := func(path string, answer func(w http.ResponseWriter)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { answer(w) })
	}
	serve("/a/feed", func(w http.ResponseWriter) { io.WriteString(w, rss) })
	mux.Handle("/old", http.RedirectHandler("/a/feed", http.StatusMovedPermanently))
	serve("/located", func(w http.ResponseWriter) {
		w.Header().Set("Content-Location", "/b/c/feed")
		w.Header().Set("Content-Language", "fi")
		w.Header().Set("Link", `<http://hub.example/>; rel=hub`)
		io.WriteString(w, rss)
	})
	serve("/greek", func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/rss+xml; charset=iso-8859-7")
		io.WriteString(w, strings.Replace(rss, "T</title>", "\xcd\xe5\xef</title>", 1))
	})
	serve("/zipped", func(w http.ResponseWriter) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, rss)
		z.Close()
	})
	serve("/long", func(w http.ResponseWriter) {
		io.WriteString(w, strings.TrimSuffix(rss, "</channel></rss>"))
		for range 400 {
			fmt.Fprintf(w, "<item><title>x</title><description>%s</description></item>", strings.Repeat("word ", 10_000))
		}
	})
	serve("/page", func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Add("Link", `</h/feed>; rel=alternate; type="application/atom+xml"`)
		io.WriteString(w, `<html><head><link rel=alternate type=application/rss+xml href=a/feed></head><body></body></html>`)
	})
	serve("/gone", func(w http.ResponseWriter) { w.WriteHeader(http.StatusGone) })
	mux.Handle("/round", http.RedirectHandler("/round", http.StatusFound))
	mux.Handle("/elsewhere", http.RedirectHandler("ftp://a.example/x", http.StatusFound))
	serve("/broken-off", func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "9999")
		io.WriteString(w, rss)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestParseUsesURLAndHeadersOfTheResponse(t *testing.T) {
	t.Parallel()
	s := site(t)
	link := []any{"items", 0, "link"}
	for name, tt := range map[string]struct {
		args []string
		path []any
		want any
	}{
		"URL of the input":            {[]string{s.URL + "/a/feed"}, link, s.URL + "/a/one"},
		"URL after redirects":         {[]string{s.URL + "/old"}, link, s.URL + "/a/one"},
		"input name":                  {[]string{s.URL + "/old"}, []any{"input"}, s.URL + "/old"},
		"--base overrides URL":        {[]string{"--base", "http://b.example/x/y", s.URL + "/old"}, link, "http://b.example/x/one"},
		"Content-Location":            {[]string{s.URL + "/located"}, link, s.URL + "/b/c/one"},
		"Content-Language":            {[]string{s.URL + "/located"}, []any{"language"}, "fi"},
		"hub in Link header":          {[]string{s.URL + "/located"}, []any{"hubs", 0, "url"}, "http://hub.example/"},
		"--header overrides header":   {[]string{"--header", "Content-Location: /z/", s.URL + "/located"}, link, s.URL + "/z/one"},
		"other headers stay":          {[]string{"--header", "Content-Location: /z/", s.URL + "/located"}, []any{"language"}, "fi"},
		"charset":                     {[]string{s.URL + "/greek"}, []any{"title", "value"}, "Νεο"},
		"--content-type overrides":    {[]string{"--content-type", "text/xml; charset=iso-8859-1", s.URL + "/greek"}, []any{"title", "value"}, "Íåï"},
		"compressed body":             {[]string{s.URL + "/zipped"}, link, s.URL + "/one"},
		"relative link, --no-resolve": {[]string{"--no-resolve", s.URL + "/a/feed"}, link, "one"},
	} {
		rows, reported, code := parseLines(t, "", tt.args...)
		if len(rows) != 1 || code != shell.ExitOK || reported != "" {
			t.Errorf("%s: %d rows, exit %d, %q", name, len(rows), code, reported)
			continue
		}
		if got := at(rows[0], tt.path...); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestUnreadableInputDoesNotStopTheFollowingInputs(t *testing.T) {
	t.Parallel()
	s := site(t)
	args := []string{s.URL + "/gone", s.URL + "/page", s.URL + "/broken-off", "http://", "https://user@/x", s.URL + "/a/feed"}
	rows, reported, code := parseLines(t, "", args...)
	if len(rows) != len(args) || code != shell.ExitFailure || strings.Count(reported, "\n") != len(args)-1 {
		t.Fatalf("%d rows, exit %d, %q", len(rows), code, reported)
	}
	for i, want := range []string{"the server returned 410 Gone", "this is a web page", "cannot be read completely", "is not a URL that can be read", "is not a URL that can be read"} {
		if got, _ := at(rows[i], "error", "message").(string); at(rows[i], "input") != args[i] || !strings.Contains(got, want) || !strings.Contains(reported, got) {
			t.Errorf("%s: %q; want %q", args[i], got, want)
		}
	}
	var feeds []string
	for i := range 2 {
		feeds = append(feeds, fmt.Sprint(at(rows[1], "error", "feeds", i, "url")))
	}
	if want := []string{s.URL + "/h/feed", s.URL + "/a/feed"}; !cmp.Equal(feeds, want) {
		t.Errorf("feeds of the page: %q, want %q", feeds, want)
	}
	if got := at(rows[5], "format"); got != "rss" {
		t.Errorf("format of the last input: %v", got)
	}
}

func TestTooLongDocumentIsTruncatedAndReported(t *testing.T) {
	t.Parallel()
	rows, reported, code := parseLines(t, "", "--problems", site(t).URL+"/long")
	if code != shell.ExitOK || len(rows) != 1 {
		t.Fatalf("exit %d, %q", code, reported)
	}
	items, _ := at(rows[0], "items").([]any)
	if len(items) < 50 || len(items) > 399 || !strings.Contains(fmt.Sprint(rows[0]["problems"]), "kind:limit") {
		t.Errorf("%d items, problems %v", len(items), rows[0]["problems"])
	}
}

// goldenInputs returns the test documents of package feed.
func goldenInputs(t *testing.T) (files []string) {
	t.Helper()
	all, err := filepath.Glob("../../../feed/testdata/*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		switch ext := filepath.Ext(name); {
		case ext == ".golden" || ext == ".opts" || strings.Contains(name, "/fuzz/") || strings.HasSuffix(name, ".golden.json"):
		default:
			files = append(files, name)
		}
	}
	if len(files) < 25 {
		t.Fatalf("only %d documents", len(files))
	}
	return files
}

func TestPrintedJSONDecodesToTheSameFeed(t *testing.T) {
	t.Parallel()
	for _, name := range goldenInputs(t) {
		doc, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []*feed.Options{
			{URL: "http://h.example/dir/feed"}, {KeepRelative: true}, {URL: "http://h.example/", Sanitize: sanitize.HTML},
		} {
			f, err := feed.ParseBytes(doc, o)
			if err != nil {
				continue
			}
			var w bytes.Buffer
			if err := printFeed(&w, name, f, true); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			line := w.Bytes()
			if bytes.Count(line, []byte("\n")) != 1 || line[len(line)-1] != '\n' {
				t.Errorf("%s: not one line", name)
			}
			back := new(feed.Feed)
			if err := json.Unmarshal(line, back); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if len(back.Problems) == 0 {
				back.Problems = nil // the line has an empty list where the feed has nil
			}
			if diff := cmp.Diff(f, back); diff != "" {
				t.Errorf("%s:\n%s", name, diff)
			}
		}
	}
}

func TestProblemCountIncludesUnlistedProblems(t *testing.T) {
	t.Parallel()
	const n = 500
	doc := `<rss version="2.0"><channel><title>T</title><link>http://a.example/</link><description>D</description>` +
		strings.Repeat("<item><guid isPermaLink=\"false\">x</guid><pubDate>soon</pubDate></item>", n)
	for _, args := range [][]string{nil, {"--problems"}} {
		rows, _, _ := parseLines(t, doc, args...)
		if got, _ := at(rows[0], "problemCount").(float64); got < n {
			t.Errorf("%q: %v problems, want at least %d", args, got, n)
		}
	}
}

func TestNetworkErrorsAreReadable(t *testing.T) {
	t.Parallel()
	s := site(t)
	for url, want := range map[string]string{
		s.URL + "/broken-off":           "cannot be read completely: the response ends early",
		s.URL + "/round":                "it redirects more than 10 times",
		s.URL + "/elsewhere":            `it redirects to "ftp://a.example/x", which is not an http or https URL`,
		"http://127.0.0.1:1/":           "no connection to 127.0.0.1:1: connection refused",
		"http://":                       "it must be an http or https URL with a host",
		"http://a.example/a b":          "write a space as %20",
		"https://user:secret@b.example": "it contains a user name",
		"":                              "an input has an empty name",
		"a.example/feed":                "no such file; a URL begins with http:// or https://",
		"feed.xml":                      "there is no such file",
	} {
		rows, reported, code := parseLines(t, "", url)
		if code != shell.ExitFailure || len(rows) != 1 || !strings.Contains(reported, want) || strings.Contains(reported, "secret") {
			t.Errorf("%s: exit %d, %q; want %q", url, code, reported, want)
		}
	}
	if rows, reported, code := parseLines(t, "", s.URL+"/a/feed#top"); code != shell.ExitOK || at(rows[0], "items", 0, "link") != s.URL+"/a/one" {
		t.Errorf("URL with a fragment: exit %d, %q, %v", code, reported, rows)
	}
}
