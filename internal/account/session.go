package account

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/internal/fault"
)

// Session is a browser that is logged in.
type Session struct {
	ID        string // SHA-256 of its cookie: it lets nobody in
	User      string
	Agent     string // what the browser calls itself, at most 200 bytes
	CreatedAt time.Time
	SeenAt    time.Time // about its last use
	ExpiresAt time.Time // if it is not used before
}

// How long sessions last, and how many a user has; the oldest end.
const (
	SessionIdle = 30 * 24 * time.Hour // without use
	SessionLife = 90 * 24 * time.Hour // in all
	maxSessions = 50
	maxAgent    = 200
)

// newToken makes 32 random bytes, as text for cookies and addresses.
func newToken() string { return base64.RawURLEncoding.EncodeToString(randomBytes(32)) }

// isToken reports what newToken could have made.
func isToken(s string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(raw) == 32 && !strings.ContainsAny(s, "\r\n")
}

// hashOf is how the store knows something random. It is looked for by this: how far a
// guess is right cannot be told from the time that takes.
func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Begin starts a session of a user who has just logged in, with a new cookie, which is
// shown once. u is what Check, or whatever made the user or the password, returned: whoever
// came in by a password that was changed meanwhile is not let in. fault.NotFound: the user
// is gone or disabled; fault.Refused: there is another password by now.
func (a *Accounts) StartSession(ctx context.Context, u User, agent string) (cookie string, s Session, err error) {
	now := stamp(a.now())
	cookie = newToken()
	s = Session{ID: hashOf(cookie), User: u.Name, Agent: agentText(agent), CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(SessionIdle)}
	if err := a.Store.AddSession(ctx, s, u.PasswordAt, maxSessions); err != nil {
		if fault.CodeOf(err) == fault.Conflict {
			err = refused()
		}
		return "", Session{}, err
	}
	return cookie, s, nil
}

// agentText makes something that can be shown of what a browser calls itself.
func agentText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, s[:min(len(s), maxAgent)])
	return strings.TrimSpace(s)
}

// Session returns the one of a cookie, and prolongs it. fault.Refused: there is none, or
// it is over.
func (a *Accounts) Session(ctx context.Context, cookie string) (Session, error) {
	over := fault.New(fault.Refused, "You are not signed in, or not any more. Please sign in.")
	if !isToken(cookie) {
		return Session{}, over
	}
	s, err := a.Store.Session(ctx, hashOf(cookie))
	if err != nil {
		if fault.CodeOf(err) == fault.NotFound {
			err = over
		}
		return Session{}, err
	}
	now := stamp(a.now())
	if !now.Before(s.ExpiresAt) || now.Sub(s.CreatedAt) >= SessionLife {
		return Session{}, over
	}
	if now.Sub(s.SeenAt) >= time.Hour {
		s.SeenAt, s.ExpiresAt = now, now.Add(SessionIdle)
		if end := s.CreatedAt.Add(SessionLife); end.Before(s.ExpiresAt) {
			s.ExpiresAt = end
		}
		a.init()
		a.logUseError("session", a.Store.TouchSession(ctx, s.ID, s.SeenAt, s.ExpiresAt))
	}
	return s, nil
}

// End ends a session; that there is none is no error.
func (a *Accounts) EndSession(ctx context.Context, id string) error {
	return a.Store.EndSession(ctx, id)
}

// Sessions lists those of a user, the newest first.
func (a *Accounts) Sessions(ctx context.Context, user string) ([]Session, error) {
	return a.Store.Sessions(ctx, user, stamp(a.now()))
}
