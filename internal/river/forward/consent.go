package forward

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/item"
	"cloudburst/internal/text"
)

// Limits for requests for consent.
const (
	maxAsked         = 3                  // maximum number of requests per target; the user can request one more
	maxAsksByUser    = 20                 // maximum number of requests per day by one user
	maxAsksToMailbox = 3                  // maximum number of requests per day to one mailbox, by all users
	maxAsksToHost    = 100                // maximum number of requests per day to one webhook host, by all users
	confirmLinkTTL   = 7 * 24 * time.Hour // time for which the link in a confirmation mail is valid
)

// Recipient returns the key of the recipient whose consent a target needs. Mailbox addresses that
// differ only in case have the same key.
func Recipient(via, target string) string {
	if via == ViaEmail {
		target = strings.ToLower(strings.TrimSuffix(target, "."))
	}
	return via + ":" + target
}

// Mailbox returns the key of the person whom limits and refusals protect: Recipient without a
// plus suffix in the mailbox name. Most mail servers deliver all plus addresses to one person.
// Some servers do not, so each address needs its own consent.
func Mailbox(via, target string) string {
	recipient := Recipient(via, target)
	if name, host, ok := strings.Cut(recipient, "@"); ok && via == ViaEmail {
		name, _, _ = strings.Cut(name, "+")
		return name + "@" + host
	}
	return recipient
}

// Link contains the data of a link in a message, and the state of the forwardings that the link
// controls.
type Link struct {
	Reader string
	Sender string // display name of the user
	Target string
	State  string // state of the forwardings to the target; "": no forwarding exists any more
	Digest string // digest of the forwardings to the target, or DigestMixed
}

// Kinds of links in messages: linkConfirm gives consent, linkEnd ends the forwarding.
const (
	linkConfirm = "confirm"
	linkEnd     = "end"
)

// linkToken returns a signed token with the contents of a link. The token expires at until; zero:
// never.
func (f *Forwarder) linkToken(kind string, n Forwarding, until time.Time) (string, error) {
	if len(f.Key) != 32 {
		return "", fault.New(fault.Unavailable, "This server has no key to sign links with.")
	}
	end := int64(0)
	if !until.IsZero() {
		end = until.Unix()
	}
	text := strings.Join([]string{kind, strconv.FormatInt(end, 10), n.Via, n.Target, n.Reader}, "\x00")
	return base64.RawURLEncoding.EncodeToString(append(f.linkSum(text), text...)), nil
}

// linkSum returns the signature of a link. Its key is derived from Key and used for links only.
func (f *Forwarder) linkSum(text string) []byte {
	key := hmac.New(sha256.New, f.Key)
	key.Write([]byte("links of forwarded items"))
	sum := hmac.New(sha256.New, key.Sum(nil))
	sum.Write([]byte(text))
	return sum.Sum(nil)[:linkSumSize]
}

const linkSumSize = 16

// readLink verifies a token. Errors: fault.NotFound: this server did not sign the token; Gone:
// the token has expired.
func (f *Forwarder) readLink(kind, token string) (Forwarding, error) {
	broken := fault.New(fault.NotFound, "This link is not valid. Copy it from the mail as a whole.")
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(token))
	if err != nil || len(raw) < linkSumSize || len(f.Key) != 32 {
		return Forwarding{}, broken
	}
	text := string(raw[linkSumSize:])
	part := strings.Split(text, "\x00")
	if !hmac.Equal(raw[:linkSumSize], f.linkSum(text)) || len(part) != 5 || part[0] != kind {
		return Forwarding{}, broken
	}
	end, err := strconv.ParseInt(part[1], 10, 64)
	switch {
	case err != nil:
		return Forwarding{}, broken
	case end > 0 && f.Now().Unix() >= end:
		return Forwarding{}, fault.New(fault.Gone, "This link has expired after 7 days. The person who wants to forward items to you can request another mail.")
	}
	return Forwarding{Via: part[2], Target: part[3], Reader: part[4]}, nil
}

