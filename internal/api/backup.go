package api

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"cloudburst/client"
	"cloudburst/internal/admin"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/fault"
)

// maxKept is the maximum number of dated backups in a folder.
const maxKept = 10_000

func (s *Server) backup(w http.ResponseWriter, r *http.Request) error {
	var in client.BackupOptions
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	now := s.Now()
	file, err := backupFile(in, now)
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
		if s.BackupKey == nil {
			return fault.New(fault.Unsupported, "The backup %s is written. It has no key file, because the key is in the setting accounts.secret-key: back up that setting too.", file)
		}
		if out.Key, err = s.BackupKey(file); err != nil {
			return err
		}
	}
	if s.BackedUp != nil {
		s.BackedUp(file, info.Size(), now)
	}
	if in.Keep > 0 {
		if out.Removed, err = removeOld(in.Folder, file, in.Keep); err != nil {
			return fault.Wrap(fault.Unavailable, err, "The backup %s is written, but older ones could not be removed", file)
		}
	}
	return exchange.OK(w, out)
}

// backupFile returns the path of the new backup file. The file must not exist yet.
func backupFile(in client.BackupOptions, now time.Time) (string, error) {
	switch {
	case (in.File == "") == (in.Folder == ""):
		return "", fault.New(fault.Invalid, "A backup needs either file or folder.")
	case in.Keep < 0 || in.Keep > maxKept || in.Keep > 0 && in.Folder == "":
		return "", fault.New(fault.Invalid, "keep is %d: with a folder it may be a number up to %d, and 0 keeps all.", in.Keep, maxKept)
	}
	file := in.File
	if in.Folder != "" {
		file = filepath.Join(in.Folder, datedName(now))
	}
	if !filepath.IsAbs(file) || strings.ContainsRune(file, 0) {
		return "", fault.New(fault.Invalid, "file is %q: it must be the absolute path of a file that does not exist yet.", cut(file, 200))
	}
	if _, err := os.Lstat(file); err == nil {
		return "", fault.New(fault.Conflict, "%s already exists; a backup never overwrites a file: choose another name.", file)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fault.Wrap(fault.Invalid, err, "%s cannot be written", file)
	}
	if dir, err := os.Stat(filepath.Dir(file)); err != nil || !dir.IsDir() {
		return "", fault.New(fault.Invalid, "The folder %s does not exist on the server: make it first.", filepath.Dir(file))
	}
	return file, nil
}

// datedName returns the file name of a dated backup. The order of the names is the order of the
// times.
func datedName(now time.Time) string { return now.UTC().Format("cloudburst-20060102T150405Z.db") }

// removeOld deletes the oldest dated backups in dir, with their key files, until only keep backups
// remain. newest is always one of the backups that remain. Other files are not touched.
func removeOld(dir, newest string, keep int) (removed []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	dated := regexp.MustCompile(`^cloudburst-\d{8}T\d{6}Z\.db$`)
	var old []string
	for _, e := range entries {
		if e.Type().IsRegular() && dated.MatchString(e.Name()) && filepath.Join(dir, e.Name()) != newest {
			old = append(old, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(old)
	for len(old) > keep-1 {
		if err := os.Remove(old[0]); err != nil {
			return removed, err
		}
		if err := os.Remove(old[0] + ".key"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed, old = append(removed, old[0]), old[1:]
	}
	return removed, nil
}
