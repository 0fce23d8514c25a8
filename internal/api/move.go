package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"sync"
	"time"

	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/transfer"
)

// Transfers exports and imports all data of a user. [*transfer.Transfer] implements it.
type Transfers interface {
	Export(ctx context.Context, user string, w io.Writer, progress transfer.Progress) (transfer.Manifest, error)
	Import(ctx context.Context, user string, r io.ReaderAt, size int64, opts transfer.Options, progress transfer.Progress) (transfer.Result, error)
}

// moveRoutes returns the endpoints for the export and import of users.
func (s accountAPI) moveRoutes() []operation {
	return []operation{
		{"GET", "/v1/users/{user}/export", s.withTransfers(s.exportUser)},
		{"POST", "/v1/users/{user}/import", s.withTransfers(s.importUser)},
	}
}

// withTransfers wraps an endpoint that requires Options.Transfers and an existing user.
func (s accountAPI) withTransfers(handle func(http.ResponseWriter, *http.Request, string) error) func(http.ResponseWriter, *http.Request) error {
	return s.withAccounts(func(w http.ResponseWriter, r *http.Request) error {
		if s.Transfers == nil {
			return fault.New(fault.Unsupported, "This server does not support posts.")
		}
		u, err := s.Accounts.User(r.Context(), r.PathValue("user"))
		if err != nil {
			return err
		}
		return handle(w, r, u.Name)
	})
}

// exportUser streams all data of a user as one archive.
func (s accountAPI) exportUser(w http.ResponseWriter, r *http.Request, user string) error {
	if p := exchange.ReadParams(r); p.Err != nil {
		return p.Err
	}
	out := &archiveWriter{s: s.Server, w: w}
	if _, err := s.Transfers.Export(r.Context(), user, out, nil); err != nil {
		if !out.begun {
			return err
		}
		return s.abort(r, err)
	}
	w.Header().Set("X-Complete", "true")
	return nil
}

// archiveWriter starts the response when the first bytes are written. An error before the first
// bytes can therefore still set the status.
type archiveWriter struct {
	s     *Server
	w     http.ResponseWriter
	begun bool
}

func (o *archiveWriter) Write(b []byte) (int, error) {
	if !o.begun {
		o.begun = true
		o.w.Header().Set("Trailer", "X-Complete")
		o.w.Header().Set("Content-Type", "application/zip")
	}
	o.s.extend(o.w)
	return o.w.Write(b)
}

// importUser imports an uploaded file, or returns a preview of the import. During an import, it
// sends progress lines.
func (s accountAPI) importUser(w http.ResponseWriter, r *http.Request, user string) error {
	p := exchange.ReadParams(r, "preview", "replies", "boosts")
	opts := transfer.Options{Preview: p.Boolean("preview"), Replies: p.Boolean("replies"), Boosts: p.Boolean("boosts")}
	if p.Err != nil {
		return p.Err
	}
	spool, err := os.CreateTemp(s.Temp, "cloudburst-import-*")
	if err != nil {
		return wrapSpool(err)
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	size, err := io.Copy(spool, upload{http.MaxBytesReader(w, r.Body, maxImport), http.NewResponseController(w)})
	if _, cut := errors.AsType[*http.MaxBytesError](err); cut {
		return fault.New(fault.Invalid, "The upload is larger than %d GiB; nothing was imported.", maxImport>>30)
	}
	if _, full := errors.AsType[*fs.PathError](err); full { // an error of the file, and not of the request
		return wrapSpool(err)
	}
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The upload was interrupted after %d bytes; nothing was imported", size)
	}
	report := &progressLines{s: s.Server, w: w, enc: json.NewEncoder(w)}
	report.enc.SetEscapeHTML(false)
	res, err := s.Transfers.Import(r.Context(), user, spool, size, opts, report.progress)
	switch {
	case err == nil:
		w.Header().Set("Content-Type", "application/x-ndjson")
		err = report.writeLine(map[string]any{"result": form.MoveResult(&res)})
	case !report.begun && fault.CodeOf(err) == fault.Invalid:
		return err
	default:
		if fault.CodeOf(err) == fault.Internal || fault.CodeOf(err) == fault.Unavailable {
			s.Log.Error("import failed", "user", user, "added", res.Added, "err", err)
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		cause := err
		if f, ok := errors.AsType[*fault.Error](err); ok {
			cause = f.Err // the message of the new error already contains the message of f
		}
		err = report.writeLine(exchange.ErrorAnswer{Error: exchange.BodyOf(fault.Wrap(fault.CodeOf(err), cause, "%s", stopMessage(res, err)))})
	}
	if err != nil {
		return s.abort(r, err)
	}
	return nil
}

// stopMessage explains why an import has stopped early and what the user can do.
func stopMessage(res transfer.Result, err error) string {
	if res.Added+res.Files == 0 {
		return fault.Message(err)
	}
	return fmt.Sprintf("The import stopped after %d posts and %d files; running it again is safe. %s", res.Added, res.Files, fault.Message(err))
}

// progressInterval is the minimum time between two progress lines of one phase.
const progressInterval = 100 * time.Millisecond

// progressLines writes the progress lines of an import.
type progressLines struct {
	s     *Server
	w     http.ResponseWriter
	enc   *json.Encoder
	mu    sync.Mutex
	begun bool
	last  time.Time
	phase string
}

func (m *progressLines) progress(phase string, done, total int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if phase == m.phase && now.Sub(m.last) < progressInterval && done < total {
		return
	}
	// Write nothing while the file is checked, so that an error can still set the status.
	if phase == transfer.PhaseCheck {
		return
	}
	m.phase, m.last = phase, now
	if !m.begun {
		m.begun = true
		m.w.Header().Set("Content-Type", "application/x-ndjson")
	}
	_ = m.writeLine(map[string]any{"phase": phase, "done": done, "total": total}) // ignore the error: the import continues without the client
}

func (m *progressLines) writeLine(v any) error {
	m.s.extend(m.w)
	if err := m.enc.Encode(v); err != nil {
		return err
	}
	return http.NewResponseController(m.w).Flush()
}
