package hub_test

import (
	"net/netip"
	"testing"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func TestPrivateTopicIsRejectedAndNotStored(t *testing.T) {
	t.Parallel()
	const secret = "http://a.test/alice/private/s3cret/rss.xml"
	withHarness(t, hub.Options{IsPrivate: func(u string) bool { return u == secret }}, func(t *testing.T, h *harness) {
		source := netip.MustParseAddr("192.0.2.1")
		refused := func(what string, err error) {
			t.Helper()
			if fault.CodeOf(err) != fault.Refused || err == nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		_, err := h.hub.Ping(t.Context(), hub.Ping{URL: secret, Source: source})
		refused("ping", err)
		refused("request", h.hub.Request(t.Context(), hub.Intent{Topic: secret, Callback: sub1, Mode: hub.ModeSubscribe}, source))
		for _, a := range []hub.Announcement{{URL: secret}, {URL: feedURL, Feed: secret}, {URL: feedURL, Page: secret}} {
			_, err := h.hub.Announce(t.Context(), a)
			refused("announcement", err)
		}
		got, err := h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: sub1, Feeds: []string{secret, feedURL}, Source: source})
		if err != nil || len(got.Refused) != 1 || got.Refused[0].Feed != secret || len(got.Accepted) != 1 {
			t.Errorf("registered: %+v, %v", got, err)
		}
		got, err = h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: sub1, Feeds: []string{secret}, Source: source})
		if err != nil || len(got.Refused) != 1 || len(got.Accepted) != 0 {
			t.Errorf("registered separately: %+v, %v", got, err)
		}
		for _, kind := range []string{event.KindPing, event.KindRegister, event.KindVerify, event.KindCheck, event.KindError} {
			for _, e := range h.events(kind) {
				if e.Topic == secret {
					t.Errorf("log: %+v", e)
				}
			}
		}
		if n, err := h.store.CountChanges(t.Context()); err != nil || n != 0 {
			t.Errorf("%d changes are listed: %v", n, err)
		}
	})
}
