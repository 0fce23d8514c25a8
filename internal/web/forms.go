package web

import (
	"errors"
	"io"
	"net/http"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/protocol/rsscloud"
)

// uploadWithin is how long a file may take on its way in.
const uploadWithin = time.Minute

// formSlack is what a form around a file may have besides the file.
const formSlack = 64 << 10

// doneWithin bounds an answer to a form: a registration reads feeds and calls
// back before it is answered.
const doneWithin = 90 * time.Second

// readForm reads a posted form whole, or not at all.
func readForm(rw http.ResponseWriter, r *http.Request) (rsscloud.Form, error) {
	rc := http.NewResponseController(rw)
	_ = rc.SetWriteDeadline(time.Now().Add(doneWithin)) // where it cannot be set, the server's own holds
	form, err := rsscloud.ReadForm(r)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%s Nothing was done.", fieldWords(err))
	}
	return form, nil
}

// fieldWords is what a person may read of an error of package rsscloud.
func fieldWords(err error) string {
	if f, ok := errors.AsType[*rsscloud.FieldError](err); ok {
		return f.Msg
	}
	if e, ok := errors.AsType[*rsscloud.Error](err); ok {
		return e.Msg
	}
	return fault.Message(err)
}

// given is a field as it was sent: a password may begin and end with spaces.
func given(form rsscloud.Form, name string) string {
	for _, field := range form {
		if field.Name == name {
			return field.Value
		}
	}
	return ""
}

// reason is a fault in words, with when to try again.
func reason(err error) string {
	text := sentence(fault.Message(err))
	if d := fault.RetryAfter(err); d > 0 {
		text += " Try again in " + lasting(max(d.Round(time.Second), time.Second)) + "."
	}
	return text
}

const uploadIdle = 30 * time.Second

// patient gives whoever sends more time with each piece that comes.
type patient struct {
	r    io.Reader
	rc   *http.ResponseController
	next time.Time
}

func (p *patient) Read(b []byte) (int, error) {
	if now := time.Now(); now.After(p.next) {
		// Where the deadlines cannot be set, the server's own hold.
		_, _ = p.rc.SetReadDeadline(now.Add(uploadIdle)), p.rc.SetWriteDeadline(now.Add(uploadIdle+doneWithin))
		p.next = now.Add(time.Second)
	}
	return p.r.Read(b)
}
