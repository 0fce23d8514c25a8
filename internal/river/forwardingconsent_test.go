package river_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

func withMail(t *testing.T, o river.Options, do func(*testing.T, *diskHarness, *fakeSender)) {
	t.Helper()
	o.HostInterval = -1
	withDisk(t, o, func(t *testing.T, h *diskHarness) {
		c := &fakeSender{mail: true}
		h.setup = func(r *river.River) {
			r.Forward, r.Key = c, []byte(strings.Repeat("k", 32))
			r.Sender = func(user string) string { return "Sender of " + user }
		}
		h.stop()
		h.start()
		h.serve(feedURL, doc(rss("", "old")))
		h.add(river.Request{URL: feedURL})
		do(t, h, c)
	})
}

func (h *diskHarness) mailTo(target string) forward.Forwarding {
	h.t.Helper()
	return h.putForwarding(forward.Forwarding{Via: forward.ViaEmail, Target: target})
}

func TestNoMailIsForwardedBeforeConfirmation(t *testing.T) {
	t.Parallel()
	withMail(t, river.Options{}, func(t *testing.T, h *diskHarness, c *fakeSender) {
		n := h.mailTo("vic@x.example")
		if n.State != forward.ForwardingWaiting {
			t.Errorf("%+v", n)
		}
		h.publish(feedURL, "a", "old")
		if got, asked := c.received(), c.consentRequests(); got != "" || asked != "vic@x.example" {
			t.Errorf("mailed %q, asked %q", got, asked)
		}
		if got := h.forwarding(n.ID); got.State != forward.ForwardingWaiting || got.AskedAt.IsZero() || got.Asked != 1 {
			t.Errorf("%+v", got)
		}
		link := c.tokens[0]
		l, err := h.river.ConfirmLink(t.Context(), link) // displaying the link does not confirm the forwarding
		if err != nil || l != (forward.Link{Reader: "ann", Sender: "Sender of ann", Target: "vic@x.example", State: forward.ForwardingWaiting}) {
			t.Errorf("%+v %v", l, err)
		}
		if c.sender != l.Sender {
			t.Errorf("the mail names %q, and the page of its link %q", c.sender, l.Sender)
		}
		h.publish(feedURL, "b", "a", "old")
		if got := c.received(); got != "" {
			t.Errorf("mailed %q", got)
		}
		l, err = h.river.ConfirmForwarding(t.Context(), link)
		if err != nil || l.State != forward.ForwardingConfirmed {
			t.Errorf("%+v %v", l, err)
		}
		h.publish(feedURL, "c", "b", "a", "old")
		if got := c.received(); got != "vic@x.example: c" || c.consentRequests() != "" {
			t.Errorf("mailed %q", got)
		}
		if got := h.forwarding(n.ID); got.State != forward.ForwardingConfirmed || got.DecidedAt.IsZero() {
			t.Errorf("%+v", got)
		}
		// The address with a plus suffix counts as another recipient.
		n = h.forwarding(n.ID)
		n.Target = "vic+tag@x.example"
		if n = h.putForwarding(n); n.State != forward.ForwardingWaiting {
			t.Errorf("%+v", n)
		}
	})
}

