package accountui

import (
	"net/http"

	"cloudburst/internal/account"
	"cloudburst/internal/web/shell"
)

// signup shows the form for a new account, if registration is open.
func (s *Pages) signup(rw http.ResponseWriter, r *http.Request) error {
	rw.Header().Set("Cache-Control", "no-store")
	switch {
	case s.Visitor(r).User != "":
		return shell.Redirect(rw, r, s.home())
	case s.Accounts.SetupToken() != "":
		return shell.Redirect(rw, r, "/setup")
	case r.URL.Query().Get("invite") != "":
		return s.invited(rw, r, r.URL.Query().Get("invite"))
	case !s.isOpen():
		return s.closed(rw, r)
	default:
		return s.showSignup(rw, r, http.StatusOK, credentials{Plain: s.readable(r)})
	}
}

// isOpen reports whether every visitor can create an account.
func (s *Pages) isOpen() bool { return s.Registration != nil && s.Registration() }

// invited shows the form for a new account to an invited person.
func (s *Pages) invited(rw http.ResponseWriter, r *http.Request, secret string) error {
	rw.Header().Set("Referrer-Policy", "no-referrer") // the URL has the secret
	if _, err := s.Accounts.Invited(r.Context(), secret); err != nil {
		return err
	}
	return s.showSignup(rw, r, http.StatusOK, credentials{Plain: s.readable(r), Invite: secret})
}

func (s *Pages) closed(rw http.ResponseWriter, r *http.Request) error {
	return s.Problem(rw, r, http.StatusNotFound, "Sign-up is closed",
		"Ask the operator of this server for an account.")
}

func (s *Pages) showSignup(rw http.ResponseWriter, r *http.Request, status int, form credentials) error {
	return s.Render(rw, r, status, "signup", signView{View: signInView(s.NewView(r, "Create an account")), Form: form, Open: true})
}

func (s *Pages) doSignup(rw http.ResponseWriter, r *http.Request) error {
	rw.Header().Set("Cache-Control", "no-store")
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		return err
	}
	f := s.readCredentials(r, form)
	if !s.isOpen() && f.Invite == "" || s.Accounts.SetupToken() != "" {
		return s.closed(rw, r)
	}
	user, err := s.add(f, func() (account.User, error) {
		if f.Invite != "" {
			return s.Accounts.RegisterInvited(r.Context(), f.Invite, f.Name, f.password, s.CallerOf(r))
		}
		return s.Accounts.Register(r.Context(), f.Name, f.password, s.CallerOf(r))
	})
	if err == nil {
		err = s.SignIn(rw, r, user)
	}
	if err != nil {
		status := s.setError(rw, r, err, &f)
		return s.showSignup(rw, r, status, f)
	}
	return shell.Redirect(rw, r, s.welcome())
}
