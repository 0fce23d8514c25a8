package micropub

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"cloudburst/internal/text"
)

// take takes one file.
//
// spec:micropub-2017#media-endpoint
func (h *MediaHandler) take(c *call) error {
	if err := c.header(); err != nil {
		return err
	}
	kind, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		if !c.in {
			return refused("")
		}
		return &Error{Status: http.StatusUnsupportedMediaType, Code: InvalidRequest,
			Description: "A file comes as multipart/form-data, in a part that is called file."}
	}
	at, err := h.part(c, multipart.NewReader(c.r.Body, params["boundary"]))
	if err != nil {
		return err
	}
	c.w.Header().Set("Location", at)
	c.w.WriteHeader(http.StatusCreated)
	return nil
}

// part finds the file among the parts, keeps it and reads the form to its end.
func (h *MediaHandler) part(c *call, r *multipart.Reader) (at string, err error) {
	token := ""
	for n := 0; ; n++ {
		part, err := r.NextPart()
		switch {
		case errors.Is(err, io.EOF) || n > MaxFields:
			return h.none(c, at, token)
		case err != nil:
			return "", asRead(err)
		case part.FormName() == fieldToken && part.FileName() == "":
			b, err := io.ReadAll(io.LimitReader(part, MaxToken+1))
			if err != nil {
				return "", asRead(err)
			}
			token = string(b)
			if err := c.form(token); err != nil {
				return "", err
			}
		case part.FormName() != "file" || part.FileName() == "":
		case at != "":
			return "", invalid("There are two files; send one at a time.")
		default:
			if err := c.form(token); err != nil {
				return "", err
			}
			if err := c.need(ScopeMedia, ScopeCreate); err != nil {
				return "", err
			}
			keep := func(f *Upload) (string, error) { return h.Media.Store(c.ctx, c.who.User, f) }
			if at, err = keepPart(part, "file", token, keep); err != nil {
				return "", err
			}
		}
	}
}

// none ends a form, which should have had a file.
func (h *MediaHandler) none(c *call, at, token string) (string, error) {
	if at != "" {
		return at, nil
	}
	if err := c.form(token); err != nil {
		return "", err
	}
	return "", invalid("There is no file in the form: it comes in a part that is called file and has a filename.")
}

// query answers what was uploaded.
func (h *MediaHandler) query(c *call) error {
	v, err := c.enterQuery()
	if err != nil {
		return err
	}
	if err := c.need(ScopeMedia, ScopeCreate); err != nil {
		return err
	}
	q, err := listQuery(v)
	if err != nil {
		return err
	}
	what := v.Get("q")
	if what == "last" {
		q = ListQuery{Limit: 1}
	} else if what != "source" {
		return invalid("q=%s is not known here; there are last and source.", text.Clip(what, 40))
	}
	files, err := h.Media.Files(c.ctx, c.who.User, ListQuery{Limit: q.Limit, Offset: q.Offset})
	if err != nil {
		return err
	}
	if what == "source" {
		return c.ok(map[string][]MediaFile{"items": some(files)})
	}
	if len(files) == 0 {
		return c.ok(struct{}{})
	}
	return c.ok(files[0])
}

// isToken reports what a header may hold.
func isToken(s string) bool { return s != "" && !strings.ContainsAny(s, "\r\n\x00") }
