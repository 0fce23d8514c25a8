package readerui

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// maxSelected is the maximum number of feeds that one form can select.
const maxSelected = 1000

// doSelected applies one action to all feeds that are ticked in the list: unfollow them, check
// them, mark their items read, or move them to a category.
func (s *followPages) doSelected(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	if !s.riverForm(rw, r) {
		return nil
	}
	back, err := url.Parse(shell.LocalPath(r.PostForm.Get("back"), "/feeds"))
	if err != nil || back.Path != "/feeds" {
		back = &url.URL{Path: "/feeds"}
	}
	ids, err := feedIDs(r.PostForm["feed"])
	var did url.Values
	if err == nil {
		did, err = s.applyToSelected(r, reader, ids)
	}
	if err != nil {
		status, _ := shell.StatusOf(err)
		if status >= 500 {
			return err
		}
		q := parseSourceQuery(back.Query())
		q.Select = true
		shell.SetRetryAfter(rw, err)
		return s.showSources(rw, r, reader, status, q, shell.Reason(err))
	}
	values := back.Query()
	for _, name := range []string{"select", "done", "n", "items", "into", "feeds", "to", "at"} {
		values.Del(name)
	}
	maps.Copy(values, did)
	return shell.Redirect(rw, r, withQuery("/feeds", values))
}

// feedIDs reads the ticked feeds of a form. It sorts them and removes duplicates.
func feedIDs(values []string) (ids []int64, err error) {
	for _, v := range values {
		id, err := strconv.ParseInt(v, 10, 64)
		if err != nil || id <= 0 {
			return nil, fault.New(fault.Invalid, "%q is not the number of a feed.", shell.CleanText(v, 40))
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	switch {
	case len(ids) == 0:
		return nil, fault.New(fault.Invalid, "Tick at least one feed first.")
	case len(ids) > maxSelected:
		return nil, fault.New(fault.Invalid, "You ticked %d feeds: at most %d can be changed at once.", len(ids), maxSelected)
	}
	return ids, nil
}

// applyToSelected carries out the action of the form, and returns the result as URL parameters of
// the next page.
func (s *followPages) applyToSelected(r *http.Request, reader string, ids []int64) (url.Values, error) {
	did := url.Values{"n": {strconv.Itoa(len(ids))}}
	switch do := r.PostForm.Get("do"); do {
	case "unfollow":
		did.Set("done", "unfollowed")
		did.Set("feeds", packIDs(ids))
		return did, s.River.Remove(r.Context(), reader, ids...)
	case "check":
		due, err := s.River.CheckSoon(r.Context(), reader, ids)
		did.Set("done", "checking")
		did.Set("n", strconv.Itoa(due))
		return did, err
	case "read":
		return s.markSelectedRead(r, reader, ids, did)
	case "move":
		return s.moveSelected(r, reader, ids, did)
	default:
		return nil, fault.New(fault.Invalid, "Choose what to do with the selected feeds.")
	}
}

// markSelectedRead marks the items of the feeds as read that arrived before the page was rendered.
func (s *followPages) markSelectedRead(r *http.Request, reader string, ids []int64, did url.Values) (url.Values, error) {
	now := s.CurrentTime()
	to, _ := markedUntil(r, now) // if the form contains an invalid time, to is now
	mine, err := s.River.Following(r.Context(), reader)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if !mine[id] {
			continue
		}
		if err := s.River.MarkAllRead(r.Context(), reader, id, "", to); err != nil {
			return nil, err
		}
	}
	did.Set("done", "marked")
	did.Set("to", strconv.FormatInt(to.UnixMilli(), 10))
	did.Set("at", strconv.FormatInt(now.UnixMilli(), 10))
	return did, nil
}

// moveSelected moves the feeds to one category, or removes them from all categories.
func (s *followPages) moveSelected(r *http.Request, reader string, ids []int64, did url.Values) (url.Values, error) {
	name := strings.TrimSpace(shell.CleanText(r.PostForm.Get("new"), maxMarks))
	if name == "" {
		name = r.PostForm.Get("category")
	}
	var categories []string
	if name != "" {
		categories = []string{name}
	}
	for _, id := range ids {
		_, err := s.River.Change(r.Context(), reader, id, func(sub *river.Subscription) error {
			sub.Categories = categories
			return nil
		})
		if err != nil && fault.CodeOf(err) != fault.NotFound { // NotFound: the feed was unfollowed in the meantime; skip it
			return nil, err
		}
	}
	did.Set("done", "moved")
	did.Set("into", name)
	return did, nil
}

// packIDs encodes ids for a URL: base-36 numbers, separated by dots.
func packIDs(ids []int64) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.FormatInt(id, 36)
	}
	return strings.Join(words, ".")
}

