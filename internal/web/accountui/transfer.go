package accountui

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/transfer"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// Moves exports and imports all data of an author; *transfer.Transfer implements it.
type Moves interface {
	Export(ctx context.Context, user string, w io.Writer, progress transfer.Progress) (transfer.Manifest, error)
	Import(ctx context.Context, user string, r io.ReaderAt, size int64, progress transfer.Progress) (transfer.Result, error)
}

const (
	maxMove        = 4 << 30          // maximum size of an imported file in bytes
	maxActiveMoves = 2                // imports at once
	maxUploads     = 8                // uploads at once
	movePause      = 30 * time.Second // longest pause in an upload
	maxStoredMoves = 64               // stored results
)

// moves holds the running imports and the latest results.
type moves struct {
	mu     sync.Mutex
	byID   map[string]*move
	order  []string
	coming map[string]bool // users who are uploading; disk space limits their number
}

// arrive admits the upload of a user, or returns why not; the caller must call gone at its end.
func (m *moves) arrive(user string) (gone func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.coming[user]:
		return nil, fault.New(fault.Conflict, "Another upload of yours is still in progress. Wait until it has finished, then send this file.")
	case len(m.coming) >= maxUploads:
		return nil, errMoves()
	case m.coming == nil:
		m.coming = map[string]bool{}
	}
	m.coming[user] = true
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.coming, user)
	}, nil
}

func errMoves() error {
	return &fault.Error{Code: fault.Unavailable, Msg: "Several imports are running at the moment. Nothing was done. Send the file again later.", RetryAfter: 10 * time.Second}
}

// move is an import in the background.
type move struct {
	user, name string
	phase      string
	done       int
	total      int
	finished   bool
	res        transfer.Result
	err        error
}

// begin registers an import, or returns why it cannot start.
func (m *moves) begin(user, name string) (id string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byID == nil {
		m.byID = map[string]*move{}
	}
	running := 0
	for _, other := range m.byID {
		if other.finished {
			continue
		}
		if running++; other.user == user {
			return "", fault.New(fault.Conflict, "Your previous import is still running. Wait until it has finished, then send this file.")
		}
	}
	if running >= maxActiveMoves {
		return "", errMoves()
	}
	id = rand.Text()
	m.byID[id] = &move{user: user, name: name, phase: transfer.PhaseCheck}
	if m.order = append(m.order, id); len(m.order) > maxStoredMoves {
		delete(m.byID, m.order[0])
		m.order = m.order[1:]
	}
	return id, nil
}

// change updates an import; it ignores one that was dropped.
func (m *moves) change(id string, f func(*move)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if one := m.byID[id]; one != nil {
		f(one)
	}
}

func (m *moves) get(user, id string) (move, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if one := m.byID[id]; one != nil && one.user == user {
		return *one, true
	}
	return move{}, false
}

// exportPage sends all data of the user as one file.
func (s *Pages) exportPage(rw http.ResponseWriter, r *http.Request, session account.Session) {
	name := session.User + "-" + s.CurrentTime().UTC().Format(time.DateOnly) + ".zip"
	s.SendFile(rw, r, "application/zip", name, func(out io.Writer) error {
		_, err := s.Moves.Export(r.Context(), session.User, out, nil)
		return err
	})
}

// moveView is the page to export and import an author.
type moveView struct {
	shell.View
	MoveError string
}

func (s *Pages) movePage(rw http.ResponseWriter, r *http.Request, _ account.Session) {
	s.showMove(rw, r, http.StatusOK, "")
}

func (s *Pages) showMove(rw http.ResponseWriter, r *http.Request, status int, wrong string) {
	s.Render(rw, r, status, "move", moveView{View: s.NewView(r, "Import and export"), MoveError: wrong})
}

// doMove imports a file: it stores the upload, then imports it in the background while a page shows
// the progress.
func (s *Pages) doMove(rw http.ResponseWriter, r *http.Request, session account.Session) {
	rc := http.NewResponseController(rw)
	gone, err := s.moving.arrive(session.User)
	if err != nil {
		s.showMove(rw, r, s.mistake(rw, r, err), shell.Reason(err))
		return
	}
	defer gone()
	spool, name, size, err := s.receive(rw, r)
	// If the deadline cannot be set, the server's default applies.
	_ = rc.SetWriteDeadline(time.Now().Add(shell.FormTimeout))
	var id string
	if err == nil {
		if id, err = s.moving.begin(session.User, name); err != nil {
			drop(spool)
		}
	}
	if err != nil {
		s.showMove(rw, r, s.mistake(rw, r, err), shell.Reason(err))
		return
	}
	go s.work(id, session.User, spool, size)
	http.Redirect(rw, r, "/account/import/"+id, http.StatusSeeOther)
}

