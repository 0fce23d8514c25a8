package accountui

import (
	"net/http"
	"slices"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

type accountView struct {
	shell.View
	Message  string // result of the last action
	Who      account.User
	Sessions []sessionRow

	OldError, NewError string

	Deletes bool // users can delete their accounts
	Delete  deleteForm
}

type tokensView struct {
	shell.View
	Message string // result of the last action
	Tokens  []tokenRow
	Scopes  []scope
	Label   string // label of the new token, as typed

	LabelError, ScopeError string
}

type sessionRow struct {
	ID, Agent            string
	Here                 bool // the session is that of this browser
	Since, Seen, Expires shell.Moment
}

type tokenRow struct {
	ID, Label  string
	Client     string // URL of the program that requested it; "": created by the user
	Scopes     string
	Made, Used shell.Moment
}

// scope is a permission of a token, as a checkbox of the form.
type scope struct {
	Value, Words string
	Chosen       bool
}

// scopes lists all permissions with descriptions. A permission without a description has only its name.
func scopes(chosen []string) (all []scope) {
	words := map[string]string{
		"create": "Create posts and feeds", "update": "Edit", "delete": "Delete", "media": "Upload files", "read": "Read your data",
	}
	for _, name := range account.Scopes() {
		all = append(all, scope{name, words[name], slices.Contains(chosen, name)})
	}
	return all
}

// doneMessage returns the message about the action that the URL names. The URL has a keyword only, so
// that a link cannot put text into a page.
func doneMessage(r *http.Request) string {
	return map[string]string{
		"password": "The password is changed. Every other browser was signed out.",
		"session":  "That browser is signed out.",
		"others":   "All other browsers are signed out.",
		"token":    "The token is revoked. Programs that use it are refused from now on.",
		"saved":    "The feed is saved. If it changed, its subscribers are being notified.",
		"hints":    "The hints are saved and are in your feed.",
		"moved":    "The feed redirects its readers to the new address.",
		"lent":     "The feed redirects its readers temporarily.",
		"ended":    "The feed is ended. Readers receive the status 410 (Gone).",
		"restored": "The feed is restored.",
		"cloud":    "The server adds its cloud to your feed from now on.",
		"no-cloud": "Your feed is served as you saved it from now on.",
		"group":    "The group is saved.",
		"ungroup":  "The group is deleted. Its readers are refused from now on. You can restore it below.",
		"regroup":  "The group is restored, with its readers and posts.",
		"secret":   "The secret is revoked. That reader is refused from now on.",
	}[r.URL.Query().Get("done")]
}

// accountPage shows the user's password and sessions.
func (s *Pages) accountPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.showAccount(rw, r, session, http.StatusOK, accountView{})
}

// showAccount adds the common data of the page to v and writes the page. v has the results of a form.
func (s *Pages) showAccount(rw http.ResponseWriter, r *http.Request, session account.Session, status int, v accountView) error {
	v.View, v.Message = s.NewView(r, "Sign-in and sessions"), doneMessage(r)
	v.Deletes, v.Delete.Exports, v.Delete.Reads = s.Deletion != nil, s.Moves != nil, s.Reads
	var err error
	if v.Who, err = s.Accounts.User(r.Context(), session.User); err != nil {
		return err
	}
	sessions, err := s.Accounts.Sessions(r.Context(), session.User)
	if err != nil {
		return err
	}
	for _, other := range sessions {
		v.Sessions = append(v.Sessions, sessionRow{shell.CleanText(other.ID, 100), agentWords(other.Agent), other.ID == session.ID, v.When(other.CreatedAt), v.When(other.SeenAt), v.When(other.ExpiresAt)})
	}
	slices.SortStableFunc(v.Sessions, func(a, b sessionRow) int { // the session of this browser comes first
		switch {
		case a.Here:
			return -1
		case b.Here:
			return 1
		}
		return 0
	})
	return s.Render(rw, r, status, "account", v)
}

// tokensPage shows the tokens of programs.
func (s *Pages) tokensPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.showTokens(rw, r, session, http.StatusOK, tokensView{Scopes: scopes(nil)})
}

// showTokens adds the tokens to v and writes the page. v has the form for a new token.
func (s *Pages) showTokens(rw http.ResponseWriter, r *http.Request, session account.Session, status int, v tokensView) error {
	v.View, v.Message = s.NewView(r, "Apps and tokens"), doneMessage(r)
	tokens, err := s.Accounts.Tokens(r.Context(), session.User)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		v.Tokens = append(v.Tokens, tokenRow{shell.CleanText(t.ID, 100), shell.CleanText(t.Label, 100), shell.CleanText(t.Client, 300), shell.CleanText(shell.JoinWords(t.Scopes), 200), v.When(t.CreatedAt), v.When(t.UsedAt)})
	}
	return s.Render(rw, r, status, "tokens", v)
}

