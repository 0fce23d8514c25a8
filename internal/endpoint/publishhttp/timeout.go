package publishhttp

import (
	"cloudburst/internal/endpoint"
	"io"
	"net/http"
	"time"
)

// Time limits of uploads. A slow upload may take long while data keeps arriving. Requests without a
// login have a shorter limit.
const (
	standstill    = 30 * time.Second // without data
	uploadLongest = time.Hour
	strangerLong  = time.Minute
	deadlineEvery = 5 * time.Second // minimum time between two changes of the deadline
)

// withSlowUpload extends the deadline of a request while its body keeps arriving.
//
// spec:cloudburst#upload-slow
func patient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		longest := strangerLong
		if r.Header.Get("Authorization") != "" {
			longest = uploadLongest
		}
		now := time.Now()
		body := &patientBody{ReadCloser: r.Body, rc: http.NewResponseController(w), last: now.Add(longest)}
		body.move(now)
		r2 := *r
		r2.Body = body
		next.ServeHTTP(w, &r2)
	})
}

type patientBody struct {
	io.ReadCloser
	rc    *http.ResponseController
	moved time.Time
	last  time.Time // latest deadline
}

func (b *patientBody) Read(p []byte) (int, error) {
	if now := time.Now(); now.Sub(b.moved) >= deadlineEvery {
		b.move(now)
	}
	return b.ReadCloser.Read(p)
}

// extend sets the deadline to idleTimeout after now.
func (b *patientBody) move(now time.Time) {
	b.moved = now
	end := now.Add(standstill)
	if end.After(b.last) {
		end = b.last
	}
	// Ignore the errors: a writer without deadlines is behind a proxy that limits the time.
	_, _ = b.rc.SetReadDeadline(end), b.rc.SetWriteDeadline(end.Add(endpoint.AnswerTimeout))
}
