package push

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/river"
	"cloudburst/internal/upstream"
	"cloudburst/protocol/websub"
)

// TestAggregatorReceivesNotificationsByEveryProtocol subscribes to a feed at a real hub over HTTP.
func TestAggregatorReceivesNotificationsByEveryProtocol(t *testing.T) {
	t.Parallel()
	const at = "http://" + pushHub
	cloud := func(path, wire, procedure string) river.PushEndpoint {
		return river.PushEndpoint{Protocol: upstream.RSSCloud, Hub: at + path, Wire: wire, Procedure: procedure}
	}
	for name, c := range map[string]struct {
		endpoint river.PushEndpoint
		named    bool
		callback string // prefix of the callback that the hub stores
		news     string
	}{
		"a form, with a domain":    {cloud("/rsscloud/pleaseNotify", "http-post", ""), true, "http-post http://me.test/notify/rsscloud", upstream.ViaRSSCloud},
		"a form, without":          {cloud("/rsscloud/pleaseNotify", "http-post", ""), false, "http-post http://ADDR/notify/rsscloud", upstream.ViaRSSCloud},
		"a URL alone":              {cloud("/rsscloud/pleaseNotify", "", ""), true, "http-post http://me.test/notify/rsscloud", upstream.ViaRSSCloud},
		"XML-RPC of 2009":          {cloud("/RPC2", "xml-rpc", "rssCloud.pleaseNotify"), true, "xml-rpc http://me.test/notify/RPC2", upstream.ViaRSSCloud},
		"XML-RPC of 2009, without": {cloud("/RPC2", "xml-rpc", "rssCloud.pleaseNotify"), false, "xml-rpc http://ADDR/notify/RPC2", upstream.ViaRSSCloud},
		"XML-RPC of 2003":          {cloud("/RPC2", "xml-rpc", "xmlStorageSystem.rssPleaseNotify"), false, "xml-rpc http://ADDR/notify/RPC2", upstream.ViaRSSCloud},
		"XML-RPC of 2003, a name":  {cloud("/RPC2", "xml-rpc", "xmlStorageSystem.rssPleaseNotify"), true, "xml-rpc http://ADDR/notify/RPC2", upstream.ViaRSSCloud},
		"SOAP of 2009":             {cloud("/soap", "soap", "pleaseNotify"), true, "soap http://me.test/notify/soap", upstream.ViaRSSCloud},
		"SOAP of 2003":             {cloud("/soap", "soap", "xmlStorageSystem.rssPleaseNotify"), false, "soap http://ADDR/notify/soap", upstream.ViaRSSCloud},
		"WebSub":                   {river.PushEndpoint{Protocol: upstream.WebSub, Hub: at + "/websub"}, true, "websub http://me.test/notify/websub/", upstream.ViaWebSub},
		"CNWS":                     {river.PushEndpoint{Protocol: upstream.CNWS, Hub: at + "/cnws"}, true, "cnws http://me.test/cnws", upstream.ViaCNWS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, c.named, func(t *testing.T, p *harness) {
				p.follow(c.endpoint)
				p.advance(5 * time.Second)
				s := p.state()
				if s.State != upstream.Active || s.Since.IsZero() || s.PushEndpoint != c.endpoint || s.LastError != "" {
					t.Fatalf("it is %+v", s)
				}
				callback := strings.Replace(c.callback, "ADDR", p.me.String(), 1)
				if got := p.callbacks(); len(got) != 1 || !strings.HasPrefix(got[0], callback) {
					t.Errorf("the hub has %v, want %s", got, callback)
				}
				// A test call of a hub looks like a notification, so the river receives it. A
				// challenge does not.
				var first []string
				if !strings.HasPrefix(callback, "websub") && !p.challenged() {
					first = []string{c.news + " " + pushFeed}
				}
				if received, _ := p.takeReceived(); !slices.Equal(received, first) {
					t.Errorf("from the registration the river received %q, want %q", received, first)
				}
				p.change("two")
				if received, documents := p.takeReceived(); !slices.Equal(received, []string{c.news + " " + pushFeed}) || len(documents) != 0 {
					t.Errorf("the river received %q, with documents %q", received, documents)
				}
				p.follow(c.endpoint) // a second call changes nothing
				p.advance(time.Minute)
				if err := p.push.Leave(t.Context(), pushFeed); err != nil {
					t.Fatal(err)
				}
				p.advance(time.Minute)
				p.change("three")
				p.change("four")
				if received, _ := p.takeReceived(); len(received) != 0 {
					t.Errorf("afterwards the river received %q", received)
				}
				if got := p.callbacks(); len(got) != 0 && (c.news != upstream.ViaRSSCloud || strings.HasSuffix(c.endpoint.Hub, "pleaseNotify")) {
					t.Errorf("afterwards the hub has %v", got)
				}
				for _, ping := range p.pings {
					if !ping.Forward || !ping.ReaderNotified || ping.URL != pushFeed {
						t.Errorf("its own hub got more than news to forward: %+v", ping)
					}
				}
				if len(p.pings) == 0 {
					t.Error("its own hub got nothing to forward")
				}
			})
		})
	}
}

