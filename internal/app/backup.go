package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"cloudburst/client"
	"cloudburst/internal/api"
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
		o.BackupKey = func(backup string) (string, error) { return store.BackupKey(a.cfg.Data, backup) }
	}
	o.BackedUp = a.backedUp
	if e, ok := st.(examiner); ok {
		o.Doctor = func(ctx context.Context) (client.Installation, error) { return examination{a}.installation(ctx, e) }
	}
	return o
}

// backedUp records a backup in backupFile. If this fails, the backup is still valid.
func (a *App) backedUp(file string, size int64, now time.Time) {
	text, err := json.Marshal(lastBackup{file, size, now.UTC()})
	if err == nil {
		err = os.WriteFile(filepath.Join(a.cfg.Data, backupFile), append(text, '\n'), 0o600)
	}
	if err != nil {
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
