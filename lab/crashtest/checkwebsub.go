package crashtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cloudburst/lab/outside"
)

// checkAsked reports acknowledged WebSub requests without a verification. A later request of the
// same kind can replace a request; a confirmed request of the other kind can also replace it.
// Repeated verifications are allowed.
func (h *history) checkAsked(r *Report) (broken []string) {
	for p, list := range h.requests {
		for _, a := range h.verifications[p] {
			switch {
			case a.mode == denied:
				r.Denied++
			case !a.yes:
				r.Declined++
			}
		}
		for _, q := range list {
			replaced := slices.ContainsFunc(list, func(other *request) bool {
				if !other.from.After(q.from) {
					return false
				}
				return other.mode == q.mode && (other.ok || other.unsure) || other.mode != q.mode && h.agreedTo(other)
			})
			if q.ok && !replaced && !h.wasReceived(q) {
				broken = append(broken, fmt.Sprintf("request lost: no verification of %s for %s %s, acknowledged at %s",
					p.callback, q.mode, p.feed, q.to.Format(clock)))
			}
		}
	}
	return broken
}

// agreedTo reports whether the callback of q confirmed a verification that may belong to q.
func (h *history) agreedTo(q *request) bool {
	return slices.ContainsFunc(h.verifications[q.pair], func(a verification) bool {
		return a.mode == q.mode && a.lease == q.lease && a.yes && a.at.After(q.from)
	})
}

// wasReceived reports whether the callback of q received a verification or a denial for q.
func (h *history) wasReceived(q *request) bool {
	gone := strings.Contains(q.feed, missing)
	return slices.ContainsFunc(h.verifications[q.pair], func(a verification) bool {
		switch {
		case gone && q.mode == subscribe:
			return a.mode == denied && a.reason != "" && a.at.After(q.from)
		case q.mode == unsubscribe:
			return a.mode == unsubscribe && a.at.After(q.from)
		}
		return a.mode == subscribe && a.lease == q.lease
	})
}

// checkContent reports wrong content: content that differs from the feed, has a signature with a
// wrong secret, or is older than earlier content.
func (h *history) checkContent(p pair, r *Report) (broken []string) {
	list := slices.Clone(h.received[p])
	slices.SortFunc(list, func(a, b receipt) int { return a.at.Compare(b.at) })
	versions := map[int]bool{}
	say := func(g receipt, format string, args ...any) {
		broken = append(broken, fmt.Sprintf(format, args...)+fmt.Sprintf(": %s got version %d of %s at %s", p.callback, g.content.version, p.feed, g.at.Format(clock)))
	}
	for i, g := range list {
		c := g.content
		if c == nil {
			continue
		}
		r.Contents++
		if c.signed {
			r.Signed++
		}
		if !g.refused {
			if versions[c.version] {
				r.Again++
			}
			versions[c.version] = true
		}
		begun := h.lifetimes[h.lifetimeAt(g.conn)].started
		switch {
		case c.wrong != "":
			say(g, "wrong content (%s)", c.wrong)
		case c.signed && c.secret == "":
			say(g, "wrong signature (of an unknown secret)")
		case !h.permitted(p, c.secret, g.at, begun):
			say(g, "wrong signature (of %q, not the secret of that time)", c.secret)
		}
		if g.conn.Before(h.lifetimes[h.lifetimeAt(g.at)].started) {
			continue // an earlier process sent this content, which then waited in a socket buffer
		}
		for _, before := range list[:i] {
			if before.content != nil && h.older(p.feed, c.version, before.content.version) && before.end.Before(g.at) {
				say(g, "old after new (version %d at %s)", before.content.version, before.at.Format(clock))
				break
			}
		}
	}
	return broken
}

// checkSecret reports a subscription whose secret is not the last confirmed secret.
func (h *history) checkSecret(p pair, k outside.Subscription) []string {
	if k.Protocol != "websub" || h.permitted(p, k.Secret, time.Now(), h.lifetimes[len(h.lifetimes)-1].started) {
		return nil
	}
	return []string{fmt.Sprintf("wrong secret: %s has %q for %s, which is not the last confirmed one", p.callback, k.Secret, p.feed)}
}
