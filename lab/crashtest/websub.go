package crashtest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	subscribe   = "subscribe"
	unsubscribe = "unsubscribe"
	denied      = "denied"

	firstLease = 10_000 // in seconds; each subscription request asks for a different lease

	publicURL = "http://hub.invalid" // public URL of the program
	changedAt = "X-Hub-Changed-At"   // every notification has this header; no verification has the header
)

// request is a WebSub request to subscribe or unsubscribe.
type request struct {
	pair
	mode   string
	secret string
	lease  int  // in seconds; unique, so that a verification identifies its request
	agreed bool // whether the callback confirms the verification
	call
}

// verification is a verification request or a denial that a callback received.
type verification struct {
	mode   string
	lease  int
	conn   time.Time // when the connection of the request was opened
	at     time.Time // when the callback answered; at most the end of the process that sent the request
	yes    bool
	reason string // reason of a denial
}

// content is the content of a delivery as a subscriber sees it.
type content struct {
	topic   string
	version int
	wrong   string // error in the content that does not depend on the receiver; "" for none
	signed  bool
	secret  string // secret that the signature was made with; "" if unknown
}

// ask sends a WebSub request. It records the request before it sends it, because the callback may
// be verified before the response.
func (r *runner) ask(base, mode, feed string, s *subscribers, path, secret string, agreed bool) *request {
	q := &request{pair: pair{feed, s.base + path}, mode: mode, secret: secret, agreed: agreed}
	if !r.hold(q.pair) {
		return q
	}
	defer r.free(q.pair)
	form := url.Values{"hub.mode": {mode}, "hub.callback": {q.callback}, "hub.topic": {feed}}
	r.history.do(func() {
		h := r.history
		if mode == subscribe {
			q.lease = firstLease + len(h.leases)
			h.leases[q.lease] = q
			form.Set("hub.lease_seconds", strconv.Itoa(q.lease))
			if secret != "" {
				form.Set("hub.secret", secret)
			}
		}
		h.requests[q.pair] = append(h.requests[q.pair], q)
	})
	c := r.post(base+"/websub", form, http.StatusAccepted, "")
	r.history.do(func() {
		q.call = c
		if c.ok {
			r.report.Requests++
		}
	})
	return q
}

// recordVerification records a verification or denial, and returns whether the callback confirms
// it. conn is the time when the connection of the request was opened.
func (h *history) recordVerification(p pair, v url.Values, conn time.Time) (yes bool) {
	q := verification{mode: v.Get("hub.mode"), conn: conn, at: time.Now(), reason: v.Get("hub.reason")}
	q.lease, _ = strconv.Atoi(v.Get("hub.lease_seconds"))
	h.mu.Lock()
	defer h.mu.Unlock()
	var of *request
	switch q.mode {
	case subscribe:
		of = h.leases[q.lease]
	case unsubscribe, denied:
		for _, r := range h.requests[p] {
			if (r.mode == unsubscribe) == (q.mode == unsubscribe) {
				of = r
			}
		}
	}
	if of == nil || of.pair != p || q.mode != denied && v.Get("hub.challenge") == "" {
		h.violations = append(h.violations, fmt.Sprintf("unexpected verification: %s of %s: %s", p.callback, p.feed, v.Encode()))
		return false
	}
	q.yes = of.agreed && q.mode != denied
	h.verifications[p] = append(h.verifications[p], q)
	return q.yes
}

// verificationsOf returns the verifications that may belong to q.
func (h *history) verificationsOf(q *request) (list []verification) {
	for _, a := range h.verifications[q.pair] {
		if a.mode == q.mode && a.lease == q.lease {
			list = append(list, a)
		}
	}
	return list
}

// contentOf checks the links, the content and the signature of a delivery, as a subscriber does.
func (h *history) contentOf(head http.Header, body []byte, callback string) *content {
	c := &content{}
	for link := range strings.SplitSeq(head.Get("Link"), ", ") {
		target, rel, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">; ")
		switch {
		case rel == `rel="self"`:
			c.topic = target
		case rel != `rel="hub"` || target != publicURL+"/websub":
			c.wrong = fmt.Sprintf("the link %q", link)
		}
	}
	version, wrong := h.versionOf(c.topic, head.Get("Content-Type"), body)
	if c.version = version; wrong != "" {
		c.wrong = wrong
	}
	signature := head.Get("X-Hub-Signature")
	if c.signed = signature != ""; !c.signed {
		return c
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, q := range slices.Backward(h.requests[pair{c.topic, callback}]) {
		mac := hmac.New(sha256.New, []byte(q.secret))
		mac.Write(body)
		if q.secret != "" && signature == "sha256="+hex.EncodeToString(mac.Sum(nil)) {
			c.secret = q.secret
			break
		}
	}
	return c
}

