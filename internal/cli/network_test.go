package cli

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"cloudburst/internal/cli/clitest"
	"cloudburst/internal/cli/shell"
)

const oneItem = `<rss version="2.0"><channel><title>T</title><item><title>one</title><guid isPermaLink="false">1</guid></item></channel></rss>`

func TestUnrequestedContentEncodingsAreDecoded(t *testing.T) {
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
		{"gzip", "GZip", clitest.Gzipped(oneItem), ""},
		{"old name of gzip", "x-gzip", clitest.Gzipped(oneItem), ""},
		{"zlib", "deflate", wrapped.String(), ""},
		{"bare deflate", "Deflate", bare.String(), ""},
		{"no coding", "identity", oneItem, ""},
		{"a charset", "UTF-8", oneItem, ""},
		{"unknown coding", "br", "\x8b\x02", `unsupported Content-Encoding "br"`},
		{"not gzip", "gzip", oneItem, "does not match its Content-Encoding"},
		{"truncated", "gzip", clitest.Gzipped(oneItem)[:40], "ends early"},
	} {
		for _, command := range []string{"parse", "validate", "explain", "discover"} {
			var out, errs bytes.Buffer
			web := &clitest.Origin{Header: http.Header{"Content-Encoding": {tt.coding}, "Content-Type": {"text/xml"}}, Body: tt.body}
			p := &shell.Shell{Out: &out, Err: &errs, HTTP: web, Version: "0"}
			code := Run(t.Context(), p, []string{command, "http://a.example/rss.xml"})
			switch {
			case tt.fails == "" && code != shell.ExitOK:
				t.Errorf("%s of %s: exit %d, %s%s", command, tt.name, code, &out, &errs)
			case tt.name == "truncated" && command == "discover": // discover needs only the start of the document
			case tt.fails != "" && (code != shell.ExitFailure || !strings.Contains(errs.String(), tt.fails)):
				t.Errorf("%s of %s: exit %d, %s; want %q", command, tt.name, code, &errs, tt.fails)
			}
		}
	}
}

func TestInterruptEndsReadOfIdleStandardInput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"parse"}, {"validate", "-"}, {"discover", "-"}, {"opml", "show", "-"}} {
		silent, end := io.Pipe()
		ctx, interrupt := context.WithCancel(t.Context())
		var out, errs bytes.Buffer
		p := &shell.Shell{In: reading{silent, interrupt}, Out: &out, Err: &errs, Version: "0"}
		if code := Run(ctx, p, args); code != shell.ExitFailure || errs.String() != "cloudburst: interrupted\n" || out.Len() > 0 {
			t.Errorf("%q: exit %d, %q, %q", args, code, &errs, &out)
		}
		end.Close()
	}
}

// reading is a reader that calls begun at each Read.
type reading struct {
	r     io.Reader
	begun func()
}

func (r reading) Read(p []byte) (int, error) {
	r.begun()
	return r.r.Read(p)
}

func TestStandardInputCannotBeGivenTwice(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"parse"}, {"validate"}, {"discover"}, {"opml", "show"}} {
		var out, errs bytes.Buffer
		p := &shell.Shell{In: strings.NewReader(oneItem), Out: &out, Err: &errs, Version: "0"}
		if code := Run(t.Context(), p, append(args, "-", "-")); code != shell.ExitUsage || !strings.Contains(errs.String(), "only once") {
			t.Errorf("%q: exit %d, %q", args, code, &errs)
		}
	}
}

func TestHelpCommandPrintsTheSameAsHelpFlag(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"parse"}, {"opml", "show"}} {
		var asked, flagged bytes.Buffer
		p := &shell.Shell{Out: &asked, Err: io.Discard, Version: "0"}
		code := Run(t.Context(), p, append([]string{"help"}, args...))
		p.Out = &flagged
		Run(t.Context(), p, append(args, "--help"))
		if code != shell.ExitOK || asked.String() != flagged.String() || asked.Len() == 0 {
			t.Errorf("help %q: exit %d, %q", args, code, &asked)
		}
	}
}
