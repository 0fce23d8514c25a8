package adminui

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/web/shell"
)

type auditView struct {
	view
	Match, Actor, Action string
	Actions              []kind
	Entries              []auditRow
	Next                 string
	Paged, Filtered      bool
}

// kind is a menu entry of the filter by action.
type kind struct {
	Value, Label string
	Chosen       bool
}

type auditRow struct {
	At                       shell.Moment
	Actor, Words, Object     string
	Detail, Address, Failure string
	Href                     string // URL of the page that lists the entries about the object; "": none
	Via                      string
}

// auditWords describes an action for people. The page shows the administrator, these words and the object.
func auditWords(action string) string {
	words, ok := map[string]string{
		admin.UserCreate: "created the user", admin.UserInvite: "created an invitation", admin.UserRevokeInvite: "revoked an invitation",
		admin.UserDisable: "disabled the user", admin.UserEnable: "enabled the user", admin.UserPromote: "made an administrator of",
		admin.UserDemote: "took the role of administrator from", admin.UserPassword: "set the password of", admin.UserExport: "exported the user",
		admin.UserDelete: "deleted the user", admin.SettingChange: "changed the setting", admin.SettingReset: "reset the setting",
		admin.BlockAdd: "blocked", admin.BlockRemove: "unblocked", admin.SubscriptionRemove: "removed the subscription",
		admin.DomainCheck: "checked the domain of", admin.DomainRemove: "removed the domain of",
		admin.BackupCreate: "made the backup", admin.BackupVerify: "verified the backup", admin.BackupDownload: "downloaded the backup", admin.BackupDelete: "deleted the backup",
	}[action]
	if !ok {
		return action
	}
	return words
}

// auditPage lists the actions of administrators, newest first.
func (s *Pages) auditPage(rw http.ResponseWriter, r *http.Request, _ account.Session) error {
	v := auditView{view: s.newView(r, "Audit log", "/admin/audit", nil)}
	v.Wide = true
	query := r.URL.Query()
	v.Match, v.Actor, v.Action = shell.CleanText(strings.TrimSpace(query.Get("q")), 200), shell.CleanText(query.Get("actor"), account.MaxName), query.Get("action")
	v.Actions = []kind{{"", "All actions", false}, {"user", "Users", false}, {"setting", "Settings", false}, {"block", "Blocks", false}, {"subscription", "Subscriptions", false}, {"domain", "Domains", false}, {"backup", "Backups", false}}
	if !slices.ContainsFunc(v.Actions, func(k kind) bool { return k.Value == v.Action }) {
		v.Action = ""
	}
	for i := range v.Actions {
		v.Actions[i].Chosen = v.Actions[i].Value == v.Action
	}
	v.Filtered = v.Match+v.Actor+v.Action != ""
	q := admin.AuditQuery{Actor: v.Actor, Action: v.Action, Match: v.Match, Limit: rowsPerPage + 1}
	if id, err := strconv.ParseInt(query.Get("before"), 10, 64); err == nil && id > 0 {
		q.Before, v.Paged = id, true
	}
	rows, err := s.Admin.Audit(r.Context(), q)
	if err != nil {
		return err
	}
	if len(rows) > rowsPerPage {
		rows = rows[:rowsPerPage]
		v.Next = "/admin/audit?" + url.Values{"q": {v.Match}, "actor": {v.Actor}, "action": {v.Action}, "before": {strconv.FormatInt(rows[len(rows)-1].ID, 10)}}.Encode()
	}
	for _, e := range rows {
		v.Entries = append(v.Entries, auditRowOf(v.view, e))
	}
	return s.Render(rw, r, http.StatusOK, "adminaudit", v)
}

func auditRowOf(v view, e admin.Entry) auditRow {
	row := auditRow{At: v.When(e.At()), Actor: e.Actor, Words: auditWords(e.Action), Object: shell.CleanText(e.Object, 300), Detail: shell.CleanText(e.Detail, 300),
		Address: e.Address, Failure: shell.CleanText(e.Failed, 300), Via: e.Via}
	if strings.HasPrefix(e.Action, "user.") && account.CheckName(e.Object) == nil {
		row.Href = "/admin/audit?" + url.Values{"action": {"user"}, "q": {e.Object}}.Encode()
	}
	return row
}
