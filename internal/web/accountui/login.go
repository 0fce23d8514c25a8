package accountui

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// credentials holds the values of a form with a name and a password. A password is never written
// back into a page.
type credentials struct {
	Name, NameError   string
	PasswordError     string
	Token, TokenError string // setup token for creating the first account, and its error message
	Invite            string // secret of an invitation
	Next              string // path of the page after signing in; "": the page that home returns
	Wrong             string // error that belongs to no single field
	password          string
	Plain             bool // the connection is not encrypted
}

type signView struct {
	shell.View
	Form credentials
	Open bool // every visitor can create an account
}

func (s *Pages) readCredentials(r *http.Request, form rsscloud.Form) credentials {
	return credentials{
		Name: shell.CleanText(strings.TrimSpace(shell.FormValue(form, "name")), 64), password: shell.FormValue(form, "password"),
		Token: shell.CleanText(strings.TrimSpace(shell.FormValue(form, "token")), 200), Next: shell.LocalPath(shell.FormValue(form, "next"), ""), Invite: shell.CleanText(shell.FormValue(form, "invite"), 100), Plain: s.readable(r),
	}
}

// readable reports whether a password would cross the network without encryption.
func (s *Pages) readable(r *http.Request) bool {
	return !s.IsSecure(r) && !s.CallerAddr(r).IsLoopback()
}

// home returns the path of the page after signing in, if the request names no page.
func (s *Pages) home() string {
	switch {
	case s.Reads:
		return "/river"
	case s.Writes:
		return "/write"
	}
	return "/account"
}

// welcome returns the path of the page after an account was created.
func (s *Pages) welcome() string {
	if s.Reads {
		return "/river/welcome"
	}
	return s.home()
}

// login shows the form to sign in.
func (s *Pages) login(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Cache-Control", "no-store")
	next := shell.LocalPath(r.URL.Query().Get("next"), "")
	switch {
	case s.Visitor(r).User != "":
		http.Redirect(rw, r, shell.LocalPath(next, s.home()), http.StatusSeeOther)
	case s.Accounts.SetupToken() != "":
		http.Redirect(rw, r, "/setup", http.StatusSeeOther)
	default:
		s.showLogin(rw, r, http.StatusOK, credentials{Next: next, Plain: s.readable(r)})
	}
}

// signInView marks v as a page to sign in or to create an account.
func signInView(v shell.View) shell.View {
	v.SignIn = true
	return v
}

func (s *Pages) showLogin(rw http.ResponseWriter, r *http.Request, status int, form credentials) {
	v := signView{View: signInView(s.NewView(r, "Sign in")), Form: form, Open: s.isOpen()}
	s.Render(rw, r, status, "login", v)
}

func (s *Pages) doLogin(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Cache-Control", "no-store")
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	f := s.readCredentials(r, form)
	user, err := s.Accounts.Check(r.Context(), f.Name, f.password, s.CallerOf(r))
	if err == nil {
		err = s.SignIn(rw, r, user)
	}
	if err != nil {
		status := s.refused(rw, r, err, &f)
		s.showLogin(rw, r, status, f)
		return
	}
	http.Redirect(rw, r, shell.LocalPath(f.Next, s.home()), http.StatusSeeOther)
}

// refused puts the error into the form and returns the HTTP status of the page.
func (s *Pages) refused(rw http.ResponseWriter, r *http.Request, err error, f *credentials) int {
	status, _ := shell.StatusOf(err)
	s.LogFailure(r, err, status)
	shell.SetRetryAfter(rw, err)
	f.Wrong = shell.Reason(err)
	return status
}

// logout ends the session in the browser and in the store.
func (s *Pages) logout(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Cache-Control", "no-store")
	session, err := s.FindVisitor(r)
	if err == nil && session.ID != "" {
		err = s.Accounts.EndSession(r.Context(), session.ID)
	}
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	s.SetSessionCookie(rw, r, "")
	http.Redirect(rw, r, "/", http.StatusSeeOther)
}

// signup shows the form for a new account, if registration is open.
func (s *Pages) signup(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Cache-Control", "no-store")
	switch {
	case s.Visitor(r).User != "":
		http.Redirect(rw, r, s.home(), http.StatusSeeOther)
	case s.Accounts.SetupToken() != "":
		http.Redirect(rw, r, "/setup", http.StatusSeeOther)
	case r.URL.Query().Get("invite") != "":
		s.invited(rw, r, r.URL.Query().Get("invite"))
	case !s.isOpen():
		s.closed(rw, r)
	default:
		s.showSignup(rw, r, http.StatusOK, credentials{Plain: s.readable(r)})
	}
}

// isOpen reports whether every visitor can create an account.
func (s *Pages) isOpen() bool { return s.Registration != nil && s.Registration() }

