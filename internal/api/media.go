package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// Files stores the files of users. [*upload.Files] implements it.
type Files interface {
	Put(ctx context.Context, user, name, contentType string, r io.Reader) (author.File, error)
	Path(f author.File) string
	List(ctx context.Context, user string, after *author.File, limit int) ([]author.File, error)
	// Remove deletes a file. fault.Conflict: a post uses the file and sure is false.
	Remove(ctx context.Context, user, hash string, sure bool) error
	// Describe returns the type and the length of a file on this server or on another server.
	Describe(ctx context.Context, address string) (author.Enclosure, error)
}

// describeTimeout is the maximum time for which saving a post waits for the details of its files.
const describeTimeout = 10 * time.Second

// describe sets the missing types, lengths and durations of the enclosures in a request. Details
// that cannot be found stay empty, so that the post can be saved.
func (s postAPI) describe(ctx context.Context, in *client.PostChange) {
	if s.Options.Files == nil || in.Enclosures == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	list := *in.Enclosures
	for i := range list {
		e := &list[i]
		if e.Type != "" && e.Length > 0 || i >= author.MaxEnclosures {
			continue
		}
		known, err := s.Options.Files.Describe(ctx, e.URL)
		if err != nil {
			continue
		}
		if e.Type == "" {
			e.Type = known.Type
		}
		if e.Length == 0 {
			e.Length = known.Length
		}
		if e.Duration == 0 {
			e.Duration = known.Duration
		}
	}
}

// uploadTimeout is the maximum duration of an upload.
const uploadTimeout = time.Hour

func (s postAPI) withFiles() (Files, error) {
	if s.Options.Files == nil {
		return nil, fault.New(fault.Unsupported, "This server does not support files.")
	}
	return s.Options.Files, nil
}

func (s postAPI) files(c *postCall) error {
	files, err := s.withFiles()
	if err != nil {
		return err
	}
	p := exchange.ReadParams(c.r, exchange.Paged()...)
	limit, cursor := p.Limit(), p.Cursor()
	if p.Err != nil {
		return p.Err
	}
	var last *author.File
	if cursor != "" {
		at, hash, ok := strings.Cut(cursor, ".")
		n, err := strconv.ParseInt(at, 10, 64)
		if err != nil || !ok {
			return exchange.BadCursor(cursor)
		}
		last = &author.File{User: c.user, Hash: hash, AddedAt: time.UnixMicro(n).UTC()}
	}
	rows, err := files.List(c.ctx(), c.user, last, limit)
	if err != nil {
		return err
	}
	list := make([]client.File, len(rows))
	for i, f := range rows {
		list[i] = s.fileOf(files, f)
	}
	page := exchange.Page{Name: "files", Rows: list}
	if len(rows) == limit {
		f := rows[len(rows)-1]
		page.Next = fmt.Sprintf("%d.%s", f.AddedAt.UnixMicro(), f.Hash)
	}
	return exchange.OK(c.w, page)
}

func (s postAPI) fileOf(files Files, f author.File) client.File {
	path := files.Path(f)
	return client.File{URL: s.origin() + path, Path: path, Hash: f.Hash, Name: f.Name, Type: f.Type, Size: f.Size,
		Width: f.Width, Height: f.Height, AddedAt: form.Milli(f.AddedAt)}
}

// putFile stores an uploaded file. The file is the whole body, or the first file in a multipart
// form.
func (s postAPI) putFile(c *postCall) error {
	files, err := s.withFiles()
	if err != nil {
		return err
	}
	p := exchange.ReadParams(c.r, "name")
	name := p.Text("name")
	if p.Err != nil {
		return p.Err
	}
	// Ignore the errors: a request in this process has no connection and no deadline.
	rc, end := http.NewResponseController(c.w), time.Now().Add(uploadTimeout)
	_, _ = rc.SetReadDeadline(end), rc.SetWriteDeadline(end.Add(time.Minute))
	body, kind := io.Reader(c.r.Body), c.r.Header.Get("Content-Type")
	media, values, err := mime.ParseMediaType(kind)
	if err == nil && media == "multipart/form-data" {
		part, err := filePart(multipart.NewReader(c.r.Body, values["boundary"]))
		if err != nil {
			return err
		}
		body, kind = part, part.Header.Get("Content-Type")
		if name == "" {
			name = part.FileName()
		}
		media, _, _ = mime.ParseMediaType(kind) // an invalid type becomes "", which means unknown
	}
	if _, values, err := mime.ParseMediaType(c.r.Header.Get("Content-Disposition")); err == nil && name == "" {
		name = values["filename"]
	}
	if media == "application/octet-stream" || media == "application/x-www-form-urlencoded" { // curl sends the second type by default for all data
		kind = ""
	}
	f, err := files.Put(c.ctx(), c.user, name, kind, body)
	if err != nil {
		return err
	}
	exchange.WriteJSON(c.w, http.StatusCreated, s.fileOf(files, f))
	return nil
}

// filePart returns the first file in a multipart form.
func filePart(r *multipart.Reader) (*multipart.Part, error) {
	for range 100 {
		part, err := r.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil, fault.New(fault.Invalid, "There is no file in the form.")
		case err != nil:
			return nil, fault.Wrap(fault.Invalid, err, "The form cannot be read")
		case part.FileName() != "":
			return part, nil
		}
	}
	return nil, fault.New(fault.Invalid, "There are too many fields before the file.")
}

func (s postAPI) removeFile(c *postCall) error {
	files, err := s.withFiles()
	if err != nil {
		return err
	}
	p := exchange.ReadParams(c.r, "sure")
	sure := p.Boolean("sure")
	if p.Err != nil {
		return p.Err
	}
	hash := c.r.PathValue("hash")
	err = files.Remove(c.ctx(), c.user, hash, sure)
	return exchange.Answer(c.w, map[string]string{"removed": hash}, err)
}
