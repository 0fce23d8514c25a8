package accountui

import (
	"net/http"
	"net/url"

	"cloudburst/internal/account"
	"cloudburst/internal/web/shell"
)

// SetupCookie is the name of the cookie that passes the setup token from the printed link to the
// form.
const SetupCookie = "cloudburst-setup"

// setup shows the form for the first account. The link that the server prints at startup has the
// token in its URL. A redirect removes the token, so that it stays out of the browser history and
// of requests to other servers.
func (s *Pages) setup(rw http.ResponseWriter, r *http.Request) error {
	rw.Header().Set("Cache-Control", "no-store")
	rw.Header().Set("Referrer-Policy", "no-referrer")
	if s.Accounts.SetupToken() == "" {
		s.setSetupCookie(rw, r, "")
		return shell.Redirect(rw, r, "/login")
	}
	if token := r.URL.Query().Get("token"); token != "" {
		s.setSetupCookie(rw, r, shell.CleanText(token, 200))
		return shell.Redirect(rw, r, "/setup")
	}
	f := credentials{Plain: s.readable(r)}
	if c, err := r.Cookie(SetupCookie); err == nil {
		if token, err := url.QueryUnescape(c.Value); err == nil {
			f.Token = shell.CleanText(token, 200)
		}
	}
	return s.showSetup(rw, r, http.StatusOK, f)
}

func (s *Pages) setSetupCookie(rw http.ResponseWriter, r *http.Request, token string) {
	c := &http.Cookie{Name: SetupCookie, Value: url.QueryEscape(token), Path: "/setup", HttpOnly: true, Secure: s.IsSecure(r), SameSite: http.SameSiteLaxMode, MaxAge: 600}
	if token == "" {
		c.MaxAge = -1
	}
	http.SetCookie(rw, c)
}

func (s *Pages) showSetup(rw http.ResponseWriter, r *http.Request, status int, form credentials) error {
	return s.Render(rw, r, status, "setup", signView{View: signInView(s.NewView(r, "Create the first account")), Form: form})
}

func (s *Pages) doSetup(rw http.ResponseWriter, r *http.Request) error {
	rw.Header().Set("Cache-Control", "no-store")
	rw.Header().Set("Referrer-Policy", "no-referrer")
	if s.Accounts.SetupToken() == "" {
		return shell.Redirect(rw, r, "/login")
	}
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		return err
	}
	f := s.readCredentials(r, form)
	user, err := s.add(f, func() (account.User, error) {
		return s.Accounts.AddFirst(r.Context(), f.Token, f.Name, f.password, s.CallerOf(r))
	})
	if err == nil {
		err = s.SignIn(rw, r, user)
	}
	if err != nil {
		status := s.setError(rw, r, err, &f)
		return s.showSetup(rw, r, status, f)
	}
	s.setSetupCookie(rw, r, "")
	return shell.Redirect(rw, r, s.welcome())
}
