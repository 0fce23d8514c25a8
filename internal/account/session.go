package account

import (
	"context"
	"time"
)

// Session is a browser that is logged in.
type Session struct {
	ID        string // SHA-256 of its cookie: it lets nobody in
	User      string
	Agent     string // what the browser calls itself
	CreatedAt time.Time
	SeenAt    time.Time // about its last use
	ExpiresAt time.Time // if it is not used before
}

// Begin starts a session of a user who has just logged in. The cookie is shown once.
// fault.NotFound: the user is gone or disabled.
func (a *Accounts) Begin(ctx context.Context, user, agent string) (cookie string, s Session, err error) {
	return "", Session{}, errTodo
}

// Session returns the one of a cookie. fault.Refused: there is none, or it is over.
func (a *Accounts) Session(ctx context.Context, cookie string) (Session, error) {
	return Session{}, errTodo
}

// End ends a session; that there is none is no error.
func (a *Accounts) End(ctx context.Context, id string) error { return a.Store.EndSession(ctx, id) }

// Sessions lists those of a user, the newest first.
func (a *Accounts) Sessions(ctx context.Context, user string) ([]Session, error) {
	return a.Store.Sessions(ctx, user, a.now())
}
