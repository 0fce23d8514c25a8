package api

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/client"
	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
)

// adminAPI implements the endpoints for administrators.
type adminAPI struct{ *Server }

func (s adminAPI) routes() []operation {
	return []operation{
		{"GET", "/v1/audit", s.with(s.audit)},
		{"POST", "/v1/users/{user}/administrator", s.withUsers(s.setAdministrator)},
		{"DELETE", "/v1/users/{user}", s.withUsers(plain(s.deleteUser))},
		{"GET", "/v1/invites", s.withUsers(s.invites)},
		{"POST", "/v1/invites", s.withUsers(s.invite)},
		{"DELETE", "/v1/invites/{id}", s.withUsers(plain(s.revokeInvite))},
		{"GET", "/v1/blocks", s.with(plain(s.blocks))},
		{"POST", "/v1/blocks", s.with(s.addBlock)},
		{"DELETE", "/v1/blocks", s.with(s.removeBlock)},
		{"GET", "/v1/config", s.config},
		{"GET", "/v1/settings", s.with(plain(s.settings))},
		{"PUT", "/v1/settings/{name}", s.with(s.setSetting)},
		{"DELETE", "/v1/settings/{name}", s.with(plain(s.resetSetting))},
		{"GET", "/v1/backups", s.with(plain(s.backups))},
		{"POST", "/v1/backups/{name}/verify", s.with(plain(s.verifyBackup))},
	}
}

// config lists the settings in force. A value that was changed at run time replaces the configured
// value.
func (s adminAPI) config(w http.ResponseWriter, _ *http.Request) error {
	if s.Admin == nil {
		return exchange.OK(w, map[string]any{"settings": s.Config})
	}
	all := slices.Clone(s.Config)
	for i, one := range all {
		if o, ok := s.Admin.Override(one.Name); ok {
			all[i].Value, all[i].Source, all[i].Origin = o.Value, "changed", o.ChangedBy
		}
	}
	return exchange.OK(w, map[string]any{"settings": all})
}

// with wraps an endpoint that requires Options.Admin.
func (s adminAPI) with(handle func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if s.Admin == nil {
			return fault.New(fault.Unsupported, "This server has no administration.")
		}
		return handle(w, r)
	}
}

// withUsers wraps an endpoint that requires Options.Admin and Options.Accounts.
func (s adminAPI) withUsers(handle func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return s.with(func(w http.ResponseWriter, r *http.Request) error {
		if s.Admin.Users == nil {
			return fault.New(fault.Unsupported, "This server has no users.")
		}
		return handle(w, r)
	})
}

// operatorOf returns the actor for the audit log of a request from the operator.
func operatorOf(r *http.Request) admin.Actor {
	by := admin.Actor{Via: "api"}
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil { // a request from a command in this process has no address
		by.Addr = ap.Addr().Unmap()
	}
	return by
}

// audited performs an action of the operator. If the server has an audit log, the log records the
// action.
func (s *Server) audited(r *http.Request, action, object, detail string, do func() error) error {
	if s.Admin == nil {
		return do()
	}
	return s.Admin.Do(r.Context(), operatorOf(r), action, object, detail, do)
}

func (s adminAPI) audit(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, exchange.Paged("actor", "action", "match")...)
	q := admin.AuditQuery{Actor: p.Text("actor"), Action: p.Text("action"), Match: p.Text("match"), Limit: p.Limit()}
	cursor := p.Cursor()
	if p.Err != nil {
		return p.Err
	}
	if cursor != "" {
		var err error
		if q.Before, err = strconv.ParseInt(cursor, 10, 64); err != nil || q.Before <= 0 {
			return exchange.BadCursor(cursor)
		}
	}
	rows, err := s.Admin.Audit(r.Context(), q)
	if err != nil {
		return err
	}
	list := make([]client.AuditEntry, len(rows))
	for i, e := range rows {
		list[i] = client.AuditEntry{ID: strconv.FormatInt(e.ID, 10), At: form.Milli(e.At()), Actor: e.Actor, Action: e.Action, Object: e.Object, Detail: e.Detail,
			Address: e.Address, Via: e.Via, Failed: e.Failed}
	}
	page := exchange.Page{Name: "entries", Rows: list}
	if len(rows) == q.Limit {
		page.Next = strconv.FormatInt(rows[len(rows)-1].ID, 10)
	}
	return exchange.OK(w, page)
}

func (s adminAPI) setAdministrator(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Administrator *bool `json:"administrator"`
	}
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	if in.Administrator == nil {
		return fault.New(fault.Invalid, "administrator is missing; it must be true or false.")
	}
	name := r.PathValue("user")
	if err := s.Admin.SetAdministrator(r.Context(), operatorOf(r), name, *in.Administrator); err != nil {
		return err
	}
	u, err := s.Admin.Users.User(r.Context(), name)
	return exchange.Answer(w, form.User(u), err)
}