func TestRegistrationIsRenewedDaily(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, true, func(t *testing.T, p *harness) {
		p.follow(river.PushEndpoint{Protocol: upstream.RSSCloud, Hub: "http://" + pushHub + "/rsscloud/pleaseNotify", Wire: "http-post"})
		p.advance(5 * time.Second)
		since := p.state().Since
		for day := range 3 {
			p.advance(24 * time.Hour)
			p.change(fmt.Sprint("day ", day))
			if received, _ := p.takeReceived(); len(received) != 1 {
				t.Errorf("on day %d the river received %q", day, received)
			}
		}
		if s := p.state(); !s.Since.Equal(since) || !s.Until.After(time.Now()) || s.PushedAt.IsZero() {
			t.Errorf("it is %+v", s)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		asked := len(slices.DeleteFunc(slices.Clone(p.requests), func(s string) bool { return s != "GET /notify/rsscloud" }))
		if asked != 3 && asked != 4 {
			t.Errorf("in three days it was challenged %d times", asked)
		}
	})
}

func TestSignedContentReachesTheRiverUnchanged(t *testing.T) {
	t.Parallel()
	withHarness(t, true, func(t *testing.T, p *harness) {
		p.follow(river.PushEndpoint{Protocol: upstream.WebSub, Hub: "https://" + pushHub + "/websub"})
		p.advance(5 * time.Second)
		p.change("two")
		received, documents := p.takeReceived()
		if len(received) != 0 || len(documents) != 1 {
			t.Fatalf("the river received %q, with documents %q", received, documents)
		}
		for _, want := range []string{upstream.ViaWebSub + "\n" + pushFeed + "\napplication/rss+xml\n", "<" + pushFeed + `>; rel="self"`, "<item><title>two</title></item>"} {
			if !strings.Contains(documents[0], want) {
				t.Errorf("it gets %q, without %q", documents[0], want)
			}
		}
		if p.reads["hub"] == 0 || len(p.reads) != 1 {
			t.Errorf("the feed was read by %v", p.reads)
		}
	})
}

