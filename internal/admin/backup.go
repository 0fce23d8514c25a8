package admin

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// Backups are the copies of the database in one folder of this machine. Write and Verify must be
// set.
type Backups struct {
	Folder string // created with the first backup; only the user of this process can read it
	// Write writes a consistent copy of the database to a file that does not exist yet.
	Write func(ctx context.Context, file string) error
	// Verify compares a backup with the SHA-256 that it contains and returns the hash; "": the backup
	// contains none.
	Verify func(ctx context.Context, file string) (sum string, err error)
	// Done is called after each backup; nil: no call.
	Done func(file string, size int64, at time.Time)
}

// Backup is a backup on the disk of this machine.
type Backup struct {
	Name string // file name without a folder
	Size int64  // bytes
	At   time.Time
}

const backupLayout = "cloudburst-20060102T150405Z.db"

func errNoBackups() error {
	return fault.New(fault.Unsupported, "This server cannot make backups.")
}

func noBackup(name string) error {
	return fault.New(fault.NotFound, "There is no backup %q. The list of backups shows the names.", text.Clip(name, 100))
}

// ListBackups lists the backups in the folder, newest first.
func (a *Admin) ListBackups() ([]Backup, error) {
	if a.Backups == nil {
		return nil, errNoBackups()
	}
	entries, err := os.ReadDir(a.Backups.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "The folder %s cannot be read", a.Backups.Folder)
	}
	var all []Backup
	for _, e := range entries {
		if at, ok := backupTime(e.Name()); ok && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil { // an error means that the file was deleted in the meantime
				all = append(all, Backup{Name: e.Name(), Size: info.Size(), At: at})
			}
		}
	}
	slices.Reverse(all) // names sort by time, so this is newest first
	return all, nil
}

func backupTime(name string) (time.Time, bool) {
	at, err := time.Parse(backupLayout, name)
	return at, err == nil && at.Format(backupLayout) == name
}

// BackupFile returns the path of a backup. fault.NotFound: the backup does not exist.
func (a *Admin) BackupFile(name string) (path string, b Backup, err error) {
	if a.Backups == nil {
		return "", b, errNoBackups()
	}
	at, ok := backupTime(name)
	if !ok {
		return "", b, noBackup(name)
	}
	path = filepath.Join(a.Backups.Folder, name)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", b, noBackup(name)
	}
	return path, Backup{Name: name, Size: info.Size(), At: at}, nil
}

// CreateBackup writes a backup into the folder. fault.Conflict: another backup was started in the
// same second.
func (a *Admin) CreateBackup(ctx context.Context, by Actor) (Backup, error) {
	if a.Backups == nil {
		return Backup{}, errNoBackups()
	}
	at := a.now().UTC().Truncate(time.Second)
	b := Backup{Name: at.Format(backupLayout), At: at}
	err := a.Do(ctx, by, BackupCreate, b.Name, "", func() error {
		if err := os.MkdirAll(a.Backups.Folder, 0o700); err != nil {
			return fault.Wrap(fault.Unavailable, err, "The folder %s cannot be created", a.Backups.Folder)
		}
		file := filepath.Join(a.Backups.Folder, b.Name)
		if _, err := os.Lstat(file); err == nil {
			return fault.New(fault.Conflict, "The backup %s was made a moment ago. Wait a second before you make another one.", b.Name)
		}
		if err := a.Backups.Write(ctx, file); err != nil {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return fault.Wrap(fault.Internal, err, "The backup was written but cannot be found")
		}
		b.Size = info.Size()
		if a.Backups.Done != nil {
			a.Backups.Done(file, b.Size, at)
		}
		return nil
	})
	return b, err
}

// VerifyBackup reads a whole backup and compares it with the SHA-256 that it contains.
// fault.NotFound: the backup does not exist; fault.Unavailable: the file is damaged.
func (a *Admin) VerifyBackup(ctx context.Context, by Actor, name string) (sum string, err error) {
	file, b, err := a.BackupFile(name)
	if err != nil {
		return "", err
	}
	err = a.Do(ctx, by, BackupVerify, b.Name, "", func() error {
		sum, err = a.Backups.Verify(ctx, file)
		return err
	})
	return sum, err
}

// DeleteBackup deletes a backup permanently. fault.NotFound: the backup does not exist.
func (a *Admin) DeleteBackup(ctx context.Context, by Actor, name string) error {
	file, b, err := a.BackupFile(name)
	if err != nil {
		return err
	}
	return a.Do(ctx, by, BackupDelete, b.Name, "", func() error {
		if err := removeBackup(file); err != nil {
			return fault.Wrap(fault.Unavailable, err, "The backup %s cannot be deleted", b.Name)
		}
		return nil
	})
}
