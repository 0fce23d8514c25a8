package accountui

import (
	"errors"
	"net/http"
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
	Form    credentials
	Open    bool // every visitor can create an account
	Deleted bool // the user has just deleted their account
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
func (s *Pages) login(rw http.ResponseWriter, r *http.Request) error {
	rw.Header().Set("Cache-Control", "no-store")
	next := shell.LocalPath(r.URL.Query().Get("next"), "")
	switch {
	case s.Visitor(r).User != "":
		return shell.Redirect(rw, r, shell.LocalPath(next, s.home()))
	case s.Accounts.SetupToken() != "":
		return shell.Redirect(rw, r, "/setup")
	default:
		return s.showLogin(rw, r, http.StatusOK, credentials{Next: next, Plain: s.readable(r)})
	}
}

// signInView marks v as a page to sign in or to create an account.
func signInView(v shell.View) shell.View {
	v.SignIn = true
	return v
}

func (s *Pages) showLogin(rw http.ResponseWriter, r *http.Request, status int, form credentials) error {
	v := signView{View: signInView(s.NewView(r, "Sign in")), Form: form, Open: s.isOpen(), Deleted: r.URL.Query().Get("done") == "deleted"}
	return s.Render(rw, r, status, "login", v)
}

func (s *Pages) doLogin(rw http.ResponseWriter, r *http.Request) error {
	rw.Header().Set("Cache-Control", "no-store")
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		return err
	}
	f := s.readCredentials(r, form)
	user, err := s.Accounts.Check(r.Context(), f.Name, f.password, s.CallerOf(r))
	if err == nil {
		err = s.SignIn(rw, r, user)
	}
	if err != nil {
		status := s.refused(rw, r, err, &f)
		return s.showLogin(rw, r, status, f)
	}
	return shell.Redirect(rw, r, shell.LocalPath(f.Next, s.home()))
}

// refused puts the error into the form and returns the HTTP status of the page.
func (s *Pages) refused(rw http.ResponseWriter, r *http.Request, err error, f *credentials) int {
	status := s.Refused(rw, r, err)
	f.Wrong = shell.Reason(err)
	return status
}

// logout ends the session in the browser and in the store.
func (s *Pages) logout(rw http.ResponseWriter, r *http.Request) error {
	rw.Header().Set("Cache-Control", "no-store")
	session, err := s.FindVisitor(r)
	if err == nil && session.ID != "" {
		err = s.Accounts.EndSession(r.Context(), session.ID)
	}
	if err != nil {
		return err
	}
	s.SetSessionCookie(rw, r, "")
	return shell.Redirect(rw, r, "/")
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