// senderOf returns the display name of a user for confirmation mails and the pages of their
// links.
func (f *Forwarder) senderOf(user string) string {
	if f.Sender == nil {
		return user
	}
	return f.Sender(user)
}

// linkState returns the Link for a token that contains n.
func (f *Forwarder) linkState(ctx context.Context, n Forwarding) (Link, error) {
	out := Link{Reader: n.Reader, Sender: f.senderOf(n.Reader), Target: n.Target}
	recipient := Recipient(n.Via, n.Target)
	refused, err := f.Store.ForwardingRefused(ctx, n.Reader, n.Via, n.Target)
	if err != nil {
		return out, err
	}
	if refused {
		out.State = ForwardingEnded
		return out, nil
	}
	list, err := f.Store.Forwardings(ctx, n.Reader)
	for _, other := range list {
		if Recipient(other.Via, other.Target) != recipient {
			continue
		}
		switch {
		case out.State == "":
			out.Digest = other.Digest
		case out.Digest != other.Digest:
			out.Digest = DigestMixed
		}
		if out.State != ForwardingConfirmed {
			out.State = other.State
		}
	}
	return out, err
}

// ConfirmLink returns the contents of the link in a confirmation mail, and changes nothing.
// Errors: fault.NotFound: the token is not valid; Gone: the token has expired.
func (f *Forwarder) ConfirmLink(ctx context.Context, token string) (Link, error) {
	return f.link(ctx, linkConfirm, token)
}

// EndLink returns the contents of the link that ends forwarding, and changes nothing.
// fault.NotFound: the token is not valid.
func (f *Forwarder) EndLink(ctx context.Context, token string) (Link, error) {
	return f.link(ctx, linkEnd, token)
}

func (f *Forwarder) link(ctx context.Context, kind, token string) (Link, error) {
	n, err := f.readLink(kind, token)
	if err != nil {
		return Link{}, err
	}
	return f.linkState(ctx, n)
}

// ConfirmForwarding records that the recipient of a confirmation mail agrees. From now on, all
// forwardings of the user to this address are sent. Errors: see ConfirmLink.
func (f *Forwarder) ConfirmForwarding(ctx context.Context, token string) (Link, error) {
	return f.decideByLink(ctx, linkConfirm, token, ForwardingConfirmed)
}

// EndForwarding ends all forwardings of a user to this mailbox. The user cannot forward to it
// again until the recipient allows it. fault.NotFound: the token is not valid.
func (f *Forwarder) EndForwarding(ctx context.Context, token string) (Link, error) {
	return f.decideByLink(ctx, linkEnd, token, ForwardingEnded)
}

// AllowForwarding undoes EndForwarding. fault.NotFound: the token is not valid.
func (f *Forwarder) AllowForwarding(ctx context.Context, token string) (Link, error) {
	return f.decideByLink(ctx, linkEnd, token, ForwardingConfirmed)
}

func (f *Forwarder) decideByLink(ctx context.Context, kind, token, state string) (Link, error) {
	n, err := f.readLink(kind, token)
	if err == nil {
		_, err = f.Store.DecideForwardings(ctx, n, state, f.Now())
	}
	if err != nil {
		return Link{}, err
	}
	f.Wake()
	return f.linkState(ctx, n)
}

