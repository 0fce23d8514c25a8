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

// backupFile, in the data folder, says when the last backup was written, and where.
const backupFile = "backup.json"

// lastBackup is what the file holds.
type lastBackup struct {
	File string    `json:"file"`
	Size int64     `json:"size"`
	At   time.Time `json:"at"`
}

// operating adds what the operator's API asks of the installation.
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

// backedUp notes a backup. One that cannot be noted is one all the same.
func (a *App) backedUp(file string, size int64, now time.Time) {
	text, err := json.Marshal(lastBackup{file, size, now.UTC()})
	if err == nil {
		err = os.WriteFile(filepath.Join(a.cfg.Data, backupFile), append(text, '\n'), 0o600)
	}
	if err != nil {
		a.log.Warn("note the time of a backup", "err", err)
	}
}

// knownBackup is the last one that was noted in a data folder; the zero lastBackup when
// there is none.
func knownBackup(dir string) (b lastBackup) {
	text, err := os.ReadFile(filepath.Join(dir, backupFile))
	if err != nil || json.Unmarshal(text, &b) != nil {
		return lastBackup{}
	}
	return b
}
