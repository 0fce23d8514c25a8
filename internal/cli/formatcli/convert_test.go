package formatcli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/sanitize"
)

// converted runs the command convert and returns its outputs and its exit code.
func converted(t *testing.T, in string, args ...string) (out, reported string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	p := inShell(shell.Shell{In: strings.NewReader(in), Out: &o, Err: &e, Version: "1"})
	code = p.Run(t.Context(), append([]string{"convert"}, args...))
	return o.String(), e.String(), code
}

const aFeed = `<rss version="2.0"><channel><title>Ships &amp; such</title><link>http://s.example/</link><description>D</description>
<item><title>One</title><guid isPermaLink="false">urn:1</guid><description>&lt;p onclick="x()"&gt;A &lt;a href="b"&gt;b&lt;/a&gt;&lt;/p&gt;</description></item></channel></rss>`

func TestConvertOutputMatchesRenderPackage(t *testing.T) {
	t.Parallel()
	for _, format := range render.Formats() {
		f, err := feed.ParseBytes([]byte(aFeed), nil)
		if err != nil {
			t.Fatal(err)
		}
		want, warnings, err := render.Append(nil, f, format.Name, &render.Options{Self: "http://s.example/feed", Sanitize: sanitize.HTML})
		if err != nil {
			t.Fatal(err)
		}
		out, reported, code := converted(t, aFeed, "--to", format.Name, "--self", "http://s.example/feed", "-")
		if out != string(want) || code != shell.ExitOK {
			t.Errorf("%s: %d %q, want %q", format.Name, code, out, want)
		}
		if n := strings.Count(reported, "\n"); n != len(warnings) || n != strings.Count(reported, "warning: ") {
			t.Errorf("%s: %d warnings are printed, want %d: %s", format.Name, n, len(warnings), reported)
		}
		if _, reported, _ := converted(t, aFeed, "--quiet", "--to", format.Name, "-"); reported != "" {
			t.Errorf("%s: with --quiet, it prints %q", format.Name, reported)
		}
	}
}

func TestConvertRejectsInvalidCommandLines(t *testing.T) {
	t.Parallel()
	all := strings.Join(formatNames(), ", ")
	for _, tt := range []struct {
		args     string
		code     int
		reported string
	}{
		{"--to rss3 -", shell.ExitUsage, all},
		{"-", shell.ExitUsage, "needs --to: one of " + all},
		{"--to atom", shell.ExitUsage, "one FILE or URL, or - for standard input"},
		{"--to atom - -", shell.ExitUsage, "one FILE or URL"},
		{"--to atom --callback f -", shell.ExitUsage, "--callback applies only to the format jsonp, not to atom"},
		{"--to jsonp --callback alert(1)// -", shell.ExitUsage, "alert(1)//"},
		{"--to atom --self here -", shell.ExitUsage, `--self is "here"`},
		{"--to atom --base here -", shell.ExitUsage, `--base is "here"`},
		{"--list -", shell.ExitUsage, "takes no arguments"},
		{"--to atom nowhere.xml", shell.ExitFailure, "nowhere.xml cannot be read: there is no such file"},
		{"--to atom ftp://h.example/", shell.ExitFailure, "needs http:// or https://"},
	} {
		out, reported, code := converted(t, aFeed, strings.Fields(tt.args)...)
		if code != tt.code || !strings.Contains(reported, tt.reported) || out != "" || strings.Count(reported, "\n") != 1 {
			t.Errorf("%s: %d %q %q", tt.args, code, reported, out)
		}
	}
	out, reported, code := converted(t, "<html><title>Page</title></html>", "--to", "atom", "-")
	if code != shell.ExitFailure || out != "" || !strings.Contains(reported, "standard input: ") || !strings.Contains(reported, "web page") {
		t.Errorf("%d %q %q", code, reported, out)
	}
}

func TestConvertSanitizesHTMLIfRequested(t *testing.T) {
	t.Parallel()
	args := []string{"--quiet", "--to", "rss20", "--base", "http://s.example/x/", "-"}
	if out, _, _ := converted(t, aFeed, args...); !strings.Contains(out, "onclick") || !strings.Contains(out, "http://s.example/x/b") {
		t.Errorf("without --sanitize: %s", out)
	}
	if out, _, _ := converted(t, aFeed, append(args, "--sanitize")...); strings.Contains(out, "onclick") || !strings.Contains(out, "http://s.example/x/b") {
		t.Errorf("with --sanitize: %s", out)
	}
	if out, _, _ := converted(t, aFeed, "--quiet", "--to", "html", "-"); strings.Contains(out, "onclick") || !strings.Contains(out, "</html>") {
		t.Errorf("as HTML: %s", out)
	}
}

