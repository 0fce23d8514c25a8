package api

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"cloudburst/client"
	"cloudburst/internal/fault"
)

func (s *Server) backup(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		File string `json:"file"`
	}
	if err := readJSON(w, r, &in); err != nil {
		return err
	}
	if !filepath.IsAbs(in.File) || strings.ContainsRune(in.File, 0) {
		return fault.New(fault.Invalid, "file is %q: it needs the absolute path of a file that does not exist yet.", cut(in.File, 200))
	}
	if _, err := os.Lstat(in.File); err == nil {
		return fault.New(fault.Conflict, "%s exists already; a backup never overwrites a file: choose another name.", in.File)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Invalid, err, "%s cannot be written", in.File)
	}
	if dir, err := os.Stat(filepath.Dir(in.File)); err != nil || !dir.IsDir() {
		return fault.New(fault.Invalid, "The folder %s does not exist on the server: make it first.", filepath.Dir(in.File))
	}
	if err := s.Store.Backup(r.Context(), in.File); err != nil {
		return err
	}
	info, err := os.Stat(in.File)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "The backup was written and cannot be found")
	}
	return ok(w, client.Backup{File: in.File, Size: info.Size()})
}
