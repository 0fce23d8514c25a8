package hub_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func TestTopicAtForbiddenAddressIsRejected(t *testing.T) {
	t.Parallel()
	const hidden, own = "http://10.0.0.1/rss.xml", "http://10.0.0.2:5337/rss.xml"
	from := netip.MustParseAddr("192.0.2.1")
	closed := fault.New(fault.Refused, "not read")
	o := hub.Options{
		Readable: func(url string) error {
			if strings.HasPrefix(url, "http://10.") {
				return closed
			}
			return nil
		},
		IsOwnTopic: func(url string) bool { return url == own },
	}
	withHarness(t, o, func(t *testing.T, h *harness) {
		ctx := t.Context()
		ask := func(mode, topic string) error {
			return h.hub.Request(ctx, hub.Intent{Topic: topic, Callback: sub1, Mode: mode, Via: hub.WebSub}, from)
		}
		_, ping := h.hub.Ping(ctx, hub.Ping{URL: hidden, Via: "rest", Source: from})
		_, site := h.hub.Announce(ctx, hub.Announcement{Name: "x", URL: hidden, Via: "weblogs", Source: from})
		_, feed := h.hub.Announce(ctx, hub.Announcement{Name: "x", URL: feedURL, Feed: hidden, Via: "weblogs", Source: from})
		for name, err := range map[string]error{"subscribe": ask(hub.ModeSubscribe, hidden), "ping": ping, "ping of a site": site, "ping of its feed": feed} {
			if fault.Message(err) != "not read" || fault.CodeOf(err) != fault.Refused {
				t.Errorf("%s: %v", name, err)
			}
		}
		got, err := h.hub.Register(ctx, hub.Registration{Protocol: hub.HTTPPost, Callback: sub1, Feeds: []string{hidden}, Source: from, Via: "rest"})
		if !slices.Contains(got.Refused, hub.Refusal{Feed: hidden, Reason: "not read"}) {
			t.Errorf("registered: %+v, %v", got, err)
		}
		// A hidden feed can still be unsubscribed. A hosted feed is accepted because it is not
		// fetched over the network.
		if err := ask(hub.ModeUnsubscribe, hidden); err != nil {
			t.Errorf("unsubscribe: %v", err)
		}
		if err := ask(hub.ModeSubscribe, own); err != nil {
			t.Errorf("hosted feed: %v", err)
		}
		h.settle(time.Second)
	})
}
