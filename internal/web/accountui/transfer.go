package accountui

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"sync"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/transfer"
	"cloudburst/internal/web/shell"
)

// Moves exports and imports all data of an author; *transfer.Transfer implements it.
type Moves interface {
	Export(ctx context.Context, user string, w io.Writer, progress transfer.Progress) (transfer.Manifest, error)
	Import(ctx context.Context, user string, r io.ReaderAt, size int64, opts transfer.Options, progress transfer.Progress) (transfer.Result, error)
}

const (
	maxMove        = 4 << 30          // maximum size of an imported file in bytes
	maxActiveMoves = 2                // maximum number of concurrent previews and imports
	maxUploads     = 8                // maximum number of concurrent uploads
	movePause      = 30 * time.Second // longest pause in an upload
	maxStoredMoves = 64               // maximum number of results in memory
	maxWaiting     = 16               // maximum number of files whose preview waits for a decision; each file uses disk space
	previewWait    = time.Hour        // the file of a preview is deleted after this time
)

// moves holds the running imports and the latest results.
type moves struct {
	mu     sync.Mutex
	byID   map[string]*move
	order  []string
	coming map[string]bool // key: name of a user who is uploading a file
}

// arrive admits the upload of a user, or returns the error that rejects it. The caller must call gone at
// the end of the upload.
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

// move is an import in the background: a preview, then the import if the user starts it.
type move struct {
	user, name string
	phase      string
	done       int
	total      int
	waiting    bool // the preview is complete and waits for the decision; nothing is stored
	confirmed  bool // the user started the import after the preview
	finished   bool
	discarded  bool // the file was discarded before its import
	res        transfer.Result
	urls       []byte // old and new URLs as compressed CSV
	err        error
	decided    chan transfer.Options // receives the choice of the user; if closed, the file is discarded
}

// begin registers an import, or returns the error that prevents it. It discards an earlier file of
// the user that waits for a decision.
func (m *moves) begin(user, name string) (id string, decided <-chan transfer.Options, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byID == nil {
		m.byID = map[string]*move{}
	}
	waiting := 0
	for _, other := range m.byID {
		switch {
		case other.finished:
		case other.waiting && other.user == user:
			other.discard()
		case other.waiting:
			waiting++
		case other.user == user:
			return "", nil, fault.New(fault.Conflict, "Your previous import is still running. Wait until it has finished, then send this file.")
		}
	}
	if m.running() >= maxActiveMoves || waiting >= maxWaiting {
		return "", nil, errMoves()
	}
	id = rand.Text()
	one := &move{user: user, name: name, phase: transfer.PhaseCheck, decided: make(chan transfer.Options, 1)}
	m.byID[id] = one
	if m.order = append(m.order, id); len(m.order) > maxStoredMoves {
		if oldest := m.byID[m.order[0]]; oldest.waiting {
			oldest.discard()
		}
		delete(m.byID, m.order[0])
		m.order = m.order[1:]
	}
	return id, one.decided, nil
}

// running counts the previews and imports in progress.
func (m *moves) running() (n int) {
	for _, one := range m.byID {
		if !one.finished && !one.waiting {
			n++
		}
	}
	return n
}

func (m *move) discard() {
	m.waiting, m.finished, m.discarded = false, true, true
	close(m.decided)
}

// decide starts the import of a previewed file, or discards the file if opts is nil.
func (m *moves) decide(user, id string, opts *transfer.Options) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	one := m.byID[id]
	switch {
	case one == nil || one.user != user:
		return fault.New(fault.NotFound, "The file of this import is not available any more. Nothing was imported. Send the file again.")
	case !one.waiting:
		return nil // the form was sent twice
	case opts == nil:
		one.discard()
		return nil
	case m.running() >= maxActiveMoves:
		return errMoves()
	}
	one.confirmed, one.waiting, one.phase, one.done, one.total = true, false, transfer.PhaseCheck, 0, 0
	one.decided <- *opts
	return nil
}

// change applies f to the record of an import. It does nothing if the record was dropped.
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

// importPages are the pages that export and import an author.
type importPages struct{ *Pages }

// exportPage sends all data of the user as one file.
func (s importPages) exportPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	name := session.User + "-" + s.CurrentTime().UTC().Format(time.DateOnly) + ".zip"
	return s.SendFile(rw, r, "application/zip", name, func(out io.Writer) error {
		_, err := s.Moves.Export(r.Context(), session.User, out, nil)
		return err
	})
}

// moveView is the page to export and import an author.
type moveView struct {
	shell.View
	MoveError string
}

func (s importPages) movePage(rw http.ResponseWriter, r *http.Request, _ account.Session) error {
	return s.showMove(rw, r, http.StatusOK, "")
}

func (s importPages) showMove(rw http.ResponseWriter, r *http.Request, status int, wrong string) error {
	return s.Render(rw, r, status, "move", moveView{View: s.NewView(r, "Import and export"), MoveError: wrong})
}

// doMove stores an uploaded file, then reads it in the background while a page shows the progress and
// the preview.
func (s importPages) doMove(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	rc := http.NewResponseController(rw)
	gone, err := s.moving.arrive(session.User)
	if err != nil {
		return s.showMove(rw, r, s.Refused(rw, r, err), shell.Reason(err))
	}
	defer gone()
	spool, name, size, err := s.receive(rw, r)
	// If the deadline cannot be set, the server's default applies.
	_ = rc.SetWriteDeadline(time.Now().Add(shell.FormTimeout))
	var id string
	var decided <-chan transfer.Options
	if err == nil {
		if id, decided, err = s.moving.begin(session.User, name); err != nil {
			drop(spool)
		}
	}
	if err != nil {
		return s.showMove(rw, r, s.Refused(rw, r, err), shell.Reason(err))
	}
	go s.work(id, session.User, spool, size, decided)
	return shell.Redirect(rw, r, "/account/import/"+id)
}

func drop(spool *os.File) {
	_ = spool.Close()
	_ = os.Remove(spool.Name()) // if this fails, the operating system deletes the temporary file later
}

// receive reads the upload form.
func (s importPages) receive(rw http.ResponseWriter, r *http.Request) (spool *os.File, name string, size int64, err error) {
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
			return nil, "", 0, fault.Unstored(err, "The upload cannot be stored.")
		}
		if size, err = io.Copy(spool, &shell.PatientReader{Source: part, Controller: http.NewResponseController(rw)}); err == nil {
			return spool, shell.CleanText(part.FileName(), 100), size, nil
		}
		drop(spool)
	}
	_, cut := errors.AsType[*http.MaxBytesError](err)
	_, full := errors.AsType[*fs.PathError](err) // an error of the file, and not of the request
	switch {
	case full:
		err = fault.Unstored(err, "The upload cannot be stored.")
	case cut:
		err = fault.New(fault.Invalid, "The file is larger than 4 GiB, the limit of this page. The operator can import larger files on the command line.")
	case errors.Is(err, io.EOF):
		err = fault.New(fault.Invalid, "Choose a file first: an export of this or another program, or a feed.")
	default:
		err = fault.Wrap(fault.Invalid, err, "The upload was incomplete, and nothing was imported. Send the file again.")
	}
	return nil, "", 0, err
}
