package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func loopDoer(t *testing.T, o DoerOptions) *Doer {
	t.Helper()
	if o.Guard == nil {
		o.Guard = &Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Callback: true}
	}
	d := NewDoer(o)
	t.Cleanup(d.CloseIdle)
	return d
}

func doPost(t *testing.T, d *Doer, url string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("a=b"))
	if err != nil {
		t.Fatal(err)
	}
	return d.Do(r)
}

func TestDoerSendsTheRequestUnchanged(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != "a=b" || r.UserAgent() != "Test/1" || r.Header.Get("Accept-Encoding") != "" {
			t.Errorf("%q, %v, header %v", body, err, r.Header)
		}
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, "later")
	}))
	defer srv.Close()
	res, err := doPost(t, loopDoer(t, DoerOptions{UserAgent: "Test/1"}), srv.URL+"/hub?x=1")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); res.StatusCode != 202 || string(body) != "later" || err != nil {
		t.Errorf("%d %q %v", res.StatusCode, body, err)
	}
}

func TestDoerFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.RedirectHandler("/elsewhere", http.StatusTemporaryRedirect))
	defer srv.Close()
	res, err := doPost(t, loopDoer(t, DoerOptions{}), srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestDoerRefusesForbiddenAddresses(t *testing.T) {
	t.Parallel()
	w := newTripwire(t)
	d := loopDoer(t, DoerOptions{Guard: &Guard{Callback: true}})
	for url, kind := range map[string]Kind{
		"http://127.0.0.1:" + w.port + "/":          Refused,
		"http://[::ffff:127.0.0.1]:" + w.port + "/": Refused,
		"http://user:pw@192.0.2.1/":                 BadURL,
		"http://192.0.2.1:25/":                      BadURL,
		"ftp://192.0.2.1/":                          BadURL,
	} {
		res, err := doPost(t, d, url)
		if err == nil {
			res.Body.Close()
		}
		if e, ok := errors.AsType[*Error](err); !ok || e.Kind != kind {
			t.Errorf("%s: %v, want a refusal of the kind %s", url, err, kind)
		}
	}
	w.check(t)
}

func TestDoerLimitsTheResponseBody(t *testing.T) {
	t.Parallel()
	for size, fits := range map[int]bool{10: true, 11: false, 10_000: false} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, strings.Repeat("x", size))
		}))
		defer srv.Close()
		res, err := doPost(t, loopDoer(t, DoerOptions{MaxBody: 10}), srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if fits != (err == nil) || len(body) != 10 || !fits && KindOf(err) != TooLarge {
			t.Errorf("%d bytes: read %d, %v", size, len(body), err)
		}
	}
}

func TestDoerTimesOutInEveryPhase(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			io.WriteString(w, "begins")
			http.NewResponseController(w).Flush()
		}
		<-stop
	}))
	defer srv.Close()
	defer close(stop)
	d := loopDoer(t, DoerOptions{Timeout: 100 * time.Millisecond})
	if res, err := doPost(t, d, srv.URL+"/head"); err == nil || KindOf(err) != TimedOut {
		res.Body.Close()
		t.Errorf("a head that does not come: %v", err)
	}
	res, err := doPost(t, d, srv.URL+"/body")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); KindOf(err) != TimedOut {
		t.Errorf("a body that does not end: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL, nil)
	if _, err := d.Do(r); KindOf(err) != Ours {
		t.Errorf("a request that was given up: %v", err)
	}
}
