// Package accountui has the pages to sign in, and those of an account: tokens and sessions, hosted
// feeds and their readers, secrets of private feeds, access of programs, import and export. Start
// with [Pages].
package accountui

import (
	"context"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/audience"
	"cloudburst/internal/author"
	"cloudburst/internal/web/content"
)

// Options configure the pages of accounts. Accounts must be set.
type Options struct {
	Accounts     Accounts
	Authors      Authors      // nil: this server hosts no feeds
	Profiles     Profiles     // nil: users cannot write posts
	Groups       Groups       // nil: there is only the default group
	Audience     Audience     // nil: readers are not counted
	Registration func() bool  // reports whether registration at /signup is open; nil: registration is closed
	Apps         Apps         // reads the metadata of client programs; nil: programs cannot request access
	Deletion     *admin.Admin // nil: users cannot delete their accounts
	Moves        Moves        // exports and imports authors; nil: authors cannot be exported or imported
}

// Accounts is the interface to the accounts for the pages; account.Accounts implements it.
type Accounts interface {
	People
	BrowserSessions
	Tokens
	Authorizations
	Secrets
}

// People manages users and their passwords.
type People interface {
	Check(ctx context.Context, name, password string, from account.Caller) (account.User, error)
	Register(ctx context.Context, name, password string, from account.Caller) (account.User, error)
	// Invited returns an invitation that is still valid, and RegisterInvited creates a user with it.
	Invited(ctx context.Context, secret string) (account.Invite, error)
	RegisterInvited(ctx context.Context, secret, name, password string, from account.Caller) (account.User, error)
	User(ctx context.Context, name string) (account.User, error)
	ChangePassword(ctx context.Context, u account.User, password string) (account.User, error)
	SetupToken() string
	AddFirst(ctx context.Context, token, name, password string, from account.Caller) (account.User, error)
}

// BrowserSessions manages the sessions of a user.
type BrowserSessions interface {
	Sessions(ctx context.Context, user string) ([]account.Session, error)
	EndSession(ctx context.Context, id string) error
}

// Tokens manages the tokens of a user's programs.
type Tokens interface {
	NewToken(ctx context.Context, user, label string, scopes []string) (plain string, t account.Token, err error)
	Tokens(ctx context.Context, user string) ([]account.Token, error)
	RevokeToken(ctx context.Context, user, id string) error
}

// Authorizations manages requests of programs for access.
type Authorizations interface {
	SealRequest(ctx context.Context, z account.Authorization) (ask string, err error)
	OpenRequest(user, ask string) (account.Authorization, error)
	Allow(z account.Authorization) (code string, err error)
}

// Secrets manages the secrets of private feeds.
type Secrets interface {
	NewSecret(ctx context.Context, user, feed, reader string) (account.Secret, error)
	Secrets(ctx context.Context, user, feed string) ([]account.Secret, error)
	RevokeSecret(ctx context.Context, user, selector string) error
}

// Authors is the interface to hosted feeds for the pages; author.Feeds implements it.
type Authors interface {
	Put(ctx context.Context, d author.Document) (author.Feed, error)
	Feed(ctx context.Context, user, name string) (author.Feed, error)
	Document(ctx context.Context, user, name string) (author.Feed, []byte, error)
	Move(ctx context.Context, user, name, to string) (author.Feed, error)
	MoveTemporarily(ctx context.Context, user, name, to string) (author.Feed, error)
	End(ctx context.Context, user, name string) (author.Feed, error)
	AddCloud(ctx context.Context, user string, on bool) (author.Feed, error)
	Restore(ctx context.Context, user, name string) (author.Feed, error)
}

// Profiles is the interface to the profiles of authors for the pages.
type Profiles interface {
	Writer(ctx context.Context, user string) (author.Writer, error)
	SetProfile(ctx context.Context, user string, change func(*author.Profile) error, via string) (author.Writer, error)
}

// Groups is the interface to the groups of authors for the pages; author.Posts implements it.
type Groups interface {
	Groups(ctx context.Context, user string) ([]author.Group, error)
	Group(ctx context.Context, user, slug string) (author.Group, error)
	AddGroup(ctx context.Context, user string, g author.Group) (author.Group, error)
	ChangeGroup(ctx context.Context, user, slug string, change func(*author.Group)) (author.Group, error)
	RemoveGroup(ctx context.Context, user, slug string) (author.Group, error)
	RestoreGroup(ctx context.Context, user, slug string) (author.Group, error)
}

// Audience counts the readers of feeds; audience.Audience implements it.
type Audience interface {
	Report(ctx context.Context, user string, days int) (audience.Report, error)
}

// Pages has the pages of accounts.
type Pages struct {
	*content.Renderer
	Options
	moving moves // imports that are running or have ended
}

// New builds the pages.
func New(c *content.Renderer, o Options) *Pages {
	return &Pages{Renderer: c, Options: o}
}