func drop(spool *os.File) {
	_ = spool.Close()
	_ = os.Remove(spool.Name()) // the system deletes what is left
}

// receive reads the upload form.
func (s *Pages) receive(rw http.ResponseWriter, r *http.Request) (spool *os.File, name string, size int64, err error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "multipart/form-data" {
		return nil, "", 0, fault.New(fault.Invalid, "Choose a file, then send the form.")
	}
	r.Body = http.MaxBytesReader(rw, r.Body, maxMove+shell.FormOverhead)
	parts, err := r.MultipartReader()
	for n := 0; err == nil && n < 20; n++ {
		// If the deadline cannot be set, the server's default applies.
		_ = http.NewResponseController(rw).SetReadDeadline(time.Now().Add(movePause))
		var part *multipart.Part
		if part, err = parts.NextPart(); err != nil {
			break
		}
		if part.FormName() != "file" || part.FileName() == "" {
			continue
		}
		if spool, err = os.CreateTemp("", "cloudburst-move-*"); err != nil {
			return nil, "", 0, fault.Wrap(fault.Unavailable, err, "The upload cannot be stored.")
		}
		if size, err = io.Copy(spool, &shell.PatientReader{Source: part, Controller: http.NewResponseController(rw)}); err == nil {
			return spool, shell.CleanText(part.FileName(), 100), size, nil
		}
		drop(spool)
	}
	switch _, cut := errors.AsType[*http.MaxBytesError](err); {
	case cut:
		err = fault.New(fault.Invalid, "The file is larger than 4 GiB, the limit of this page. The operator can import larger files on the command line.")
	case errors.Is(err, io.EOF):
		err = fault.New(fault.Invalid, "Choose a file first: an export of this program or of WordPress, or a feed.")
	default:
		err = fault.Wrap(fault.Invalid, err, "The upload was incomplete, and nothing was imported. Send the file again.")
	}
	return nil, "", 0, err
}

// work imports a file until it ends or the program stops.
func (s *Pages) work(id, user string, spool *os.File, size int64) {
	defer drop(spool)
	ctx, cancel := s.UntilStopped()
	defer cancel()
	res, err := s.Moves.Import(ctx, user, spool, size, func(phase string, done, total int) {
		s.moving.change(id, func(m *move) { m.phase, m.done, m.total = phase, done, total })
	})
	if code := fault.CodeOf(err); err != nil && (code == fault.Internal || code == fault.Unavailable) {
		s.Logger().Error("import an author", "user", user, "added", res.Added, "err", err)
	}
	s.moving.change(id, func(m *move) { m.finished, m.res, m.err = true, res, err })
}

type movedView struct {
	shell.View
	Known    bool
	Finished bool
	Lead     string
	Wrong    string
	Done     int
	Total    int
	Problems []string
}

// movedPage shows the progress of an import, then its result.
func (s *Pages) movedPage(rw http.ResponseWriter, r *http.Request, session account.Session) {
	v := movedView{View: s.NewView(r, "Import")}
	m, known := s.moving.get(session.User, r.PathValue("id"))
	v.Known, v.Finished = known, m.finished || !known
	switch {
	case !known:
		v.Lead = "The result of this import is not available any more. Your posts are not affected."
	case !m.finished:
		v.Script, v.Done, v.Total = "status.js", m.done, m.total
		v.Lead = map[string]string{
			transfer.PhaseCheck: "The file is being checked.", transfer.PhaseFiles: "Images and other files are being imported.", transfer.PhasePosts: "Posts are being imported.",
		}[m.phase]
	case m.err != nil:
		v.Lead, v.Wrong = "The file could not be imported.", shell.Reason(m.err)
		if m.res.Added+m.res.Files > 0 {
			v.Lead = v.Say("The file was imported in part: %s Send the file again to continue.", movedWords(v.Lang, m.res))
		}
	default:
		v.Lead = movedWords(v.Lang, m.res)
	}
	for _, p := range m.res.Problems {
		v.Problems = append(v.Problems, shell.CleanText(p, 500))
	}
	s.Render(rw, r, http.StatusOK, "moved", v)
}

// movedWords describes the result of an import, in a language.
func movedWords(l *locale.Locale, res transfer.Result) string {
	text := l.Say("You have %s more.", locale.Quantity(res.Added, "post", "posts"))
	if res.Files > 0 {
		text = l.Say("You have %s more and %s.", locale.Quantity(res.Added, "post", "posts"), locale.Quantity(res.Files, "file", "files"))
	}
	if res.Existing > 0 {
		text += " " + locale.Quantity(res.Existing, "was here already.", "were here already.").In(l)
	}
	if res.Skipped > 0 {
		text += " " + locale.Quantity(res.Skipped, "was left out.", "were left out.").In(l)
	}
	return strings.TrimSpace(text)
}
