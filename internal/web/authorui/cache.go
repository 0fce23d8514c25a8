package authorui

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	documents "cloudburst/internal/serve"
)

// sendWritten sends a page of posts with an ETag, so that a client with a current copy receives
// 304. modified is the time of the last change of its posts.
func (s *Pages) sendWritten(rw http.ResponseWriter, r *http.Request, name string, v *postsView, modified time.Time) {
	body, ok := s.Execute(rw, name, v)
	if !ok {
		return
	}
	h := rw.Header()
	s.AllowMedia(rw)
	if p, ok := s.keep(rw, r, v, body, modified); ok {
		p.send(rw, r)
		return
	}
	sum := sha256.Sum256(body)
	tag := `W/"` + hex.EncodeToString(sum[:12]) + `"` // a weak tag, because compressed and plain responses share it
	h.Set("ETag", tag)
	if modified.Unix() > 0 {
		h.Set("Last-Modified", modified.UTC().Format(http.TimeFormat))
	}
	if holds(r, tag) {
		s.SetPageHeaders(rw, r)
		h.Del("Content-Type")
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	s.Send(rw, r, http.StatusOK, body)
}

// holds reports whether the client has a current copy of the page. It compares only ETags, not
// dates, because the page also depends on the session, the language, and replies that were approved later.
//
// spec:rfc9110#precondition-order
func holds(r *http.Request, tag string) bool {
	for _, list := range r.Header.Values("If-None-Match") {
		for one, _, rest := documents.NextTag(list); one != ""; one, _, rest = documents.NextTag(rest) {
			if one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}
