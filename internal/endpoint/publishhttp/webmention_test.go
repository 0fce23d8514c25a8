package publishhttp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
)

// reports is a receiver that always returns one result.
type reports struct {
	err    error
	client netip.Addr
}

func (r *reports) Receive(_ context.Context, _, _ string, client netip.Addr) error {
	r.client = client
	return r.err
}

func TestWebmentionErrorsAreMappedToHTTPStatuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err    error
		status int
	}{
		"accepted":    {nil, 202},
		"no post":     {fault.New(fault.Invalid, "The target is not a post of this server."), 400},
		"blocked":     {fault.New(fault.Refused, "no"), 403},
		"too many":    {&fault.Error{Code: fault.TooMany, Msg: "no", RetryAfter: time.Minute}, 429},
		"unavailable": {fault.New(fault.Unavailable, "no"), 503},
		"internal":    {context.Canceled, 500},
	} {
		backend := &reports{err: tt.err}
		w := &Webmention{Conversation: backend, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
		form := url.Values{"source": {"https://you.example/"}, "target": {"https://me.example/post"}}.Encode()
		r := httptest.NewRequest(http.MethodPost, PathWebmention, strings.NewReader(form))
		r.RemoteAddr = "127.0.0.1:1"
		r.Header.Set("X-Forwarded-For", "192.0.2.9")
		rec := httptest.NewRecorder()
		w.Routes()[0].Handler.ServeHTTP(rec, r)
		if rec.Code != tt.status || backend.client != netip.MustParseAddr("192.0.2.9") || tt.status == 429 && rec.Header().Get("Retry-After") != "60" {
			t.Errorf("%s: %d %v from %s", name, rec.Code, rec.Header(), backend.client)
		}
	}
}

func TestWebmentionSourceAtPrivateAddressIsNotRead(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/reply":
			_, _ = w.Write([]byte(`<div class="h-entry"><a class="p-author h-card" href="/ann">Ann</a><a class="u-in-reply-to" href="https://me.example/post">x</a><p class="e-content">Hi</p></div>`))
		case "/moved":
			http.Redirect(w, r, "/reply", http.StatusFound)
		case "/inward":
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		case "/inward6":
			http.Redirect(w, r, "http://[::1]:1/", http.StatusFound)
		case "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/endless":
			for range 50 << 20 / (1 << 12) { // 50 MiB
				if _, err := w.Write(make([]byte, 1<<12)); err != nil {
					return
				}
			}
		case "/other":
			_, _ = w.Write([]byte("no link"))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	doer := fetch.NewDoer(fetch.DoerOptions{Guard: &fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, MaxBody: 2 << 20})
	t.Cleanup(doer.CloseIdle)
	reader := &WebmentionReader{HTTP: doer}
	for _, path := range []string{"/reply", "/moved"} {
		c, author, err := reader.Read(t.Context(), srv.URL+path, "https://me.example/post")
		if d := cmp.Diff(conversation.Content{Kind: conversation.Reply, Name: "Ann", Text: "Hi", FinalURL: srv.URL + "/reply"}, c); d != "" || err != nil || author != srv.URL+"/ann" {
			t.Errorf("%s: author %q, %v, %s", path, author, err, d)
		}
	}
	for path, want := range map[string]fault.Code{
		"/inward": fault.Refused, "/inward6": fault.Refused, "/metadata": fault.Refused, "/loop": fault.Invalid, "/busy": fault.Unreadable, "/endless": fault.Gone, "/other": fault.Gone, "/missing": fault.Gone,
	} {
		if _, _, err := reader.Read(t.Context(), srv.URL+path, "https://me.example/post"); fault.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if _, _, err := reader.Read(t.Context(), "http://10.0.0.1/", "https://me.example/post"); fault.CodeOf(err) != fault.Refused {
		t.Errorf("an address inside: %v", err)
	}
}
