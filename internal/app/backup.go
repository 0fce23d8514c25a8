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
	"cloudburst/internal/config"
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
	o.CheckKey = func() error {
		if a.accounts.Key == nil {
			return fault.New(fault.Unsupported, "No backup was written: the key of the readers' secrets is not known here. Name the data folder of a server with --data.")
		}
		return CheckKeyFile(a.cfg)
	}
	o.BackupKey = func(backup string) (string, error) { return store.BackupKey(a.cfg.Data, backup) }
	o.BackedUp = a.backedUp
	if e, ok := st.(examiner); ok {
		o.Doctor = func(ctx context.Context) (client.Installation, error) { return examination{a}.installation(ctx, e) }
	}
	return o
}

// CheckKeyFile returns an error if the data folder has no key of the readers' secrets that could be
// copied next to a backup.
func CheckKeyFile(cfg config.Config) error {
	if cfg.Accounts.SecretKey != "" {
		return fault.New(fault.Unsupported, "No backup was written: the key of the readers' secrets is in the setting accounts.secret-key, not in a file. Back up that setting too, and make the backup without the key.")
	}
	name := filepath.Join(cfg.Data, store.KeyFile)
	if _, err := os.ReadFile(name); err != nil {
		return fault.Wrap(fault.Unavailable, err, "No backup was written: the key of the readers' secrets cannot be read from %s. Put the file back, or make the backup without the key.", name)
	}
	return nil
}

// RecordBackup records a backup in a data folder, where doctor finds it.
func RecordBackup(dir, file string, size int64, now time.Time) error {
	name := filepath.Join(dir, backupFile)
	text, err := json.Marshal(lastBackup{file, size, now.UTC()})
	if err != nil {
		return err
	}
	_ = os.Remove(name) // if this fails, WriteNew returns the error
	return store.WriteNew(name, append(text, '\n'))
}

// backedUp records a backup. If this fails, the backup is still valid.
func (a *App) backedUp(file string, size int64, now time.Time) {
	err := RecordBackup(a.cfg.Data, file, size, now)
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