func TestRecipientWhoUnsubscribesGetsNoFurtherConsentRequests(t *testing.T) {
	t.Parallel()
	withMail(t, river.Options{}, func(t *testing.T, h *diskHarness, c *fakeSender) {
		n := h.mailTo("vic@x.example")
		h.advance(10 * time.Second)
		if _, err := h.river.ConfirmForwarding(t.Context(), c.tokens[0]); err != nil {
			t.Fatal(err)
		}
		h.publish(feedURL, "a", "old")
		end := c.end
		if got := c.received(); got != "vic@x.example: a" || end == "" {
			t.Fatalf("%q, ended by %q", got, end)
		}
		if l, err := h.river.EndLink(t.Context(), end); err != nil || l.State != forward.ForwardingConfirmed {
			t.Errorf("the link: %+v %v", l, err)
		}
		if l, err := h.river.EndForwarding(t.Context(), end); err != nil || l.State != forward.ForwardingEnded {
			t.Errorf("%+v %v", l, err)
		}
		h.publish(feedURL, "b", "a", "old")
		if got := c.received(); got != "" || h.forwarding(n.ID).State != forward.ForwardingEnded {
			t.Errorf("mailed %q", got)
		}
		c.consentRequests()
		if err := h.river.TryForwarding(t.Context(), "ann", n.ID); fault.CodeOf(err) != fault.Refused {
			t.Errorf("try: %v", err)
		}
		if err := h.river.DropForwarding(t.Context(), "ann", n.ID); err != nil {
			t.Fatal(err)
		}
		for _, target := range []string{"vic@x.example", "Vic@X.example", "vic+again@x.example"} {
			_, err := h.river.PutForwarding(t.Context(), forward.Forwarding{Reader: "ann", Via: forward.ViaEmail, Target: target})
			if fault.CodeOf(err) != fault.Refused || !strings.Contains(fault.Message(err), "refuses further messages") {
				t.Errorf("%s: %v", target, err)
			}
		}
		if _, err := h.river.PutForwarding(t.Context(), forward.Forwarding{Reader: "bea", Via: forward.ViaEmail, Target: "vic@x.example"}); err != nil {
			t.Errorf("another user: %v", err)
		}
		h.advance(time.Hour)
		if got := c.consentRequests(); got != "vic@x.example" {
			t.Errorf("asked %q", got)
		}
		if l, err := h.river.AllowForwarding(t.Context(), end); err != nil || l.State != "" {
			t.Errorf("allowed again: %+v %v", l, err)
		}
		h.mailTo("vic@x.example")
	})
}

func TestConsentLinksAreSignedAndExpire(t *testing.T) {
	t.Parallel()
	withMail(t, river.Options{}, func(t *testing.T, h *diskHarness, c *fakeSender) {
		h.mailTo("vic@x.example")
		h.advance(10 * time.Second)
		link, end := c.tokens[0], c.end
		for name, token := range map[string]string{"nothing": "", "nonsense": "abc", "another kind": end, "cut": link[:len(link)-2], "changed": "B" + link[1:], "more": link + "AAAA"} {
			if _, err := h.river.ConfirmForwarding(t.Context(), token); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := h.river.EndForwarding(t.Context(), link); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("a link for confirmation ends forwarding: %v", err)
		}
		h.advance(7*24*time.Hour + time.Minute)
		if _, err := h.river.ConfirmForwarding(t.Context(), link); fault.CodeOf(err) != fault.Gone {
			t.Errorf("after a week: %v", err)
		}
		if _, err := h.river.EndForwarding(t.Context(), end); err != nil {
			t.Errorf("a link that ends forwarding has expired: %v", err)
		}
	})
}

func TestConsentRequestsToSilentWebhookAreLimited(t *testing.T) {
	t.Parallel()
	withMail(t, river.Options{}, func(t *testing.T, h *diskHarness, c *fakeSender) {
		c.refuse = fault.New(fault.Unreadable, "It did not answer the challenge.")
		n := h.putForwarding(forward.Forwarding{Target: "hook.example/"})
		h.publish(feedURL, "a", "old")
		h.advance(30 * 24 * time.Hour)
		if got := c.consentRequests(); got != "hook.example/ hook.example/ hook.example/" || c.received() != "" {
			t.Errorf("asked %q", got)
		}
		if got := h.forwarding(n.ID); got.State != forward.ForwardingWaiting || got.Problem != "It did not answer the challenge." {
			t.Errorf("%+v", got)
		}
		// The user requests another attempt.
		if err := h.river.TryForwarding(t.Context(), "ann", n.ID); fault.CodeOf(err) != fault.Unreadable {
			t.Error(err)
		}
		h.advance(24 * time.Hour)
		if got := c.consentRequests(); got != "hook.example/" {
			t.Errorf("asked %q", got)
		}
		c.refuse = nil
		if err := h.river.TryForwarding(t.Context(), "ann", n.ID); err != nil {
			t.Error(err)
		}
		if got := h.forwarding(n.ID); got.State != forward.ForwardingConfirmed || got.Problem != "" || got.DecidedAt.IsZero() {
			t.Errorf("%+v", got)
		}
		h.publish(feedURL, "b", "a", "old")
		if got := c.received(); got != "hook.example/: b" {
			t.Errorf("forwarded %q", got)
		}
	})
}

