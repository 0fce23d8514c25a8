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

// upload stores one file.
//
// spec:micropub-2017#media-endpoint
func (h *MediaHandler) upload(c *call) error {
	if err := c.authenticateHeader(); err != nil {
		return err
	}
	kind, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		if !c.authenticated {
			return unauthorized("")
		}
		return &Error{Status: http.StatusUnsupportedMediaType, Code: InvalidRequest,
			Description: "Send a file as multipart/form-data, in a part named file."}
	}
	at, err := h.storeFile(c, multipart.NewReader(c.r.Body, params["boundary"]))
	if err != nil {
		return err
	}
	c.w.Header().Set("Location", at)
	c.w.WriteHeader(http.StatusCreated)
	return nil
}

// storeFile finds the file among the parts, stores it, and reads the form to its end.
func (h *MediaHandler) storeFile(c *call, r *multipart.Reader) (at string, err error) {
	token := ""
	for n := 0; ; n++ {
		part, err := r.NextPart()
		switch {
		case errors.Is(err, io.EOF) || n > MaxFields:
			return h.noFile(c, at, token)
		case err != nil:
			return "", formError(err)
		case part.FormName() == fieldToken && part.FileName() == "":
			b, err := io.ReadAll(io.LimitReader(part, MaxToken+1))
			if err != nil {
				return "", formError(err)
			}
			token = string(b)
			if err := c.authenticateForm(token); err != nil {
				return "", err
			}
		case part.FormName() != "file" || part.FileName() == "":
		case at != "":
			return "", invalid("There are two files; send one at a time.")
		default:
			if err := c.authenticateForm(token); err != nil {
				return "", err
			}
			if err := c.requireScope(ScopeMedia, ScopeCreate); err != nil {
				return "", err
			}
			store := func(f *Upload) (string, error) { return h.Media.Store(c.ctx, c.session.User, f) }
			if at, err = storePart(part, "file", token, store); err != nil {
				return "", err
			}
		}
	}
}

// noFile handles a form that ended without a file.
func (h *MediaHandler) noFile(c *call, at, token string) (string, error) {
	if at != "" {
		return at, nil
	}
	if err := c.authenticateForm(token); err != nil {
		return "", err
	}
	return "", invalid("The form has no file: send it in a part named file that has a filename.")
}

// query lists uploaded files.
func (h *MediaHandler) query(c *call) error {
	v, err := c.authenticateQuery()
	if err != nil {
		return err
	}
	if err := c.requireScope(ScopeMedia, ScopeCreate); err != nil {
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
		return invalid("q=%s is unknown; supported are last and source.", text.Clip(what, 40))
	}
	files, err := h.Media.Files(c.ctx, c.session.User, ListQuery{Limit: q.Limit, Offset: q.Offset})
	if err != nil {
		return err
	}
	if what == "source" {
		return c.ok(map[string][]MediaFile{"items": notNil(files)})
	}
	if len(files) == 0 {
		return c.ok(struct{}{})
	}
	return c.ok(files[0])
}

// isToken reports whether a token can be sent in a header.
func isToken(s string) bool { return s != "" && !strings.ContainsAny(s, "\r\n\x00") }
