package readerui

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// maxMarksPerRequest is the maximum number of items in one field of a request.
const maxMarksPerRequest = 1000

// doMark sets marks of items. The fields star, unstar, read and unread contain ids, separated by
// commas. A request of the script gets status 204; a form leads back to its page.
func (s *riverPages) doMark(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	if !s.riverForm(rw, r) {
		return nil
	}
	marked := int64(0)
	for _, m := range []struct {
		name  string
		value bool
		read  bool
	}{{"star", true, false}, {"unstar", false, false}, {"read", true, true}, {"unread", false, true}} {
		ids, err := itemIDs(r.PostForm[m.name])
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			continue
		}
		read, starred := &m.value, (*bool)(nil)
		if !m.read {
			read, starred = nil, &m.value
		}
		if _, err := s.River.Mark(r.Context(), reader, ids, read, starred); err != nil {
			return err
		}
		marked = ids[0]
	}
	if marked == 0 {
		return fault.New(fault.Invalid, "The form does not name the item to mark.")
	}
	return s.backToRiver(rw, r, nil, "#i"+strconv.FormatInt(marked, 10))
}

// itemIDs parses the ids of a form.
func itemIDs(values []string) (ids []int64, err error) {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			id, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
			if err != nil || id <= 0 {
				return nil, fault.New(fault.Invalid, "%q is not the number of an item.", shell.CleanText(part, 40))
			}
			if ids = append(ids, id); len(ids) > maxMarksPerRequest {
				return nil, fault.New(fault.TooMany, "At most %d items can be marked at once.", maxMarksPerRequest)
			}
		}
	}
	return ids, nil
}

// doRead marks all items as read that arrived before its page was rendered. The form limits this to
// a feed or a category, or names none for the whole river.
func (s *riverPages) doRead(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	if !s.riverForm(rw, r) {
		return nil
	}
	now := s.CurrentTime()
	to, ok := markedUntil(r, now)
	if !ok {
		return fault.New(fault.Invalid, "The form does not state the time up to which items are read.")
	}
	source := int64(0)
	if id := r.PostForm.Get("source"); id != "" {
		var err error
		if source, err = strconv.ParseInt(id, 10, 64); err != nil || source <= 0 {
			return fault.New(fault.Invalid, "%q is not the number of a feed.", shell.CleanText(id, 40))
		}
	}
	category := r.PostForm.Get("category")
	marked, err := s.countMarked(r.Context(), reader, source, category, func() error {
		return s.River.MarkAllRead(r.Context(), reader, source, category, to)
	})
	if err != nil {
		return err
	}
	did := url.Values{"marked": {strconv.FormatInt(marked, 10)}, "to": {strconv.FormatInt(to.UnixMilli(), 10)}, "at": {strconv.FormatInt(now.UnixMilli(), 10)}}
	return s.backToRiver(rw, r, did, "")
}

// markedUntil returns the time up to which a form marks items read: the time at which its page was
// rendered, at most now. ok is false if the form contains an invalid time.
func markedUntil(r *http.Request, now time.Time) (to time.Time, ok bool) {
	to, ok = now, true
	if at := r.PostForm.Get("to"); at != "" {
		ms, err := strconv.ParseInt(at, 10, 64)
		ok = err == nil && ms > 0
		if t := time.UnixMilli(ms); ok && t.Before(now) {
			to = t
		}
	}
	return to.Truncate(time.Millisecond).UTC(), ok
}

// doUndoRead undoes doRead.
func (s *riverPages) doUndoRead(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	if !s.riverForm(rw, r) {
		return nil
	}
	ms, err := strconv.ParseInt(r.PostForm.Get("to"), 10, 64)
	if err != nil || ms <= 0 {
		return fault.New(fault.Invalid, "The form does not name the marks to undo.")
	}
	unmarked, err := s.countMarked(r.Context(), reader, 0, "", func() error {
		return s.River.UndoAllRead(r.Context(), reader, time.UnixMilli(ms).UTC())
	})
	if err != nil {
		return err
	}
	return s.backToRiver(rw, r, url.Values{"unmarked": {strconv.FormatInt(-unmarked, 10)}}, "")
}

// countMarked calls do and returns by how many items the unread count fell.
func (s *riverPages) countMarked(ctx context.Context, reader string, source int64, category string, do func() error) (int64, error) {
	before, err := s.unreadIn(ctx, reader, source, category)
	if err == nil {
		err = do()
	}
	if err != nil {
		return 0, err
	}
	after, err := s.unreadIn(ctx, reader, source, category)
	return before - after, err
}

// unreadIn counts the unread items of a feed, of a category, or of all followed feeds.
func (s *riverPages) unreadIn(ctx context.Context, reader string, source int64, category string) (n int64, err error) {
	if category != "" {
		list, err := s.River.Categories(ctx, reader, true)
		for _, c := range list {
			if c.Name == category {
				n = c.Unread
			}
		}
		return n, err
	}
	all, err := s.River.CountUnread(ctx, reader)
	for id, u := range all {
		if source == 0 || id == source {
			n += u.Items
		}
	}
	return n, err
}

// addMarkResult adds to a page the result of the last marking of all items, which is in the URL.
func (s *riverPages) addMarkResult(r *http.Request, v *riverView) {
	q := r.URL.Query()
	number := func(name string) int64 {
		n, err := strconv.ParseInt(q.Get(name), 10, 64)
		if err != nil || n < 0 || n > 1<<53 {
			return -1
		}
		return n
	}
	if n := number("unmarked"); v.Own && n >= 0 {
		v.Message = v.Say("Undone: %s unread again.", locale.Quantity(n, "item", "items"))
	}
	n, to, until := number("marked"), number("to"), time.UnixMilli(number("at")).Add(river.UndoWithin)
	if !v.Own || n < 0 || to < 0 || !until.After(v.Now) {
		return
	}
	v.Undo = &shell.UndoBar{Action: "/river/read/undo", Words: v.Say("Marked %s read.", locale.Quantity(n, "item", "items")), Until: shell.NewMoment(v.Now, until), Fields: []shell.NamedValue{{Name: "to", Value: q.Get("to")}, {Name: "back", Value: v.Plain}}}
	v.Undo.Until = v.Undo.Until.As(until.In(shell.TimeZone(r)).Format("15:04:05"))
}

// riverForm reads a form of the river; if that fails, it sends an error page.
func (s *base) riverForm(rw http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(rw, r.Body, maxMarks)
	if err := r.ParseForm(); err != nil {
		s.Fail(rw, r, fault.Wrap(fault.Invalid, err, "The form could not be read. It may be longer than 64 KiB."))
		return false
	}
	return true
}

// backToRiver ends a request that has changed data with a redirect to the previous page. did has
// the result, as URL parameters of that page.
func (s *riverPages) backToRiver(rw http.ResponseWriter, r *http.Request, did url.Values, fragment string) error {
	rw.Header().Set("Cache-Control", "no-store")
	if r.Header.Get("Accept") == "text/plain" { // the request is from the page's script, which updates the page itself
		rw.WriteHeader(http.StatusNoContent)
		return nil
	}
	back := shell.LocalPath(r.PostForm.Get("back"), "/river")
	if !strings.HasPrefix(back, "/river") || strings.Contains(back, "#") {
		back = "/river"
	}
	if len(did) > 0 {
		sep := "?"
		if strings.Contains(back, "?") {
			sep = "&"
		}
		back += sep + did.Encode()
	}
	return shell.Redirect(rw, r, back+fragment)
}

// maxMarks is the maximum size of a form in bytes.
const maxMarks = 64 << 10
