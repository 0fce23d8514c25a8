package cli

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

const oneItem = `<rss version="2.0"><channel><title>T</title><item><title>one</title><guid isPermaLink="false">1</guid></item></channel></rss>`

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.String()
}

func TestCodingsThatNobodyAskedForAreUndone(t *testing.T) {
	t.Parallel()
	var wrapped, bare bytes.Buffer
	z := zlib.NewWriter(&wrapped)
	io.WriteString(z, oneItem)
	z.Close()
	f, err := flate.NewWriter(&bare, 6)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, oneItem)
	f.Close()
	for _, tt := range []struct{ name, coding, body, fails string }{
		{"gzip", "GZip", gzipped(oneItem), ""},
		{"its old name", "x-gzip", gzipped(oneItem), ""},
		{"zlib", "deflate", wrapped.String(), ""},
		{"bare deflate", "Deflate", bare.String(), ""},
		{"none", "identity", oneItem, ""},
		{"an encoding of letters", "UTF-8", oneItem, ""},
		{"one that is not known", "br", "\x8b\x02", `coded as "br", which was not asked for`},
		{"a lie", "gzip", oneItem, "not compressed in the way that its Content-Encoding says"},
		{"a cut", "gzip", gzipped(oneItem)[:40], "breaks off"},
	} {
		for _, command := range []string{"parse", "validate", "explain", "discover"} {
			var out, errs bytes.Buffer
			web := &origin{header: http.Header{"Content-Encoding": {tt.coding}, "Content-Type": {"text/xml"}}, body: tt.body}
			p := &Program{Out: &out, Err: &errs, HTTP: web, Version: "0"}
			code := p.Run(t.Context(), []string{command, "http://a.example/rss.xml"})
			switch {
			case tt.fails == "" && code != exitOK:
				t.Errorf("%s of %s: exit %d, %s%s", command, tt.name, code, &out, &errs)
			case tt.name == "a cut" && command == "discover": // the beginning is enough
			case tt.fails != "" && (code != exitFailure || !strings.Contains(errs.String(), tt.fails)):
				t.Errorf("%s of %s: exit %d, %s; want %q", command, tt.name, code, &errs, tt.fails)
			}
		}
	}
}

func TestErrorsOfTheNetworkAreForPeople(t *testing.T) {
	t.Parallel()
	s := site(t)
	for url, want := range map[string]string{
		s.URL + "/broken-off":           "cannot be read to its end: the answer breaks off",
		s.URL + "/round":                "it leads from redirect to redirect, more than 10 times",
		s.URL + "/elsewhere":            `it redirects to "ftp://a.example/x", which is no URL that can be read`,
		"http://127.0.0.1:1/":           "no connection to 127.0.0.1:1: connection refused",
		"http://":                       "it needs http:// or https:// and a host",
		"http://a.example/a b":          "a space is written %20",
		"https://user:secret@b.example": "it has a user name in it",
		"":                              "an input has an empty name",
		"a.example/feed":                "no such file; a URL begins with http:// or https://",
		"feed.xml":                      "there is no such file",
	} {
		rows, told, code := parseLines(t, "", url)
		if code != exitFailure || len(rows) != 1 || !strings.Contains(told, want) || strings.Contains(told, "secret") {
			t.Errorf("%s: exit %d, %q; want %q", url, code, told, want)
		}
	}
	if rows, told, code := parseLines(t, "", s.URL+"/a/feed#top"); code != exitOK || at(rows[0], "items", 0, "link") != s.URL+"/a/one" {
		t.Errorf("a fragment: exit %d, %q, %v", code, told, rows)
	}
}

func TestNobodyWaitsForAnInputThatSaysNothingAfterAnInterruption(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"parse"}, {"validate", "-"}, {"discover", "-"}, {"opml", "show", "-"}} {
		silent, end := io.Pipe()
		ctx, interrupt := context.WithCancel(t.Context())
		var out, errs bytes.Buffer
		p := &Program{In: reading{silent, interrupt}, Out: &out, Err: &errs, Version: "0"}
		if code := p.Run(ctx, args); code != exitFailure || errs.String() != "cloudburst: interrupted\n" || out.Len() > 0 {
			t.Errorf("%q: exit %d, %q, %q", args, code, &errs, &out)
		}
		end.Close()
	}
}

// reading says when something is read from it.
type reading struct {
	r     io.Reader
	begun func()
}

func (r reading) Read(p []byte) (int, error) {
	r.begun()
	return r.r.Read(p)
}

func TestStandardInputIsReadOnce(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"parse"}, {"validate"}, {"discover"}, {"opml", "show"}} {
		var out, errs bytes.Buffer
		p := &Program{In: strings.NewReader(oneItem), Out: &out, Err: &errs, Version: "0"}
		if code := p.Run(t.Context(), append(args, "-", "-")); code != exitUsage || !strings.Contains(errs.String(), "only once") {
			t.Errorf("%q: exit %d, %q", args, code, &errs)
		}
	}
}

func TestHelpIsACommandToo(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"parse"}, {"opml", "show"}} {
		var asked, flagged bytes.Buffer
		p := &Program{Out: &asked, Err: io.Discard, Version: "0"}
		code := p.Run(t.Context(), append([]string{"help"}, args...))
		p.Out = &flagged
		p.Run(t.Context(), append(args, "--help"))
		if code != exitOK || asked.String() != flagged.String() || asked.Len() == 0 {
			t.Errorf("help %q: exit %d, %q", args, code, &asked)
		}
	}
}
