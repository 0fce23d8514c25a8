package shell

import (
	"errors"
	"io"
	"net/http"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/protocol/rsscloud"
)

// UploadTimeout is how long a file may take on its way in.
const UploadTimeout = time.Minute

// FormOverhead is what a form around a file may have besides the file.
const FormOverhead = 64 << 10

// FormTimeout bounds an answer to a form: a registration reads feeds and calls
// back before it is answered.
const FormTimeout = 90 * time.Second

// ReadForm reads a posted form whole, or not at all.
func ReadForm(rw http.ResponseWriter, r *http.Request) (rsscloud.Form, error) {
	rc := http.NewResponseController(rw)
	_ = rc.SetWriteDeadline(time.Now().Add(FormTimeout)) // where it cannot be set, the server's own holds
	form, err := rsscloud.ReadForm(r)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%s Nothing was done.", ErrorText(err))
	}
	return form, nil
}

// ErrorText is what a person may read of an error of package rsscloud.
func ErrorText(err error) string {
	if f, ok := errors.AsType[*rsscloud.FieldError](err); ok {
		return f.Msg
	}
	if e, ok := errors.AsType[*rsscloud.Error](err); ok {
		return e.Msg
	}
	return fault.Message(err)
}

// FormValue is a field as it was sent: a password may begin and end with spaces.
func FormValue(form rsscloud.Form, name string) string {
	for _, field := range form {
		if field.Name == name {
			return field.Value
		}
	}
	return ""
}

// Reason is a fault in words, with when to try again.
func Reason(err error) string {
	text := Sentence(fault.Message(err))
	if d := fault.RetryAfter(err); d > 0 {
		text += " Try again in " + FormatDuration(max(d.Round(time.Second), time.Second)) + "."
	}
	return text
}

const uploadIdle = 30 * time.Second

// PatientReader gives whoever sends more time with each piece that comes.
type PatientReader struct {
	Source     io.Reader
	Controller *http.ResponseController
	next       time.Time
}

func (p *PatientReader) Read(b []byte) (int, error) {
	if now := time.Now(); now.After(p.next) {
		// Where the deadlines cannot be set, the server's own hold.
		_, _ = p.Controller.SetReadDeadline(now.Add(uploadIdle)), p.Controller.SetWriteDeadline(now.Add(uploadIdle+FormTimeout))
		p.next = now.Add(time.Second)
	}
	return p.Source.Read(b)
}