// unpackIDs decodes the result of packIDs; nil: s is malformed.
func unpackIDs(s string) (ids []int64) {
	if s == "" || len(s) > maxMarks {
		return nil
	}
	for word := range strings.SplitSeq(s, ".") {
		id, err := strconv.ParseInt(word, 36, 64)
		if err != nil || id <= 0 || len(ids) == maxSelected {
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// offerSelectedUndo adds the result of doSelected to the next page, with the bar that undoes it.
func (s *followPages) offerSelectedUndo(r *http.Request, reader string, v *sourcesView) {
	q := r.URL.Query()
	n, err := strconv.Atoi(q.Get("n"))
	if err != nil || n < 0 {
		return
	}
	feeds := locale.Quantity(n, "feed", "feeds")
	bar := func(words string, until time.Time, fields ...shell.NamedValue) {
		if v.Message = words; !until.After(v.Now) {
			return
		}
		v.Undo = &shell.UndoBar{Action: "/feeds/selected/undo", Words: words, Until: shell.NewMoment(v.Now, until), Fields: fields}
		v.Message, v.Undo.Until = "", v.Undo.Until.As(until.In(shell.TimeZone(r)).Format("15:04:05"))
	}
	switch q.Get("done") {
	case "unfollowed":
		if ids := unpackIDs(q.Get("feeds")); len(ids) > 0 {
			until, err := s.River.Removed(r.Context(), reader, ids[0])
			if err != nil {
				until = time.Time{}
			}
			bar(v.Say("You unfollowed %s.", feeds), until, shell.NamedValue{Name: "feeds", Value: q.Get("feeds")})
		}
	case "marked":
		if ms, err := strconv.ParseInt(q.Get("at"), 10, 64); err == nil {
			bar(v.Say("Marked all items of %s read.", feeds), time.UnixMilli(ms).Add(river.UndoWithin), shell.NamedValue{Name: "to", Value: shell.CleanText(q.Get("to"), 20)})
		}
	case "checking":
		v.Message = v.Say("%s will be checked in the next moments.", feeds)
		if n == 0 {
			v.Message = "No check is possible now: the feeds were checked less than a minute ago, are being checked, or are gone."
		}
	case "moved":
		v.Message = v.Say("Moved %s to the category %s.", feeds, shell.CleanText(q.Get("into"), 100))
		if q.Get("into") == "" {
			v.Message = v.Say("Removed %s from all categories.", feeds)
		}
	case "refollowed":
		v.Message = v.Say("Undone: you follow %s again, as before.", feeds)
	case "unmarked":
		v.Message = "Undone: the items are unread again."
	}
}

// doUndoSelected undoes the last action of doSelected: unfollowing, or marking items read.
func (s *followPages) doUndoSelected(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	r.Body = http.MaxBytesReader(rw, r.Body, maxMarks)
	err := r.ParseForm()
	ids, did := unpackIDs(r.PostForm.Get("feeds")), url.Values{}
	switch ms, no := strconv.ParseInt(r.PostForm.Get("to"), 10, 64); {
	case err != nil:
		err = fault.Wrap(fault.Invalid, err, "The form could not be read.")
	case len(ids) > 0:
		n := 0
		for _, id := range ids {
			if _, err = s.River.UndoRemove(r.Context(), reader, id); err == nil {
				n++
			} else if code := fault.CodeOf(err); n > 0 && (code == fault.Conflict || code == fault.NotFound) {
				err = nil // the undo period has ended, or the user follows this feed again
			} else {
				break
			}
		}
		did.Set("done", "refollowed")
		did.Set("n", strconv.Itoa(n))
	case no == nil && ms > 0:
		err = s.River.UndoAllRead(r.Context(), reader, time.UnixMilli(ms).UTC())
		did = url.Values{"done": {"unmarked"}, "n": {"0"}}
	default:
		err = fault.New(fault.Invalid, "The form does not name the action to undo.")
	}
	if err != nil {
		return err
	}
	return shell.Redirect(rw, r, withQuery("/feeds", did))
}