func (s adminAPI) deleteUser(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("user")
	err := s.Admin.DeleteUser(r.Context(), operatorOf(r), name)
	return exchange.Answer(w, map[string]string{"deleted": name}, err)
}

func (s adminAPI) invites(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, exchange.Paged()...)
	cursor, limit := p.Cursor(), p.Limit()
	if p.Err != nil {
		return p.Err
	}
	var before time.Time
	if cursor != "" {
		ms, err := strconv.ParseInt(cursor, 10, 64)
		if err != nil || ms <= 0 {
			return exchange.BadCursor(cursor)
		}
		before = time.UnixMilli(ms)
	}
	rows, err := s.Admin.Users.Invites(r.Context(), before, limit)
	if err != nil {
		return err
	}
	page := exchange.Page{Name: "invites", Rows: exchange.List(rows, form.Invite)}
	if len(rows) == limit {
		page.Next = strconv.FormatInt(rows[len(rows)-1].CreatedAt.UnixMilli(), 10)
	}
	return exchange.OK(w, page)
}

func (s adminAPI) invite(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Note string `json:"note"`
		Days int    `json:"days"`
	}
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	if in.Days < 0 || in.Days > 90 {
		return fault.New(fault.Invalid, "days is %d; it must be a number from 1 to 90, or 0 for 7 days.", in.Days)
	}
	secret, i, err := s.Admin.InviteUser(r.Context(), operatorOf(r), in.Note, time.Duration(in.Days)*24*time.Hour)
	if err != nil {
		return err
	}
	out := form.Invite(i)
	out.URL = strings.TrimRight(s.origin(), "/") + "/signup?invite=" + url.QueryEscape(secret)
	return exchange.OK(w, out)
}

func (s adminAPI) revokeInvite(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	err := s.Admin.RevokeInvite(r.Context(), operatorOf(r), account.Invite{ID: id})
	return exchange.Answer(w, map[string]string{"revoked": id}, err)
}

func (s adminAPI) blocks(w http.ResponseWriter, r *http.Request) error {
	list := []client.Block{}
	for _, b := range s.Admin.Blocks() {
		list = append(list, form.Block(b))
	}
	return exchange.OK(w, map[string]any{"blocks": list})
}

func (s adminAPI) addBlock(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Block  string `json:"block"`
		Reason string `json:"reason"`
	}
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	b, err := s.Admin.AddBlock(r.Context(), operatorOf(r), in.Block, in.Reason)
	return exchange.Answer(w, form.Block(b), err)
}

func (s adminAPI) removeBlock(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, "block")
	text := p.Text("block")
	if p.Err != nil {
		return p.Err
	}
	kind, value, err := admin.ParseBlock(text)
	if err != nil {
		return err
	}
	b, err := s.Admin.RemoveBlock(r.Context(), operatorOf(r), kind, value)
	return exchange.Answer(w, form.Block(b), err)
}

// settingOf returns the current value of a setting that administrators can change at run time.
func (s adminAPI) settingOf(name string) client.ChangedSetting {
	out := client.ChangedSetting{Name: name, Value: s.Admin.Value(name), Configured: s.Admin.Settings[name].Configured}
	if o, ok := s.Admin.Override(name); ok {
		out.ChangedAt, out.ChangedBy = form.When(o.ChangedAt), o.ChangedBy
	}
	return out
}

func (s adminAPI) settings(w http.ResponseWriter, r *http.Request) error {
	list := []client.ChangedSetting{}
	for name := range s.Admin.Settings {
		list = append(list, s.settingOf(name))
	}
	slices.SortFunc(list, func(a, b client.ChangedSetting) int { return strings.Compare(a.Name, b.Name) })
	return exchange.OK(w, map[string]any{"settings": list})
}

func (s adminAPI) setSetting(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Value string `json:"value"`
	}
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	name := r.PathValue("name")
	err := s.Admin.SetSetting(r.Context(), operatorOf(r), name, in.Value)
	return exchange.Answer(w, s.settingOf(name), err)
}

func (s adminAPI) resetSetting(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	err := s.Admin.ResetSetting(r.Context(), operatorOf(r), name)
	return exchange.Answer(w, s.settingOf(name), err)
}

func (s adminAPI) backups(w http.ResponseWriter, r *http.Request) error {
	all, err := s.Admin.ListBackups()
	if err != nil {
		return err
	}
	list := []client.StoredBackup{}
	for _, b := range all {
		list = append(list, client.StoredBackup{Name: b.Name, Size: b.Size, At: form.Milli(b.At)})
	}
	return exchange.OK(w, map[string]any{"backups": list})
}

func (s adminAPI) verifyBackup(w http.ResponseWriter, r *http.Request) error {
	sum, err := s.Admin.VerifyBackup(r.Context(), operatorOf(r), r.PathValue("name"))
	return exchange.Answer(w, map[string]string{"sha256": sum}, err)
}