// invited shows the form for a new account to an invited person.
func (s *Pages) invited(rw http.ResponseWriter, r *http.Request, secret string) {
	rw.Header().Set("Referrer-Policy", "no-referrer") // the URL has the secret
	if _, err := s.Accounts.Invited(r.Context(), secret); err != nil {
		s.Fail(rw, r, err)
		return
	}
	s.showSignup(rw, r, http.StatusOK, credentials{Plain: s.readable(r), Invite: secret})
}

func (s *Pages) closed(rw http.ResponseWriter, r *http.Request) {
	s.Problem(rw, r, http.StatusNotFound, "Sign-up is closed",
		"Ask the operator of this server for an account.")
}

func (s *Pages) showSignup(rw http.ResponseWriter, r *http.Request, status int, form credentials) {
	s.Render(rw, r, status, "signup", signView{View: signInView(s.NewView(r, "Create an account")), Form: form, Open: true})
}

func (s *Pages) doSignup(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Cache-Control", "no-store")
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	f := s.readCredentials(r, form)
	if !s.isOpen() && f.Invite == "" || s.Accounts.SetupToken() != "" {
		s.closed(rw, r)
		return
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
		s.showSignup(rw, r, status, f)
		return
	}
	http.Redirect(rw, r, s.welcome(), http.StatusSeeOther)
}

// nameError is the error of an invalid user name for a new account.
type nameError struct{ error }

func (e nameError) Unwrap() error { return e.error }

// add creates an account if its name is valid.
func (s *Pages) add(f credentials, make func() (account.User, error)) (account.User, error) {
	if err := account.CheckName(f.Name); err != nil {
		return account.User{}, nameError{err}
	}
	return make()
}

// setError puts the error of a new account next to the field that caused it.
func (s *Pages) setError(rw http.ResponseWriter, r *http.Request, err error, f *credentials) int {
	status := s.refused(rw, r, err, f)
	text := f.Wrong
	_, named := errors.AsType[nameError](err)
	switch code := fault.CodeOf(err); {
	case named || code == fault.Conflict:
		f.NameError, f.Wrong = text, ""
	case code == fault.Invalid:
		f.PasswordError, f.Wrong = text, ""
	case code == fault.Refused && f.Invite == "": // the page of an invitation has no field for a token
		f.TokenError, f.Wrong = text, ""
	}
	return status
}

// SetupCookie is the name of the cookie that passes the setup token from the printed link to the
// form.
const SetupCookie = "cloudburst-setup"

// setup shows the form for the first account. The link that the server prints at startup has the
// token in its URL. A redirect removes the token, so that it stays out of the browser history and
// of requests to other servers.
func (s *Pages) setup(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Cache-Control", "no-store")
	rw.Header().Set("Referrer-Policy", "no-referrer")
	if s.Accounts.SetupToken() == "" {
		s.setSetupCookie(rw, r, "")
		http.Redirect(rw, r, "/login", http.StatusSeeOther)
		return
	}
	if token := r.URL.Query().Get("token"); token != "" {
		s.setSetupCookie(rw, r, shell.CleanText(token, 200))
		http.Redirect(rw, r, "/setup", http.StatusSeeOther)
		return
	}
	f := credentials{Plain: s.readable(r)}
	if c, err := r.Cookie(SetupCookie); err == nil {
		if token, err := url.QueryUnescape(c.Value); err == nil {
			f.Token = shell.CleanText(token, 200)
		}
	}
	s.showSetup(rw, r, http.StatusOK, f)
}

func (s *Pages) setSetupCookie(rw http.ResponseWriter, r *http.Request, token string) {
	c := &http.Cookie{Name: SetupCookie, Value: url.QueryEscape(token), Path: "/setup", HttpOnly: true, Secure: s.IsSecure(r), SameSite: http.SameSiteLaxMode, MaxAge: 600}
	if token == "" {
		c.MaxAge = -1
	}
	http.SetCookie(rw, c)
}

func (s *Pages) showSetup(rw http.ResponseWriter, r *http.Request, status int, form credentials) {
	s.Render(rw, r, status, "setup", signView{View: signInView(s.NewView(r, "Create the first account")), Form: form})
}

func (s *Pages) doSetup(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Cache-Control", "no-store")
	rw.Header().Set("Referrer-Policy", "no-referrer")
	if s.Accounts.SetupToken() == "" {
		http.Redirect(rw, r, "/login", http.StatusSeeOther)
		return
	}
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		s.Fail(rw, r, err)
		return
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
		s.showSetup(rw, r, status, f)
		return
	}
	s.setSetupCookie(rw, r, "")
	http.Redirect(rw, r, s.welcome(), http.StatusSeeOther)
}