func TestUnsignedContentIsRejected(t *testing.T) {
	t.Parallel()
	withHarness(t, true, func(t *testing.T, p *harness) {
		p.follow(river.PushEndpoint{Protocol: upstream.WebSub, Hub: "https://" + pushHub + "/websub"})
		p.advance(5 * time.Second)
		f, err := p.engine.Get(t.Context(), pushFeed, upstream.WebSub)
		if err != nil || f.Secret == "" {
			t.Fatalf("%+v, %v", f, err)
		}
		client := &http.Client{Transport: &http.Transport{DialContext: p.net.Dial, DisableKeepAlives: true}}
		send := func(token, signature, body string) int {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.public+"/notify/websub/"+token, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/rss+xml")
			if signature != "" {
				r.Header.Set(websub.SignatureHeader, signature)
			}
			res, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			_, _ = io.Copy(io.Discard, res.Body) // only the status matters
			return res.StatusCode
		}
		sign := func(secret, body string) string {
			s, err := websub.Sign(websub.SHA256, secret, []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		for what, signature := range map[string]string{"none": "", "another's": sign("x", "<rss/>"), "of other content": sign(f.Secret, "<RSS/>"), "nonsense": "sha256=zz"} {
			if got := send(f.Token, signature, "<rss/>"); got < 200 || got > 299 {
				t.Errorf("a signature that is %s is answered %d", what, got)
			}
		}
		if received, documents := p.takeReceived(); len(received)+len(documents) != 0 {
			t.Errorf("the river received %q, with documents %q", received, documents)
		}
		p.advance(2 * time.Minute)
		send(f.Token, "", "<rss/>")
		if s := p.state(); s.Rejected != 5 || s.State != upstream.Active {
			t.Errorf("it is %+v", s)
		}
		p.mu.Lock()
		p.aggregatorError = fault.New(fault.Unavailable, "The database is away.")
		p.mu.Unlock()
		if got := send(f.Token, sign(f.Secret, "<rss/>"), "<rss/>"); got != http.StatusServiceUnavailable {
			t.Errorf("what cannot be kept is answered %d", got)
		}
		p.mu.Lock()
		p.aggregatorError = nil
		p.mu.Unlock()
		if got := send(f.Token, sign(f.Secret, "<rss/>"), "<rss/>"); got < 200 || got > 299 {
			t.Errorf("what is signed is answered %d", got)
		}
		if got := send(f.Token, sign(f.Secret, ""), ""); got < 200 || got > 299 {
			t.Errorf("news without content is answered %d", got)
		}
		if received, documents := p.takeReceived(); len(received) != 1 || len(documents) != 1 {
			t.Errorf("the river received %q, with documents %q", received, documents)
		}
		if got := send("nobody", "", "<rss/>"); got != http.StatusGone {
			t.Errorf("an address of nobody's is answered %d", got)
		}
	})
}

func TestOneHubPerProtocolIsUsedExceptTheHubOfThisServer(t *testing.T) {
	t.Parallel()
	const at = "http://" + pushHub
	withHarness(t, true, func(t *testing.T, p *harness) {
		web, second := river.PushEndpoint{Protocol: upstream.WebSub, Hub: at + "/websub"}, river.PushEndpoint{Protocol: upstream.WebSub, Hub: "http://second.test/hub"}
		cloud := river.PushEndpoint{Protocol: upstream.RSSCloud, Hub: at + "/rsscloud/pleaseNotify", Wire: "http-post"}
		own := river.PushEndpoint{Protocol: upstream.WebSub, Hub: p.public + "/websub"}
		bad := river.PushEndpoint{Protocol: "smoke", Hub: "http://fire.test/"}
		p.follow(own, web, second, cloud, bad)
		p.advance(5 * time.Second)
		list, err := p.push.State(t.Context(), pushFeed, []river.PushEndpoint{own, web, second, cloud, bad})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range list {
			got = append(got, fmt.Sprintln(s.Hub, s.State, s.Own, !s.Since.IsZero()))
		}
		want := []string{
			fmt.Sprintln(own.Hub, "active", true, true), fmt.Sprintln(web.Hub, "active", false, true),
			fmt.Sprintln(second.Hub, "spare", false, false), fmt.Sprintln(cloud.Hub, "active", false, true),
		}
		if !slices.Equal(got, want) {
			t.Errorf("states:\n%s", strings.Join(got, ""))
		}
		p.change("two")
		received, _ := p.takeReceived()
		slices.Sort(received)
		if !slices.Equal(received, []string{upstream.ViaRSSCloud + " " + pushFeed, upstream.ViaWebSub + " " + pushFeed}) {
			t.Errorf("the river received %q", received)
		}
		p.follow(second, web) // the active hub is kept, the cloud is removed
		p.advance(time.Minute)
		if got := p.callbacks(); len(got) != 1 || !strings.HasPrefix(got[0], "websub ") {
			t.Errorf("the hub has %v", got)
		}
		p.follow()
		p.advance(time.Minute)
		if got := p.callbacks(); len(got) != 0 {
			t.Errorf("the hub has %v", got)
		}
	})
}

func TestNotificationReachesAggregatorAndSubscribersOnce(t *testing.T) {
	t.Parallel()
	withHarness(t, true, func(t *testing.T, p *harness) {
		endpoint := river.PushEndpoint{Protocol: upstream.WebSub, Hub: "https://" + pushHub + "/websub"}
		p.follow(endpoint)
		d := upstream.Endpoint(endpoint)
		if _, err := p.engine.Add(t.Context(), upstream.Request{Feed: pushFeed, For: upstream.Relay, Endpoint: &d, Topic: pushFeed}); err != nil {
			t.Fatal(err)
		}
		p.advance(5 * time.Second)
		p.change("two")
		if _, documents := p.takeReceived(); len(documents) != 1 {
			t.Errorf("the river gets %q", documents)
		}
		if len(p.pings) != 1 || p.pings[0].URL != pushFeed || !p.pings[0].ReaderNotified || p.pings[0].Hops != 1 {
			t.Errorf("its hub received %+v", p.pings)
		}
		if err := p.push.Leave(t.Context(), pushFeed); err != nil {
			t.Fatal(err)
		}
		p.change("three")
		if received, documents := p.takeReceived(); len(received)+len(documents) != 0 {
			t.Errorf("after Leave the river received %q, with documents %q", received, documents)
		}
		if len(p.pings) != 2 || p.pings[1].ReaderNotified {
			t.Errorf("its hub received %+v", p.pings)
		}
	})
}

func TestManuallyConfiguredHubIsKept(t *testing.T) {
	t.Parallel()
	withHarness(t, true, func(t *testing.T, p *harness) {
		p.mu.Lock()
		p.endpoints = []river.PushEndpoint{}
		p.mu.Unlock()
		_, err := p.engine.Add(t.Context(), upstream.Request{Feed: pushFeed, Via: upstream.CNWS, Hub: "http://" + pushHub + "/cnws", For: upstream.Reader})
		if err != nil {
			t.Fatal(err)
		}
		p.advance(5 * time.Second)
		p.follow(river.PushEndpoint{Protocol: upstream.CNWS, Hub: "http://elsewhere.test/"})
		p.follow([]river.PushEndpoint{}...)
		if s := p.state(); s.Hub != "http://"+pushHub+"/cnws" || s.State != upstream.Active {
			t.Errorf("it is %+v", s)
		}
		p.takeReceived() // drop the test call of the hub
		p.change("two")
		if received, _ := p.takeReceived(); !slices.Equal(received, []string{upstream.ViaCNWS + " " + pushFeed}) {
			t.Errorf("the river received %q", received)
		}
	})
}

func TestNotificationsAboveTheRateLimitDoNotReachTheAggregator(t *testing.T) {
	t.Parallel()
	withHarness(t, true, func(t *testing.T, p *harness) {
		p.follow(river.PushEndpoint{Protocol: upstream.RSSCloud, Hub: "http://" + pushHub + "/rsscloud/pleaseNotify", Wire: "http-post"})
		p.advance(5 * time.Second)
		setAdmitError := func(err error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.admitError = err
		}
		setAdmitError(fault.New(fault.TooMany, "Too many."))
		p.change("two")
		if received, documents := p.takeReceived(); len(received)+len(documents) != 0 {
			t.Errorf("the river received %q, with documents %q", received, documents)
		}
		setAdmitError(nil)
		p.advance(5 * time.Minute)
		if received, _ := p.takeReceived(); len(received) != 1 {
			t.Errorf("when there is room again it received %q", received)
		}
	})
}

func TestRiverAndUpstreamUseTheSameValueForDowntime(t *testing.T) {
	t.Parallel()
	if river.Away != upstream.ViaAway {
		t.Errorf("the river takes %q for an absence, which the signals call %q", river.Away, upstream.ViaAway)
	}
}
