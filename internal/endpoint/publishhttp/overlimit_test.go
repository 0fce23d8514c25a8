package publishhttp_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// headers records the header Warning of each response.
type headers struct {
	http.RoundTripper
	seen []string
}

func (h *headers) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := h.RoundTripper.RoundTrip(r)
	if err == nil {
		h.seen = append(h.seen, strings.Join(res.Header.Values("Warning"), " "))
	}
	return res, err
}

func TestMicropubReportsAPostOverTheLimit(t *testing.T) {
	t.Parallel()
	const warning = `299 - "The post has 141 characters; short posts have at most 140 here. It is published anyway."`
	w := newPubHarness(t)
	seen := &headers{RoundTripper: w.srv.Client().Transport}
	w.srv.Client().Transport = seen
	check := func(what, want string) {
		t.Helper()
		if len(seen.seen) != 1 || seen.seen[0] != want {
			t.Errorf("%s: Warning %q, want %q", what, seen.seen, want)
		}
		seen.seen = nil
	}
	long := `["` + strings.Repeat("x", 141) + `"]`
	at, _ := w.create(`{"content":` + long + `}`)
	check("over the limit", warning)
	if _, err := w.update(at, `"replace":{"content":["short"]}`); err != nil {
		t.Fatal(err)
	}
	check("shortened", "")
	if _, err := w.update(at, `"replace":{"content":`+long+`}`); err != nil {
		t.Fatal(err)
	}
	check("over the limit again", warning)
	w.create(`{"content":` + long + `,"name":["Title"]}`)
	check("over the limit with a title", "")
	w.create(`{"content":` + long + `,"post-status":["draft"]}`)
	check("draft over the limit", "")
	res, err := http.Post(w.origin+"/micropub", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
	if !strings.Contains(res.Header.Get("Access-Control-Expose-Headers"), "Warning") {
		t.Error("programs in browsers cannot read the Warning field")
	}
}
