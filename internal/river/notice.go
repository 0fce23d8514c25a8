package river

import (
	"context"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/location"
	"cloudburst/internal/text"
)

const (
	itemsTold     = 20 // of one message; posts have one each
	longestSecret = 200
	triedEvery    = 10 * time.Second
)

// SecretKept stands for the secret of a notice where notices are listed: it is not shown
// again. A notice that is put with it keeps the one that it has.
const SecretKept = "(kept)"

// Ways is what a [Teller] may be besides: by which ways it can tell. One that does not
// say so can by all.
type Ways interface {
	Ways() []string
}

// Ways lists by which ways readers can be told elsewhere, as the settings are.
func (r *River) Ways() []string {
	switch t := r.Tell.(type) {
	case nil:
		return nil
	case Ways:
		return t.Ways()
	}
	return []string{ViaWebhook, ViaEmail, ViaPost}
}

// PutNotice makes a notice (ID 0), or changes one; what it has counted stays. To pause it
// is to set Paused, to go on is to clear it: what was waiting is told then, what came
// meanwhile is not. The Secret is for webhooks; SecretKept leaves the one that there is.
// Nothing is forwarded to a new target before its recipient has agreed, which is asked at
// once. fault.Invalid; NotFound: the notice, source or category; Refused: the recipient
// wants nothing from the reader; TooMany; Unavailable: there is no key to keep a secret with.
func (r *River) PutNotice(ctx context.Context, n Notice) (Notice, error) {
	r.Init()
	if err := r.checkNotice(&n); err != nil {
		return Notice{}, err
	}
	if err := r.checkSubject(ctx, &n); err != nil {
		return Notice{}, err
	}
	was, err := r.notice(ctx, n.Reader, n.ID)
	if err != nil {
		return Notice{}, err
	}
	if n.Secret == SecretKept {
		n.Secret = was.Secret
	} else if n.Secret != "" {
		sealed, err := location.Seal(r.Key, Login{Kind: LoginToken, Secret: n.Secret})
		if err != nil {
			return Notice{}, err
		}
		n.Secret = sealed.Secret
	}
	if n.Via != ViaWebhook {
		n.Secret = ""
	}
	n.CreatedAt, n.Failures, n.Problem = was.CreatedAt, was.Failures, was.Problem
	n.State, n.Asked, n.AskedAt, n.DecidedAt, n.NextAt = was.State, was.Asked, was.AskedAt, was.DecidedAt, time.Time{}
	if n.ID == 0 {
		n.CreatedAt = r.now()
	}
	if n.ID == 0 || Recipient(n.Via, n.Target) != Recipient(was.Via, was.Target) {
		n.State, n.Asked, n.AskedAt, n.DecidedAt = NoticeWaiting, 0, time.Time{}, time.Time{}
	}
	if elsewhere := n.Via != was.Via || n.Target != was.Target || n.Secret != was.Secret; !n.Paused && (was.Paused || elsewhere) {
		n.Failures, n.Problem = 0, ""
	}
	n, err = r.Store.PutNotice(ctx, n, r.options().MostNotices)
	if err != nil {
		return Notice{}, err
	}
	r.Wake()
	return n.shown(), nil
}

// checkNotice gives a notice its form.
func (r *River) checkNotice(n *Notice) error {
	ways := r.Ways()
	switch {
	case !slices.Contains([]string{ViaWebhook, ViaEmail, ViaPost}, n.Via):
		return fault.New(fault.Invalid, "A notice goes by %s, %s or %s, not by %.40q.", ViaWebhook, ViaEmail, ViaPost, n.Via)
	case !slices.Contains(ways, n.Via) && n.Via == ViaEmail:
		return fault.New(fault.Invalid, "This server sends no mail: its operator has not named a mail server.")
	case !slices.Contains(ways, n.Via):
		return fault.New(fault.Invalid, "This server sends no notices by %s.", n.Via)
	case n.SourceID != 0 && n.Category != "":
		return fault.New(fault.Invalid, "A notice is about one feed or about one category, not about both.")
	case utf8.RuneCountInString(n.Secret) > longestSecret:
		return fault.New(fault.Invalid, "A secret has at most %d characters.", longestSecret)
	}
	if n.Via == ViaEmail {
		return n.checkMail()
	}
	a, err := location.Read(n.Target)
	if err != nil {
		return err
	}
	if a.Login.Kind != "" {
		return fault.New(fault.Invalid, "The address of a notice may not have a user name or password in it.")
	}
	n.Target = a.URLs[0]
	return nil
}

func (n *Notice) checkMail() error {
	a, err := mail.ParseAddress(strings.TrimSpace(n.Target))
	if err != nil || len(a.Address) > 254 || strings.ContainsAny(a.Address, "\"\\ \r\n\t<>,;()") || strings.HasPrefix(a.Address, "-") {
		return fault.New(fault.Invalid, "%.100q is not an address for mail: it should be like name@example.org.", n.Target)
	}
	n.Target = a.Address
	return nil
}

