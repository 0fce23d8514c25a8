package people

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/limit"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

// River is the part of the aggregator that [Subscriptions] uses; *river.River implements it.
type River interface {
	Add(ctx context.Context, q river.Request) (river.Added, error)
	Ways() []string
	Forwardings(ctx context.Context, user string) ([]forward.Forwarding, error)
	PutForwarding(ctx context.Context, n forward.Forwarding) (forward.Forwarding, error)
}

// Subscriptions let visitors receive the public posts of an author by e-mail. A subscription is a
// forwarding of the author's own feed in the author's river, to the address of the visitor: the
// forwarder asks the address for consent, sends, retries, limits and ends it. All fields must be set.
type Subscriptions struct {
	River    River
	Store    Store
	ReaderOf func(user string) string // river of a user
	Feed     func(user string) string // URL of the public feed of a user
	Now      func() time.Time

	once    sync.Once
	clients *limit.Limiter
}

// These are the limits of subscriptions.
const (
	MaxSubscribers = 250 // maximum number of addresses per author
	maxUnconfirmed = 50  // maximum number of these addresses that have not confirmed
	askedKept      = 8 * 24 * time.Hour
	mailBurst      = 5           // maximum number of requests of one network at once
	mailRate       = 1.0 / 600.0 // maximum number of requests of one network per second, on average
	maxNetworks    = 10_000
)

// On reports whether an author accepts subscriptions, and this server sends mail.
func (s *Subscriptions) On(ctx context.Context, user string) (bool, error) {
	if !s.Sends() {
		return false, nil
	}
	encoded, err := s.Store.PreferencesOf(ctx, user)
	return err == nil && account.DecodePreferences(encoded[user]).MailSubscribers, err
}

// Sends reports whether this server sends mail.
func (s *Subscriptions) Sends() bool {
	return slices.Contains(s.River.Ways(), forward.ViaEmail)
}

// IsSubscription reports whether a forwarding is the subscription of a visitor, or a forwarding by
// e-mail that the author made of the author's own feed.
func (s *Subscriptions) IsSubscription(n forward.Forwarding, owner string) bool {
	return n.Via == forward.ViaEmail && n.SourceID == river.SourceID(s.Feed(owner))
}

// Subscribe sends a mail that asks an address to confirm. digest defines how often the posts are
// sent. An address that is already subscribed, has not confirmed yet or has declined gets no mail,
// and its digest does not change. In these cases Subscribe returns no error, so that nobody learns
// who subscribes. fault.Invalid: the address or the digest is not valid. fault.Refused: the author
// accepts no subscriptions. fault.TooMany: the client's network or the author has reached a limit.
func (s *Subscriptions) Subscribe(ctx context.Context, user, address, digest string, client netip.Addr) error {
	s.once.Do(func() { s.clients = limit.New(mailRate, mailBurst, maxNetworks) })
	on, err := s.On(ctx, user)
	if err != nil {
		return err
	}
	if !on {
		return fault.New(fault.Refused, "%s does not send posts by e-mail.", user)
	}
	if wait, ok := s.clients.Take(limit.Network(client), s.Now()); !ok {
		return &fault.Error{Code: fault.TooMany, Msg: "Too many subscriptions came from your network; try again later.", RetryAfter: wait}
	}
	reader := s.ReaderOf(user)
	list, err := s.River.Forwardings(ctx, reader)
	if err != nil {
		return err
	}
	recipient := forward.Recipient(forward.ViaEmail, strings.TrimSpace(address))
	all, waiting, id := 0, 0, int64(0)
	for _, n := range list {
		if !s.IsSubscription(n, user) {
			continue
		}
		stale := n.State == forward.ForwardingWaiting && n.Asked > 0 && s.Now().Sub(n.AskedAt) > askedKept
		if forward.Recipient(n.Via, n.Target) == recipient {
			if !stale {
				return nil
			}
			id = n.ID
			break
		}
		if all++; n.State == forward.ForwardingWaiting {
			waiting++
		}
		if stale && id == 0 {
			id = n.ID // the confirmation link has expired; reuse the row for the new address
		}
	}
	if id == 0 && (all >= MaxSubscribers || waiting >= maxUnconfirmed) {
		return fault.New(fault.TooMany, "%s has as many subscribers by e-mail as this server allows. Follow the feed instead.", user)
	}
	own, err := s.River.Add(ctx, river.Request{Reader: reader, URL: s.Feed(user)})
	if err != nil {
		return err
	}
	_, err = s.River.PutForwarding(ctx, forward.Forwarding{ID: id, Reader: reader, SourceID: own.SourceID, Via: forward.ViaEmail, Target: strings.TrimSpace(address), Digest: digest})
	if fault.CodeOf(err) == fault.Refused && err != nil {
		return nil // the address has declined permanently
	}
	return err
}

// Subscribers counts the addresses that receive the posts of an author.
type Subscribers struct {
	Each, Daily, Weekly int64 // confirmed addresses that receive each post at once, or a digest
	Waiting             int64 // addresses that have not confirmed yet
}

// Count counts the subscribers of an author.
func (s *Subscriptions) Count(ctx context.Context, user string) (c Subscribers, err error) {
	list, err := s.River.Forwardings(ctx, s.ReaderOf(user))
	for _, n := range list {
		switch {
		case !s.IsSubscription(n, user) || n.Paused || n.State == forward.ForwardingEnded:
		case n.State == forward.ForwardingWaiting:
			c.Waiting++
		case n.Digest == forward.DigestDaily:
			c.Daily++
		case n.Digest == forward.DigestWeekly:
			c.Weekly++
		default:
			c.Each++
		}
	}
	return c, err
}
