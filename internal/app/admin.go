package app

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"cloudburst/client"
	"cloudburst/internal/admin"
	"cloudburst/internal/api"
	"cloudburst/internal/checkup"
	"cloudburst/internal/config"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/store"
	"cloudburst/internal/web/adminui"
)

// backupFolder is the folder, within the data folder, for the backups that administrators make on
// the pages.
const backupFolder = "backups"

// findingsWithin is the maximum time for checking the installation on a page, because the request
// to the server's own public URL may be slow.
const findingsWithin = 3 * time.Second

// registration is the name of the setting that opens registration.
const registration = "accounts.registration"

// fetchGuard returns the guard for outgoing requests that read feeds.
func (a *App) fetchGuard() *fetch.Guard {
	return &fetch.Guard{Allow: a.cfg.Egress.AllowFetch, Setting: allowFetch, Own: a.names.Listeners, Blocks: a.admin}
}

// callbackGuard returns the guard for outgoing requests to URLs that unknown clients send.
func (a *App) callbackGuard() *fetch.Guard {
	return &fetch.Guard{Allow: a.cfg.Egress.AllowCallback, Setting: allowCallback, Own: a.names.Listeners, Blocks: a.admin, Callback: true}
}

// administering connects the actions of administrators with the rest of the program.
type administering struct{ *App }

// newAdmin creates the actions of administrators. Call newAdmin before the guards are created,
// because they use the blocks that administrators set.
func (a administering) newAdmin(st store.Store) {
	a.admin = &admin.Admin{
		Store: st, Now: a.clock.Now, Log: a.log, Settings: map[string]admin.Setting{registration: {
			Configured: a.cfg.Accounts.Registration,
			Check:      config.Check(registration),
		}},
		Backups: &admin.Backups{
			Folder: filepath.Join(a.cfg.Data, backupFolder), Write: st.Backup, Verify: store.VerifyBackup, Done: a.backedUp,
		},
	}
}

// openAdmin loads the data that administrators stored, and connects their actions with the other
// components.
func (a administering) openAdmin(ctx context.Context) error {
	a.admin.Users = a.accounts
	a.accounts.Deleting = a.unfollowAll
	return a.admin.Load(ctx)
}

// unfollowAll ends the subscriptions and the domain of a user who is about to be deleted. After
// that, feeds without other followers are not read, and hubs do not notify this server of them.
func (a administering) unfollowAll(ctx context.Context, user string) error {
	reader := a.owners.readerOf(user)
	if reader == "" {
		return nil // the first user owns the river of the server, and the store refuses to delete this user
	}
	if err := hosting(a).dropHost(ctx, user); err != nil {
		return err
	}
	all, err := a.river.Following(ctx, reader)
	if err != nil {
		return err
	}
	var ids []int64
	for id := range all {
		ids = append(ids, id)
	}
	for some := range slices.Chunk(ids, 500) {
		if err := a.river.Remove(ctx, reader, some...); err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
	}
	return nil
}

// followAdmin regularly loads the blocks, settings and domains of authors, because administrators
// can change them on other nodes.
func (a administering) followAdmin(ctx context.Context) {
	if a.cfg.Database == "" {
		return
	}
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := errors.Join(a.admin.Load(ctx), a.hosts.Load().Load(ctx)); err != nil && ctx.Err() == nil {
				a.log.Warn("cannot load blocks, changed settings and domains", "err", err)
			}
		}
	}
}

// registrationIsOpen reports whether every visitor can create an account.
func (a administering) registrationIsOpen() bool { return a.admin.Value(registration) == "open" }

// administration configures the pages of administrators.
func (a administering) administration() *adminui.Options {
	build := api.BuildVersion(Version)
	o := &adminui.Options{
		Admin: a.admin, Accounts: a.accounts, Settings: a.settings, Hub: a.hub, Subscriptions: a.store, Exports: a.moves(), Domains: a.hosts.Load(),
		Program: adminui.Program{Version: build.Version, Revision: build.Revision, Go: build.Go, Platform: build.Platform},
	}
	if e, ok := a.store.(examiner); ok {
		o.Findings = func(ctx context.Context) ([]checkup.Finding, error) {
			limited, cancel := context.WithTimeout(ctx, findingsWithin)
			defer cancel()
			return checkup.Check(examination(a).quickFacts(limited, e)), ctx.Err()
		}
	}
	return o
}

// configured lists the settings of the program for the operator's API.
func (a administering) configured() []client.Setting {
	all := []client.Setting{}
	for _, s := range a.settings() {
		all = append(all, client.Setting{Name: s.Name, Value: s.Value, Default: s.Default, Source: s.Source, Origin: s.Origin})
	}
	return all
}

// settings lists the settings with their configured values for the administrator pages.
func (a administering) settings() (all []adminui.Setting) {
	for _, v := range a.cfg.Values {
		if v.Client {
			continue
		}
		all = append(all, adminui.Setting{
			Name: v.Name, Value: v.Shown(), Default: v.Default, Source: string(v.Source), Origin: v.Origin, Doc: v.Doc, Secret: v.Secret, Choices: v.Choices,
		})
	}
	return all
}
