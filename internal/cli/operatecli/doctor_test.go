package operatecli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/cli/shell"
	"cloudburst/internal/doctor"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

var updateDoctor = flag.Bool("update-doctor", false, "write the output of doctor to testdata/doctor")

const patientHead = `<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Patient</title><link>BASE/</link><description>d</description>`

const patientItems = `<item><title>One</title><link>BASE/1</link><guid>BASE/1</guid></item></channel></rss>`

// examinedServer is a server with valid and invalid feeds, and a hub.
type examinedServer struct{ url string }

func (p *examinedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text := func(s string) string { return strings.ReplaceAll(s, "BASE", p.url) }
	cloud := rsscloud.CloudAt(p.url).String()
	switch r.URL.Path {
	case "/good.xml", "/warned.xml", "/ill.xml":
		w.Header().Set("Content-Type", "application/rss+xml")
		body := patientHead
		if r.URL.Path != "/ill.xml" {
			body += cloud + `<atom:link rel="hub" href="BASE/websub"/><atom:link rel="self" href="BASE` + r.URL.Path + `"/>`
		}
		if r.URL.Path == "/good.xml" {
			w.Header().Set("ETag", `"1"`)
			if r.Header.Get("If-None-Match") == `"1"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		fmt.Fprint(w, text(body+patientItems))
	case "/moved.xml":
		http.Redirect(w, r, "/good.xml", http.StatusMovedPermanently)
	case "/":
		fmt.Fprint(w, `<html><head><link rel="alternate" type="application/rss+xml" href="/good.xml"><link rel="alternate" type="application/rss+xml" href="/warned.xml"></head></html>`)
	case "/websub":
		(&websub.Handler{Backend: willing{}}).ServeHTTP(w, r)
	default:
		(&rsscloud.Handler{Backend: willing{}}).ServeHTTP(w, r)
	}
}

// willing is a hub that accepts all requests.
type willing struct{}

func (willing) Ping(context.Context, rsscloud.PingRequest) (rsscloud.Result, error) {
	return rsscloud.Result{Success: true, Msg: rsscloud.ThanksForThePing}, nil
}

func (willing) PleaseNotify(context.Context, rsscloud.Registration) (rsscloud.Result, error) {
	return rsscloud.Result{Success: true}, nil
}

func (willing) Cancel(context.Context, rsscloud.Registration) (rsscloud.Result, error) {
	return rsscloud.Result{Success: true}, nil
}
func (willing) Subscribe(context.Context, websub.Subscription) error   { return nil }
func (willing) Unsubscribe(context.Context, websub.Subscription) error { return nil }
func (willing) Publish(_ context.Context, urls []string) []error       { return make([]error, len(urls)) }

// runDoctor runs the command doctor on an examinedServer. In the output, BASE replaces the URL of
// the server.
func runDoctor(t *testing.T, args ...string) (out, stderr string, code int) {
	t.Helper()
	h := &examinedServer{}
	srv := httptest.NewServer(h)
	defer srv.Close()
	h.url = srv.URL
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "BASE", srv.URL)
	}
	var o, e bytes.Buffer
	p := inShell(shell.Shell{Out: &o, Err: &e, Version: "test"})
	code = p.Run(t.Context(), append([]string{"doctor"}, args...))
	plain := strings.NewReplacer(srv.URL, "BASE", `port="`+srv.URL[strings.LastIndexByte(srv.URL, ':')+1:]+`"`, `port="PORT"`)
	return plain.Replace(o.String()), plain.Replace(e.String()), code
}

func TestDoctorPrintsFindings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"good":   {[]string{"BASE/good.xml"}, shell.ExitOK},
		"page":   {[]string{"--no-ping", "BASE/"}, shell.ExitOK},
		"warned": {[]string{"BASE/warned.xml"}, shell.ExitOK},
		"strict": {[]string{"--strict", "--no-ping", "BASE/warned.xml"}, shell.ExitFailure},
		"moved":  {[]string{"--no-ping", "BASE/moved.xml"}, shell.ExitOK},
		"ill":    {[]string{"--hub", "http://hub.example.org:5337", "--no-ping", "BASE/ill.xml"}, shell.ExitFailure},
		"absent": {[]string{"BASE/absent.xml"}, shell.ExitFailure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, stderr, code := runDoctor(t, c.args...)
			if code != c.code || stderr != "" {
				t.Errorf("exit code %d, %q", code, stderr)
			}
			file := filepath.Join("testdata", "doctor", name+".txt")
			if *updateDoctor {
				if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDoctorPrintsJSONObject(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		feed, url                string
		problems, warnings, code int
	}{
		{"BASE/good.xml", "BASE/good.xml", 0, 0, shell.ExitOK},
		{"BASE/warned.xml", "BASE/warned.xml", 0, 1, shell.ExitOK},
		{"BASE/moved.xml", "BASE/good.xml", 0, 0, shell.ExitOK},
		{"BASE/ill.xml", "BASE/ill.xml", 1, 2, shell.ExitFailure},
		{"BASE/absent.xml", "", 1, 0, shell.ExitFailure},
	} {
		out, stderr, code := runDoctor(t, "--json", c.feed)
		var r doctor.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: %v %s", c.feed, err, out)
			continue
		}
		if r.Feed != c.feed || r.URL != c.url || r.Problems != c.problems || r.Warnings != c.warnings || code != c.code || stderr != "" {
			t.Errorf("%s: exit code %d, %q: %+v", c.feed, code, stderr, r)
		}
	}
}

func TestDoctorRejectsInvalidCommandLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--watch", "5s"}, "--watch needs a FEED"},
		{[]string{"--no-ping"}, "--no-ping needs a FEED"},
		{[]string{"a", "b"}, "takes nothing, or the URL of one FEED"},
		{[]string{"rss.xml"}, `"rss.xml" is not a URL that can be read`},
		{[]string{"--hub", "hub", "BASE/good.xml"}, "--hub is"},
		{[]string{"--watch", "13h", "BASE/good.xml"}, "invalid value 13h0m0s for --watch"},
		{[]string{"--watch", "-1s", "BASE/good.xml"}, "invalid value -1s for --watch"},
		{[]string{"--callback", "me.example", "BASE/good.xml"}, "--callback needs --watch"},
	} {
		out, stderr, code := runDoctor(t, c.args...)
		if code != shell.ExitUsage || out != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, %q, %q", c.args, code, out, stderr)
		}
	}
}

func TestDoctorPrintsNoControlCharacters(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/rss+xml\u009b2J")
		fmt.Fprint(w, "<rss version=\"2.0\"><channel><title>\u202eevil\x1b[2J&#x9b;2J</title><cloud domain=\"a&#x9b;2J\" path=\"/\u202e\" port=\"1\" protocol=\"x\"/></channel></rss>")
	}))
	defer srv.Close()
	var out, stderr bytes.Buffer
	(inShell(shell.Shell{Out: &out, Err: &stderr, Version: "test"})).Run(t.Context(), []string{"doctor", "--no-ping", srv.URL})
	if strings.ContainsAny(out.String()+stderr.String(), "\x1b\u009b\u202e") {
		t.Errorf("%q", out.String())
	}
}

func TestDoctorWrapsLongFindings(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	wrap(&b, strings.Repeat("What to do is to fix it. ", 12)+"http://feeds.example/"+strings.Repeat("a", 90))
	for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if at := len(line); i == 0 && at > 80-findingColumn || i > 0 && at > 80 && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("line %d has %d columns: %q", i+1, at, line)
		}
	}
}
