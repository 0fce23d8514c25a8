package wirehttp

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRetryAfterIsParsedAsSecondsOrDate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for in, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, " 7 ": 7 * time.Second, "-5": 0, "1.5": 0, "soon": 0, "4294967296": 0, "99999999999999999999": 0,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Friday, 02-Jan-26 03:05:05 GMT": time.Minute, "Fri Jan  2 03:05:05 2026": time.Minute, "Fri, 02 Jan 2026 03:00:00 GMT": 0,
	} {
		if got := ParseRetryAfter(in, now); got != want {
			t.Errorf("ParseRetryAfter(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestRetryAfterDateCountsFromTheDateOfTheResponse(t *testing.T) {
	t.Parallel()
	h := http.Header{"Date": {"Fri, 31 Dec 2027 23:59:00 GMT"}, "Retry-After": {"Fri, 31 Dec 2027 23:59:59 GMT"}}
	if got := RetryAfter(h); got != 59*time.Second {
		t.Errorf("Retry-After is %s, want 59 s", got)
	}
}

func TestStatusTextContainsCodeAndName(t *testing.T) {
	t.Parallel()
	if a, b := StatusText(404), StatusText(599); a != "404 Not Found" || b != "599" {
		t.Errorf("got %q and %q", a, b)
	}
}

func TestContextContainsTheHTTPRequest(t *testing.T) {
	t.Parallel()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if RequestFrom(context.Background()) != nil || RequestFrom(WithRequest(t.Context(), r)) != r {
		t.Error("a context has another request than it was given")
	}
}

func TestFormFieldsAreParsedOrRejected(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"a=1&&b=%20+": "a=1|b=  |",
		"a":           "a=|",
		"a=1;b=2":     "a ; in",
		"a=%zz":       "hexadecimal",
		"a=%00":       "NUL",
		"%ff=1":       "not UTF-8",
		"a&b&c&d":     "more than 3 fields",
		"":            "",
	} {
		got := ""
		if wrong := EachField(body, 3, func(name, value string) { got += name + "=" + value + "|" }); wrong != "" {
			got = wrong
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestNonFormBodiesAreRejected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header http.Header
		body   string
		status int
	}{
		"a form":             {nil, "a=1", 0},
		"one of a few bytes": {http.Header{"Content-Type": {"text/plain; x"}}, "123456789", 0},
		"a large body":       {nil, "1234567890", http.StatusRequestEntityTooLarge},
		"a packed body":      {http.Header{"Content-Encoding": {"identity", "gzip"}}, "a=1", http.StatusUnsupportedMediaType},
		"a document":         {http.Header{"Content-Type": {"text/xml"}}, "<a/>", http.StatusUnsupportedMediaType},
	} {
		for _, length := range []int64{-1, int64(len(c.body))} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = length
			if c.header != nil {
				r.Header = c.header
			}
			body, no := ReadForm(r, 9, "It is too large.")
			if status := statusOf(no); status != c.status || no == nil && string(body) != c.body {
				t.Errorf("%s: status %d and the body %q", name, status, body)
			}
		}
	}
}

func statusOf(r *Refusal) int {
	if r == nil {
		return 0
	}
	return r.Status
}

func TestInvalidURLsAreRejected(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"http://example.com:8080/a":  "",
		"ftp://example.com/":         "must begin",
		"http:///a":                  "names no host",
		"http://example.com:0/":      "port",
		"http://alice@example.com/":  "user name",
		"http://example.com/a b":     "space",
		"http://example.com/\xff":    "not UTF-8",
		"http://example.com/%zz":     "is not a URL",
		"http://example.com:65536/a": "port",
	} {
		got := CheckURL("url", raw, func(r rune) bool { return r <= ' ' })
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}
