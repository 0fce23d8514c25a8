package accountui

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/transfer"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// shownURLs is the maximum number of old URLs in the table of a result. The CSV file has all URLs.
const shownURLs = 50

// work previews a file, waits for the decision of the user, and imports the file. Work ends when the
// program stops or the user does not decide within previewWait.
func (s importPages) work(id, user string, spool *os.File, size int64, decided <-chan transfer.Options) {
	defer drop(spool)
	ctx, cancel := s.UntilStopped()
	defer cancel()
	if !s.importStep(ctx, id, user, spool, size, transfer.Options{Preview: true}) {
		return
	}
	timeout := time.NewTimer(previewWait)
	defer timeout.Stop()
	select {
	case opts, ok := <-decided:
		if ok {
			s.importStep(ctx, id, user, spool, size, opts)
		}
		return
	case <-ctx.Done():
	case <-timeout.C:
	}
	s.moving.change(id, func(m *move) {
		if m.waiting {
			m.discard()
		}
	})
}

// importStep previews or imports a file, and records the result. It reports whether a preview waits
// for a decision.
func (s importPages) importStep(ctx context.Context, id, user string, spool *os.File, size int64, opts transfer.Options) bool {
	res, err := s.Moves.Import(ctx, user, spool, size, opts, func(phase string, done, total int) {
		s.moving.change(id, func(m *move) { m.phase, m.done, m.total = phase, done, total })
	})
	if code := fault.CodeOf(err); err != nil && (code == fault.Internal || code == fault.Unavailable) {
		s.Logger().Error("import an author", "user", user, "added", res.Added, "err", err)
	}
	urls := packURLs(res.Moved)
	res.Moved = slices.Clone(res.Moved[:min(len(res.Moved), shownURLs)])
	waits := opts.Preview && err == nil
	s.moving.change(id, func(m *move) { m.waiting, m.finished, m.res, m.urls, m.err = waits, !waits, res, urls, err })
	return waits
}

// packURLs returns the URLs as compressed CSV, because results are held in memory; nil: there are
// no URLs.
func packURLs(moved []transfer.Moved) []byte {
	if len(moved) == 0 {
		return nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	out := csv.NewWriter(z)
	_ = out.Write([]string{"old", "new"}) // writing to a buffer never fails
	for _, m := range moved {
		_ = out.Write([]string{m.From, m.To})
	}
	out.Flush()
	_ = z.Close()
	return b.Bytes()
}

type movedView struct {
	shell.View
	ID       string
	Known    bool
	Waiting  bool // the preview is complete
	Finished bool
	Lead     string
	Wrong    string
	Done     int
	Total    int
	Result   transfer.Result
	From, To string // first and last date of the posts, as text
	Bytes    string
	Problems []string
}

// movedPage shows the progress of an import, its preview and its result.
func (s importPages) movedPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.showMoved(rw, r, http.StatusOK, session.User, "")
}

func (s importPages) showMoved(rw http.ResponseWriter, r *http.Request, status int, user, wrong string) error {
	v := movedView{View: s.NewView(r, "Import"), ID: r.PathValue("id"), Wrong: wrong}
	m, known := s.moving.get(user, v.ID)
	v.Known, v.Waiting, v.Finished, v.Result = known, m.waiting, m.finished || !known, m.res
	switch {
	case !known:
		v.Lead = "The result of this import is not available any more. Your posts are not affected."
	case m.waiting:
		v.Lead = "Nothing is stored yet. Check what the import would add."
	case !m.finished:
		v.Script, v.Done, v.Total = "status.js", m.done, m.total
		v.Lead = map[string]string{
			transfer.PhaseCheck: "The file is being checked.", transfer.PhaseFiles: "Images and other files are being imported.", transfer.PhasePosts: "Posts are being imported.",
		}[m.phase]
		if !m.confirmed { // the import has not started: the file is still being previewed
			v.Lead = "The file is being checked."
		}
	case m.discarded:
		v.Lead, v.Result = "The file was discarded. Nothing was imported.", transfer.Result{}
	case m.err != nil:
		v.Lead, v.Wrong = "The file could not be imported.", shell.Reason(m.err)
		if !m.res.Preview && m.res.Added+m.res.Files > 0 {
			v.Lead = v.Say("The file was imported in part: %s Send the file again to continue.", movedWords(v.Lang, m.res))
		}
	default:
		v.Lead = movedWords(v.Lang, m.res)
	}
	if !v.Result.From.IsZero() {
		v.From, v.To = v.Lang.Date(v.Result.From, "2 January 2006"), v.Lang.Date(v.Result.To, "2 January 2006")
	}
	if v.Result.FileBytes > 0 {
		v.Bytes = v.Lang.Bytes(v.Result.FileBytes)
	}
	for _, p := range v.Result.Problems {
		v.Problems = append(v.Problems, shell.CleanText(p, 500))
	}
	return s.Render(rw, r, status, "moved", v)
}

// doMoved imports a previewed file, or discards it.
func (s importPages) doMoved(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	opts := &transfer.Options{Replies: shell.FormValue(form, "replies") == "yes", Boosts: shell.FormValue(form, "boosts") == "yes"}
	if shell.FormValue(form, "do") == "discard" {
		opts = nil
	}
	if err := s.moving.decide(session.User, r.PathValue("id"), opts); err != nil {
		return s.showMoved(rw, r, s.Refused(rw, r, err), session.User, shell.Reason(err))
	}
	return shell.Redirect(rw, r, "/account/import/"+r.PathValue("id"))
}

// movedURLs sends old and new URLs of an import as CSV.
func (s importPages) movedURLs(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	m, known := s.moving.get(session.User, r.PathValue("id"))
	if !known || m.urls == nil {
		return s.NotFound(rw, r)
	}
	return s.SendFile(rw, r, "text/csv; charset=utf-8", session.User+"-urls.csv", func(w io.Writer) error {
		z, err := gzip.NewReader(bytes.NewReader(m.urls))
		if err != nil {
			return err
		}
		_, err = io.Copy(w, z)
		return err
	})
}

// movedWords describes the result of an import in the language of l.
func movedWords(l *locale.Locale, res transfer.Result) string {
	text := l.Say("You have %s more.", locale.Quantity(res.Added, "post", "posts"))
	if res.Files > 0 {
		text = l.Say("You have %s more and %s.", locale.Quantity(res.Added, "post", "posts"), locale.Quantity(res.Files, "file", "files"))
	}
	if res.Existing > 0 {
		text += " " + locale.Quantity(res.Existing, "was already here.", "were already here.").In(l)
	}
	if res.Skipped > 0 {
		text += " " + locale.Quantity(res.Skipped, "was left out.", "were left out.").In(l)
	}
	return strings.TrimSpace(text)
}
