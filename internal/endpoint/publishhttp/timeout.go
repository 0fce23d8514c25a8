package publishhttp

import (
	"cloudburst/internal/endpoint"
	"io"
	"net/http"
	"time"
)

// Files may take long on a slow line; what does not move at all is ended. Who has not
// said who he is has to be quicker.
const (
	standstill    = 30 * time.Second // without a byte
	uploadLongest = time.Hour
	strangerLong  = time.Minute
	deadlineEvery = 5 * time.Second // at most so often is it moved
)

// patient lets the body of a request come slowly, as long as something comes.
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
	last  time.Time // no deadline is later
}

func (b *patientBody) Read(p []byte) (int, error) {
	if now := time.Now(); now.Sub(b.moved) >= deadlineEvery {
		b.move(now)
	}
	return b.ReadCloser.Read(p)
}

// move gives the request its time from now on.
func (b *patientBody) move(now time.Time) {
	b.moved = now
	end := now.Add(standstill)
	if end.After(b.last) {
		end = b.last
	}
	// The errors say that this writer knows no deadlines: then a proxy in front bounds it.
	_, _ = b.rc.SetReadDeadline(end), b.rc.SetWriteDeadline(end.Add(endpoint.AnswerTimeout))
}
