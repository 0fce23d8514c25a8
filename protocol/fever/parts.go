package fever

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
)

// maxParts and maxPart limit the parts of a multipart body and the bytes of each part.
const maxParts, maxPart = 100, 64 << 10

// readParts reads the fields of a multipart body. Nothing is written to a file.
func (c *call) readParts(body, boundary string) error {
	r := multipart.NewReader(strings.NewReader(body), boundary)
	for range maxParts {
		part, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &Error{Status: http.StatusBadRequest, Msg: "The parts of the body are invalid."}
		}
		value, err := io.ReadAll(io.LimitReader(part, maxPart))
		if err != nil {
			return &Error{Status: http.StatusBadRequest, Msg: "The parts of the body are invalid."}
		}
		c.form.Add(part.FormName(), string(value))
	}
	return &Error{Status: http.StatusBadRequest, Msg: "The body has too many parts."}
}
