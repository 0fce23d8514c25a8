package writerui

import (
	"context"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

// previewTimeout is the maximum duration of a request for the type of a file on another server.
const previewTimeout = 8 * time.Second

// editorResponse is the JSON reply to write.js.
type editorResponse struct {
	OK       bool   `json:"ok"`
	Error    string `json:"error,omitempty"`    // a sentence for users
	Conflict bool   `json:"conflict,omitempty"` // another version was saved elsewhere
	Login    string `json:"login,omitempty"`    // URL to sign in again

	// These fields describe a saved draft. After a button was pressed, Path is the next page.
	ID       int64  `json:"id,omitempty"`
	Base     int64  `json:"base,omitempty"`
	Copy     int64  `json:"copy,omitempty"`
	CopyBase int64  `json:"copybase,omitempty"`
	Path     string `json:"path,omitempty"`

	// HTML is the preview of a post or of a link. The other fields are the length of the post.
	HTML       template.HTML `json:"html,omitempty"`
	Characters int           `json:"characters,omitempty"`
	Limit      int           `json:"limit,omitempty"`
	Over       bool          `json:"over,omitempty"`

	File *fileAnswer `json:"file,omitempty"`

	Categories []categoryJSON `json:"categories,omitempty"`
}

type fileAnswer struct {
	URL    string `json:"url"`
	Type   string `json:"type,omitempty"`
	Length string `json:"length,omitempty"`
	Title  string `json:"title,omitempty"`
	Name   string `json:"name"`
	Size   string `json:"size,omitempty"`
}

type categoryJSON struct {
	Label string `json:"label"`
	Posts int64  `json:"posts"`
}

// forScript wraps an endpoint of the script that needs a session. Signed-out users receive an error
// in words; caches store nothing.
func (s *Pages) forScript(do func(http.ResponseWriter, *http.Request, string) (editorResponse, error)) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Cache-Control", "no-store")
		session, err := s.FindVisitor(r)
		var a editorResponse
		switch {
		case err != nil:
		case session.User == "":
			err = fault.New(fault.Refused, "You are signed out.")
			a.Login = loginAt("/write")
		default:
			a, err = do(rw, r, session.User)
		}
		status := http.StatusOK
		if a.OK = err == nil; err != nil {
			if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
				return
			}
			status = s.Refused(rw, r, err)
			a.Error = s.Locale(r).Fault(shell.Reason(err))
			if a.Login != "" {
				status = http.StatusUnauthorized
			}
		}
		sendAnswer(rw, status, a)
	}
}

func sendAnswer(rw http.ResponseWriter, status int, a editorResponse) {
	rw.Header().Set("Content-Type", "application/json; charset=utf-8")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(a) // the client may be gone
}

// doDraft saves the form; the script calls it when the author stops typing.
func (s *Pages) doDraft(rw http.ResponseWriter, r *http.Request, user string) (editorResponse, error) {
	got, err := s.readSent(rw, r, user)
	if err != nil {
		return editorResponse{}, err
	}
	f := readPostForm(got.fields, user)
	if f.Writer != user {
		return editorResponse{}, fault.New(fault.Refused, "This post was started by %s, and you are signed in as %s.", f.Writer, user)
	}
	if f.ID == 0 && f.isEmpty() {
		return editorResponse{}, nil
	}
	if err := s.saveDraft(r.Context(), user, &f, false); err != nil {
		return editorResponse{Conflict: fault.CodeOf(err) == fault.Conflict || fault.CodeOf(err) == fault.Gone}, err
	}
	return editorResponse{ID: f.ID, Base: f.Base, Copy: f.Copy, CopyBase: f.CopyBase, Path: "/write/" + strconv.FormatInt(f.ID, 10)}, nil
}

// doPreview returns the rendered post and its length.
func (s *Pages) doPreview(rw http.ResponseWriter, r *http.Request, user string) (editorResponse, error) {
	got, err := s.readSent(rw, r, user)
	if err != nil {
		return editorResponse{}, err
	}
	f := readPostForm(got.fields, user)
	m, html, err := s.measureAndPreview(r.Context(), &f, user, got.fields.Get("look") != "")
	if err != nil {
		return editorResponse{}, err
	}
	return editorResponse{Characters: m.Characters, Limit: m.Limit, Over: m.Over, HTML: html}, nil
}

// doMedia stores one file.
func (s *Pages) doMedia(rw http.ResponseWriter, r *http.Request, user string) (editorResponse, error) {
	got, err := s.readSent(rw, r, user)
	switch {
	case err != nil:
		return editorResponse{}, err
	case got.wrong != "":
		return editorResponse{}, fault.New(fault.Invalid, "%s", got.wrong)
	case len(got.files) == 0:
		return editorResponse{}, fault.New(fault.Invalid, "The request has no file.")
	}
	return editorResponse{File: fileJSON(s.fileField(got.files[0]))}, nil
}

func fileJSON(f fileField) *fileAnswer {
	return &fileAnswer{URL: f.URL, Type: f.Type, Length: f.Length, Title: f.Title, Name: f.Name(), Size: f.Size()}
}

// doFile returns type and length of a file on another server.
func (s *Pages) doFile(rw http.ResponseWriter, r *http.Request, user string) (editorResponse, error) {
	got, err := s.readSent(rw, r, user)
	if err != nil {
		return editorResponse{}, err
	}
	f := s.remoteFile(r.Context(), shell.CleanText(strings.TrimSpace(got.fields.Get("file-url")), 4096))
	if f.Bad != "" {
		return editorResponse{}, fault.New(fault.Invalid, "%s", f.Bad)
	}
	return editorResponse{File: fileJSON(f)}, nil
}

// remoteFile asks another server for type and length of a file.
func (s *Pages) remoteFile(ctx context.Context, url string) fileField {
	f := fileField{URL: url, Length: "0"}
	if s.Files == nil {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, previewTimeout)
	defer cancel()
	e, err := s.Files.Describe(ctx, url)
	if err != nil {
		f.Bad = shell.Reason(err)
		return f
	}
	return fileField{URL: e.URL, Type: e.Type, Length: strconv.FormatInt(e.Length, 10), Title: e.Title}
}

// doCategories returns the author's categories with a prefix.
func (s *Pages) doCategories(_ http.ResponseWriter, r *http.Request, user string) (editorResponse, error) {
	counts, err := s.Posts.Counts(r.Context(), user, author.ByCategory, author.CategoryName(shell.CleanText(r.URL.Query().Get("prefix"), 100)), 12)
	a := editorResponse{Categories: []categoryJSON{}}
	for _, c := range counts {
		a.Categories = append(a.Categories, categoryJSON{shell.CleanText(c.Label, 100), c.Posts})
	}
	return a, err
}
