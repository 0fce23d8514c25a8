package forward

import (
	"context"
	"time"

	"cloudburst/internal/fault"
)

// Values of Forwarding.Digest: how often a mailbox receives the items.
const (
	DigestNone   = ""       // the server sends each item at once
	DigestDaily  = "daily"  // the server sends one mail a day
	DigestWeekly = "weekly" // the server sends one mail a week, on Monday
	DigestMixed  = "mixed"  // the forwardings of a Link have different digests; never stored
)

// DigestItems is the maximum number of items that a digest lists. The digest states how many
// further items there are.
const DigestItems = 200

// digestHour is the hour of the day, in UTC, at which digests are sent. The ID of a forwarding
// selects the minute, so that the mails of a server are spread over an hour.
const digestHour = 7

// DueAt returns when an item that was queued at now is sent: at now without a digest, else with
// the next digest.
//
// spec:cloudburst#forwarding-digest
func DueAt(digest string, id int64, now time.Time) time.Time {
	if digest != DigestDaily && digest != DigestWeekly {
		return now
	}
	now = now.UTC()
	at := time.Date(now.Year(), now.Month(), now.Day(), digestHour, int(id%60), 0, 0, time.UTC)
	for !at.After(now) || digest == DigestWeekly && at.Weekday() != time.Monday {
		at = at.AddDate(0, 0, 1)
	}
	return at
}

// checkDigest validates a digest that a user or an API client chose.
func checkDigest(via, digest string) error {
	switch {
	case digest != DigestNone && digest != DigestDaily && digest != DigestWeekly:
		return fault.New(fault.Invalid, "A digest is %s or %s, not %.40q.", DigestDaily, DigestWeekly, digest)
	case digest != DigestNone && via != ViaEmail:
		return fault.New(fault.Invalid, "Only e-mail has digests. Other targets receive each item at once.")
	}
	return nil
}

// ChooseDigest sets how often the recipient of an end link receives mails from the user. Pending
// items are sent with the next digest, or at once without a digest. Errors: fault.NotFound: the
// token is not valid; Invalid: the digest is not valid.
func (f *Forwarder) ChooseDigest(ctx context.Context, token, digest string) (Link, error) {
	n, err := f.readLink(linkEnd, token)
	if err == nil {
		err = checkDigest(n.Via, digest)
	}
	if err == nil {
		err = f.Store.ChooseDigest(ctx, n, digest, f.Now())
	}
	if err != nil {
		return Link{}, err
	}
	f.Wake()
	return f.linkState(ctx, n)
}