func TestConsentRequestsAreLimitedPerDay(t *testing.T) {
	t.Parallel()
	withMail(t, river.Options{}, func(t *testing.T, h *diskHarness, c *fakeSender) {
		// Many users forward to the same mailbox, which they spell in different ways.
		for i := range 8 {
			h.putForwarding(forward.Forwarding{Reader: fmt.Sprint("reader", i), Via: forward.ViaEmail, Target: fmt.Sprintf("Vic+%d@x.example", i)})
		}
		h.advance(time.Minute)
		if got := strings.Fields(c.consentRequests()); len(got) != 3 {
			t.Errorf("one mailbox got %d mails: %v", len(got), got)
		}
		// One user forwards to many mailboxes.
		for i := range 30 {
			h.mailTo(fmt.Sprintf("m%d@y.example", i))
		}
		h.advance(time.Minute)
		if got := strings.Fields(c.consentRequests()); len(got) != 20 {
			t.Errorf("one user sent %d mails", len(got))
		}
		list, err := h.river.Forwardings(t.Context(), "ann")
		waiting := 0
		for _, n := range list {
			if n.Asked == 0 && n.State == forward.ForwardingWaiting && strings.Contains(n.Problem, "a few times a day") {
				waiting++
			}
		}
		if err != nil || waiting != 10 {
			t.Errorf("%d of %d wait for the next day: %v", waiting, len(list), err)
		}
		h.advance(24 * time.Hour)
		if got := strings.Fields(c.consentRequests()); len(got) != 3+10 {
			t.Errorf("the next day %d mails: %v", len(got), got)
		}
	})
}

func TestForwardedMailsAreLimitedPerDay(t *testing.T) {
	t.Parallel()
	withMail(t, river.Options{MailsBy: 5, MailsTo: 3}, func(t *testing.T, h *diskHarness, c *fakeSender) {
		for _, target := range []string{"a@x.example", "b@x.example"} {
			h.mailTo(target)
		}
		h.advance(10 * time.Second)
		for _, token := range c.tokens {
			if _, err := h.river.ConfirmForwarding(t.Context(), token); err != nil {
				t.Fatal(err)
			}
		}
		words := []string{"old"}
		for i := range 6 {
			words = append([]string{fmt.Sprint("n", i)}, words...)
			h.publish(feedURL, words...)
		}
		mails := strings.Split(c.received(), "\n")
		to := map[string]int{}
		for _, m := range mails {
			name, _, _ := strings.Cut(m, ":")
			to[name]++
		}
		if len(mails) != 5 || to["a@x.example"] > 3 || to["b@x.example"] > 3 {
			t.Errorf("%d mails: %v", len(mails), to)
		}
		if n := h.forwarding(1); n.Failures != 0 || n.Paused || !strings.Contains(n.Problem, "smtp.account-limit") {
			t.Errorf("%+v", n)
		}
		h.advance(24 * time.Hour)
		got := c.received()
		for _, want := range []string{"a@x.example: ", "b@x.example: ", "n5"} {
			if !strings.Contains(got, want) {
				t.Errorf("the next day: %q", got)
			}
		}
	})
}

func TestFailedMailDoesNotCountTowardsTheDailyLimit(t *testing.T) {
	t.Parallel()
	withMail(t, river.Options{MailsBy: 2, MailsTo: 2}, func(t *testing.T, h *diskHarness, c *fakeSender) {
		h.mailTo("a@x.example")
		h.advance(10 * time.Second)
		if _, err := h.river.ConfirmForwarding(t.Context(), c.tokens[0]); err != nil {
			t.Fatal(err)
		}
		c.fail(fault.New(fault.Unavailable, "The mail server is away."))
		h.publish(feedURL, "a", "old")
		h.advance(time.Hour)
		if tries := len(strings.Split(c.received(), "\n")); tries < 5 {
			t.Errorf("%d tries", tries)
		}
		c.fail(nil)
		h.advance(10 * time.Minute)
		if got := c.received(); got != "a@x.example: a" {
			t.Errorf("%q", got)
		}
	})
}