// checkSubject sees that there is what a notice is about.
func (r *River) checkSubject(ctx context.Context, n *Notice) error {
	if n.SourceID != 0 {
		_, err := r.one(ctx, n.Reader, n.SourceID)
		return err
	}
	if n.Category == "" {
		return nil
	}
	have, err := r.Store.Categories(ctx, n.Reader, false)
	if err == nil && !slices.ContainsFunc(have, func(c Category) bool { return c.Name == n.Category }) {
		err = fault.New(fault.NotFound, "There is no category %q.", text.ClipRunes(text.PlainLine(n.Category), longestCategory))
	}
	return err
}

// notice is one of a reader's as it is kept; the zero Notice for id 0.
func (r *River) notice(ctx context.Context, reader string, id int64) (Notice, error) {
	if id == 0 {
		return Notice{}, nil
	}
	list, err := r.Store.Notices(ctx, reader)
	if err != nil {
		return Notice{}, err
	}
	for _, n := range list {
		if n.ID == id {
			return n, nil
		}
	}
	return Notice{}, fault.New(fault.NotFound, "There is no notice with the number %d.", id)
}

// shown is a notice without its secret.
func (n Notice) shown() Notice {
	if n.Secret != "" {
		n.Secret = SecretKept
	}
	return n
}

// Notices lists a reader's, without their secrets.
func (r *River) Notices(ctx context.Context, reader string) ([]Notice, error) {
	r.Init()
	list, err := r.Store.Notices(ctx, reader)
	for i := range list {
		list[i] = list[i].shown()
	}
	return list, err
}

// DropNotice ends one. fault.NotFound.
func (r *River) DropNotice(ctx context.Context, reader string, id int64) error {
	r.Init()
	if _, err := r.notice(ctx, reader, id); err != nil {
		return err
	}
	return r.Store.DropNotice(ctx, reader, id)
}

// TryNotice sends the newest item of its river at once, and returns what went wrong. Where
// the recipient has not agreed yet it asks again instead. Errors: fault.NotFound (the
// notice, or nothing has arrived yet), Refused (the recipient has ended it), TooMany (a
// reader may try every ten seconds, and send a number of mails a day), and those of the way
// that it goes.
func (r *River) TryNotice(ctx context.Context, reader string, id int64) error {
	r.Init()
	n, err := r.notice(ctx, reader, id)
	if err != nil || id == 0 {
		return err
	}
	if r.Tell == nil {
		return fault.New(fault.Unsupported, "This server sends no notices.")
	}
	switch n.State {
	case NoticeWaiting:
		return r.askAgain(ctx, reader, id)
	case NoticeEnded:
		return fault.New(fault.Refused, "%s has ended this. Only the recipient can allow it again, by the link in an earlier message.", n.Target)
	}
	list, err := r.Store.Items(ctx, ItemQuery{Reader: reader, SourceID: n.SourceID, Category: n.Category, Limit: 1})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fault.New(fault.NotFound, "Nothing has arrived yet that could be sent.")
	}
	if err := r.mayTry(reader); err != nil {
		return err
	}
	return r.forward(ctx, n, list)
}

// askAgain asks the recipient of a notice for consent at once.
func (r *River) askAgain(ctx context.Context, reader string, id int64) error {
	if err := r.mayTry(reader); err != nil {
		return err
	}
	now := r.now()
	n, err := r.Store.ClaimNotice(ctx, reader, id, now, now.Add(r.options().Lease), r.newClaim())
	if err != nil {
		return err
	}
	n.Asked = mostAsked - 1 // once
	return r.askConsent(ctx, n)
}

// mayTry keeps a reader from making this server send without end.
func (r *River) mayTry(reader string) error {
	now := r.now()
	r.listing.mu.Lock()
	defer r.listing.mu.Unlock()
	if wait := r.listing.tried[reader].Add(triedEvery).Sub(now); wait > 0 && wait <= triedEvery {
		e := fault.New(fault.TooMany, "A notice was tried just now: wait some seconds.")
		e.RetryAfter = wait
		return e
	}
	if r.listing.tried == nil || len(r.listing.tried) >= mostFollowed {
		r.listing.tried = map[string]time.Time{}
	}
	r.listing.tried[reader] = now
	return nil
}

// opened is a notice with its plain secret.
func (r *River) opened(n Notice) (Notice, error) {
	if n.Secret == "" {
		return n, nil
	}
	plain, err := location.Unseal(r.Key, Login{Kind: LoginToken, Secret: n.Secret})
	n.Secret = plain.Secret
	return n, err
}
