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

// withDigest runs a test with a confirmed daily digest to vic@x.example. The test starts shortly
// after the hour at which digests are sent.
func withDigest(t *testing.T, do func(*testing.T, *diskHarness, *fakeSender, forward.Forwarding)) {
	t.Helper()
	withMail(t, river.Options{}, func(t *testing.T, h *diskHarness, c *fakeSender) {
		n := h.putForwarding(forward.Forwarding{Via: forward.ViaEmail, Target: "vic@x.example", Digest: forward.DigestDaily})
		h.advance(10 * time.Second)
		if _, err := h.river.ConfirmForwarding(t.Context(), c.tokens[0]); err != nil {
			t.Fatal(err)
		}
		h.nextDigest()
		do(t, h, c, n)
	})
}

// nextDigest waits until the next daily digest was sent.
func (h *diskHarness) nextDigest() {
	h.t.Helper()
	h.advance(time.Until(forward.DueAt(forward.DigestDaily, 59, time.Now())) + time.Minute)
}

func TestDigestHasTheItemsOfADayNewestFirst(t *testing.T) {
	t.Parallel()
	withDigest(t, func(t *testing.T, h *diskHarness, c *fakeSender, n forward.Forwarding) {
		h.publish(feedURL, "a", "old")
		h.publish(feedURL, "b", "a", "old")
		if got := c.received(); got != "" {
			t.Errorf("mailed %q before the hour", got)
		}
		h.reboot()
		h.nextDigest()
		if got := c.received(); got != "vic@x.example: b a" {
			t.Errorf("mailed %q", got)
		}
		h.advance(3 * 24 * time.Hour)
		if got := c.received(); got != "" {
			t.Errorf("mailed %q after days without items", got)
		}
		if got := h.forwarding(n.ID); got.Sent != 1 || !got.NextAt.IsZero() {
			t.Errorf("%+v", got)
		}
		var many []string
		for i := 230; i > 0; i-- {
			many = append(many, fmt.Sprintf("n%03d", i))
		}
		h.publish(feedURL, append(many, "b", "a", "old")...)
		h.nextDigest()
		got := strings.Fields(c.received())
		if len(got) != 1+forward.DigestItems || got[1] != "n230" || c.more != 30 {
			t.Errorf("%d items and %d more: %v", len(got)-1, c.more, got[:3])
		}
		h.nextDigest()
		if got := c.received(); got != "" {
			t.Errorf("the counted items came too: %q", got)
		}
	})
}

func TestFailedDigestIsRetriedWithAllItems(t *testing.T) {
	t.Parallel()
	withDigest(t, func(t *testing.T, h *diskHarness, c *fakeSender, n forward.Forwarding) {
		h.publish(feedURL, "a", "old")
		c.fail(fault.New(fault.Unavailable, "The mail server is away."))
		h.nextDigest()
		if got := h.forwarding(n.ID); got.Problem != "The mail server is away." || got.NextAt.IsZero() {
			t.Errorf("%+v", got)
		}
		h.publish(feedURL, "b", "a", "old")
		c.received()
		c.fail(nil)
		h.advance(time.Hour)
		if got := c.received(); got != "vic@x.example: b a" {
			t.Errorf("mailed %q", got)
		}
		// The mail is sent, but the process crashes before it stores which items were sent.
		full := &failing{Store: h.disk}
		h.stop()
		h.store = full
		h.start()
		full.forwardings.Store(true)
		h.publish(feedURL, "d", "b", "a", "old")
		h.nextDigest()
		if got := c.received(); !strings.HasPrefix(got, "vic@x.example: d") {
			t.Errorf("mailed %q", got)
		}
		h.reboot()
		h.advance(10 * time.Minute)
		if got := c.received(); got != "vic@x.example: d" {
			t.Errorf("after the crash: %q", got)
		}
		h.nextDigest()
		if got := c.received(); got != "" {
			t.Errorf("mailed %q twice", got)
		}
	})
}

func TestRecipientChangesTheDigestByLink(t *testing.T) {
	t.Parallel()
	withDigest(t, func(t *testing.T, h *diskHarness, c *fakeSender, n forward.Forwarding) {
		h.publish(feedURL, "a", "old")
		h.nextDigest()
		c.received()
		end := c.end
		if l, err := h.river.EndLink(t.Context(), end); err != nil || l.Digest != forward.DigestDaily {
			t.Errorf("%+v %v", l, err)
		}
		h.publish(feedURL, "b", "a", "old")
		if l, err := h.river.ChooseDigest(t.Context(), end, forward.DigestNone); err != nil || l.Digest != forward.DigestNone {
			t.Errorf("%+v %v", l, err)
		}
		h.advance(time.Minute)
		if got := c.received(); got != "vic@x.example: b" {
			t.Errorf("mailed %q", got)
		}
		if _, err := h.river.ChooseDigest(t.Context(), end, "hourly"); fault.CodeOf(err) != fault.Invalid {
			t.Error(err)
		}
		if _, err := h.river.ChooseDigest(t.Context(), c.tokens[0], forward.DigestDaily); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("by the link for confirmation: %v", err)
		}
		h.putForwarding(forward.Forwarding{Via: forward.ViaEmail, Target: "Vic@x.example", Digest: forward.DigestWeekly})
		if l, err := h.river.EndLink(t.Context(), end); err != nil || l.Digest != forward.DigestMixed {
			t.Errorf("%+v %v", l, err)
		}
		if _, err := h.river.PutForwarding(t.Context(), forward.Forwarding{Reader: "ann", Via: forward.ViaWebhook, Target: "a.example", Digest: forward.DigestDaily}); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("a digest for a webhook: %v", err)
		}
	})
}
