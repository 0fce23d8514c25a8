package fever

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
)

// mostParts and longestPart bound a body of parts.
const maxParts, longestPart = 100, 64 << 10

// readParts takes in the fields of a body of parts, which nothing of is written to a file.
func (c *call) readParts(body, boundary string) error {
	r := multipart.NewReader(strings.NewReader(body), boundary)
	for range maxParts {
		part, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &Error{Status: http.StatusBadRequest, Msg: "The body's parts cannot be read."}
		}
		value, err := io.ReadAll(io.LimitReader(part, longestPart))
		if err != nil {
			return &Error{Status: http.StatusBadRequest, Msg: "The body's parts cannot be read."}
		}
		c.form.Add(part.FormName(), string(value))
	}
	return &Error{Status: http.StatusBadRequest, Msg: "The body has too many parts."}
}
