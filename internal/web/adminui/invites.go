package adminui

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

type invitesView struct {
	view
	Invites []inviteRow
	Next    string
	Paged   bool
	// The values and errors of the form, and the link of the invitation that was just created.
	Note, NoteError string
	Days            []days
	Link            string
	Expires         shell.Moment
}

type inviteRow struct {
	ID, Note, By           string
	State                  string // state of the invitation: open, used or expired
	UsedBy                 string
	Created, Expires, Used shell.Moment
}

// days is a menu entry: the number of days for which an invitation is valid.
type days struct {
	Value  int
	Label  string
	Chosen bool
}

func (s *Pages) invitesPage(rw http.ResponseWriter, r *http.Request, _ account.Session) error {
	return s.showInvites(rw, r, http.StatusOK, invitesView{}, 7)
}

func (s *Pages) showInvites(rw http.ResponseWriter, r *http.Request, status int, v invitesView, chosen int) error {
	v.view = s.newView(r, "Invitations", "/admin/invites", map[string]string{"revoke": "The invitation is revoked. Its link no longer works."})
	for _, d := range []days{{1, "1 day", false}, {7, "7 days", false}, {30, "30 days", false}, {90, "90 days", false}} {
		d.Chosen = d.Value == chosen
		v.Days = append(v.Days, d)
	}
	var before time.Time
	if ms, err := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64); err == nil && ms > 0 {
		before, v.Paged = time.UnixMilli(ms), true
	}
	rows, err := s.Admin.Users.Invites(r.Context(), before, rowsPerPage+1)
	if err != nil {
		return err
	}
	if len(rows) > rowsPerPage {
		rows = rows[:rowsPerPage]
		v.Next = "/admin/invites?before=" + strconv.FormatInt(rows[len(rows)-1].CreatedAt.UnixMilli(), 10)
	}
	now := s.CurrentTime()
	for _, i := range rows {
		row := inviteRow{ID: i.ID, Note: shell.CleanText(i.Note, account.MaxNote), By: i.CreatedBy, UsedBy: i.UsedBy, State: "expired",
			Created: v.When(i.CreatedAt), Expires: v.When(i.ExpiresAt), Used: v.When(i.UsedAt)}
		switch {
		case i.Open(now):
			row.State = "open"
		case !i.UsedAt.IsZero():
			row.State = "used"
		}
		v.Invites = append(v.Invites, row)
	}
	return s.Render(rw, r, status, "admininvites", v)
}

// doInvite creates an invitation and shows its link once.
func (s *Pages) doInvite(rw http.ResponseWriter, r *http.Request, session account.Session, field fields) error {
	v := invitesView{Note: strings.TrimSpace(field("note"))}
	n, err := strconv.Atoi(field("days"))
	if err != nil || n < 1 || n > 90 {
		n = 7
	}
	secret, i, err := s.Admin.InviteUser(r.Context(), s.actor(r, session), v.Note, time.Duration(n)*24*time.Hour)
	if err != nil {
		v.Note, v.NoteError = shell.CleanText(v.Note, 200), shell.Reason(err)
		return s.showInvites(rw, r, s.Refused(rw, r, err), v, n)
	}
	rw.Header().Set("Referrer-Policy", "no-referrer")
	v.Note, v.Link = "", s.BaseURL(r)+"/signup?invite="+url.QueryEscape(secret)
	v.Expires = shell.NewMoment(s.CurrentTime(), i.ExpiresAt)
	return s.showInvites(rw, r, http.StatusOK, v, n)
}

func (s *Pages) doRevokeInvite(rw http.ResponseWriter, r *http.Request, session account.Session, field fields) error {
	err := s.Admin.RevokeInvite(r.Context(), s.actor(r, session), account.Invite{ID: field("id"), Note: shell.CleanText(field("note"), account.MaxNote)})
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return err
	}
	return shell.Redirect(rw, r, "/admin/invites?done=revoke")
}
