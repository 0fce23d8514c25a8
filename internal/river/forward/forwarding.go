package forward

import (
	"context"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/internal/fault"
	"cloudburst/internal/lease"
	"cloudburst/internal/river/location"
)

const (
	maxItems    = 20 // maximum number of items in one message; ViaPost and ViaMastodon send one item per message
	maxSecret   = 200
	tryInterval = 10 * time.Second
	maxTried    = 1000 // maximum number of users in Forwarder.tried
)

// SecretKept replaces the secret of a forwarding in lists, because the server never shows a
// stored secret. PutForwarding with SecretKept leaves the stored secret unchanged.
const SecretKept = "(kept)"

// Ways lists the ways to forward that the server's settings allow.
func (f *Forwarder) Ways() []string {
	switch t := f.Forward.(type) {
	case nil:
		return nil
	case interface{ Ways() []string }:
		return t.Ways()
	}
	return []string{ViaWebhook, ViaEmail, ViaPost, ViaMastodon}
}

// PutForwarding creates a forwarding (ID 0), or changes one without resetting its counters. While
// a forwarding is Paused, new items are not queued; items that were queued before are sent after
// the pause. Secret is for webhooks and Mastodon; SecretKept leaves the stored secret unchanged.
// PutForwarding requests the consent of the recipient of a new target at once, and nothing is
// sent before the recipient agrees. Errors: fault.Invalid: a field is not valid; NotFound: the
// forwarding, source or category does not exist; Refused: the recipient rejects messages from the
// user; TooMany: the user has too many forwardings; Unavailable: there is no key to encrypt a
// secret.
func (f *Forwarder) PutForwarding(ctx context.Context, n Forwarding) (Forwarding, error) {
	if err := f.check(&n); err != nil {
		return Forwarding{}, err
	}
	if err := f.Subject(ctx, n); err != nil {
		return Forwarding{}, err
	}
	was, err := f.find(ctx, n.Reader, n.ID)
	if err != nil {
		return Forwarding{}, err
	}
	if n.Secret == SecretKept {
		n.Secret = was.Secret
	} else if n.Secret != "" {
		sealed, err := location.Seal(f.Key, location.Login{Kind: location.Token, Secret: n.Secret})
		if err != nil {
			return Forwarding{}, err
		}
		n.Secret = sealed.Secret
	}
	if n.Via != ViaWebhook && n.Via != ViaMastodon {
		n.Secret = ""
	}
	n.CreatedAt, n.Failures, n.Problem = was.CreatedAt, was.Failures, was.Problem
	n.State, n.Asked, n.AskedAt, n.DecidedAt, n.NextAt = was.State, was.Asked, was.AskedAt, was.DecidedAt, time.Time{}
	if n.ID == 0 {
		n.CreatedAt = f.Now()
	}
	if n.Digest != DigestNone {
		n.NextAt = DueAt(n.Digest, n.ID, f.Now())
	}
	if n.ID == 0 || Recipient(n.Via, n.Target) != Recipient(was.Via, was.Target) {
		n.State, n.Asked, n.AskedAt, n.DecidedAt = ForwardingWaiting, 0, time.Time{}, time.Time{}
	}
	if elsewhere := n.Via != was.Via || n.Target != was.Target || n.Secret != was.Secret; !n.Paused && (was.Paused || elsewhere) {
		n.Failures, n.Problem = 0, ""
	}
	n, err = f.Store.PutForwarding(ctx, n, f.Options.Max)
	if err != nil {
		return Forwarding{}, err
	}
	f.Wake()
	return n.withoutSecret(), nil
}

// check validates and normalizes a forwarding.
func (f *Forwarder) check(n *Forwarding) error {
	ways := f.Ways()
	switch {
	case !slices.Contains([]string{ViaWebhook, ViaEmail, ViaPost, ViaMastodon}, n.Via):
		return fault.New(fault.Invalid, "A forwarding needs one of %s, %s, %s or %s, not %.40q.", ViaWebhook, ViaEmail, ViaPost, ViaMastodon, n.Via)
	case !slices.Contains(ways, n.Via) && n.Via == ViaEmail:
		return fault.New(fault.Invalid, "This server sends no mail: its operator has not configured a mail server.")
	case !slices.Contains(ways, n.Via):
		return fault.New(fault.Invalid, "This server does not forward items by %s.", n.Via)
	case n.SourceID != 0 && n.Category != "":
		return fault.New(fault.Invalid, "A forwarding is for one feed or for one category, not for both.")
	case utf8.RuneCountInString(n.Secret) > maxSecret:
		return fault.New(fault.Invalid, "A secret has at most %d characters.", maxSecret)
	}
	if err := checkDigest(n.Via, n.Digest); err != nil {
		return err
	}
	if n.Via == ViaEmail {
		return n.checkMail()
	}
	a, err := location.Read(n.Target)
	if err != nil {
		return err
	}
	if a.Login.Kind != "" {
		return fault.New(fault.Invalid, "The URL of a target must not contain a user name or password.")
	}
	n.Target = a.URLs[0]
	if n.Via == ViaMastodon {
		return n.checkMastodon()
	}
	return nil
}

