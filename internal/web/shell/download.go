package shell

import (
	"io"
	"net/http"
	"time"
)

// downloadIdle is the longest pause in a download.
const downloadIdle = 30 * time.Second

// SendFile sends a file with the media type kind under the given name. If write fails before its
// first byte, SendFile returns its error. A later error ends the connection, because a normal end
// would make the truncated file look complete.
func (s *Shell) SendFile(rw http.ResponseWriter, r *http.Request, kind, name string, write func(io.Writer) error) error {
	out := &download{rw: rw, kind: kind, name: name}
	err := write(out)
	if err == nil || !out.begun {
		return err
	}
	if r.Context().Err() == nil {
		s.Logger().Error("send a file", "name", name, "err", err)
	}
	panic(http.ErrAbortHandler)
}

// download sends the headers with the first bytes, so that an earlier failure is an error page.
type download struct {
	rw         http.ResponseWriter
	kind, name string
	begun      bool
}

func (d *download) Write(b []byte) (int, error) {
	if !d.begun {
		d.begun = true
		d.rw.Header().Set("Content-Type", d.kind)
		d.rw.Header().Set("Content-Disposition", `attachment; filename="`+d.name+`"`)
	}
	// If the deadline cannot be set, the server's default applies.
	_ = http.NewResponseController(d.rw).SetWriteDeadline(time.Now().Add(downloadIdle))
	return d.rw.Write(b)
}
