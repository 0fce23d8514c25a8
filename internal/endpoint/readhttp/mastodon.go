package readhttp

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/text"
	"cloudburst/internal/wirehttp"
)

// maxStatus is the maximum length of the text of a status without its link, in characters.
// Mastodon's default limit is 500, and any link counts as 23 characters.
const maxStatus = 500 - 23 - 2

// copyToMastodon publishes a copy of an item as a status with a link. Each item has an idempotency
// key, so the instance ignores a repetition.
//
// spec:cloudburst#forwarding-mastodon
func (t *Sender) copyToMastodon(ctx context.Context, n forward.Forwarding, e *river.Entry) error {
	form := url.Values{"status": {statusOf(e)}}
	r := t.Sender.Send(ctx, &fetch.Message{
		URL: n.Target + "/api/v1/statuses", ContentType: "application/x-www-form-urlencoded", Padded: true,
		Header: []string{"Authorization", "Bearer " + n.Secret, "Idempotency-Key", messageID(n, []river.Entry{*e})}, Body: []byte(form.Encode()),
	})
	return t.mastodonError(n, r)
}

// statusOf returns the text of a status: the title of the item, or else the beginning of its text,
// followed by the link.
func statusOf(e *river.Entry) string {
	s := strings.TrimSpace(cmp.Or(text.PlainLine(e.Title), e.Text))
	s = text.ClipRunes(s, maxStatus)
	if e.Link == "" || strings.HasSuffix(s, e.Link) {
		return s
	}
	return strings.TrimSpace(s + "\n\n" + e.Link)
}

// verifyMastodon checks the access token of a forwarding, which proves the consent of its account.
func (t *Sender) verifyMastodon(ctx context.Context, n forward.Forwarding) error {
	r := t.Sender.Send(ctx, &fetch.Message{
		Method: http.MethodGet, URL: n.Target + "/api/v1/accounts/verify_credentials",
		Header: []string{"Authorization", "Bearer " + n.Secret}, WantBody: true, MaxBody: 64 << 10, Padded: true,
	})
	if err := t.mastodonError(n, r); err != nil {
		return err
	}
	var account struct {
		Name string `json:"username"`
	}
	if err := json.Unmarshal(r.Body, &account); err != nil || account.Name == "" {
		return fault.New(fault.Unreadable, "%s is not a Mastodon server: it did not name the account of the access token.", endpoint.DisplayURL(n.Target))
	}
	return nil
}

// mastodonError converts the reply of an instance to an error. If the token is invalid, there are
// no further attempts.
func (t *Sender) mastodonError(n forward.Forwarding, r fetch.Reply) error {
	if r.Err == nil && (r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden) {
		return fault.New(fault.Gone, "%s does not accept the access token (%s). Create one with the permissions read:accounts and write:statuses.", endpoint.DisplayURL(n.Target), wirehttp.StatusText(r.Status))
	}
	return t.replyError(n.Target, r)
}
