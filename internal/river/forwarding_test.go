package river_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

// fakeSender is a Sender that records messages instead of sending them.
type fakeSender struct {
	mu       sync.Mutex
	messages []string // recorded messages, each as "target: titles"
	at       []time.Time
	secret   string
	end      string // token of the end link in the last message
	more     int    // number of items that the last message counts but does not list
	err      error
	hold     chan struct{} // if not nil, Forward blocks until hold is closed
	mail     bool          // true: the sender supports mail too
	asked    []string      // targets of the recorded requests for consent
	tokens   []string      // tokens of the links in the requests for consent
	sender   string        // display name of the user in the last request for consent
	refuse   error         // error that Ask returns; nil: none
}

func (c *fakeSender) Ways() []string {
	if c.mail {
		return []string{forward.ViaWebhook, forward.ViaPost, forward.ViaEmail, forward.ViaMastodon}
	}
	return []string{forward.ViaWebhook, forward.ViaPost, forward.ViaMastodon}
}

func (c *fakeSender) Ask(_ context.Context, n forward.Forwarding, token string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked, c.tokens, c.end = append(c.asked, strings.TrimPrefix(n.Target, "https://")), append(c.tokens, token), n.End
	c.sender = n.Sender
	return c.refuse
}

// consentRequests returns the targets of the requests since the last call.
func (c *fakeSender) consentRequests() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := strings.Join(c.asked, " ")
	c.asked = nil
	return out
}

func (c *fakeSender) Forward(ctx context.Context, n forward.Forwarding, list []river.Entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hold != nil {
		hold := c.hold
		c.mu.Unlock()
		select {
		case <-hold:
		case <-ctx.Done():
		}
		c.mu.Lock()
		if ctx.Err() != nil {
			return fault.Wrap(fault.Unreadable, ctx.Err(), "cut off")
		}
	}
	c.messages = append(c.messages, strings.TrimPrefix(n.Target, "https://")+": "+titles(list))
	c.at = append(c.at, time.Now())
	c.secret, c.end, c.more = n.Secret, n.End, n.More
	return c.err
}

func (c *fakeSender) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// received returns the messages that were sent since the last call.
func (c *fakeSender) received() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := strings.Join(c.messages, "\n")
	c.messages, c.at = nil, nil
	return out
}

func withFakeSender(t *testing.T, do func(*testing.T, *diskHarness, *fakeSender)) {
	t.Helper()
	withDisk(t, river.Options{HostInterval: -1}, func(t *testing.T, h *diskHarness) {
		c := &fakeSender{}
		h.setup = func(r *river.River) { r.Forward = c }
		h.stop()
		h.start()
		do(t, h, c)
	})
}

