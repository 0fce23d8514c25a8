package writerui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

// Limits of the form for a post.
const (
	maxFormBytes = 3 << 20 // maximum size of all fields in bytes; a text has at most 256 KiB
	MaxFields    = 1000    // maximum number of fields and files together
)

// sent is a received form: its fields and its files, which are already stored.
type sent struct {
	fields url.Values
	files  []author.File
	header *author.File // uploaded image for the top of the author's page; nil: none
	wrong  string       // error message about a file; the fields are valid nevertheless
}

// readSent reads a form and stores its files for the user. If user is "", it stores no files.
func (s *Pages) readSent(rw http.ResponseWriter, r *http.Request, user string) (*sent, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "multipart/form-data":
		return s.readParts(rw, r, user, params["boundary"])
	case err == nil && kind == "application/x-www-form-urlencoded":
	default:
		return nil, fault.New(fault.Invalid, "This address accepts a form only. Nothing was done.")
	}
	_ = http.NewResponseController(rw).SetWriteDeadline(time.Now().Add(shell.FormTimeout)) // if the deadline cannot be set, the server's default applies
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxSent))
	if err != nil {
		return nil, badForm(err)
	}
	if bytes.Count(body, []byte("&")) >= MaxFields { // before parsing, because each field allocates memory
		return nil, tooLargeForm()
	}
	fields, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, badForm(err)
	}
	return &sent{fields: fields}, nil
}

func tooLargeForm() error {
	return fault.New(fault.Invalid, "The form is larger than %d MiB. Nothing was done. Go back and split the text into several posts.", maxFormBytes>>20)
}

func badForm(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLargeForm()
	}
	return fault.Wrap(fault.Invalid, err, "The form arrived incomplete. Nothing was done. Go back and send it again.")
}

// readParts reads a multipart form, which may have files.
func (s *Pages) readParts(rw http.ResponseWriter, r *http.Request, user, boundary string) (*sent, error) {
	got := &sent{fields: url.Values{}}
	// An upload has no total deadline, but each piece of it has one.
	parts := multipart.NewReader(&shell.PatientReader{Source: r.Body, Controller: http.NewResponseController(rw)}, boundary)
	left := int64(maxFormBytes)
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return nil, badForm(err)
		}
		if n == MaxFields {
			return nil, tooLargeForm()
		}
		if part.FileName() != "" {
			s.keepFile(r.Context(), got, user, part)
			continue
		}
		b, err := io.ReadAll(io.LimitReader(part, left+1))
		if err != nil {
			return nil, badForm(err)
		}
		if left -= int64(len(b)); left < 0 {
			return nil, tooLargeForm()
		}
		got.fields.Add(part.FormName(), string(b))
	}
}

// keepFile stores one file of a form. On an error it sets got.wrong, and the caller continues to
// read the form.
func (s *Pages) keepFile(ctx context.Context, got *sent, user string, part *multipart.Part) {
	switch {
	case user == "":
		got.wrong = "The file was not saved, because you were signed out. Choose it again."
		return
	case s.Files == nil:
		got.wrong = "This server stores no files. Enter the address of a file elsewhere."
		return
	case len(got.files) >= author.MaxEnclosures:
		return
	}
	f, err := s.Files.Put(ctx, user, sentName(part.FileName()), part.Header.Get("Content-Type"), part)
	if err != nil {
		if fault.CodeOf(err) == fault.Internal {
			s.Logger().Error("store a file of a post", "user", user, "err", err)
		}
		got.wrong = shell.Reason(err)
		return
	}
	if part.FormName() == "header-upload" {
		got.header = &f
		return
	}
	got.files = append(got.files, f)
}

// sentName returns the last part of the file name that the client sent.
func sentName(s string) string {
	if i := strings.LastIndexAny(s, `/\`); i >= 0 {
		s = s[i+1:]
	}
	return shell.CleanText(s, 200)
}

// readPostForm converts the values of a form. If the form names no writer, the writer is user.
func readPostForm(v url.Values, user string) postForm {
	one := func(name string, limit int) string { return shell.CleanText(strings.TrimSpace(v.Get(name)), limit) }
	number := func(name string) int64 {
		n, err := strconv.ParseInt(v.Get(name), 10, 64)
		if err != nil || n < 0 {
			return 0
		}
		return n
	}
	f := postForm{
		ID: number("id"), Base: number("base"), Copy: number("copy"), CopyBase: number("copybase"),
		Key: one("key", 190), Writer: one("writer", 64),
		Title: one("title", 2000), Source: proseOf(v.Get("source")), Link: one("link", 4096), Language: one("language", 40), Categories: one("categories", 10_000),
		Format: author.Format(one("format", 20)), Outline: outlineOfForm(v),
		Reply:    author.Reply{URL: one("reply", 4096)},
		Audience: one("audience", 20),
		When:     one("when", 40), Was: one("was", 40), Offset: one("offset", 8),
	}
	if f.Writer == "" {
		f.Writer = user
	}
	for _, slug := range v["group"] {
		if slug = shell.CleanText(strings.TrimSpace(slug), author.MaxGroupSlug+1); slug != "" && len(f.Groups) < author.MaxGroups {
			f.Groups = append(f.Groups, slug)
		}
	}
	// The GUID, feed and title describe the item with the URL reply-of. If the user changed the URL
	// of the reply, they no longer apply.
	if f.Reply.URL != "" && f.Reply.URL == one("reply-of", 4096) {
		f.Reply.GUID, f.Reply.Feed, f.Reply.Title = one("reply-guid", 2000), one("reply-feed", 2048), one("reply-title", 300)
	}
	if v.Get("card-drop") == "" {
		f.Card = author.Card{URL: one("card-url", 2048), Title: one("card-title", author.MaxTitle), Description: one("card-description", 1000), Image: one("card-image", 2048)}
	}
	drop := map[string]bool{}
	for _, at := range v["file-drop"] {
		drop[at] = true
	}
	all := func(name string, i int) string {
		if i < len(v[name]) {
			return shell.CleanText(strings.TrimSpace(v[name][i]), 4096)
		}
		return ""
	}
	for i := range v["file"] {
		file := fileField{URL: all("file", i), Type: all("file-type", i), Length: all("file-length", i), Title: all("file-title", i), Alt: all("file-alt", i)}
		if file.URL != "" && !drop[file.URL] {
			f.Files = append(f.Files, file)
		}
	}
	return f
}

// proseOf returns a text from a form with normalized line ends.
func proseOf(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ReplaceAll(s, "\r\n", "\n")
}

// add puts stored files into the form.
func (f *postForm) add(s *Pages, files []author.File) {
	for _, file := range files {
		f.Files = append(f.Files, s.fileField(file))
	}
}

func (s *Pages) fileField(file author.File) fileField {
	return fileField{URL: s.Files.Path(file), Type: file.Type, Length: strconv.FormatInt(file.Size, 10), Title: file.Name}
}
