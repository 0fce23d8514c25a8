package upstream_test

import (
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/upstream"
)

func TestAddSelectsAHubOfTheFeed(t *testing.T) {
	t.Parallel()
	cloud := upstream.Endpoint{Protocol: upstream.RSSCloud, Hub: cloudURL, Wire: "http-post"}
	websub := upstream.Endpoint{Protocol: upstream.WebSub, Hub: hubURL}
	own := upstream.Endpoint{Protocol: upstream.WebSub, Hub: "https://me.test/hub"}
	ownCloud := upstream.Endpoint{Protocol: upstream.RSSCloud, Hub: "https://me.test/pleaseNotify"}
	endpoints := func(d ...upstream.Endpoint) []upstream.Endpoint { return d }
	for name, c := range map[string]struct {
		endpoints []upstream.Endpoint
		r         upstream.Request
		hub       string // expected hub; "": an error is expected
		code      fault.Code
		text      string
	}{
		"WebSub before rssCloud":         {endpoints: endpoints(cloud, websub), hub: hubURL},
		"rssCloud alone":                 {endpoints: endpoints(cloud), hub: cloudURL},
		"the requested protocol":         {endpoints: endpoints(cloud, websub), r: upstream.Request{Via: upstream.RSSCloud}, hub: cloudURL},
		"our own hub is skipped":         {endpoints: endpoints(own, cloud), hub: cloudURL},
		"our own hub alone":              {endpoints: endpoints(own), code: fault.Refused, text: "own hub"},
		"our own two hubs":               {endpoints: endpoints(own, ownCloud), code: fault.Refused, text: "nothing to follow"},
		"our own hub by name":            {r: upstream.Request{Via: upstream.WebSub, Hub: own.Hub}, code: fault.Refused, text: "own hub"},
		"no hub":                         {code: fault.NotFound, text: "names no hub"},
		"no hub of that kind":            {endpoints: endpoints(cloud), r: upstream.Request{Via: upstream.WebSub}, code: fault.NotFound, text: "names no hub for websub; it does for rsscloud"},
		"CNWS needs a hub":               {endpoints: endpoints(cloud), r: upstream.Request{Via: upstream.CNWS}, code: fault.Invalid, text: "the publisher's endpoint"},
		"CNWS by name":                   {r: upstream.Request{Via: upstream.CNWS, Hub: "http://cnws.test/"}, hub: "http://cnws.test/"},
		"a hub without a protocol":       {r: upstream.Request{Hub: hubURL}, code: fault.Invalid, text: "via needs one of"},
		"an invalid hub URL":             {r: upstream.Request{Via: upstream.CNWS, Hub: "ftp://x"}, code: fault.Invalid, text: "is not the URL of a hub"},
		"an unknown protocol":            {r: upstream.Request{Via: "smoke"}, code: fault.Invalid, text: `via is "smoke"`},
		"an invalid feed URL":            {r: upstream.Request{Feed: "feed.xml"}, code: fault.Invalid, text: "is not the URL of a feed"},
		"a feed with a log-in":           {r: upstream.Request{Feed: "http://a:b@feeds.test/"}, code: fault.Invalid, text: "no log-in"},
		"a feed with a space":            {r: upstream.Request{Feed: "http://feeds.test/a b"}, code: fault.Invalid, text: "percent-encoded"},
		"a feed of endless length":       {r: upstream.Request{Feed: "http://feeds.test/" + strings.Repeat("a", 2048)}, code: fault.Invalid, text: "at most 2048"},
		"a feed that cannot be read":     {r: upstream.Request{Feed: "http://feeds.test/silent"}, code: fault.Unreadable, text: "cannot be read"},
		"a named hub of an unread feed":  {r: upstream.Request{Feed: "http://feeds.test/silent", Via: upstream.WebSub, Hub: hubURL}, hub: hubURL},
		"an invalid part of the program": {endpoints: endpoints(cloud), r: upstream.Request{For: "a b"}, code: fault.Invalid, text: "one word"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := upstream.Options{Own: func(hub string) bool { return strings.HasPrefix(hub, "https://me.test/") }}
			withHarness(t, o, func(t *testing.T, w *harness) {
				w.found[feedURL] = upstream.Found{Endpoints: c.endpoints}
				r := c.r
				if r.Feed == "" {
					r.Feed = feedURL
				}
				if r.For == "" {
					r.For = "relay"
				}
				f, err := w.engine.Add(t.Context(), r)
				if f.Hub != c.hub || c.hub == "" && (fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.text)) || c.hub != "" && err != nil {
					t.Fatalf("%q, %v", f.Hub, err)
				}
				list, err := w.engine.List(t.Context(), upstream.Query{})
				if err != nil || len(list) == 1 != (c.hub != "") {
					t.Errorf("listed: %v, %v", list, err)
				}
			})
		})
	}
}

