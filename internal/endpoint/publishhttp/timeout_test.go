package publishhttp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// deadlines records the read deadline of a request.
type deadlines struct {
	*httptest.ResponseRecorder
	read time.Time
}

// SetReadDeadline records the deadline that http.ResponseController sets.
func (d *deadlines) SetReadDeadline(t time.Time) error { d.read = t; return nil }

// SetWriteDeadline does nothing.
func (d *deadlines) SetWriteDeadline(time.Time) error { return nil }

func TestSlowUploadIsAcceptedWithinTheTimeLimit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		token string
		steps int           // number of steps of ten seconds
		left  time.Duration // remaining time at the end
	}{
		"file on a slow connection":   {"Bearer x", 30, idleTimeout},
		"upload of several hours":     {"Bearer x", 359, 10 * time.Second},
		"upload of an unknown client": {"", 5, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
				r := httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("a", tt.steps)))
				r.Header.Set("Authorization", tt.token)
				withSlowUpload(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					b := make([]byte, 1)
					for range tt.steps {
						time.Sleep(10 * time.Second) // advances the clock of the synctest bubble
						if _, err := io.ReadFull(r.Body, b); err != nil {
							t.Fatal(err)
						}
					}
				})).ServeHTTP(w, r)
				if left := time.Until(w.read); left != tt.left {
					t.Errorf("%v left, want %v", left, tt.left)
				}
			})
		})
	}
}