func (h *diskHarness) putForwarding(n forward.Forwarding) forward.Forwarding {
	h.t.Helper()
	if n.Reader == "" {
		n.Reader = "ann"
	}
	if n.Via == "" {
		n.Via = forward.ViaWebhook
	}
	n, err := h.river.PutForwarding(h.t.Context(), n)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

func (h *diskHarness) forwarding(id int64) forward.Forwarding {
	h.t.Helper()
	list, err := h.river.Forwardings(h.t.Context(), "ann")
	if err != nil {
		h.t.Fatal(err)
	}
	for _, n := range list {
		if n.ID == id {
			return n
		}
	}
	h.t.Fatalf("no notice %d", id)
	return forward.Forwarding{}
}

// publish makes the server of a feed serve these items, newest first, and pushes the feed.
func (h *diskHarness) publish(url string, words ...string) {
	h.t.Helper()
	h.serve(url, doc(rss("", words...)))
	h.advance(2 * time.Minute)
	if _, err := h.river.ReceivePush(h.t.Context(), url, "ping"); err != nil {
		h.t.Fatal(err)
	}
	h.advance(10 * time.Second)
}

func TestOnlyNewItemsAreForwardedInOrder(t *testing.T) {
	t.Parallel()
	withFakeSender(t, func(t *testing.T, h *diskHarness, c *fakeSender) {
		h.serve(feedURL, doc(rss("", "old")))
		h.serve("http://other.test/feed", doc(rss("", "elsewhere")))
		h.putForwarding(forward.Forwarding{Target: "all.example/"})
		h.putForwarding(forward.Forwarding{Target: "post.example/", Via: forward.ViaPost})
		h.add(river.Request{URL: feedURL, Categories: []string{"News"}})
		h.add(river.Request{URL: "http://other.test/feed"})
		h.add(river.Request{URL: feedURL, Reader: "bea"})
		h.putForwarding(forward.Forwarding{Target: "news.example/", Category: "News"})
		h.putForwarding(forward.Forwarding{Target: "other.example/", SourceID: river.SourceID("http://other.test/feed")})
		h.putForwarding(forward.Forwarding{Target: "bea.example/", Reader: "bea"})
		h.advance(time.Minute)
		if got := c.received(); got != "" {
			t.Errorf("forwarded old items: %s", got)
		}
		h.publish(feedURL, "c", "b", "old")
		got := strings.Split(c.received(), "\n")
		want := []string{"all.example/: b c", "bea.example/: b c", "news.example/: b c", "post.example/: b", "post.example/: c"}
		if d := cmp.Diff(want, compactSorted(got)); d != "" || strings.Join(got, " ") == "" {
			t.Error(d)
		}
		h.publish("http://other.test/feed", "x", "elsewhere")
		if d := cmp.Diff([]string{"all.example/: x", "other.example/: x", "post.example/: x"}, compactSorted(strings.Split(c.received(), "\n"))); d != "" {
			t.Error(d)
		}
		// An edited item does not count as a new item, so it is not forwarded.
		h.publish(feedURL, "c=changed", "b", "old")
		if got := c.received(); got != "" {
			t.Errorf("forwarded an edit: %s", got)
		}
		var many []string
		for i := 45; i > 0; i-- {
			many = append(many, fmt.Sprintf("n%02d", i))
		}
		h.publish("http://other.test/feed", append(many, "x", "elsewhere")...)
		var sizes []int
		var order []string
		for _, line := range strings.Split(c.received(), "\n") {
			if words, ok := strings.CutPrefix(line, "all.example/: "); ok {
				list := strings.Fields(words)
				sizes, order = append(sizes, len(list)), append(order, list...)
			}
		}
		if d := cmp.Diff([]int{20, 20, 5}, sizes); d != "" || len(order) != 45 || order[0] != "n01" || order[44] != "n45" {
			t.Errorf("%v\n%s", order, d)
		}
	})
}

func TestFailedForwardingIsRetriedAndPausedAfterThreeDays(t *testing.T) {
	t.Parallel()
	withFakeSender(t, func(t *testing.T, h *diskHarness, c *fakeSender) {
		h.serve(feedURL, doc(rss("", "old")))
		h.add(river.Request{URL: feedURL})
		n := h.putForwarding(forward.Forwarding{Target: "a.example/"})
		c.fail(fault.New(fault.Unreadable, "It answered 500."))
		h.publish(feedURL, "a", "old")
		if got := h.forwarding(n.ID); got.Failures != 1 || got.Problem != "It answered 500." || got.Paused {
			t.Errorf("%+v", got)
		}
		h.publish(feedURL, "b", "a", "old") // the earlier items are sent together with later items
		h.advance(5 * 24 * time.Hour)
		c.mu.Lock()
		var waits []time.Duration
		for i := 1; i < len(c.at); i++ {
			waits = append(waits, c.at[i].Sub(c.at[i-1]).Round(time.Minute))
		}
		last := c.messages[len(c.messages)-1]
		c.mu.Unlock()
		want := []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}
		for len(want) < 16 {
			want = append(want, 6*time.Hour)
		}
		if d := cmp.Diff(want, waits); d != "" || last != "a.example/: a b" {
			t.Errorf("%s\n%s", last, d)
		}
		got := h.forwarding(n.ID)
		if !got.Paused || got.Failures != 17 || !strings.Contains(got.Problem, "three days") || !strings.Contains(got.Problem, "500") {
			t.Errorf("%+v", got)
		}
		c.fail(nil)
		c.received()
		got.Paused = false
		if n := h.putForwarding(got); n.Failures != 0 || n.Problem != "" {
			t.Errorf("%+v", n)
		}
		h.advance(time.Minute)
		if got, n := c.received(), h.forwarding(n.ID); got != "a.example/: a b" || n.Sent != 1 || n.LastAt.IsZero() {
			t.Errorf("%s %+v", got, n)
		}
	})
}

