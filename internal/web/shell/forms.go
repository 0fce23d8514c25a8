package shell

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/protocol/rsscloud"
)

// UploadTimeout is the maximum duration of a file upload.
const UploadTimeout = time.Minute

// FormOverhead is the maximum size of a form in bytes, without its file.
const FormOverhead = 64 << 10

// FormTimeout limits the reply to a form: a registration reads feeds and verifies the callback
// first.
const FormTimeout = 90 * time.Second

// ReadForm reads a posted form; an error means that no field is valid.
func ReadForm(rw http.ResponseWriter, r *http.Request) (rsscloud.Form, error) {
	rc := http.NewResponseController(rw)
	_ = rc.SetWriteDeadline(time.Now().Add(FormTimeout)) // if the deadline cannot be set, the server's default applies
	form, err := rsscloud.ReadForm(r)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%s Nothing was done.", ErrorText(err))
	}
	return form, nil
}

// ErrorText returns the text for users of an error of package rsscloud.
func ErrorText(err error) string {
	if f, ok := errors.AsType[*rsscloud.FieldError](err); ok {
		return f.Msg
	}
	if e, ok := errors.AsType[*rsscloud.Error](err); ok {
		return e.Msg
	}
	return fault.Message(err)
}

// FormValue returns a field without trimming: a password may begin and end with spaces.
func FormValue(form rsscloud.Form, name string) string {
	for _, field := range form {
		if field.Name == name {
			return field.Value
		}
	}
	return ""
}

// Reason returns the text of a fault, with the time of the next try unless the text has one.
func Reason(err error) string {
	text := Sentence(fault.Message(err))
	if d := fault.RetryAfter(err); d > 0 && !strings.Contains(text, "ry again ") {
		text += fmt.Sprintf(" Try again in %s.", FormatDuration(max(d.Round(time.Second), time.Second)))
	}
	return text
}

const uploadIdle = 30 * time.Second

// PatientReader extends the deadlines of a connection with each piece that it reads.
type PatientReader struct {
	Source     io.Reader
	Controller *http.ResponseController
	next       time.Time
}

func (p *PatientReader) Read(b []byte) (int, error) {
	if now := time.Now(); now.After(p.next) {
		// If the deadlines cannot be set, the server's defaults apply.
		_, _ = p.Controller.SetReadDeadline(now.Add(uploadIdle)), p.Controller.SetWriteDeadline(now.Add(uploadIdle+FormTimeout))
		p.next = now.Add(time.Second)
	}
	return p.Source.Read(b)
}
