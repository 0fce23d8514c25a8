package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cloudburst/internal/fault"
)

// Backup implements hub.Store. It copies a consistent snapshot while other operations write.
func (s *Store) Backup(ctx context.Context, file string) error {
	db := pool(s.file, copying, 1, 0) // readers may not write, not even to another file
	defer db.Close()
	return backup(ctx, db, file)
}

// BackupFolder is like [Store.Backup] for a folder that no process uses. It changes nothing in the
// database, whose schema may be older or newer than that of this program.
func BackupFolder(ctx context.Context, dir, file string) error {
	w, err := openFolder(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(backup(ctx, w.db, file), w.Close())
}

func backup(ctx context.Context, db *sql.DB, file string) error {
	return WriteCopy(ctx, file, func(part string) error {
		// Create the file first, so that no other user can read it; VACUUM INTO accepts an empty
		// file.
		if err := os.WriteFile(part, nil, 0o600); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "VACUUM INTO $1", part)
		return err
	})
}

// WriteCopy lets write create a copy and appends the SHA-256 of its content. file must not exist
// yet. The copy is written to FILE.part first, so that a file with the final name is always
// complete. A leftover .part file is overwritten.
//
// spec:cloudburst#backup-complete
func WriteCopy(ctx context.Context, file string, write func(part string) error) (err error) {
	part := file + ".part"
	if _, err := os.Lstat(file); err == nil {
		return fault.New(fault.Conflict, "The file %s already exists, and a backup never overwrites a file. Name another file.", file)
	}
	if _, err := os.Lstat(part); err == nil { // on a read-only file system, deleting a missing file fails too
		if err := os.Remove(part); err != nil {
			return fault.Wrap(fault.Unavailable, err, "The interrupted backup %s cannot be deleted.", part)
		}
	}
	defer os.Remove(part)
	if err = write(part); err == nil {
		err = seal(ctx, part)
	}
	if err == nil {
		err = publish(part, file)
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "The backup to %s failed; no incomplete file remains.", file)
	}
	return nil
}

// publish makes a file durable and renames it to a name that must be free.
func publish(part, file string) error {
	if err := os.Chmod(part, 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(part, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(part, file); err != nil {
		if _, there := os.Lstat(file); !errors.Is(there, fs.ErrNotExist) {
			return err
		}
		if err := os.Rename(part, file); err != nil { // the file system has no hard links
			return err
		}
	}
	return syncFolder(filepath.Dir(file))
}

// forgetBackup clears the application ID of a restored backup. Otherwise the database, which
// changes from now on, would look like a damaged backup.
func forgetBackup(ctx context.Context, db *sql.DB) error {
	var id int64
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil || id == 0 {
		return err
	}
	return execAll(ctx, db, "PRAGMA application_id = 0")
}
