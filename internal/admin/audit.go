package admin

import (
	"context"
	"net/netip"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// Actor is the user or operator that performs an action.
type Actor struct {
	Name string     // name of the user; "": the operator, who uses the admin listener
	Addr netip.Addr // the zero Addr is unknown
	Via  string     // page or api: where the action was requested
}

// Entry is one action in the audit log.
type Entry struct {
	ID      int64 // microseconds since 1970, unique
	Actor   string
	Action  string // one of Actions
	Object  string // what was changed: a user, a setting, a URL, a file
	Detail  string // details of the change, such as the new value
	Address string // IP address of the actor; "": unknown
	Via     string // page or api: where the action was requested
	Failed  string // why the action had no effect; "": it succeeded
}

// At returns the time of the action.
func (e Entry) At() time.Time { return time.UnixMicro(e.ID).UTC() }

// AuditQuery selects entries of the audit log. A zero field selects all entries.
type AuditQuery struct {
	Actor  string // exactly this user; "-" is the operator
	Action string // one action (user.disable), or all actions of a kind (user)
	Match  string // text that the object or detail contains
	Before int64  // only entries with smaller IDs; 0: start with the newest entry
	Limit  int    // maximum number of entries, up to 1,000; 0: 100
}

// Operator is the name of the operator in an AuditQuery.
const Operator = "-"

// Do performs an action and records it. The entry is stored first, so that no action is missing from
// the log. If the entry cannot be stored, Do does not perform the action. Do returns the error of
// do.
func (a *Admin) Do(ctx context.Context, by Actor, action, object, detail string, do func() error) error {
	e := Entry{ID: a.now().UnixMicro(), Actor: by.Name, Action: action, Object: text.Clip(object, maxObject), Detail: text.Clip(detail, maxDetail), Via: by.Via}
	if by.Addr.IsValid() {
		e.Address = by.Addr.String()
	}
	id, err := a.Store.AddAudit(ctx, e)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "The action cannot be added to the audit log, so nothing was changed")
	}
	if err = do(); err != nil {
		// The result is stored even if the client has disconnected.
		if failed := a.Store.FailAudit(context.WithoutCancel(ctx), id, text.Clip(fault.Message(err), maxDetail)); failed != nil {
			a.log().Error("record a failed action", "action", action, "object", object, "err", failed)
		}
	}
	return err
}

// Audit lists entries of the audit log, newest first. fault.Invalid: the search text is too long.
func (a *Admin) Audit(ctx context.Context, q AuditQuery) ([]Entry, error) {
	return a.Store.Audit(ctx, q)
}

// auditKeptYears is how long entries of the audit log are kept.
const auditKeptYears = 2

// SweepAudit deletes the entries of the audit log that are older than two years. Call it once an
// hour.
func (a *Admin) SweepAudit(ctx context.Context) error {
	const batch = 1000
	for {
		n, err := a.Store.SweepAudit(ctx, a.now().AddDate(-auditKeptYears, 0, 0), batch)
		if err != nil || n < batch {
			return err
		}
	}
}
