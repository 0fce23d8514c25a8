package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cloudburst/client"
	"cloudburst/internal/api"
	"cloudburst/internal/fault"
	"cloudburst/internal/store"
)

// backupFile, in the data folder, records the last backup.
const backupFile = "backup.json"

// lastBackup is the content of backupFile. Size is in bytes.
type lastBackup struct {
	File string    `json:"file"`
	Size int64     `json:"size"`
	At   time.Time `json:"at"`
}

// operating adds the options for managing the installation to the operator's API.
func (a *App) operating(st store.Store, o api.Options) api.Options {
	if a.cfg.Accounts.SecretKey == "" {
		o.BackupKey = func(backup string) (string, error) {
			if a.accounts.Key == nil {
				return "", fault.New(fault.Unsupported, "The backup %s is written, but without the key of the readers' secrets, which is not known here: name the data folder of a server with --data.", backup)
			}
			return store.BackupKey(a.cfg.Data, backup)
		}
	}
	o.BackedUp = a.backedUp
	if e, ok := st.(examiner); ok {
		o.Doctor = func(ctx context.Context) (client.Installation, error) { return examination{a}.installation(ctx, e) }
	}
	return o
}

// backedUp records a backup in backupFile. If this fails, the backup is still valid.
func (a *App) backedUp(file string, size int64, now time.Time) {
	name := filepath.Join(a.cfg.Data, backupFile)
	text, err := json.Marshal(lastBackup{file, size, now.UTC()})
	if err == nil {
		_ = os.Remove(name) // if this fails, WriteNew returns the error
		err = store.WriteNew(name, append(text, '\n'))
	}
	if err != nil && !(a.command && errors.Is(err, fs.ErrNotExist)) { // a command does not create the folder
		a.log.Warn("cannot record the time of a backup", "err", err)
	}
}

// knownBackup returns the last recorded backup of a data folder. It returns the zero value if
// none is recorded.
func knownBackup(dir string) (b lastBackup) {
	text, err := os.ReadFile(filepath.Join(dir, backupFile))
	if err != nil || json.Unmarshal(text, &b) != nil {
		return lastBackup{}
	}
	return b
}