// versionOf returns the version of a feed's content. wrong describes an error in the content, or
// is "".
func (h *history) versionOf(topic, kind string, body []byte) (v int, wrong string) {
	if user, form, ok := hostedTopic(topic); ok {
		return h.hostedVersion(user, form, kind, body)
	}
	_, rest, _ := bytes.Cut(body, []byte("<description>v"))
	number, _, _ := bytes.Cut(rest, []byte("<"))
	v, _ = strconv.Atoi(string(number))
	want, doc := document(topic, v)
	switch {
	case !bytes.Equal(body, doc):
		return v, fmt.Sprintf("%d bytes that are not the %d of version %d", len(body), len(doc), v)
	case kind != want:
		return v, fmt.Sprintf("type %q on version %d", kind, v)
	}
	return v, ""
}

// effect returns the time at which a confirmation at t has certainly taken effect. If the process
// crashes before it stores the confirmation, the next process sends the verification again.
func (h *history) effect(t time.Time) time.Time {
	if l := h.lifetimes[h.lifetimeAt(t)]; !l.ended.IsZero() {
		return l.ended.Add(h.lateWrites)
	}
	return t.Add(requestTimeout)
}

// dateVerifications dates verifications that callbacks answered after the crash of their sender by
// the crash. They waited in a socket buffer, and a newer request may have replaced theirs.
func (h *history) dateVerifications() {
	for _, list := range h.verifications {
		for i := range list {
			if ended := h.lifetimes[h.lifetimeAt(list[i].conn)].ended; !ended.IsZero() && list[i].at.After(ended) {
				list[i].at = ended
			}
		}
	}
}

// confirm converts the confirmations of callbacks to registrations and cancels. A registration
// lasts from the first confirmation until its effect is certain.
func (h *history) confirm(r *Report) {
	for p, list := range h.requests {
		for _, q := range list {
			if q.mode != subscribe {
				continue
			}
			if c, ok := h.confirmed(q); ok {
				h.registers[p] = append(h.registers[p], c)
				r.Confirmed++
			}
		}
		for _, g := range h.received[p] { // a callback that receives notifications is subscribed
			h.proofs[p] = append(h.proofs[p], call{from: h.lifetimes[h.lifetimeAt(g.conn)].started, to: g.at, ok: true})
		}
		var last *verification
		for _, a := range h.verifications[p] {
			if a.mode != unsubscribe {
				continue
			}
			if last = nil; a.yes {
				h.cancels[p] = append(h.cancels[p], call{from: a.at, to: h.effect(a.at), unsure: true})
				last = &a
			}
		}
		if n := len(h.cancels[p]); last != nil { // nothing replaced this cancel, so it must take effect
			h.cancels[p][n-1].ok, h.cancels[p][n-1].unsure = true, false
			r.Ended++
		}
	}
}

// confirmed returns the outcome of a subscription request that its callback confirmed. The
// outcome is unsure if a later verification may have replaced the request before it took effect.
// Such a verification belongs to another subscription request or to a cancel. A confirmed cancel
// also removes an earlier pending request, for example one that a crashed process left.
func (h *history) confirmed(q *request) (c call, found bool) {
	var last time.Time
	for _, a := range h.verifications[q.pair] {
		switch {
		case a.mode == unsubscribe && a.yes && found && h.left(last, a.at):
			c.ok, c.unsure = false, true
		case a.mode != subscribe:
		case a.lease != q.lease:
			c.ok, c.unsure = false, found
		case a.yes:
			if !found {
				c.from, found = a.at, true
			}
			last = a.at
			c.to, c.ok, c.unsure = h.effect(a.at), true, false
		}
	}
	return c, found
}

// left reports whether the process that ran at time t crashed before another time. A confirmation
// at t may then have no effect.
func (h *history) left(t, before time.Time) bool {
	ended := h.lifetimes[h.lifetimeAt(t)].ended
	return !ended.IsZero() && ended.Before(before)
}

// shown returns the time of the first delivery that proves the effect of q by its signature.
func (h *history) shown(q *request) (t time.Time, found bool) {
	for _, g := range h.received[q.pair] {
		if q.secret != "" && g.content != nil && g.content.secret == q.secret && (!found || g.at.Before(t)) {
			t, found = g.at, true
		}
	}
	return t, found
}

// permitted reports whether secret can be the secret of p at time t, in a lifetime that started
// at begun. It can be the secret of any confirmed request that is not certainly replaced.
func (h *history) permitted(p pair, secret string, t, begun time.Time) bool {
	type state struct {
		*request
		call
	}
	var all []state
	for _, q := range h.requests[p] {
		if c, ok := h.confirmed(q); ok && !c.from.After(t) {
			all = append(all, state{q, c})
		}
	}
	past := func(b state) bool {
		over := func(at time.Time) bool { return at.Before(begun) || at.Add(requestTimeout).Before(t) }
		at, shown := h.shown(b.request)
		return shown && over(at) || b.call.ok && over(b.call.to)
	}
	return slices.ContainsFunc(all, func(a state) bool {
		return a.secret == secret && !slices.ContainsFunc(all, func(b state) bool { return b.call.from.After(a.call.to) && past(b) })
	})
}
