package readcli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"cloudburst/feed/polling"
	"cloudburst/internal/cli/clitest"
	"cloudburst/internal/cli/shell"
)

const explainedFeed = `<?xml version="1.0"?><rss version="2.0"><channel><title>E</title><link>http://a.example/</link><description>d</description><ttl>60</ttl>` +
	`<item><title>One</title><guid isPermaLink="false">1</guid></item></channel></rss>`

// bomb is 60 MiB of spaces, compressed by gzip. It is created only once, because compressing takes
// longer than reading.
var bomb = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.Copy(z, io.LimitReader(zeros{}, 60<<20))
	z.Close()
	return b.Bytes()
})

// asked is a request that a test server received.
type asked struct{ path, etag, modified, coding, referer string }

// explainServer serves valid and invalid responses by path, and records the requests.
type explainServer struct {
	mu    sync.Mutex
	asked []asked
}

func (e *explainServer) requests() []asked {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]asked{}, e.asked...)
}

func (e *explainServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	e.asked = append(e.asked, asked{r.URL.Path, r.Header.Get("If-None-Match"), r.Header.Get("If-Modified-Since"), r.Header.Get("Accept-Encoding"), r.Header.Get("Referer")})
	n := len(e.asked)
	e.mu.Unlock()
	h := w.Header()
	switch r.URL.Path {
	case "/good.xml":
		h.Set("ETag", `W/"v1"`)
		h.Set("Last-Modified", "Mon, 04 May 2026 02:00:00 GMT")
		h.Set("Cache-Control", "max-age=7200")
		if r.Header.Get("If-None-Match") == `W/"v1"` && r.Header.Get("If-Modified-Since") == "Mon, 04 May 2026 02:00:00 GMT" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, explainedFeed)
	case "/gzip.xml":
		h.Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, explainedFeed+strings.Repeat(" ", 5000))
		z.Close()
	case "/no-304.xml":
		h.Set("ETag", `"same"`)
		fmt.Fprint(w, explainedFeed)
	case "/new-etag.xml":
		h.Set("ETag", fmt.Sprintf(`"%d"`, n))
		fmt.Fprint(w, explainedFeed)
	case "/different.xml":
		h.Set("ETag", `"x"`)
		fmt.Fprint(w, explainedFeed, "<!--", n, "-->")
	case "/moved.xml":
		http.Redirect(w, r, "/good.xml#top", http.StatusMovedPermanently)
	case "/away.xml":
		http.Redirect(w, r, "good.xml", http.StatusFound)
	case "/loop.xml":
		http.Redirect(w, r, "/loop.xml", http.StatusFound)
	case "/elsewhere.xml":
		h.Set("Location", "ftp://a.example/feed")
		w.WriteHeader(http.StatusMovedPermanently)
	case "/blocked.xml":
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "<html><head><title>Blocked</title></head><body><nav>Home</nav><main><p>No bots, please</p></main></body></html>")
	case "/busy.xml":
		h.Set("Retry-After", "7200")
		w.WriteHeader(http.StatusTooManyRequests)
	case "/gone.xml":
		w.WriteHeader(http.StatusGone)
	case "/large.xml":
		fmt.Fprint(w, explainedFeed)
		io.Copy(w, io.LimitReader(zeros{}, 6<<20))
	case "/bomb.xml":
		h.Set("Content-Encoding", "gzip")
		w.Write(bomb())
	case "/coded.xml":
		h.Set("Content-Encoding", "br")
		fmt.Fprint(w, "x")
	case "/broken.xml":
		h.Set("Content-Length", "5000")
		fmt.Fprint(w, explainedFeed)
	default:
		http.NotFound(w, r)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// explainOne runs explain --json for one path and returns its output, its exit code and the
// received requests.
func explainOne(t *testing.T, path string) (e explanation, errText string, code int, seen []asked) {
	t.Helper()
	h := &explainServer{}
	srv := httptest.NewServer(h)
	defer srv.Close()
	var out, stderr bytes.Buffer
	p := inShell(shell.Shell{Out: &out, Err: &stderr, Version: "test"})
	code = p.Run(t.Context(), []string{"explain", "--json", srv.URL + path})
	if err := json.Unmarshal(out.Bytes(), &e); err != nil {
		t.Fatalf("%s: %v: %s %s", path, err, out.String(), stderr.String())
	}
	return e, stderr.String(), code, h.requests()
}

func TestExplainRepeatsRequestWithValidators(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct {
		status int
		works  bool
		means  string
	}{
		"/good.xml":      {304, true, "returned 304"},
		"/gzip.xml":      {0, false, "no ETag and no Last-Modified"},
		"/no-304.xml":    {200, false, "the unchanged feed instead of 304"},
		"/new-etag.xml":  {200, false, "its ETag differs in each response"},
		"/different.xml": {200, false, "sent a different document"},
	} {
		e, stderr, code, seen := explainOne(t, path)
		v := e.Validators
		if v == nil || v.Status != want.status || v.Works != want.works || !strings.Contains(v.Means, want.means) || code != shell.ExitOK || stderr != "" {
			t.Errorf("%s: %d %q %+v", path, code, stderr, v)
			continue
		}
		requests := 2
		if want.status == 0 {
			requests = 1
		}
		if len(seen) != requests || seen[0].etag != "" || seen[0].modified != "" || seen[0].coding != "gzip" {
			t.Errorf("%s: requests %+v", path, seen)
		}
		if requests == 2 && (seen[1].etag != v.ETag || seen[1].modified != v.LastModified) {
			t.Errorf("%s: request %+v, want validators %+v", path, seen[1], v)
		}
	}
}

