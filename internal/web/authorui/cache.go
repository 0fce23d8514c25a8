package authorui

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	documents "cloudburst/internal/serve"
)

// sendWritten sends a page of posts with a tag, so that who has it already gets no more
// than that word. modified is when its posts changed last.
func (s *Pages) sendWritten(rw http.ResponseWriter, r *http.Request, name string, v *postsView, modified time.Time) {
	body, ok := s.Execute(rw, name, v)
	if !ok {
		return
	}
	h := rw.Header()
	s.AllowMedia(rw)
	sum := sha256.Sum256(body)
	tag := `W/"` + hex.EncodeToString(sum[:12]) + `"` // packed or not, it is the same page
	h.Set("ETag", tag)
	if modified.Unix() > 0 {
		h.Set("Last-Modified", modified.UTC().Format(http.TimeFormat))
	}
	if s.holds(r, tag, modified) {
		s.SetPageHeaders(rw, r)
		h.Del("Content-Type")
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	s.Send(rw, r, http.StatusOK, body)
}

// holds reports a reader who has the page. A date says nothing about who is signed in.
//
// spec:rfc9110#conditions
func (s *Pages) holds(r *http.Request, tag string, modified time.Time) bool {
	if lists := r.Header.Values("If-None-Match"); len(lists) > 0 {
		for _, list := range lists {
			for one, _, rest := documents.NextTag(list); one != ""; one, _, rest = documents.NextTag(rest) {
				if one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
					return true
				}
			}
		}
		return false
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	return err == nil && s.Visitor(r).User == "" && modified.Unix() > 0 && modified.Unix() <= since.Unix()
}