func TestForwardingRespectsRetryAfterAndGone(t *testing.T) {
	t.Parallel()
	withFakeSender(t, func(t *testing.T, h *diskHarness, c *fakeSender) {
		h.serve(feedURL, doc(rss("", "old")))
		h.add(river.Request{URL: feedURL})
		n := h.putForwarding(forward.Forwarding{Target: "a.example/"})
		busy := fault.New(fault.Unreadable, "It answered 429.")
		busy.RetryAfter = 3 * time.Hour
		c.fail(busy)
		h.publish(feedURL, "a", "old")
		if wait := time.Until(h.forwarding(n.ID).NextAt); wait < 170*time.Minute || wait > 3*time.Hour {
			t.Errorf("the next attempt is in %v", wait)
		}
		c.fail(fault.New(fault.Unavailable, "The mail server is away."))
		h.advance(24 * time.Hour)
		if got := h.forwarding(n.ID); got.Paused || got.Failures != 1 || got.Problem != "The mail server is away." {
			t.Errorf("paused after a failure of this server: %+v", got)
		}
		c.fail(fault.New(fault.Gone, "It answered 410."))
		h.advance(time.Hour)
		c.received()
		h.publish(feedURL, "b", "a", "old")
		h.advance(24 * time.Hour)
		if got, n := c.received(), h.forwarding(n.ID); got != "" || !n.Paused || n.Problem != "It answered 410." {
			t.Errorf("%s %+v", got, n)
		}
	})
}

// The program crashes after it sent items but before it stored that, and stops while it sends.
func TestForwardingContinuesAfterCrashAndStop(t *testing.T) {
	t.Parallel()
	withFakeSender(t, func(t *testing.T, h *diskHarness, c *fakeSender) {
		h.serve(feedURL, doc(rss("", "old")))
		h.add(river.Request{URL: feedURL})
		n := h.putForwarding(forward.Forwarding{Target: "a.example/"})
		h.advance(10 * time.Second)
		// The items are sent, but the process crashes before it stores which items were sent.
		full := &failing{Store: h.disk}
		h.stop()
		h.store = full
		h.start()
		full.forwardings.Store(true)
		h.publish(feedURL, "a", "old")
		if got := c.received(); got != "a.example/: a" {
			t.Error(got)
		}
		h.advance(3 * time.Minute)
		h.reboot()
		h.publish(feedURL, "b", "a", "old")
		h.advance(3 * time.Minute)
		got := strings.Split(c.received(), "\n")
		if last := got[len(got)-1]; !strings.HasPrefix(got[0], "a.example/: a") || !strings.HasSuffix(last, "b") || len(got) > 5 {
			t.Errorf("after the crash: %q", got)
		}
		// The program stops while it sends items.
		c.hold = make(chan struct{})
		h.publish(feedURL, "d", "b", "a", "old")
		h.stop()
		if got := h.forwarding(n.ID); got.Failures != 0 {
			t.Errorf("%+v", got)
		}
		c.hold = nil
		h.start()
		h.advance(time.Minute)
		if got := c.received(); got != "a.example/: d" {
			t.Errorf("after the end: %s", got)
		}
	})
}