func TestExplainReportsCachingAndSize(t *testing.T) {
	t.Parallel()
	e, _, _, _ := explainOne(t, "/good.xml")
	if e.Next.Considered[0].Rule != polling.RuleMaxAge || e.Cache.Fresh != 7200 || e.Cache.CacheControl != "max-age=7200" || e.Hints.TTL != "60" || e.Title != "E" || e.Items != 1 {
		t.Errorf("%+v %+v", e, e.Next)
	}
	e, _, _, _ = explainOne(t, "/gzip.xml")
	if e.Coding != "gzip" || e.Bytes < 5000 || e.OnTheWay <= 0 || e.OnTheWay > 1000 {
		t.Errorf("%s: %d of %d bytes", e.Coding, e.OnTheWay, e.Bytes)
	}
}

func TestExplainSendsValidatorsOnlyToTheirURL(t *testing.T) {
	t.Parallel()
	e, _, code, seen := explainOne(t, "/moved.xml")
	if len(e.Redirects) != 1 || e.Redirects[0].Status != 301 || !e.Redirects[0].Lasting || !strings.HasSuffix(e.URL, "/good.xml") || code != shell.ExitOK {
		t.Fatalf("%d %+v", code, e)
	}
	for _, a := range seen {
		if a.path != "/good.xml" && a.etag != "" || a.referer != "" {
			t.Errorf("%+v", a)
		}
	}
	if last := seen[len(seen)-1]; last.path != "/good.xml" || last.etag != `W/"v1"` || !e.Validators.Works {
		t.Errorf("%+v", last)
	}
	e, _, _, _ = explainOne(t, "/away.xml")
	if len(e.Redirects) != 1 || e.Redirects[0].Status != 302 || e.Redirects[0].Lasting || !strings.HasSuffix(e.URL, "/good.xml") {
		t.Errorf("%+v", e.Redirects)
	}
}

func TestExplainReportsErrorAndNextCheck(t *testing.T) {
	t.Parallel()
	bomb()
	for path, want := range map[string]string{
		"/missing.xml":   "cannot be read: 404 Not Found: 404 page not found",
		"/blocked.xml":   "cannot be read: 403 Forbidden: No bots, please",
		"/busy.xml":      "cannot be read: 429 Too Many Requests",
		"/gone.xml":      "is gone: its server returned 410 Gone",
		"/loop.xml":      "there are more than 5 redirects",
		"/elsewhere.xml": `redirects to the unsupported URL "ftp://a.example/feed"`,
		"/large.xml":     "is larger than 5 MiB",
		"/bomb.xml":      "is larger than 5 MiB",
		"/coded.xml":     `unsupported Content-Encoding "br"`,
		"/broken.xml":    "reading its response failed",
	} {
		e, stderr, code, seen := explainOne(t, path)
		if code != shell.ExitFailure || !strings.Contains(stderr, want) || e.Error == nil || e.Next == nil || e.Validators != nil {
			t.Errorf("%s: %d %q, want %q; %+v", path, code, stderr, want, e)
			continue
		}
		if (path == "/gone.xml") != e.Next.At.IsZero() || e.Next.Reason == "" {
			t.Errorf("%s: %+v", path, e.Next)
		}
		if path == "/loop.xml" && len(seen) != 6 {
			t.Errorf("%d requests", len(seen))
		}
	}
}

func TestExplainPrintsNoControlCharacters(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", "\"\u009b31m\u202e\"")
		w.Header().Set("Cache-Control", "max-age=\u009b5")
		fmt.Fprint(w, `<rss version="2.0"><channel><title>&#x9b;31m&#x202e;T</title><ttl>&#x9b;1</ttl><item><title>x</title></item></channel></rss>`)
	}))
	defer srv.Close()
	var out bytes.Buffer
	p := inShell(shell.Shell{Out: &out, Err: &out, Version: "test"})
	if code := p.Run(t.Context(), []string{"explain", srv.URL}); code != shell.ExitOK {
		t.Errorf("exit %d: %s", code, out.String())
	}
	for _, line := range strings.Split(out.String(), "\n") {
		if line != shell.Clean(line) {
			t.Errorf("%q", line)
		}
	}
	if !strings.Contains(out.String(), "next check") {
		t.Error(out.String())
	}
}

func TestExplainListsCloudsOfFeed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<rss version="2.0"><channel><title>T</title><cloud domain="hub.example" port="443" path="/a?b=1&amp;c=2" registerProcedure="" protocol="https-post"/><cloud domain="" port="no" path="" protocol="soap"/></channel></rss>`)
	}))
	defer srv.Close()
	p := inShell(shell.Shell{Out: &out, Err: &out, Version: "test"})
	p.Run(t.Context(), []string{"explain", srv.URL})
	for _, want := range []string{"rssCloud by https-post at https://hub.example/a?b=1&c=2\n", "rssCloud by soap, which is not usable: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestDocumentedTypesMatchOutputOfExplain(t *testing.T) {
	t.Parallel()
	doc := clitest.Declared(clitest.Section(t, "Explain"))
	for name, typ := range map[string]reflect.Type{
		"Explanation": reflect.TypeFor[explanation](), "Redirect": reflect.TypeFor[explainedRedirect](), "Validators": reflect.TypeFor[explainedValidators](),
		"Cache": reflect.TypeFor[explainedCache](), "Next": reflect.TypeFor[polling.Decision](), "Consideration": reflect.TypeFor[polling.Consideration](),
		"Wait": reflect.TypeFor[polling.Wait](), "Push": reflect.TypeFor[explainedPush](), "Kind": reflect.TypeFor[explainedProblem](),
	} {
		doc.Check(t, name, typ)
	}
}
