package adminui

import (
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

// deletePage says what is deleted, offers an export, and asks for the administrator's password.
func (s *Pages) deletePage(rw http.ResponseWriter, r *http.Request, _ account.Session) {
	s.showDelete(rw, r, http.StatusOK, deleteView{})
}

func (s *Pages) showDelete(rw http.ResponseWriter, r *http.Request, status int, v deleteView) {
	u, err := s.Admin.Users.User(r.Context(), r.PathValue("user"))
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	v.view, v.Who, v.Exports = s.newView(r, "Delete "+u.Name+"?", "/admin/users", nil), u, s.Exports != nil
	s.Render(rw, r, status, "admindelete", v)
}

func (s *Pages) doDelete(rw http.ResponseWriter, r *http.Request, session account.Session) {
	field, ok := s.fields(rw, r)
	if !ok {
		return
	}
	if _, err := s.Accounts.Check(r.Context(), session.User, field("password"), s.CallerOf(r)); err != nil {
		text := shell.Reason(err)
		if fault.CodeOf(err) == fault.Refused {
			text = "That is not your password. Nothing was deleted."
		}
		s.showDelete(rw, r, s.refused(rw, r, err), deleteView{PasswordError: text})
		return
	}
	err := s.Admin.DeleteUser(r.Context(), s.actor(r, session), r.PathValue("user"))
	switch {
	case err == nil:
		http.Redirect(rw, r, "/admin/users?done=delete", http.StatusSeeOther)
	case fault.CodeOf(err) == fault.NotFound:
		s.Fail(rw, r, err)
	default:
		s.showDelete(rw, r, s.refused(rw, r, err), deleteView{Wrong: shell.Reason(err)})
	}
}

// exportUser sends everything of a user as one file.
func (s *Pages) exportUser(rw http.ResponseWriter, r *http.Request, session account.Session) {
	u, err := s.Admin.Users.User(r.Context(), r.PathValue("user"))
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	out := &download{rw: rw, kind: "application/zip", name: u.Name + "-" + s.CurrentTime().UTC().Format("2006-01-02") + ".zip"}
	err = s.Admin.Do(r.Context(), s.actor(r, session), admin.UserExport, u.Name, "", func() error {
		_, err := s.Exports.Export(r.Context(), u.Name, out, nil)
		return err
	})
	switch {
	case err == nil:
	case !out.begun:
		s.Fail(rw, r, err)
	default:
		if r.Context().Err() == nil {
			s.Logger().Error("export a user", "user", u.Name, "err", err)
		}
		// A normal end would make the truncated file look complete.
		panic(http.ErrAbortHandler)
	}
}

// downloadPause is the longest pause in a download.
const downloadPause = 30 * time.Second

// download sends the headers with the first bytes, so that an earlier failure is an error page.
type download struct {
	rw         http.ResponseWriter
	kind, name string
	begun      bool
}

func (d *download) Write(b []byte) (int, error) {
	if !d.begun {
		d.begun = true
		d.rw.Header().Set("Content-Type", d.kind)
		d.rw.Header().Set("Content-Disposition", `attachment; filename="`+d.name+`"`)
	}
	// If the deadline cannot be set, the server's default applies.
	_ = http.NewResponseController(d.rw).SetWriteDeadline(time.Now().Add(downloadPause))
	return d.rw.Write(b)
}
