package shell

import (
	"net/http"
	"net/url"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

// displayCookie holds the preferences of a browser without an account.
const displayCookie = "display"

// displayCookieAge is the lifetime of the cookie in seconds.
const displayCookieAge = int(365 * 24 * time.Hour / time.Second)

// maxDisplayCookie is the maximum size of the cookie's value in bytes: browsers keep 4,096 with its name.
const maxDisplayCookie = 3800

// Preferences returns the choices of the user, or of the browser without an account.
func (s *Shell) Preferences(r *http.Request) account.Preferences {
	if v := s.Visitor(r); v.User != "" {
		return v.Preferences
	}
	c, err := r.Cookie(displayCookie)
	if err != nil {
		return account.Preferences{}
	}
	text, err := url.QueryUnescape(c.Value)
	if err != nil {
		return account.Preferences{}
	}
	return account.DecodePreferences(text)
}

// SetPreferences stores the choices of the user, or in a cookie of a browser without an account.
func (s *Shell) SetPreferences(rw http.ResponseWriter, r *http.Request, p account.Preferences) error {
	if v := s.Visitor(r); v.User != "" {
		return s.Sessions.SetPreferences(r.Context(), v.User, p)
	}
	if n := len(url.QueryEscape(p.Encode())); n > maxDisplayCookie {
		return fault.New(fault.TooMany, "This browser can keep %d bytes of settings and searches; yours would have %d. Remove a saved search, or create an account.", maxDisplayCookie, n)
	}
	c := &http.Cookie{Name: displayCookie, Value: url.QueryEscape(p.Encode()), Path: "/", HttpOnly: true, Secure: s.IsSecure(r), SameSite: http.SameSiteLaxMode, MaxAge: displayCookieAge}
	if c.Value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(rw, c)
	return nil
}

// themeSheet returns the path of the style sheet with the user's colours; "": the colours of the browser's
// mode.
func (s *Shell) themeSheet(r *http.Request) string {
	switch theme := s.Preferences(r).Theme; theme {
	case "":
		return ""
	case "sepia":
		return s.assets.url("sepia.css")
	default:
		return "/static/tint/-" + theme + ".css"
	}
}
