package store

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"cloudburst/internal/store/sqlite"
)

// Examined is the content of a backup.
type Examined = sqlite.Examined

// RestoreOptions are the options of a restore: a file that Backup wrote, to a folder or to a
// PostgreSQL database that no server uses.
type RestoreOptions struct {
	File, To   string
	Replace    bool
	Now        time.Time
	OnProgress func(Progress)        // progress of slow steps; nil: no progress reports
	Found      func(*Examined) error // called with the content of the file before anything is changed; nil: not called
}

// VerifyBackup compares the content of a backup with its embedded SHA-256 and returns the sum. The
// sum is "" if an earlier version wrote the file without one. Damage is fault.Unavailable, a
// missing file fault.NotFound.
func VerifyBackup(ctx context.Context, file string) (sum string, err error) {
	return sqlite.Verify(ctx, file)
}

// Restore verifies a backup and installs it atomically. It copies the key next to the file
// (FILE.key) into the folder. The errors contain instructions.
//
// spec:cloudburst#restore-atomic
func Restore(ctx context.Context, o RestoreOptions) (*Result, error) {
	e, err := sqlite.Examine(ctx, o.File)
	if err != nil {
		return nil, err
	}
	if o.Found != nil {
		if err := o.Found(e); err != nil {
			return nil, err
		}
	}
	if IsDatabaseURL(o.To) {
		w, err := sqlite.OpenCopy(ctx, o.File)
		if err != nil {
			return nil, err
		}
		r, err := moveTo(ctx, &w.Whole, MoveOptions{From: o.File, To: o.To, Replace: o.Replace, Now: o.Now, OnProgress: o.OnProgress})
		return r, errors.Join(err, w.Close())
	}
	if err := compareKeys(o.File+KeySuffix, filepath.Join(o.To, KeyFile)); err != nil {
		return nil, err
	}
	r := &Result{}
	if r.Aside, err = sqlite.Restore(ctx, o.File, o.To, o.Replace, o.Now); err != nil {
		return nil, err
	}
	r.Key, err = copyKey(o.File+KeySuffix, o.To)
	return r, err
}
