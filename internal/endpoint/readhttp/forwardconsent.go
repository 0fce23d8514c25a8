package readhttp

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river/forward"
)

// Ask requests the recipient's consent to a forwarding. A person gets a mail with a link that
// contains token, a program gets a challenge, and for a Mastodon server the access token is
// checked. Errors are those of [Sender.Forward].
//
// spec:cloudburst#forwarding-consent
func (t *Sender) Ask(ctx context.Context, n forward.Forwarding, token string) error {
	switch n.Via {
	case forward.ViaWebhook, forward.ViaPost:
		return t.challenge(ctx, n, rand.Text())
	case forward.ViaMastodon:
		return t.verifyMastodon(ctx, n)
	case forward.ViaEmail:
		if t.Mail != nil {
			return t.Mail.ask(ctx, n, token, t.now())
		}
		return fault.New(fault.Unsupported, "This server sends no mail: its operator has not named a mail server.")
	}
	return fault.New(fault.Unsupported, "This server does not support forwarding by %q.", n.Via)
}

// challengeMessage is the body of the first request to a webhook.
type challengeMessage struct {
	Type      string `json:"type"`
	Challenge string `json:"challenge"`
	Reader    string `json:"reader"`
	Notice    string `json:"notice"`
}

// challenge sends a challenge to a program. The response must contain the correct answer and
// nothing else.
func (t *Sender) challenge(ctx context.Context, n forward.Forwarding, challenge string) error {
	m := challengeOf(n, challenge)
	m.WantBody, m.Padded = true, true
	r := t.Sender.Send(ctx, m)
	if err := t.replyError(n.Target, r); err != nil {
		if r.Err != nil && !r.NotTried && cmp.Or(fetch.Text(r.Err), fetch.Neutral) == fetch.Neutral {
			return fault.Wrap(fault.CodeOf(err), r.Err, "%s sent no valid response to the challenge.", endpoint.DisplayURL(n.Target))
		}
		return err
	}
	// A program that only echoes the request returns more than the answer.
	if got := strings.TrimSpace(string(r.Body)); r.Partial || !hmac.Equal([]byte(got), []byte(challengeResponse(n.Secret, challenge))) {
		return fault.New(fault.Unreadable, "%s did not answer the challenge. Its answer must be only the response, as the guide on forwarding describes.", endpoint.DisplayURL(n.Target))
	}
	return nil
}

// challengeOf returns the request that sends a challenge.
func challengeOf(n forward.Forwarding, challenge string) *fetch.Message {
	if n.Via == forward.ViaPost {
		form := url.Values{"type": {"challenge"}, "challenge": {challenge}, "reader": {n.Reader}, "notice": {strconv.FormatInt(n.ID, 10)}}
		return &fetch.Message{URL: n.Target, ContentType: "application/x-www-form-urlencoded", Body: []byte(form.Encode())}
	}
	// Encoding a struct of strings never fails.
	body, _ := json.Marshal(challengeMessage{Type: "challenge", Challenge: challenge, Reader: n.Reader, Notice: strconv.FormatInt(n.ID, 10)})
	return &fetch.Message{URL: n.Target, ContentType: "application/json", Header: signature(n.Secret, body), Body: body}
}

// challengeResponse returns the correct answer of a program that knows the secret. If there is no
// secret, the answer is the challenge itself.
func challengeResponse(secret, challenge string) string {
	if secret == "" {
		return challenge
	}
	return signed(secret, []byte(challenge))
}