func TestConvertUsesCharsetOfResponse(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/rss+xml; charset=iso-8859-7")
		w.Write([]byte(strings.Replace(aFeed, "Ships", "\xcd\xe5\xef", 1)))
	}))
	defer srv.Close()
	if out, reported, code := converted(t, "", "--to", "jsonfeed", srv.URL); code != shell.ExitOK || !strings.Contains(out, "Νεο") {
		t.Errorf("%d %s%s", code, reported, out)
	}
}

func TestConvertUsesLastModifiedForFeedWithoutDates(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Last-Modified", "Fri, 20 Nov 2026 08:30:00 GMT")
		w.Write([]byte(`<rss version="2.0"><channel><title>C</title><item><title>I</title></item></channel></rss>`))
	}))
	defer srv.Close()
	out, warnings, code := converted(t, "", "--to", "atom", srv.URL)
	if code != shell.ExitOK || strings.Count(out, "<updated>2026-11-20T08:30:00Z</updated>") != 2 || !strings.Contains(warnings, "[updated-made]") {
		t.Errorf("%d %s%s", code, warnings, out)
	}
}

func TestConvertReplacesOutputFileAtomically(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "out.json")
	if err := os.WriteFile(file, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, code := converted(t, "no feed", "--to", "jsonfeed", "--output", file, "-"); code != shell.ExitFailure {
		t.Error(code)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "before" {
		t.Errorf("after a failure the file contains %q, %v", b, err)
	}
	want, _, _ := converted(t, aFeed, "--to", "jsonfeed", "-")
	out, _, code := converted(t, aFeed, "--to", "jsonfeed", "--output", file, "-")
	b, err := os.ReadFile(file)
	info, _ := os.Stat(file)
	if code != shell.ExitOK || err != nil || out != "" || string(b) != want || info.Mode().Perm() != 0o600 {
		t.Errorf("%d %v %q: %q", code, err, out, b)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if _, reported, code := converted(t, aFeed, "--to", "text", "--output", link, "-"); code != shell.ExitOK {
		t.Error(code, reported)
	}
	if after, err := os.ReadFile(file); err != nil || bytes.Equal(after, b) {
		t.Errorf("the target of the link contains %q, %v", after, err)
	}
	_, reported, code := converted(t, aFeed, "--to", "text", "--output", filepath.Join(dir, "none", "x"), "-")
	if code != shell.ExitFailure || !strings.Contains(reported, "cannot be written: no such file") {
		t.Error(code, reported)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Error("temporary files remain:", left, err)
	}
}

func TestConvertReportsOnlyProblemsThatLoseData(t *testing.T) {
	t.Parallel()
	many := strings.Replace(aFeed, "</channel>", strings.Repeat("<item><title>x</title></item>", 1200)+"</channel>", 1)
	if out, reported, code := converted(t, many, "--to", "csv", "-"); code != shell.ExitOK || strings.Count(out, "\n") < 1000 || !strings.Contains(reported, "There are more than 1000 items; the rest is not read. [limit]") {
		t.Errorf("%d %s", code, reported)
	}
	if _, reported, _ := converted(t, aFeed[:len(aFeed)-30], "--to", "csv", "-"); !strings.Contains(reported, "[truncated]") {
		t.Error(reported)
	}
	if _, reported, _ := converted(t, strings.Replace(aFeed, "&amp;", "&", 1), "--to", "csv", "-"); strings.Contains(reported, "entity") {
		t.Error(reported)
	}
}

func TestMaxItemsFlagLimitsItemsOfTheInput(t *testing.T) {
	t.Parallel()
	doc := `<rss version="2.0"><channel><title>C</title>` + strings.Repeat(`<item><title>I</title></item>`, 1003) + `</channel></rss>`
	for flag, want := range map[string]int{"": 1000, "--max-items=2": 2, "--max-items=0": 1003} {
		args := []string{"--quiet", "--to", "rss20", "-"}
		if flag != "" {
			args = append(args, flag)
		}
		if out, _, code := converted(t, doc, args...); code != shell.ExitOK || strings.Count(out, "<item>") != want {
			t.Errorf("%q: %d, %d items, want %d", flag, code, strings.Count(out, "<item>"), want)
		}
	}
	if _, message, code := converted(t, doc, "--to", "rss20", "--max-items=-1", "-"); code != shell.ExitUsage || !strings.Contains(message, "--max-items is -1") {
		t.Errorf("%d %s", code, message)
	}
}

func TestConvertWritesToStandardOutputForHyphen(t *testing.T) {
	t.Chdir(t.TempDir())
	want, _, _ := converted(t, aFeed, "--quiet", "--to", "atom", "-")
	out, reported, code := converted(t, aFeed, "--quiet", "--to", "atom", "--output", "-", "-")
	if code != shell.ExitOK || out != want || reported != "" {
		t.Errorf("%d %q %q", code, out, reported)
	}
	if _, err := os.Stat("-"); err == nil {
		t.Error("a file with the name - was written")
	}
}
