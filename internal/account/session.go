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

// Session is a signed-in browser.
type Session struct {
	ID        string // SHA-256 of the session's cookie; not a credential
	User      string
	Agent     string // User-Agent of the browser, at most 200 bytes
	CreatedAt time.Time
	SeenAt    time.Time // approximate time of the last use
	ExpiresAt time.Time // time when the session ends unless it is used before

	// Preferences and Administrator are set only by Accounts.Session.
	Preferences   Preferences
	Administrator bool // the user is currently an administrator
}

// Lifetimes of sessions, and the maximum number of sessions of a user.
const (
	SessionIdle = 30 * 24 * time.Hour // maximum time without use
	SessionLife = 90 * 24 * time.Hour // maximum lifetime of a session
	maxSessions = 50
	maxAgent    = 200
)

// newToken returns 32 random bytes as a text that can be part of cookies and URLs.
func newToken() string { return base64.RawURLEncoding.EncodeToString(randomBytes(32)) }

// isToken reports whether s has the form of newToken's result.
func isToken(s string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(raw) == 32 && !strings.ContainsAny(s, "\r\n")
}

// hashOf returns the hash by which the store finds a random value. Because the store compares
// hashes, the time of a query does not disclose how many characters of a guess are correct.
func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// StartSession starts a session of a user who has just signed in. Only StartSession returns the
// cookie. u must be the result of Check, or of the call that created the user or set the password.
// fault.NotFound: the user was deleted or disabled; fault.Refused: the password has changed since.
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

// agentText returns a User-Agent without control characters, shortened to the limit of
// Session.Agent.
func agentText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, s[:min(len(s), maxAgent)])
	return strings.TrimSpace(s)
}

// Session returns the session of a cookie and extends the session. fault.Refused: the session does
// not exist or has expired.
func (a *Accounts) Session(ctx context.Context, cookie string) (Session, error) {
	over := fault.New(fault.Refused, "You are not signed in, or your session has expired. Please sign in.")
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

// EndSession ends a session. It returns nil if the session does not exist.
func (a *Accounts) EndSession(ctx context.Context, id string) error {
	return a.Store.EndSession(ctx, id)
}

// Sessions lists the sessions of a user, newest first.
func (a *Accounts) Sessions(ctx context.Context, user string) ([]Session, error) {
	return a.Store.Sessions(ctx, user, stamp(a.now()))
}