func TestRepeatedAddRenewsSubscriptionAndKeepsTheCallback(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		first := w.add(upstream.WebSub)
		w.advance(time.Hour)
		again := w.add(upstream.WebSub)
		if again.Token != first.Token || again.Secret != first.Secret || again.State != upstream.Active {
			t.Errorf("added again: %+v", again)
		}
		w.advance(time.Minute)
		if n := len(w.requests()); n != 2 {
			t.Errorf("the hub got %d requests", n)
		}
		other, err := w.engine.Add(t.Context(), upstream.Request{Feed: feedURL, Via: upstream.WebSub, Hub: "https://other.test/", For: "relay"})
		if err != nil || other.Token == first.Token || other.Secret == first.Secret || other.State != upstream.Pending {
			t.Errorf("at another hub: %+v, %v", other, err)
		}
	})
}

func TestUpstreamSubscriptionRemainsWhileRiverOrRelayNeedsIt(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		f := w.add(upstream.RSSCloud)
		if _, err := w.engine.Add(t.Context(), upstream.Request{Feed: feedURL, Via: upstream.RSSCloud, For: "reader"}); err != nil {
			t.Fatal(err)
		}
		w.advance(time.Second)
		remove := func(part string, ok bool) {
			t.Helper()
			if _, err := w.engine.Remove(t.Context(), feedURL, "", part); ok != (err == nil) || !ok && fault.CodeOf(err) != fault.NotFound {
				t.Fatalf("remove for %q: %v", part, err)
			}
			w.advance(time.Second)
		}
		remove("nobody", false)
		remove("relay", true)
		remove("relay", false)
		w.state(f, upstream.Active)
		remove("reader", true)
		if _, err := w.engine.Get(t.Context(), feedURL, upstream.RSSCloud); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("afterwards: %v", err)
		}
		if len(w.ended) != 1 || len(w.logged("cancel")) != 1 {
			t.Errorf("%d requests to end", len(w.ended))
		}
		w.push(feedURL, upstream.RSSCloud, false)
	})
}

func TestUnsubscriptionByWebSubIsVerified(t *testing.T) {
	t.Parallel()
	for _, answers := range []bool{true, false} {
		withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
			f := w.add(upstream.WebSub)
			w.advance(time.Second)
			if _, err := w.engine.Remove(t.Context(), feedURL, upstream.WebSub, "relay"); err != nil {
				t.Fatal(err)
			}
			w.advance(time.Second)
			f = w.state(f, upstream.Ending)
			if err := w.engine.Delivered(t.Context(), f.Token, peer(), 0, upstream.Content{}); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("a delivery: %v", err)
			}
			if yes, err := w.engine.Confirm(t.Context(), f.Token, f.Topic, true, time.Hour); yes || err != nil {
				t.Errorf("verification of a subscription: %v, %v", yes, err)
			}
			if answers {
				if yes, err := w.engine.Confirm(t.Context(), f.Token, f.Topic, false, 0); !yes || err != nil {
					t.Errorf("verification of the end: %v, %v", yes, err)
				}
			} else {
				w.advance(11 * time.Minute)
			}
			if _, err := w.store.Follow(t.Context(), f.ID); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("afterwards: %v", err)
			}
			if len(w.ended) != 1 {
				t.Errorf("%d requests to end", len(w.ended))
			}
		})
	}
}

func TestRemovedFeedCanBeSubscribedAgainAtOnce(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		first := w.add(upstream.WebSub)
		w.advance(time.Second)
		if _, err := w.engine.Remove(t.Context(), feedURL, "", ""); err != nil {
			t.Fatal(err)
		}
		again := w.add(upstream.WebSub)
		if again.Token == first.Token {
			t.Error("it has the callback of the ended follow")
		}
		w.advance(time.Minute)
		w.state(again, upstream.Active)
	})
}
