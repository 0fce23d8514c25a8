package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/fault"
)

// markAtOnce is how many items one request can mark.
const markAtOnce = 1000

// looksFor is how long a browser keeps what its reader wants to see.
const looksFor = 365 * 24 * time.Hour

// doMark sets marks of items: star, unstar, read and unread each hold ids, parted by
// commas. A script gets no page back, a form its reader's own.
func (s *site) doMark(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	if !s.riverForm(rw, r) {
		return
	}
	marked := int64(0)
	for _, m := range []struct {
		name  string
		value bool
		read  bool
	}{{"star", true, false}, {"unstar", false, false}, {"read", true, true}, {"unread", false, true}} {
		ids, err := itemIDs(r.PostForm[m.name])
		if err != nil {
			s.fail(rw, r, err)
			return
		}
		if len(ids) == 0 {
			continue
		}
		read, starred := &m.value, (*bool)(nil)
		if !m.read {
			read, starred = nil, &m.value
		}
		if _, err := s.River.Mark(r.Context(), reader, ids, read, starred); err != nil {
			s.fail(rw, r, err)
			return
		}
		marked = ids[0]
	}
	if marked == 0 {
		s.fail(rw, r, fault.New(fault.Invalid, "The form does not say which item to mark."))
		return
	}
	s.backToRiver(rw, r, "#i"+strconv.FormatInt(marked, 10))
}

// itemIDs reads ids as forms have them.
func itemIDs(values []string) (ids []int64, err error) {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			id, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
			if err != nil || id <= 0 {
				return nil, fault.New(fault.Invalid, "%q is not the number of an item.", clean(part, 40))
			}
			if ids = append(ids, id); len(ids) > markAtOnce {
				return nil, fault.New(fault.TooMany, "At most %d items can be marked at once.", markAtOnce)
			}
		}
	}
	return ids, nil
}

// doRead makes everything read that came before the page was made: of a feed, of a
// category, or all.
func (s *site) doRead(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	if !s.riverForm(rw, r) {
		return
	}
	to, now := s.now(), s.now()
	if at := r.PostForm.Get("to"); at != "" {
		ms, err := strconv.ParseInt(at, 10, 64)
		if err != nil || ms <= 0 {
			s.fail(rw, r, fault.New(fault.Invalid, "The form does not say up to when."))
			return
		}
		if t := time.UnixMilli(ms); t.Before(now) {
			to = t
		}
	}
	source := int64(0)
	if id := r.PostForm.Get("source"); id != "" {
		var err error
		if source, err = strconv.ParseInt(id, 10, 64); err != nil || source <= 0 {
			s.fail(rw, r, fault.New(fault.Invalid, "%q is not the number of a feed.", clean(id, 40)))
			return
		}
	}
	if err := s.River.MarkAllRead(r.Context(), reader, source, r.PostForm.Get("category"), to.UTC()); err != nil {
		s.fail(rw, r, err)
		return
	}
	s.backToRiver(rw, r, "")
}

// riverForm reads a form of the river; it has answered when that did not work.
func (s *site) riverForm(rw http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(rw, r.Body, 64<<10)
	if err := r.ParseForm(); err != nil {
		s.fail(rw, r, fault.Wrap(fault.Invalid, err, "The form could not be read. It may be longer than 64 KiB."))
		return false
	}
	return true
}

// backToRiver ends a request that has changed something.
func (s *site) backToRiver(rw http.ResponseWriter, r *http.Request, fragment string) {
	rw.Header().Set("Cache-Control", "no-store")
	if r.Header.Get("Accept") == "text/plain" { // the page's own script, which knows what to show
		rw.WriteHeader(http.StatusNoContent)
		return
	}
	back := local(r.PostForm.Get("back"), "/river")
	if !strings.HasPrefix(back, "/river") || strings.Contains(back, "#") {
		back = "/river"
	}
	http.Redirect(rw, r, back+fragment, http.StatusSeeOther)
}

// doRiverSettings keeps what a reader wants to see in his browser: it is about the
// page, not about the river.
func (s *site) doRiverSettings(rw http.ResponseWriter, r *http.Request) {
	if !s.riverForm(rw, r) {
		return
	}
	var on []string
	for _, name := range []string{"counts", "marks"} {
		if r.PostForm.Get(name) == "1" {
			on = append(on, name)
		}
	}
	c := &http.Cookie{Name: "river", Value: strings.Join(on, "."), Path: "/river", HttpOnly: true, Secure: s.secure(r), SameSite: http.SameSiteLaxMode, MaxAge: int(looksFor / time.Second)}
	if len(on) == 0 {
		c.MaxAge = -1
	}
	http.SetCookie(rw, c)
	s.backToRiver(rw, r, "")
}
