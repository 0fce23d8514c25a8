package accountui

import (
	"net/http"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// deleteForm is the form by which users delete their own account, with its errors.
type deleteForm struct {
	Exports, Reads bool   // there is an export of posts, and of followed feeds
	Name           string // user name, as typed

	NameError, PasswordError, Wrong string
}

// doDelete deletes the account of the user. It requires the user name and the current password.
func (s *Pages) doDelete(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	f := deleteForm{Name: shell.CleanText(strings.TrimSpace(shell.FormValue(form, "name")), account.MaxName)}
	if f.Name != session.User {
		f.NameError = "That is not your user name. Nothing was deleted."
		return s.showAccount(rw, r, session, http.StatusBadRequest, accountView{Delete: f})
	}
	var err error
	if _, f.PasswordError, err = s.checkCurrent(r, session, shell.FormValue(form, "password")); err == nil {
		if err = s.Deletion.DeleteUser(r.Context(), admin.Actor{Name: session.User, Addr: s.CallerAddr(r), Via: "page"}, session.User); err != nil {
			f.Wrong = shell.Reason(err)
		}
	}
	if err != nil {
		return s.accountMistake(rw, r, session, err, accountView{Delete: f})
	}
	s.SetSessionCookie(rw, r, "")
	return shell.Redirect(rw, r, "/login?done=deleted") // on a page, the service worker notices the end of the session
}
