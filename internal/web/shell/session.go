package shell

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

// sessionKey is the context key of the visit of a request.
type sessionKey struct{}

// visit is the session of a request, looked up on first use.
type visit struct {
	once    sync.Once
	session account.Session // the zero value: signed out
	err     error           // error of the lookup; nil: the lookup succeeded
}

// RenewVisit returns r without its cached session; the next use looks it up again.
func RenewVisit(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), sessionKey{}, &visit{}))
}

// withVisit adds an empty visit to the context of each request.
func (s *Shell) withVisit(next http.Handler) http.Handler {
	if s.Sessions == nil {
		return next
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(rw, RenewVisit(r))
	})
}

// Visitor returns the session of a request, the zero value if signed out. A public page is also shown if
// the lookup fails.
func (s *Shell) Visitor(r *http.Request) account.Session {
	session, _ := s.FindVisitor(r)
	return session
}

func (s *Shell) FindVisitor(r *http.Request) (account.Session, error) {
	v, ok := r.Context().Value(sessionKey{}).(*visit)
	if !ok || s.Sessions == nil {
		return account.Session{}, nil
	}
	v.once.Do(func() {
		c, err := r.Cookie(s.cookieName(r))
		if err != nil || c.Value == "" {
			return
		}
		v.session, v.err = s.Sessions.Session(r.Context(), c.Value)
		switch fault.CodeOf(v.err) {
		case fault.Invalid, fault.NotFound, fault.Refused, fault.Gone: // the session ended
			v.session, v.err = account.Session{}, nil
		}
	})
	return v.session, v.err
}

// IsAnonymous reports whether a request has neither a session, nor preferences, nor credentials, so
// that every visitor with the same language gets the same page.
func (s *Shell) IsAnonymous(r *http.Request) bool {
	if len(r.Header["Authorization"]) > 0 {
		return false
	}
	if len(r.Header["Cookie"]) == 0 {
		return true
	}
	for _, name := range []string{secureCookie, plainCookie, displayCookie} {
		if _, err := r.Cookie(name); err == nil {
			return false
		}
	}
	return true
}

// Names of the session cookie. Browsers accept the prefix __Host- from this host and over TLS only.
const (
	secureCookie = "__Host-cloudburst"
	plainCookie  = "cloudburst"
)

// IsSecure reports whether the page is reached over TLS, at this server or at a proxy in front of
// it.
func (s *Shell) IsSecure(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(strings.ToLower(s.PublicURL), "https://")
}

// cookieName returns the name of the session cookie.
func (s *Shell) cookieName(r *http.Request) string {
	if s.IsSecure(r) {
		return secureCookie
	}
	return plainCookie
}

// SetSessionCookie sets the cookie for the longest life of a session. If the session ends earlier,
// the store rejects the cookie. An empty value deletes the cookie.
func (s *Shell) SetSessionCookie(rw http.ResponseWriter, r *http.Request, value string) {
	c := &http.Cookie{Name: s.cookieName(r), Value: value, Path: "/", HttpOnly: true, Secure: s.IsSecure(r), SameSite: http.SameSiteLaxMode, MaxAge: int(account.SessionLife / time.Second)}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(rw, c)
}

// SignIn begins a session with a new token and ends the previous session of the browser.
func (s *Shell) SignIn(rw http.ResponseWriter, r *http.Request, u account.User) error {
	cookie, _, err := s.Sessions.StartSession(r.Context(), u, CleanText(r.UserAgent(), 300))
	if err != nil {
		return err
	}
	if old := s.Visitor(r); old.ID != "" {
		if err := s.Sessions.EndSession(r.Context(), old.ID); err != nil {
			s.Logger().Warn("end the previous session", "user", old.User, "err", err)
		}
	}
	s.SetSessionCookie(rw, r, cookie)
	return nil
}

// CallerOf returns the caller for the rate limits of package account.
func (s *Shell) CallerOf(r *http.Request) account.Caller {
	return account.Caller{Addr: s.CallerAddr(r), Via: "page"}
}

// IsWriter reports whether the sender of the request can write here.
func (s *Shell) IsWriter(r *http.Request) bool { return s.Writes && s.Visitor(r).User != "" }
