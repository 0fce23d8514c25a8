package writerui

import (
	"net/http"

	"cloudburst/internal/account"
	"cloudburst/internal/author/rules"
	"cloudburst/internal/web/shell"
)

// rulesView is the page with the author's choices for texts.
type rulesView struct {
	shell.View
	Message string
	Wrong   string
	Rules   rules.Rules // rules of the author; Short is never ""
	Limit   int
}

// rulesPages has the page with the author's choices for texts.
type rulesPages struct{ *Pages }

// page shows the author's choices.
func (s rulesPages) page(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	v := rulesView{}
	if r.URL.Query().Get("done") == "saved" {
		v.Message = "Saved. It applies to everything that you publish from now on."
	}
	return s.show(rw, r, session, http.StatusOK, v)
}

func (s rulesPages) show(rw http.ResponseWriter, r *http.Request, session account.Session, status int, v rulesView) error {
	composer, err := s.Posts.Composer(r.Context(), session.User)
	if err != nil {
		return err
	}
	v.View, v.Rules, v.Limit = s.NewView(r, "Writing settings"), composer.Rules, composer.Most
	return s.Render(rw, r, status, "writesettings", v)
}

// change changes the author's choices.
func (s rulesPages) change(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	got, err := s.readSent(rw, r, "")
	if err != nil {
		return err
	}
	chosen := rules.Rules{Short: got.fields.Get("short"), URLs: got.fields.Get("urls"), PlainTags: got.fields.Get("hashtags") == ""}
	if err := s.Options.Rules.SetRules(r.Context(), session.User, chosen); err != nil {
		return s.show(rw, r, session, s.Refused(rw, r, err), rulesView{Wrong: shell.Reason(err)})
	}
	return shell.Redirect(rw, r, "/write/settings?done=saved")
}