func TestInvalidForwardingIsRejected(t *testing.T) {
	t.Parallel()
	withFakeSender(t, func(t *testing.T, h *diskHarness, c *fakeSender) {
		h.stop()
		h.options.MaxForwardings = 100
		h.start()
		for _, bad := range []forward.Forwarding{
			{Via: "pigeon", Target: "https://a.example/"}, {Via: forward.ViaEmail, Target: "ann@a.example"}, {Via: forward.ViaWebhook}, {Via: forward.ViaWebhook, Target: "ftp://a.example/"},
			{Via: forward.ViaPost, Target: "https://a:b@a.example/"}, {Via: forward.ViaPost, Target: "nonsense"}, {Via: forward.ViaWebhook, Target: "a.example", Secret: strings.Repeat("x", 201)},
			{Via: forward.ViaWebhook, Target: "a.example", SourceID: 1, Category: "x"},
			{Via: forward.ViaMastodon, Target: "https://a.example", Secret: "token"}, {Via: forward.ViaMastodon, Target: "https://a.example", SourceID: 1},
		} {
			bad.Reader = "ann"
			if _, err := h.river.PutForwarding(t.Context(), bad); fault.CodeOf(err) != fault.Invalid || err == nil {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		for _, missing := range []forward.Forwarding{{ID: 9}, {SourceID: 5}, {Category: "None"}} {
			missing.Reader, missing.Via, missing.Target = "ann", forward.ViaWebhook, "a.example"
			if _, err := h.river.PutForwarding(t.Context(), missing); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("%+v: %v", missing, err)
			}
		}
		n := h.putForwarding(forward.Forwarding{Target: "A.example/hook#x", Secret: "geheim"})
		if n.Target != "https://a.example/hook" || n.Secret != forward.SecretKept || n.CreatedAt.IsZero() {
			t.Errorf("%+v", n)
		}
		raw, err := h.store.Forwardings(t.Context(), "ann")
		if err != nil || len(raw) != 1 || raw[0].Secret == "" || strings.Contains(raw[0].Secret, "geheim") {
			t.Errorf("%+v %v", raw, err)
		}
		h.advance(10 * time.Second)
		n.Paused = true
		n = h.putForwarding(n)
		if got := h.forwarding(n.ID); !got.Paused || got.Secret != forward.SecretKept {
			t.Errorf("%+v", got)
		}
		if err := h.river.TryForwarding(t.Context(), "ann", n.ID); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("without an item: %v", err)
		}
		h.serve(feedURL, doc(rss("", "b", "a")))
		h.add(river.Request{URL: feedURL})
		if err := h.river.TryForwarding(t.Context(), "ann", n.ID); err != nil {
			t.Error(err)
		}
		if got := c.received(); !strings.HasPrefix(got, "a.example/hook: ") || len(strings.Fields(got)) != 2 || c.secret != "geheim" {
			t.Errorf("%s, signed with %q", got, c.secret)
		}
		if err := h.river.TryForwarding(t.Context(), "ann", n.ID); fault.CodeOf(err) != fault.TooMany || fault.RetryAfter(err) == 0 {
			t.Errorf("at once again: %v", err)
		}
		h.advance(11 * time.Second)
		c.fail(fault.New(fault.Unreadable, "It answered 500."))
		if err := h.river.TryForwarding(t.Context(), "ann", n.ID); fault.CodeOf(err) != fault.Unreadable {
			t.Error(err)
		}
		for _, user := range []string{"bea", ""} {
			if err := h.river.DropForwarding(t.Context(), user, n.ID); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("by %q: %v", user, err)
			}
		}
		n.Secret = ""
		if n = h.putForwarding(n); n.Secret != "" {
			t.Errorf("%+v", n)
		}
		if err := h.river.DropForwarding(t.Context(), "ann", n.ID); err != nil {
			t.Error(err)
		}
	})
}
