package publishhttp

import (
	"io"
	"net/http"
	"time"

	"cloudburst/internal/endpoint"
)

// Time limits of uploads. A slow upload may take long as long as data keep arriving. Requests
// without a login have a shorter limit.
const (
	idleTimeout      = 30 * time.Second // maximum time without data
	uploadTimeout    = time.Hour
	anonymousTimeout = time.Minute
	deadlineEvery    = 5 * time.Second // minimum time between two changes of the deadline
)

// withSlowUpload extends the deadline of a request while its body keeps arriving.
//
// spec:cloudburst#upload-slow
func withSlowUpload(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		timeout := anonymousTimeout
		if r.Header.Get("Authorization") != "" {
			timeout = uploadTimeout
		}
		now := time.Now()
		body := &slowBody{ReadCloser: r.Body, rc: http.NewResponseController(w), last: now.Add(timeout)}
		body.extend(now)
		r2 := *r
		r2.Body = body
		next.ServeHTTP(w, &r2)
	})
}

type slowBody struct {
	io.ReadCloser
	rc         *http.ResponseController
	extendedAt time.Time
	last       time.Time // the deadline that was last set
}

func (b *slowBody) Read(p []byte) (int, error) {
	if now := time.Now(); now.Sub(b.extendedAt) >= deadlineEvery {
		b.extend(now)
	}
	return b.ReadCloser.Read(p)
}

// extend sets the deadline to idleTimeout after now.
func (b *slowBody) extend(now time.Time) {
	b.extendedAt = now
	end := now.Add(idleTimeout)
	if end.After(b.last) {
		end = b.last
	}
	// Ignore the errors: a writer that supports no deadlines is behind a proxy that limits the
	// time.
	_, _ = b.rc.SetReadDeadline(end), b.rc.SetWriteDeadline(end.Add(endpoint.AnswerTimeout))
}
