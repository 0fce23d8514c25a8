// Package admin has the actions of administrators on a running server: settings that are changed
// while it runs, blocked hosts and topics, backups, and the audit log of all these actions and of
// those on users. The pages and the API use the same actions. Start with [Admin].
package admin

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"cloudburst/internal/date"
)

// Store is the database interface of package admin. Each method is one transaction. Times are
// stored in milliseconds, UTC.
type Store interface {
	// AddAudit stores an entry and returns its ID: the time in microseconds, or slightly more,
	// because IDs are unique.
	AddAudit(ctx context.Context, e Entry) (id int64, err error)
	// FailAudit stores the reason why the action of an entry had no effect.
	FailAudit(ctx context.Context, id int64, reason string) error
	// Audit lists entries, newest first.
	Audit(ctx context.Context, q AuditQuery) ([]Entry, error)
	// SweepAudit deletes up to limit of the oldest entries from before the given time, and returns
	// their number.
	SweepAudit(ctx context.Context, before time.Time, limit int) (int, error)

	// PutBlock adds a block or replaces its reason.
	PutBlock(ctx context.Context, b Block) error
	// RemoveBlock deletes a block and returns it. fault.NotFound: the block does not exist.
	RemoveBlock(ctx context.Context, kind, value string) (Block, error)
	// Blocks lists all blocks by kind and value.
	Blocks(ctx context.Context) ([]Block, error)

	// PutOverride stores the value of a setting that was changed at run time.
	PutOverride(ctx context.Context, o Override) error
	// RemoveOverride deletes an override. fault.NotFound: the setting has none.
	RemoveOverride(ctx context.Context, name string) error
	// Overrides lists the overrides by name of the setting.
	Overrides(ctx context.Context) ([]Override, error)
}

// Admin has the actions of administrators. Store must be set before the first use.
type Admin struct {
	Store Store
	Users Users            // nil: the server has no accounts
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // nil: slog.Default
	// Settings are the settings that can be changed at run time, by name.
	Settings map[string]Setting
	Backups  *Backups // nil: the server cannot make backups

	blocks    atomic.Pointer[blockList]
	overrides atomic.Pointer[map[string]Override]
}

// Names of actions. The part before the dot is the kind.
const (
	UserCreate         = "user.create"
	UserInvite         = "user.invite"
	UserRevokeInvite   = "user.revoke-invite"
	UserDisable        = "user.disable"
	UserEnable         = "user.enable"
	UserPromote        = "user.promote"
	UserDemote         = "user.demote"
	UserPassword       = "user.password"
	UserExport         = "user.export"
	UserDelete         = "user.delete"
	SettingChange      = "setting.change"
	SettingReset       = "setting.reset"
	BlockAdd           = "block.add"
	BlockRemove        = "block.remove"
	SubscriptionRemove = "subscription.remove"
	DomainCheck        = "domain.check"
	DomainRemove       = "domain.remove"
	BackupCreate       = "backup.create"
	BackupVerify       = "backup.verify"
	BackupDownload     = "backup.download"
	BackupDelete       = "backup.delete"
)

// Maximum lengths of stored texts, in bytes.
const (
	maxObject = 2048
	maxDetail = 500
)

func (a *Admin) now() time.Time {
	return date.Now(a.Now)
}

func (a *Admin) log() *slog.Logger {
	if a.Log == nil {
		return slog.Default()
	}
	return a.Log
}

// Load reads the blocks and the changed settings. Call it once before the server works, and every few seconds if other processes share the store.
func (a *Admin) Load(ctx context.Context) error {
	if err := a.loadBlocks(ctx); err != nil {
		return err
	}
	return a.loadOverrides(ctx)
}
