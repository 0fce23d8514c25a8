package readhttp

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

const mastodonToken = "ZA-Yj3aBD8U8Cm7lKUp-lm9O9BmDgdhHzDeqsY8tlL0"

// instance is a Mastodon server with one account. It publishes a status once for each idempotency key.
type instance struct {
	*httptest.Server
	statuses []string
	seen     map[string]bool
	status   int // status of the responses to new statuses; 0: 200
}

func newInstance(t *testing.T) *instance {
	t.Helper()
	i := &instance{seen: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/accounts/verify_credentials", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(map[string]any{"id": "1", "username": "ann", "source": map[string]any{"note": strings.Repeat("x", 5000)}})
	})
	mux.HandleFunc("POST /api/v1/statuses", func(w http.ResponseWriter, r *http.Request) {
		if i.status != 0 {
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(i.status)
			return
		}
		if key := r.Header.Get("Idempotency-Key"); key == "" || !i.seen[key] {
			i.seen[key] = true
			i.statuses = append(i.statuses, r.FormValue("status"))
		}
		_, _ = w.Write([]byte(`{"id":"103254962155278888"}`))
	})
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+mastodonToken {
			http.Error(w, `{"error":"The access token is invalid"}`, http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

func TestItemsAreCopiedToMastodonOnce(t *testing.T) {
	t.Parallel()
	_, s := newTarget(t)
	m := newInstance(t)
	n := forward.Forwarding{ID: 7, Reader: "ann", Via: forward.ViaMastodon, Target: m.URL, Secret: mastodonToken}
	if err := s.Ask(t.Context(), n, "token"); err != nil {
		t.Fatal(err)
	}
	untitled := blueChalk()
	untitled.ID++
	untitled.Title, untitled.Text = "", strings.Repeat("ж", 600)
	for range 2 {
		if err := s.Forward(t.Context(), n, []river.Entry{blueChalk(), untitled}); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.statuses) != 2 {
		t.Fatalf("%q", m.statuses)
	}
	if d := cmp.Diff("Blue chalk\n\nhttp://chalk.example/blue", m.statuses[0]); d != "" {
		t.Error(d)
	}
	text, link, _ := strings.Cut(m.statuses[1], "\n\n")
	if n := utf8.RuneCountInString(text); n > maxStatus || n < maxStatus-2 || link != "http://chalk.example/blue" {
		t.Errorf("%d characters, link %q", n, link)
	}
}

func TestMastodonErrorsAreReported(t *testing.T) {
	t.Parallel()
	_, s := newTarget(t)
	m := newInstance(t)
	n := forward.Forwarding{ID: 7, Reader: "ann", Via: forward.ViaMastodon, Target: m.URL, Secret: "old"}
	if err := s.Ask(t.Context(), n, "token"); fault.CodeOf(err) != fault.Gone || !strings.Contains(err.Error(), "access token") {
		t.Errorf("an invalid token: %v", err)
	}
	if err := s.Forward(t.Context(), n, []river.Entry{blueChalk()}); fault.CodeOf(err) != fault.Gone {
		t.Errorf("a revoked token: %v", err)
	}
	n.Secret = mastodonToken
	for status, retry := range map[int]time.Duration{http.StatusUnprocessableEntity: 90 * time.Second, http.StatusTooManyRequests: 90 * time.Second, http.StatusServiceUnavailable: 90 * time.Second} {
		m.status = status
		if err := s.Forward(t.Context(), n, []river.Entry{blueChalk()}); fault.CodeOf(err) != fault.Unreadable || fault.RetryAfter(err) != retry {
			t.Errorf("status %d: %v, again after %v", status, err, fault.RetryAfter(err))
		}
	}
	other, _ := newTarget(t)
	n.Target = other.URL
	if err := s.Ask(t.Context(), n, "token"); fault.CodeOf(err) != fault.Unreadable || !strings.Contains(err.Error(), "not a Mastodon server") {
		t.Errorf("another server: %v", err)
	}
}
