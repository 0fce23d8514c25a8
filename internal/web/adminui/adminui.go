// Package adminui has the pages of administrators: users and invitations, settings, blocked hosts
// and topics, subscriptions, backups, findings about the installation, and the audit log. Start
// with [Pages].
package adminui

import (
	"context"
	"io"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/checkup"
	"cloudburst/internal/hub"
	"cloudburst/internal/ownhost"
	"cloudburst/internal/transfer"
	"cloudburst/internal/web/shell"
)

// Options configure the pages. Admin and Accounts must be set.
type Options struct {
	Admin    *admin.Admin
	Accounts Passwords
	// Findings checks the installation. Nil: the overview has no check.
	Findings func(ctx context.Context) ([]checkup.Finding, error)
	// Settings lists the settings with the values of the configuration. Nil: the page lists no settings.
	Settings      func() []Setting
	Hub           Hub            // nil: subscriptions cannot be removed
	Subscriptions Subscriptions  // nil: subscriptions are not listed
	Exports       Exports        // nil: users cannot be exported
	Domains       *ownhost.Hosts // nil: domains of authors are not listed
	Program       Program        // build of the running binary
}

// Passwords verifies the password of an administrator before an action that cannot be undone.
type Passwords interface {
	Check(ctx context.Context, name, password string, from account.Caller) (account.User, error)
}

// Subscriptions lists the subscriptions of the hub.
type Subscriptions interface {
	Subscriptions(ctx context.Context, q hub.SubscriptionQuery) ([]hub.SubscriptionInfo, error)
}

// Hub removes subscriptions and returns the removed subscriptions.
type Hub interface {
	Remove(ctx context.Context, keys []hub.Key, via string) ([]hub.Subscription, error)
}

// Exports writes everything of a user into an archive; *transfer.Transfer implements it.
type Exports interface {
	Export(ctx context.Context, user string, w io.Writer, progress transfer.Progress) (transfer.Manifest, error)
}

// Setting is a setting with its value in the configuration.
type Setting struct {
	Name, Value, Default string
	Source               string // kind of origin: default, profile, file, environment or flag
	Origin               string // exact origin, such as the name of the environment variable; "" for a default
	Doc                  string
	Secret               bool     // Value is masked
	Choices              []string // the only valid values; nil: any value
}

// Program describes the running binary.
type Program struct{ Version, Revision, Go, Platform string }

// Pages has the pages of administrators.
type Pages struct {
	*shell.Shell
	Options
}

// New builds the pages.
func New(s *shell.Shell, o Options) *Pages { return &Pages{s, o} }