// checkMastodon reduces the target to the origin of the server. It rejects a forwarding of more
// than one feed, because such a forwarding could publish the items of other people.
func (n *Forwarding) checkMastodon() error {
	u, err := url.Parse(n.Target)
	if err != nil || u.Host == "" {
		return fault.New(fault.Invalid, "%.100q is not the URL of a Mastodon server: it should be like https://mastodon.example.", n.Target)
	}
	n.Target = u.Scheme + "://" + u.Host
	switch {
	case n.SourceID == 0:
		return fault.New(fault.Invalid, "Choose one feed to copy to Mastodon, for example your own.")
	case n.Secret == "":
		return fault.New(fault.Invalid, "A copy to Mastodon needs an access token. Create one on your server under Preferences, Development, with the permissions read:accounts and write:statuses.")
	}
	return nil
}

func (n *Forwarding) checkMail() error {
	a, err := mail.ParseAddress(strings.TrimSpace(n.Target))
	if err != nil || len(a.Address) > 254 || strings.ContainsAny(a.Address, "\"\\ \r\n\t<>,;()") || strings.HasPrefix(a.Address, "-") {
		return fault.New(fault.Invalid, "%.100q is not a mail address: it should be like name@example.org.", n.Target)
	}
	n.Target = a.Address
	return nil
}

// find returns a forwarding of a user with its stored secret, which is encrypted. For ID 0 it
// returns the zero Forwarding.
func (f *Forwarder) find(ctx context.Context, user string, id int64) (Forwarding, error) {
	if id == 0 {
		return Forwarding{}, nil
	}
	list, err := f.Store.Forwardings(ctx, user)
	if err != nil {
		return Forwarding{}, err
	}
	for _, n := range list {
		if n.ID == id {
			return n, nil
		}
	}
	return Forwarding{}, fault.New(fault.NotFound, "There is no forwarding with the number %d.", id)
}

// withoutSecret returns the forwarding with SecretKept in place of its secret.
func (n Forwarding) withoutSecret() Forwarding {
	if n.Secret != "" {
		n.Secret = SecretKept
	}
	return n
}

// Forwardings lists the forwardings of a user, without their secrets.
func (f *Forwarder) Forwardings(ctx context.Context, user string) ([]Forwarding, error) {
	list, err := f.Store.Forwardings(ctx, user)
	for i := range list {
		list[i] = list[i].withoutSecret()
	}
	return list, err
}

// DropForwarding removes a forwarding. fault.NotFound: the forwarding does not exist.
func (f *Forwarder) DropForwarding(ctx context.Context, user string, id int64) error {
	if _, err := f.find(ctx, user, id); err != nil {
		return err
	}
	return f.Store.DropForwarding(ctx, user, id)
}

// TryForwarding sends the newest item at once and returns the error of the sender. If the
// recipient has not agreed yet, TryForwarding requests consent again instead. Errors:
// fault.NotFound: the forwarding does not exist or selects no item yet; Refused: the recipient
// has ended the forwarding; TooMany: the user tried less than ten seconds ago, or a daily limit
// is reached; and the errors of the sender.
func (f *Forwarder) TryForwarding(ctx context.Context, user string, id int64) error {
	n, err := f.find(ctx, user, id)
	if err != nil || id == 0 {
		return err
	}
	if f.Forward == nil {
		return fault.New(fault.Unsupported, "This server does not forward items.")
	}
	switch n.State {
	case ForwardingWaiting:
		return f.askAgain(ctx, user, id)
	case ForwardingEnded:
		return fault.New(fault.Refused, "%s has ended this. Only the recipient can allow it again, by the link in an earlier message.", n.Target)
	}
	list, err := f.Newest(ctx, n)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fault.New(fault.NotFound, "Nothing has arrived yet that could be sent.")
	}
	if err := f.mayTry(user); err != nil {
		return err
	}
	return f.forward(ctx, n, list)
}

// askAgain requests the consent of a forwarding's recipient at once.
func (f *Forwarder) askAgain(ctx context.Context, user string, id int64) error {
	if err := f.mayTry(user); err != nil {
		return err
	}
	now := f.Now()
	n, err := f.Store.ClaimForwarding(ctx, user, id, now, now.Add(f.Options.Lease), lease.NewClaim())
	if err != nil {
		return err
	}
	n.Asked = maxAsked - 1 // maxAsked - 1 allows exactly one more request
	return f.askConsent(ctx, n)
}

// mayTry returns fault.TooMany if the user's last try is less than tryInterval ago.
func (f *Forwarder) mayTry(user string) error {
	now := f.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if wait := f.tried[user].Add(tryInterval).Sub(now); wait > 0 && wait <= tryInterval {
		e := fault.New(fault.TooMany, "A forwarding was tried just now: wait a few seconds.")
		e.RetryAfter = wait
		return e
	}
	if f.tried == nil || len(f.tried) >= maxTried {
		f.tried = map[string]time.Time{}
	}
	f.tried[user] = now
	return nil
}

// unsealed returns the forwarding with its secret in clear text.
func (f *Forwarder) unsealed(n Forwarding) (Forwarding, error) {
	if n.Secret == "" {
		return n, nil
	}
	plain, err := location.Unseal(f.Key, location.Login{Kind: location.Token, Secret: n.Secret})
	n.Secret = plain.Secret
	return n, err
}
