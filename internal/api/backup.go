package api

import (
	"net/http"
	"os"

	"cloudburst/client"
	"cloudburst/internal/admin"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/fault"
)

func (s *Server) backup(w http.ResponseWriter, r *http.Request) error {
	var in client.BackupOptions
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	if in.WithKey {
		if s.CheckKey == nil {
			return fault.New(fault.Unsupported, "No backup was written: this server has no file with the key of the readers' secrets.")
		}
		if err := s.CheckKey(); err != nil {
			return err
		}
	}
	now := s.Now()
	file, err := admin.NewBackupFile(in.File, in.Folder, in.Keep, now)
	if err != nil {
		return err
	}
	if err := s.audited(r, admin.BackupCreate, file, "", func() error { return s.Store.Backup(r.Context(), file) }); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "The backup was written but cannot be found")
	}
	out := client.Backup{File: file, Size: info.Size()}
	if in.WithKey {
		if out.Key, err = s.BackupKey(file); err != nil {
			return err
		}
	}
	if s.BackedUp != nil {
		s.BackedUp(file, info.Size(), now)
	}
	if in.Keep > 0 {
		if out.Removed, err = admin.RemoveOldBackups(in.Folder, file, in.Keep); err != nil {
			return fault.Wrap(fault.Unavailable, err, "The backup %s is written, but older ones could not be removed", file)
		}
	}
	return exchange.OK(w, out)
}