// askConsent requests the consent of the recipient of a claimed forwarding, and stores the result
// of the request.
//
// spec:cloudburst#forwarding-consent
func (f *Forwarder) askConsent(ctx context.Context, n Forwarding) error {
	err := f.askRecipient(ctx, n)
	if ctx.Err() != nil {
		return ctx.Err() // the server is stopping; the claim expires without a release
	}
	now := f.Now()
	n.NextAt = time.Time{}
	switch code := fault.CodeOf(err); {
	case err == nil:
		n.Asked, n.AskedAt, n.Failures, n.Problem = n.Asked+1, now, 0, ""
		if n.Via != ViaEmail { // without an error, the program at the target has already agreed
			n.State, n.DecidedAt, n.NextAt = ForwardingConfirmed, now, now
		}
	case code == fault.TooMany || code == fault.Unavailable: // no request was sent, so Asked does not increase
		n.Problem = text.ClipRunes(text.PlainLine(fault.Message(err)), 300)
		n.NextAt = now.Add(max(5*time.Minute, min(fault.RetryAfter(err), 24*time.Hour)))
	default:
		n.Asked, n.AskedAt, n.Failures = n.Asked+1, now, n.Failures+1
		n.Problem = text.ClipRunes(text.PlainLine(fault.Message(err)), 300)
		if n.Asked < maxAsked && code != fault.Gone {
			n.NextAt = now.Add(retryDelay(n.Asked))
		}
	}
	c, cancel := saveContext(ctx)
	defer cancel()
	_, saved := f.Store.SaveForwarding(c, n, nil)
	f.logError(c, "cannot store the result of a request for consent", saved)
	return cmp.Or(err, saved)
}

// askRecipient sends one request for consent.
func (f *Forwarder) askRecipient(ctx context.Context, n Forwarding) error {
	open, err := f.unsealed(n)
	if err != nil {
		return err
	}
	open.Sender = f.senderOf(n.Reader)
	token, err := f.linkToken(linkConfirm, n, f.Now().Add(confirmLinkTTL))
	if err == nil {
		open.End, err = f.linkToken(linkEnd, n, time.Time{})
	}
	if err != nil {
		return err
	}
	to := MessageLimit{"asked to " + Mailbox(n.Via, n.Target), maxAsksToMailbox}
	if n.Via != ViaEmail {
		u, err := url.Parse(n.Target)
		if err != nil {
			return fault.Wrap(fault.Refused, err, "The target cannot be asked.")
		}
		to = MessageLimit{"asked to host " + u.Hostname(), maxAsksToHost}
	}
	limits := []MessageLimit{{"asked by " + n.Reader, maxAsksByUser}, to}
	return f.sendCounted(ctx, limits, "Recipients are asked for consent only a few times a day, and the limit of today is reached: by you, or by other users with the same recipient.", func() error {
		return f.Forward.Ask(ctx, open, token)
	})
}

// sendCounted sends one message that counts against limits. A message that this server could not
// send does not count. fault.TooMany, with RetryAfter: a daily limit is reached.
func (f *Forwarder) sendCounted(ctx context.Context, limits []MessageLimit, used string, send func() error) error {
	now := f.Now()
	day := now.Unix() / 86400
	ok, err := f.Store.CountMessages(ctx, day, limits, 1)
	if err != nil {
		return err
	}
	if !ok {
		e := fault.New(fault.TooMany, "%s The next ones go out tomorrow (UTC).", used)
		e.RetryAfter = time.Unix((day+1)*86400, 0).Sub(now)
		return e
	}
	err = send()
	if fault.CodeOf(err) == fault.Unavailable && err != nil {
		c, cancel := saveContext(ctx)
		defer cancel()
		_, back := f.Store.CountMessages(c, day, limits, -1)
		f.logError(c, "cannot subtract an unsent message from its limits", back)
	}
	return err
}

// forward sends items to the recipient of a confirmed forwarding, within the daily limits.
//
// spec:cloudburst#forwarding-daily-limits
func (f *Forwarder) forward(ctx context.Context, n Forwarding, list []item.Entry) error {
	open, err := f.unsealed(n)
	if err != nil {
		return err
	}
	if n.Via != ViaEmail {
		return f.Forward.Forward(ctx, open, list)
	}
	if open.End, err = f.linkToken(linkEnd, n, time.Time{}); err != nil {
		return err
	}
	o := f.Options
	limits := []MessageLimit{{"by " + n.Reader, o.MailsBy}, {"to " + Mailbox(n.Via, n.Target), o.MailsTo}}
	used := fmt.Sprintf("The mails of a day are used up: %d from one user (smtp.account-limit), %d to one mailbox (smtp.recipient-limit).", o.MailsBy, o.MailsTo)
	return f.sendCounted(ctx, limits, used, func() error { return f.Forward.Forward(ctx, open, list) })
}
