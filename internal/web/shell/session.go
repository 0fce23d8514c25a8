package shell

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

// sessionKey is where a request keeps who sent it.
type sessionKey struct{}

// visit is who sent a request. It is looked up when a page first wants to know.
type visit struct {
	once    sync.Once
	session account.Session // the zero value: nobody who is signed in
	err     error           // nobody can say
}

// RenewVisit is r with the session to be looked up again, when somebody asks for it.
func RenewVisit(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), sessionKey{}, &visit{}))
}

// visited gives a request room for its visit.
func (s *Shell) withVisit(next http.Handler) http.Handler {
	if s.Sessions == nil {
		return next
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(rw, RenewVisit(r))
	})
}

// Visitor is the session of who sent r, the zero value for a stranger. A page that
// strangers may see is shown to them also when nobody can say who they are.
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
		case fault.Invalid, fault.NotFound, fault.Refused, fault.Gone: // it ended
			v.session, v.err = account.Session{}, nil
		}
	})
	return v.session, v.err
}

// IsSecure reports that the page is reached over TLS, here or at a proxy in front.
func (s *Shell) IsSecure(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(strings.ToLower(s.PublicURL), "https://")
}

// cookieName is what the cookie of a session is called. A name with __Host- is taken
// by browsers from this very host and over TLS only.
func (s *Shell) cookieName(r *http.Request) string {
	if s.IsSecure(r) {
		return "__Host-cloudburst"
	}
	return "cloudburst"
}

// SetSessionCookie gives the browser a cookie for as long as a session can last at most: when
// it is over before, the store knows. An empty value takes the cookie away.
func (s *Shell) SetSessionCookie(rw http.ResponseWriter, r *http.Request, value string) {
	c := &http.Cookie{Name: s.cookieName(r), Value: value, Path: "/", HttpOnly: true, Secure: s.IsSecure(r), SameSite: http.SameSiteLaxMode, MaxAge: int(account.SessionLife / time.Second)}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(rw, c)
}

// SignIn begins a session under a new name and ends the one that the browser had.
func (s *Shell) SignIn(rw http.ResponseWriter, r *http.Request, u account.User) error {
	cookie, _, err := s.Sessions.StartSession(r.Context(), u, CleanText(r.UserAgent(), 300))
	if err != nil {
		return err
	}
	if old := s.Visitor(r); old.ID != "" {
		if err := s.Sessions.EndSession(r.Context(), old.ID); err != nil {
			s.Logger().Warn("the session before could not be ended", "user", old.User, "err", err)
		}
	}
	s.SetSessionCookie(rw, r, cookie)
	return nil
}

// CallerOf is how the accounts count who tries.
func (s *Shell) CallerOf(r *http.Request) account.Caller {
	return account.Caller{Addr: s.CallerAddr(r), Via: "page"}
}

// LocalPath gives the path that a form or a link wants to go on to: one of this server,
// else other. Browsers read a backslash as a slash, and pass over control characters.
func LocalPath(next, other string) string {
	if len(next) > 2048 || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.Contains(next, `\`) {
		return other
	}
	for _, c := range next {
		if c <= ' ' || c == 0x7f || c == '\uFFFD' {
			return other
		}
	}
	if u, err := url.Parse(next); err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return other
	}
	return next
}

const ConcurrentReadings = 2 // documents: what is read takes many times its room

// WaitForReading waits for a place among those who read documents.
func (s *Shell) WaitForReading(ctx context.Context) (leave func(), err error) {
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TimeZone is the reader's time zone, as the script of the page has found it out.
func TimeZone(r *http.Request) *time.Location {
	c, err := r.Cookie("tz")
	if err != nil {
		return time.UTC
	}
	minutes, err := strconv.Atoi(c.Value)
	if err != nil || minutes < -16*60 || minutes > 16*60 || minutes == 0 {
		return time.UTC
	}
	return time.FixedZone("", minutes*60)
}

// IsWriter reports that who sent the request writes here.
func (s *Shell) IsWriter(r *http.Request) bool { return s.Writes && s.Visitor(r).User != "" }
