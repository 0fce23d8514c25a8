package adminui

import (
	"io"
	"net/http"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

type deleteView struct {
	view
	Who                  account.User
	Exports              bool
	Wrong, PasswordError string
}

// deletePage lists the data to delete, offers an export, and asks for the administrator's password.
func (s *Pages) deletePage(rw http.ResponseWriter, r *http.Request, _ account.Session) error {
	return s.showDelete(rw, r, http.StatusOK, deleteView{})
}

func (s *Pages) showDelete(rw http.ResponseWriter, r *http.Request, status int, v deleteView) error {
	u, err := s.Admin.Users.User(r.Context(), r.PathValue("user"))
	if err != nil {
		return err
	}
	v.view, v.Who, v.Exports = s.newView(r, s.Locale(r).Say("Delete %s?", u.Name), "/admin/users", nil), u, s.Exports != nil
	return s.Render(rw, r, status, "admindelete", v)
}

func (s *Pages) doDelete(rw http.ResponseWriter, r *http.Request, session account.Session, field fields) error {
	if _, err := s.Accounts.Check(r.Context(), session.User, field("password"), s.CallerOf(r)); err != nil {
		text := shell.Reason(err)
		if fault.CodeOf(err) == fault.Refused {
			text = "That is not your password. Nothing was deleted."
		}
		return s.showDelete(rw, r, s.Refused(rw, r, err), deleteView{PasswordError: text})
	}
	err := s.Admin.DeleteUser(r.Context(), s.actor(r, session), r.PathValue("user"))
	switch {
	case err == nil:
		return shell.Redirect(rw, r, "/admin/users?done=delete")
	case fault.CodeOf(err) == fault.NotFound:
		return err
	default:
		return s.showDelete(rw, r, s.Refused(rw, r, err), deleteView{Wrong: shell.Reason(err)})
	}
}

// exportUser sends everything of a user as one file.
func (s *Pages) exportUser(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	u, err := s.Admin.Users.User(r.Context(), r.PathValue("user"))
	if err != nil {
		return err
	}
	name := u.Name + "-" + s.CurrentTime().UTC().Format(time.DateOnly) + ".zip"
	return s.SendFile(rw, r, "application/zip", name, func(out io.Writer) error {
		return s.Admin.Do(r.Context(), s.actor(r, session), admin.UserExport, u.Name, "", func() error {
			_, err := s.Exports.Export(r.Context(), u.Name, out, nil)
			return err
		})
	})
}
