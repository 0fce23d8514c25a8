package bench

import (
	"bytes"
	"context"
	"io"
	"net"
	"strconv"

	"cloudburst/internal/fetch"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// These are the kinds of notifications.
const (
	ViaRSSCloud = "rsscloud" // a notification is a form with the URL of the feed
	ViaWebSub   = "websub"   // a notification contains the content of the feed
)

// sampled selects the callbacks whose content and signature are verified completely: one of
// sampled callbacks. For all others, only the length of the content is checked.
const sampled = 64

// SecretOf returns the WebSub secret of callback i.
func SecretOf(i int) string { return "between us and " + strconv.Itoa(i) }

// content reads the content of a notification and records its arrival.
func (s *Receiver) content(c net.Conn, buf []byte, at, have int, r *request, i int) (rest int, err error) {
	right := r.length == s.plan.FeedSize
	scratch := s.scratch.Get().(*[]byte)
	defer s.scratch.Put(scratch)
	if right && i%sampled == 0 {
		signature, body := string(r.signature), (*scratch)[:r.length]
		in := copy(body, buf[at:have])
		if rest = copy(buf, buf[at+in:have]); in < len(body) {
			_, err = io.ReadFull(c, body[in:])
		}
		right = s.isNewest(body) && (!s.plan.Signed || websub.CheckSignature(signature, SecretOf(i), body) == nil)
	} else {
		rest, err = drop(c, buf, at, have, r.length, *scratch)
	}
	if err != nil {
		return 0, err
	}
	round := s.round.Load()
	if !right {
		round.wrong.Add(1)
	}
	round.arrived(i)
	return rest, nil
}

// isNewest reports whether body is the current content of a feed. Feeds differ only in their
// versions.
func (s *Receiver) isNewest(body []byte) bool {
	digits, ok := bytes.CutPrefix(body, []byte(feedHead))
	if !ok || len(digits) < versionDigits {
		return false
	}
	version, err := strconv.ParseInt(string(digits[:versionDigits]), 10, 64)
	if err != nil || !bytes.HasPrefix(digits[versionDigits:], s.tail) || string(digits[versionDigits+len(s.tail):]) != feedFoot {
		return false
	}
	for i := range s.feeds {
		if s.feeds[i].version.Load() == version {
			return true
		}
	}
	return false
}

// message returns the notification that a loop sends to each callback for a job.
func (l *loop) message(ctx context.Context, j Job) (*fetch.Message, error) {
	if j.Via != ViaWebSub {
		msg, err := rsscloud.EncodeNotification(rsscloud.HTTPPost, "", j.Feed)
		return &fetch.Message{ContentType: msg.ContentType, Header: []string{rsscloud.HopsHeader, "1"}, Body: msg.Body}, err
	}
	body, _, err := fetchAs(ctx, j.Feed, "identity")
	if err != nil {
		return nil, err
	}
	return &fetch.Message{ContentType: "application/rss+xml", Body: body, Header: []string{
		"Link", websub.LinkHeader(j.Hub, j.Feed),
		rsscloud.HopsHeader, "1",
		rsscloud.ChangedAtHeader, "2026-01-01T00:00:00.123Z",
	}}, nil
}

// addressed returns a copy of msg for callback i, signed if the job requires signatures.
func (j *Job) addressed(msg *fetch.Message, url string, i int) (fetch.Message, error) {
	m := *msg
	m.URL = url
	if !j.Signed {
		return m, nil
	}
	signature, err := websub.Sign(websub.SHA256, SecretOf(i), m.Body)
	m.Header = append(append(make([]string, 0, len(msg.Header)+2), msg.Header...), websub.SignatureHeader, signature)
	return m, err
}
