package adminui

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

type backupsView struct {
	view
	Folder  string
	Backups []backupRow
	Next    string
	Paged   bool
	Wrong   string
}

type backupRow struct {
	Name, Size string
	At         shell.Moment
}

func backupPath(name string) string { return "/admin/backups/" + url.PathEscape(name) }

func (s *Pages) backupsPage(rw http.ResponseWriter, r *http.Request, _ account.Session) error {
	return s.showBackups(rw, r, http.StatusOK, "")
}

func (s *Pages) showBackups(rw http.ResponseWriter, r *http.Request, status int, wrong string) error {
	v := backupsView{Wrong: wrong, Folder: s.Admin.Backups.Folder, view: s.newView(r, "Backups", "/admin/backups", map[string]string{
		"create": "The backup is written.",
		"verify": "The backup is complete: its content matches the checksum in it.",
		"plain":  "The backup can be read, but an earlier version wrote it without a checksum.",
		"delete": "The backup is deleted.",
	})}
	all, err := s.Admin.ListBackups()
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("from")); err == nil && n > 0 {
		all, v.Paged = all[min(n, len(all)):], true
		if len(all) > rowsPerPage {
			v.Next = "/admin/backups?from=" + strconv.Itoa(n+rowsPerPage)
		}
	} else if len(all) > rowsPerPage {
		v.Next = "/admin/backups?from=" + strconv.Itoa(rowsPerPage)
	}
	for _, b := range all[:min(len(all), rowsPerPage)] {
		v.Backups = append(v.Backups, backupRow{b.Name, shell.FormatBytes(b.Size), v.When(b.At)})
	}
	return s.Render(rw, r, status, "adminbackups", v)
}

// backupTimeout is the maximum duration of the reply to a form that writes or reads a backup.
const backupTimeout = 10 * time.Minute

// backupAction performs an action on backups and redirects to the list.
func (s *Pages) backupAction(rw http.ResponseWriter, r *http.Request, do func() (done string, err error)) error {
	// If the deadline cannot be set, the server's default applies.
	_ = http.NewResponseController(rw).SetWriteDeadline(time.Now().Add(backupTimeout))
	done, err := do()
	if err != nil {
		return s.showBackups(rw, r, s.Refused(rw, r, err), shell.Reason(err))
	}
	return shell.Redirect(rw, r, "/admin/backups?done="+done)
}

func (s *Pages) doBackup(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.backupAction(rw, r, func() (string, error) {
		_, err := s.Admin.CreateBackup(r.Context(), s.actor(r, session))
		return "create", err
	})
}

func (s *Pages) doVerifyBackup(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.backupAction(rw, r, func() (string, error) {
		sum, err := s.Admin.VerifyBackup(r.Context(), s.actor(r, session), r.PathValue("name"))
		if sum == "" {
			return "plain", err
		}
		return "verify", err
	})
}

// doDeleteBackup deletes a backup after confirmation.
func (s *Pages) doDeleteBackup(rw http.ResponseWriter, r *http.Request, session account.Session, field fields) error {
	_, b, err := s.Admin.BackupFile(r.PathValue("name"))
	if err != nil {
		return err
	}
	if field("sure") == "" {
		return s.AskFirst(rw, r, "Delete this backup?", shell.Question{
			Lines:  []string{s.Locale(r).Say("The backup %s is deleted from the disk of the server. This cannot be undone.", b.Name), "Copies that you downloaded stay."},
			Action: backupPath(b.Name) + "/delete", Button: "Delete", Back: "/admin/backups",
		})
	}
	return s.backupAction(rw, r, func() (string, error) {
		return "delete", s.Admin.DeleteBackup(r.Context(), s.actor(r, session), b.Name)
	})
}

// downloadBackup sends a backup.
func (s *Pages) downloadBackup(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	file, b, err := s.Admin.BackupFile(r.PathValue("name"))
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "The backup cannot be read")
	}
	defer f.Close()
	if err := s.Admin.Do(r.Context(), s.actor(r, session), admin.BackupDownload, b.Name, "", func() error { return nil }); err != nil {
		return err
	}
	rw.Header().Set("Content-Length", strconv.FormatInt(b.Size, 10))
	return s.SendFile(rw, r, "application/vnd.sqlite3", b.Name, func(out io.Writer) error {
		_, err := io.Copy(out, io.LimitReader(f, b.Size))
		return err
	})
}
