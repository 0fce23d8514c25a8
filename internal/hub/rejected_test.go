package hub_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// A developer who tests a program with the hub needs a log entry for each request and each call of
// a callback.

func TestLogContainsEveryTestNotificationAndChallenge(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		const other = "http://feeds.test/other.xml"
		h.feeds[other] = "x"
		h.consent = func(_ hub.Subscription, feed string, challenge bool) error {
			if challenge && feed == other {
				return fault.New(fault.Refused, "The challenge was not met.")
			}
			return nil
		}
		h.register("http://a.test/n")
		named := hub.Registration{Protocol: hub.HTTPPost, Callback: "http://b.test:81/n", Challenge: true, Feeds: []string{feedURL, other}}
		if _, err := h.hub.Register(t.Context(), named); err != nil {
			t.Fatal(err)
		}
		named.Feeds = named.Feeds[:1]
		if _, err := h.hub.Cancel(t.Context(), named); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, e := range h.events(event.KindVerify) {
			if e.Via != hub.HTTPPost || len(e.Detail) == 0 || e.OK == strings.Contains(e.Text, "not met") {
				t.Errorf("%+v", e)
			}
			got[e.Peer+" "+e.Topic+" "+e.Text]++
		}
		for line, n := range map[string]int{
			"a.test " + feedURL + " The test call was answered.": 1,
			"b.test:81 " + feedURL + " The challenge was met.":   2, // one for the registration and one for the cancellation
			"b.test:81 " + other + " The challenge was not met.": 1,
		} {
			if got[line] != n {
				t.Errorf("%q is logged %d times, want %d: %v", line, got[line], n, got)
			}
		}
	})
}

func TestLogContainsRejectedRequests(t *testing.T) {
	t.Parallel()
	own := hub.Options{
		IsOwnURL: func(callback string) bool { return strings.HasPrefix(callback, "http://hub.test") },
		Callable: func(callback string) error {
			if strings.Contains(callback, ":25/") {
				return fault.New(fault.Refused, "The callback %s is at a port that is not called.", callback)
			}
			return nil
		},
		IsPrivate: func(url string) bool { return strings.Contains(url, "/private/") },
	}
	withHarness(t, own, func(t *testing.T, h *harness) {
		source := netip.MustParseAddr("192.0.2.7")
		for _, callback := range []string{"http://hub.test/ping", "http://a.test:25/secret"} {
			if _, err := h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: callback, Feeds: []string{feedURL}, Source: source, Via: "rest"}); fault.CodeOf(err) != fault.Refused {
				t.Errorf("%s: %v", callback, err)
			}
		}
		if _, err := h.hub.Cancel(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Feeds: []string{feedURL}, Source: source, Via: "rest"}); err != nil {
			t.Fatal(err)
		}
		h.hub.LogRejected(t.Context(), hub.Rejection{Kind: event.KindPing, Text: "The feed's URL … is not one.", Whole: `The feed's URL "x" is not one.`, Via: "rest", Source: source})
		h.hub.LogRejected(t.Context(), hub.Rejection{Kind: event.KindRegister, Topic: "http://hub.test/u/private/rss.xml", Text: "no", Via: "rest", Source: source})
		var got []string
		for _, kind := range []string{event.KindRegister, event.KindCancel, event.KindPing} {
			for _, e := range h.events(kind) {
				if e.OK || e.Peer != "192.0.2.7" {
					t.Errorf("%+v", e)
				}
				got = append(got, e.Kind+" "+e.Topic+" "+e.Text)
			}
		}
		want := []string{
			"register " + feedURL + " The callback http://hub.test is one of this server's own endpoints; that would be a loop.",
			"register " + feedURL + " The callback http://a.test:25 is at a port that is not called.",
			"cancel " + feedURL + " Not cancelled: There is no such registration for " + feedURL + "; nothing was changed.",
			"ping  The feed's URL … is not one.",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("log:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestLoggingOfRejectedRequestsIsRateLimited(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		for range 500 {
			h.hub.LogRejected(t.Context(), hub.Rejection{Kind: event.KindPing, Text: "No.", Source: netip.MustParseAddr("192.0.2.7")})
		}
		h.hub.LogRejected(t.Context(), hub.Rejection{Kind: event.KindPing, Text: "No.", Source: netip.MustParseAddr("198.51.100.7")})
		if n := len(h.events(event.KindPing)); n != 21 {
			t.Errorf("%d rows, want 20 and one from another source", n)
		}
		h.settle(time.Minute)
		h.hub.LogRejected(t.Context(), hub.Rejection{Kind: event.KindPing, Text: "No.", Source: netip.MustParseAddr("192.0.2.7")})
		if n := len(h.events(event.KindPing)); n != 22 {
			t.Errorf("%d rows after a minute, want one more", n)
		}
	})
}
