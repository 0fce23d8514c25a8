package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Admin calls the endpoints for administrators.
type Admin struct{ *Client }

// AuditEntry is one action in the audit log.
type AuditEntry struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Actor   string    `json:"actor,omitempty"`   // name of the user who acted; missing: the operator
	Action  string    `json:"action"`            // kind of the action, such as user.disable
	Object  string    `json:"object,omitempty"`  // object of the action, such as a user, setting, host or file
	Detail  string    `json:"detail,omitempty"`  // further data, such as the new value
	Address string    `json:"address,omitempty"` // IP address of the actor
	Via     string    `json:"via"`               // interface that the actor used: page or api
	Failed  string    `json:"failed,omitempty"`  // reason why the action had no effect; missing: it succeeded
}

// AuditQuery selects entries of the audit log. A zero field does not restrict the result.
type AuditQuery struct {
	Actor  string // actions of exactly this user; "-": the operator
	Action string // name of an action, or of a kind of actions: user, setting, block, subscription or backup
	Match  string // text that Object or Detail contains
	Limit  int    // maximum number of entries; 0 means all
}

// Audit lists the actions of administrators, newest first.
func (c Admin) Audit(ctx context.Context, q AuditQuery) iter.Seq2[AuditEntry, error] {
	v := url.Values{}
	set(v, "actor", q.Actor)
	set(v, "action", q.Action)
	set(v, "match", q.Match)
	return pages[AuditEntry](ctx, c.Client, "/v1/audit", v, "entries", q.Limit)
}

// SetAdministrator makes a user an administrator (on) or revokes the role.
func (c Admin) SetAdministrator(ctx context.Context, name string, on bool) (User, error) {
	return userCall[User](ctx, c.Client, "POST", map[string]bool{"administrator": on}, name, "administrator")
}

// DeleteUser deletes a user and everything that the user stored. The deletion cannot be undone, and
// no user can take the name again.
func (c Admin) DeleteUser(ctx context.Context, name string) error {
	path, err := userPath("/v1/users/", name)
	if err != nil {
		return err
	}
	return c.call(ctx, "DELETE", path, nil, nil, nil)
}

// Invite is an invitation to create one account.
type Invite struct {
	ID        string     `json:"id"`
	Note      string     `json:"note,omitempty"` // note of the creator, such as the name of the invited person
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by,omitempty"` // name of the administrator who created the invitation; missing: the operator
	ExpiresAt time.Time  `json:"expires_at"`
	UsedAt    *time.Time `json:"used_at,omitempty"`
	UsedBy    string     `json:"used_by,omitempty"`
	// URL is the link to send to the invited person. It is set only in the response that creates the
	// invitation.
	URL string `json:"url,omitempty"`
}

// Invite creates an invitation that is valid for 1 to 90 days.
func (c Admin) Invite(ctx context.Context, note string, days int) (Invite, error) {
	return answer[Invite](ctx, c.Client, "POST", "/v1/invites", nil, map[string]any{"note": note, "days": days})
}

// Invites lists the invitations, newest first. limit is the maximum number of invitations; 0: all.
func (c Admin) Invites(ctx context.Context, limit int) iter.Seq2[Invite, error] {
	return pages[Invite](ctx, c.Client, "/v1/invites", url.Values{}, "invites", limit)
}

// RevokeInvite deletes an unused invitation.
func (c Admin) RevokeInvite(ctx context.Context, id string) error {
	path, err := userPath("/v1/invites/", id)
	if err != nil {
		return err
	}
	return c.call(ctx, "DELETE", path, nil, nil, nil)
}

// Block is a host, network or topic that is blocked: the server neither reads it nor notifies it.
type Block struct {
	Kind      string    `json:"kind"` // kind of what is blocked: host, network or topic
	Value     string    `json:"value"`
	Reason    string    `json:"reason,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	CreatedBy string    `json:"created_by,omitempty"` // name of the administrator who created the block; missing: the operator
}

// Blocks lists the blocks, sorted by kind and value.
func (c Admin) Blocks(ctx context.Context) ([]Block, error) {
	return memberOf[[]Block](ctx, c.Client, "GET", "/v1/blocks", nil, nil, "blocks")
}

// AddBlock blocks what: a host with its subdomains, a network, or the URL of a feed.
func (c Admin) AddBlock(ctx context.Context, what, reason string) (Block, error) {
	return answer[Block](ctx, c.Client, "POST", "/v1/blocks", nil, map[string]string{"block": what, "reason": reason})
}

// RemoveBlock ends the block of what, in the form of AddBlock.
func (c Admin) RemoveBlock(ctx context.Context, what string) error {
	return c.call(ctx, "DELETE", "/v1/blocks", url.Values{"block": {what}}, nil, nil)
}

// Setting is a setting of the running server.
type Setting struct {
	Name    string `json:"name"`
	Value   string `json:"value"` // value of the setting; passwords are hidden
	Default string `json:"default"`
	Source  string `json:"source"`           // source of the value: default, profile, file, environment, flag, or changed (at run time)
	Origin  string `json:"origin,omitempty"` // name of the flag, variable, file or profile that sets the value, or the user who changed it
}

// Config lists the settings of the running server.
func (c Admin) Config(ctx context.Context) ([]Setting, error) {
	return memberOf[[]Setting](ctx, c.Client, "GET", "/v1/config", nil, nil, "settings")
}

// ChangedSetting is a setting that can be changed while the server runs.
type ChangedSetting struct {
	Name       string     `json:"name"`
	Value      string     `json:"value"`                // value that is in force
	Configured string     `json:"configured"`           // value set by flag, environment, file or default
	ChangedAt  *time.Time `json:"changed_at,omitempty"` // time of the change; missing: the configured value is in force
	ChangedBy  string     `json:"changed_by,omitempty"`
}

// Settings lists the settings that can be changed while the server runs, sorted by name.
func (c Admin) Settings(ctx context.Context) ([]ChangedSetting, error) {
	return memberOf[[]ChangedSetting](ctx, c.Client, "GET", "/v1/settings", nil, nil, "settings")
}

// SetSetting changes a setting while the server runs; the change survives a restart.
func (c Admin) SetSetting(ctx context.Context, name, value string) (ChangedSetting, error) {
	return pathCall[ChangedSetting](ctx, c.Client, "PUT", map[string]string{"value": value}, "/v1/settings/", name)
}

// ResetSetting returns a setting to its configured value.
func (c Admin) ResetSetting(ctx context.Context, name string) (ChangedSetting, error) {
	return pathCall[ChangedSetting](ctx, c.Client, "DELETE", nil, "/v1/settings/", name)
}

// StoredBackup is a backup in the folder backups of the data folder.
type StoredBackup struct {
	Name string    `json:"name"`
	Size int64     `json:"size"` // size of the backup in bytes
	At   time.Time `json:"at"`
}

// Backups lists the backups in the folder backups of the data folder, newest first.
func (c Admin) Backups(ctx context.Context) ([]StoredBackup, error) {
	return memberOf[[]StoredBackup](ctx, c.Client, "GET", "/v1/backups", nil, nil, "backups")
}

// VerifyBackup compares the content of a backup with the SHA-256 that the backup contains. It
// returns the SHA-256; "": the backup contains none.
func (c Admin) VerifyBackup(ctx context.Context, name string) (sum string, err error) {
	var out struct {
		SHA256 string `json:"sha256"`
	}
	path, err := userPath("/v1/backups/", name, "verify")
	if err == nil {
		err = c.call(ctx, "POST", path, nil, nil, &out)
	}
	return out.SHA256, err
}
