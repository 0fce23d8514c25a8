package readerui

import (
	"net/http"
	"path"
	"strconv"

	"cloudburst/internal/river"
	"cloudburst/internal/web/shell"
)

// doUnfollow unfollows a feed; the next page offers to undo it.
func (s *followPages) doUnfollow(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	id, _, err := readSourceForm(rw, r)
	if err == nil {
		_, err = s.followed(r.Context(), reader, id)
	}
	if err == nil {
		err = s.River.Remove(r.Context(), reader, id)
	}
	if err != nil {
		return err
	}
	return shell.Redirect(rw, r, "/feeds?done=unfollowed&feed="+strconv.FormatInt(id, 10))
}

// doUndoUnfollow undoes doUnfollow.
func (s *followPages) doUndoUnfollow(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	id, _, err := readSourceForm(rw, r)
	var f river.Followed
	if err == nil {
		f, err = s.River.UndoRemove(r.Context(), reader, id)
	}
	if err != nil {
		return err
	}
	return shell.Redirect(rw, r, SourcePath(f.SourceID)+"?done=refollowed")
}

// offerUnfollowUndo adds the bar that undoes doUnfollow to the next page, while that is possible.
func (s *followPages) offerUnfollowUndo(r *http.Request, reader string, v *sourcesView) {
	id, err := strconv.ParseInt(r.URL.Query().Get("feed"), 10, 64)
	if err != nil || r.URL.Query().Get("done") != "unfollowed" {
		return
	}
	until, err := s.River.Removed(r.Context(), reader, id)
	if err != nil || !until.After(v.Now) {
		return // the page shows only the message, without the undo bar
	}
	v.Undo = &shell.UndoBar{Action: path.Join(SourcePath(id), "unfollow", "undo"), Words: v.Message, Until: shell.NewMoment(v.Now, until)}
	v.Message, v.Undo.Until = "", v.Undo.Until.As(until.In(shell.TimeZone(r)).Format("15:04:05"))
}
