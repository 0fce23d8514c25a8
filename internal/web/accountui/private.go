package accountui

import (
	"net/http"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

type privateView struct {
	shell.View
	Message string
	Secrets []secretRow
	Own     bool // a private feed was saved; else it has the content of the public feed

	Reader, ReaderError string
}

type secretRow struct {
	Selector, Reader string
	Made, Used       shell.Moment
}

// privatePage lists the readers of the private feed.
func (s *Pages) privatePage(rw http.ResponseWriter, r *http.Request, session account.Session) {
	s.showPrivate(rw, r, session, http.StatusOK, privateView{})
}

func (s *Pages) showPrivate(rw http.ResponseWriter, r *http.Request, session account.Session, status int, v privateView) {
	v.View, v.Message = s.NewView(r, "Private feeds"), doneMessage(r)
	all, err := s.Accounts.Secrets(r.Context(), session.User, author.Private)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	for _, one := range all {
		v.Secrets = append(v.Secrets, secretRow{shell.CleanText(one.Selector, 100), shell.CleanText(one.Reader, 100), v.When(one.CreatedAt), v.When(one.UsedAt)})
	}
	if s.Authors != nil {
		f, err := s.Authors.Feed(r.Context(), session.User, author.Private)
		v.Own = err == nil && f.Version > 0
	}
	s.Render(rw, r, status, "private", v)
}

type secretView struct {
	shell.View
	Reader       string
	URL          string // with the secret
	Address      string // for the other ways
	Name, Secret string
}

// doNewSecret creates a secret for one reader and shows it once.
func (s *Pages) doNewSecret(rw http.ResponseWriter, r *http.Request, session account.Session) {
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	v := privateView{Reader: shell.CleanText(strings.TrimSpace(shell.FormValue(form, "reader")), 100)}
	if v.Reader == "" {
		v.ReaderError = "Enter a name for the reader, so that you can recognise the secret."
		s.showPrivate(rw, r, session, http.StatusBadRequest, v)
		return
	}
	made, err := s.Accounts.NewSecret(r.Context(), session.User, author.Private, v.Reader)
	if err != nil {
		status, _ := shell.StatusOf(err)
		s.LogFailure(r, err, status)
		shell.SetRetryAfter(rw, err)
		v.ReaderError = shell.Reason(err)
		s.showPrivate(rw, r, session, status, v)
		return
	}
	plain := strings.TrimPrefix(made.Plain, made.Selector+".")
	base := s.BaseURL(r) + "/" + session.User + "/private/"
	s.Render(rw, r, http.StatusOK, "secret", secretView{View: s.NewView(r, "New secret"),
		Reader: shell.CleanText(made.Reader, 100), URL: base + made.Selector + "." + plain + "/rss.xml", Address: base + "rss.xml",
		Name: made.Selector, Secret: plain})
}

// doRevokeSecret revokes a secret after confirmation.
func (s *Pages) doRevokeSecret(rw http.ResponseWriter, r *http.Request, session account.Session) {
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	selector := shell.FormValue(form, "selector")
	if shell.FormValue(form, "sure") == "" {
		s.AskFirst(rw, r, "Revoke this secret?", shell.Question{
			Lines:  []string{"The reader is then refused with this secret. Other secrets stay valid. This cannot be undone, but you can create another secret."},
			Action: "/account/private/revoke", Fields: []shell.NamedValue{{Name: "selector", Value: selector}}, Button: "Revoke", Back: "/account/private",
		})
		return
	}
	if err := s.Accounts.RevokeSecret(r.Context(), session.User, selector); err != nil && fault.CodeOf(err) != fault.NotFound {
		s.Fail(rw, r, err)
		return
	}
	http.Redirect(rw, r, "/account/private?done=secret", http.StatusSeeOther)
}