// agentWords returns the name of a browser as people know it, from the User-Agent header.
func agentWords(agent string) string {
	name := ""
	for _, known := range []struct{ part, name string }{
		{"Firefox/", "Firefox"}, {"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"},
	} {
		if strings.Contains(agent, known.part) {
			name = known.name
			break
		}
	}
	for _, known := range []struct{ part, name string }{
		{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"Mac OS X", "Mac"}, {"Linux", "Linux"},
	} {
		if name != "" && strings.Contains(agent, known.part) {
			return name + " on " + known.name
		}
	}
	if name != "" {
		return name
	}
	if agent = shell.CleanText(strings.TrimSpace(agent), 60); agent != "" {
		return agent
	}
	return "a program without a name"
}

// doPassword requires the current password, so that an unattended browser is not enough to take
// over the account. All other sessions end.
func (s *Pages) doPassword(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	user, text, err := s.checkCurrent(r, session, shell.FormValue(form, "old"))
	if err != nil {
		return s.accountMistake(rw, r, session, err, accountView{OldError: text})
	}
	if user, err = s.Accounts.ChangePassword(r.Context(), user, shell.FormValue(form, "new")); err != nil {
		return s.accountMistake(rw, r, session, err, accountView{NewError: shell.Reason(err)})
	}
	if err := s.SignIn(rw, r, user); err != nil {
		return err
	}
	return shell.Redirect(rw, r, "/account?done=password")
}

// checkCurrent checks the current password of a user. text is the error for its field.
func (s *Pages) checkCurrent(r *http.Request, session account.Session, password string) (user account.User, text string, err error) {
	if user, err = s.Accounts.Check(r.Context(), session.User, password, s.CallerOf(r)); err == nil {
		return user, "", nil
	}
	if text = shell.Reason(err); fault.CodeOf(err) == fault.Refused {
		text = "That is not your current password."
	}
	return user, text, err
}

// accountMistake shows the page again, with the error next to its field.
func (s *Pages) accountMistake(rw http.ResponseWriter, r *http.Request, session account.Session, err error, v accountView) error {
	return s.showAccount(rw, r, session, s.Refused(rw, r, err), v)
}

// doEndSession ends one session, or all except that of this browser.
func (s *Pages) doEndSession(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	id, others, done := shell.FormValue(form, "id"), shell.FormValue(form, "others") != "", "session"
	if others {
		done = "others"
	}
	all, err := s.Accounts.Sessions(r.Context(), session.User)
	if err != nil {
		return err
	}
	for _, one := range all { // EndSession takes only the ID, so only sessions of the user are ended
		if one.ID != id && (!others || one.ID == session.ID) {
			continue
		}
		if err := s.Accounts.EndSession(r.Context(), one.ID); err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
	}
	return shell.Redirect(rw, r, "/account?done="+done)
}

type tokenView struct {
	shell.View
	Label  string
	Scopes string
	Plain  string
	Base   string
}

// doNewToken creates a token and shows it once.
func (s *Pages) doNewToken(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	label, chosen := shell.CleanText(strings.TrimSpace(shell.FormValue(form, "label")), 100), chosenScopes(form)
	v := tokensView{Label: label, Scopes: scopes(chosen)}
	if label == "" {
		v.LabelError = "Give the token a name so you can recognise it."
	}
	if len(chosen) == 0 {
		v.ScopeError = "Choose at least one permission."
	}
	if v.LabelError+v.ScopeError != "" {
		return s.showTokens(rw, r, session, http.StatusBadRequest, v)
	}
	plain, token, err := s.Accounts.NewToken(r.Context(), session.User, label, chosen)
	if err != nil {
		v.LabelError = shell.Reason(err)
		return s.showTokens(rw, r, session, s.Refused(rw, r, err), v)
	}
	return s.Render(rw, r, http.StatusOK, "token", tokenView{View: s.NewView(r, "New token"),
		Label: shell.CleanText(token.Label, 100), Scopes: shell.JoinWords(token.Scopes), Plain: plain, Base: s.BaseURL(r)})
}

func chosenScopes(form rsscloud.Form) (chosen []string) {
	for _, field := range form {
		if field.Name == "scope" && slices.Contains(account.Scopes(), field.Value) && !slices.Contains(chosen, field.Value) {
			chosen = append(chosen, field.Value)
		}
	}
	return chosen
}

// doRevokeToken revokes a token after confirmation.
func (s *Pages) doRevokeToken(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	id := shell.FormValue(form, "id")
	if shell.FormValue(form, "sure") == "" {
		return s.AskFirst(rw, r, "Revoke this token?", shell.Question{
			Lines:  []string{"Programs that use the token are refused from then on. This cannot be undone, but you can create another token."},
			Action: "/account/tokens/revoke", Fields: []shell.NamedValue{{Name: "id", Value: id}}, Button: "Revoke", Back: "/account/tokens",
		})
	}
	if err := s.Accounts.RevokeToken(r.Context(), session.User, id); err != nil && fault.CodeOf(err) != fault.NotFound {
		return err
	}
	return shell.Redirect(rw, r, "/account/tokens?done=token")
}
