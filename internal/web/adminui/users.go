package adminui

import (
	"net/http"
	"net/url"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

type usersView struct {
	view
	Match, Role string
	Users       []userRow
	Next        string // URL of the next page; "": this is the last
	Paged       bool   // this is not the first page
	// The values and errors of the form for a new user.
	Name, NameError, PasswordError, Wrong string
	Open                                  bool // the form is open, because it has an error
	Plain                                 bool
}

type userRow struct {
	account.User
	Since, Seen shell.Moment
	Self        bool
}

func userPath(name string) string { return "/admin/users/" + url.PathEscape(name) }

// usersPage lists the users, filtered by a part of the name.
func (s *Pages) usersPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.showUsers(rw, r, session, http.StatusOK, usersView{})
}

// showUsers shows the list; v has the values and errors of the form.
func (s *Pages) showUsers(rw http.ResponseWriter, r *http.Request, session account.Session, status int, v usersView) error {
	v.view = s.newView(r, "Users", "/admin/users", map[string]string{"delete": "The user is deleted. Nobody can take the name again."})
	query := r.URL.Query()
	v.Match, v.Role = shell.CleanText(strings.TrimSpace(query.Get("q")), account.MaxName), query.Get("role")
	after := shell.CleanText(query.Get("after"), account.MaxName)
	v.Paged, v.Plain = after != "", !s.IsSecure(r) && !s.CallerAddr(r).IsLoopback()
	rows, err := s.Admin.Users.FindUsers(r.Context(), account.UserQuery{Match: v.Match, Administrators: v.Role == "administrator", After: after, Limit: rowsPerPage + 1})
	if err != nil {
		return err
	}
	if len(rows) > rowsPerPage {
		rows = rows[:rowsPerPage]
		v.Next = "/admin/users?" + url.Values{"q": {v.Match}, "role": {v.Role}, "after": {rows[len(rows)-1].Name}}.Encode()
	}
	for _, u := range rows {
		v.Users = append(v.Users, userRow{u, v.When(u.CreatedAt), v.When(u.SeenAt), u.Name == session.User})
	}
	return s.Render(rw, r, status, "adminusers", v)
}

func (s *Pages) doCreate(rw http.ResponseWriter, r *http.Request, session account.Session, field fields) error {
	v := usersView{Name: shell.CleanText(strings.TrimSpace(field("name")), 64), Open: true}
	if err := account.CheckName(v.Name); err != nil {
		v.NameError = shell.Reason(err)
		return s.showUsers(rw, r, session, http.StatusBadRequest, v)
	}
	u, err := s.Admin.CreateUser(r.Context(), s.actor(r, session), v.Name, field("password"))
	if err == nil {
		return shell.Redirect(rw, r, userPath(u.Name)+"?done=create")
	}
	status := s.Refused(rw, r, err)
	switch text := shell.Reason(err); fault.CodeOf(err) {
	case fault.Conflict:
		v.NameError = text
	case fault.Invalid:
		v.PasswordError = text
	default:
		v.Wrong = text
	}
	return s.showUsers(rw, r, session, status, v)
}

type userView struct {
	view
	Who                  userRow
	PasswordAt           shell.Moment
	Exports              bool
	Wrong, PasswordError string
	Plain                bool
}

// userMessages returns the messages about actions on a user. Key: keyword of the action in the URL.
func userMessages(l *locale.Locale, name string) map[string]string {
	return map[string]string{
		"create":   "The user is created. Give them the name and the password; they can change the password on their account page.",
		"disable":  l.Say("%s is disabled. Their sessions have ended, and their page is hidden.", name),
		"enable":   l.Say("%s can sign in again.", name),
		"promote":  l.Say("%s is an administrator now.", name),
		"demote":   l.Say("%s is no longer an administrator.", name),
		"password": l.Say("The password of %s is changed, and their sessions have ended.", name),
	}
}

func (s *Pages) userPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.showUser(rw, r, session, http.StatusOK, userView{})
}

// showUser shows one user; v has the errors of a form.
func (s *Pages) showUser(rw http.ResponseWriter, r *http.Request, session account.Session, status int, v userView) error {
	u, err := s.Admin.Users.User(r.Context(), r.PathValue("user"))
	if err != nil {
		return err
	}
	v.view = s.newView(r, u.Name, "/admin/users", userMessages(s.Locale(r), u.Name))
	if back := map[string]string{"disable": "enable", "enable": "disable", "promote": "demote", "demote": "promote"}[r.URL.Query().Get("done")]; back != "" {
		v.Undo = &undo{Action: userPath(u.Name) + "/" + back}
	}
	v.Who, v.PasswordAt = userRow{u, v.When(u.CreatedAt), v.When(u.SeenAt), u.Name == session.User}, v.When(u.PasswordAt)
	v.Exports, v.Plain = s.Exports != nil, !s.IsSecure(r) && !s.CallerAddr(r).IsLoopback()
	return s.Render(rw, r, status, "adminuser", v)
}

// change performs an action on the user in the path and redirects to the page of the user.
func (s *Pages) change(rw http.ResponseWriter, r *http.Request, session account.Session, done string, do func(name string) error) error {
	name := r.PathValue("user")
	if err := do(name); err != nil {
		if fault.CodeOf(err) == fault.NotFound {
			return err
		}
		return s.showUser(rw, r, session, s.Refused(rw, r, err), userView{Wrong: shell.Reason(err)})
	}
	return shell.Redirect(rw, r, userPath(name)+"?done="+done)
}

func (s *Pages) doDisable(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.change(rw, r, session, "disable", func(name string) error {
		return s.Admin.DisableUser(r.Context(), s.actor(r, session), name, true)
	})
}

func (s *Pages) doEnable(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.change(rw, r, session, "enable", func(name string) error {
		return s.Admin.DisableUser(r.Context(), s.actor(r, session), name, false)
	})
}

func (s *Pages) doPromote(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.change(rw, r, session, "promote", func(name string) error {
		return s.Admin.SetAdministrator(r.Context(), s.actor(r, session), name, true)
	})
}

func (s *Pages) doDemote(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.change(rw, r, session, "demote", func(name string) error {
		return s.Admin.SetAdministrator(r.Context(), s.actor(r, session), name, false)
	})
}

// doPassword sets the password of another user. Administrators change their own password on the
// account page, which asks for the current password.
func (s *Pages) doPassword(rw http.ResponseWriter, r *http.Request, session account.Session, field fields) error {
	name := r.PathValue("user")
	if name == session.User {
		return shell.Redirect(rw, r, "/account")
	}
	err := s.Admin.SetPassword(r.Context(), s.actor(r, session), name, field("password"))
	switch {
	case err == nil:
		return shell.Redirect(rw, r, userPath(name)+"?done=password")
	case fault.CodeOf(err) == fault.NotFound:
		return err
	default:
		return s.showUser(rw, r, session, s.Refused(rw, r, err), userView{PasswordError: shell.Reason(err)})
	}
}
