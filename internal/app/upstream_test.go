package app_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/fulltest"
)

// relay makes r follow a feed at another hub, and waits until that hub has confirmed the
// subscription.
func (r *running) relay(t *testing.T, q client.RelayRequest) {
	t.Helper()
	c := &client.Client{Base: r.admin}
	added, err := c.AddRelay(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var last client.Relay
	defer func() {
		if t.Failed() {
			t.Logf("the relay is %+v", last)
		}
	}()
	wait(t, "the hub's yes", func() bool {
		for last, err = range c.Relays(t.Context(), client.RelayQuery{Match: q.Feed, Via: added.Via}) {
			if err != nil {
				t.Fatal(err)
			}
			if last.Feed == q.Feed && last.State == "active" {
				return true
			}
		}
		return false
	})
}

// TestChangeCascadesFromHubToHub makes one program follow a feed at the hub of another program. A
// ping at the first hub must reach the subscribers of the second hub.
func TestChangeCascadesFromHubToHub(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	for via, elements := range map[string]func(hub string, feed string) string{
		"rsscloud": func(hub, _ string) string { return cloudOf(hub) },
		"websub": func(hub, feed string) string {
			return `<atom:link rel="hub" href="` + hub + `/hub"/><atom:link rel="self" href="` + feed + `"/>`
		},
		"cnws": func(string, string) string { return "" },
	} {
		t.Run(via, func(t *testing.T) {
			t.Parallel()
			a, b := start(t, conf(t, t.TempDir())), start(t, conf(t, t.TempDir()))
			f, s := newFeed(t), newSubscriber(t)
			feed := f.URL + "/rss.xml"
			write := func(title string) {
				f.set(`<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>` + title + `</title>` + elements(a.base, feed) + `</channel></rss>`)
			}
			write("one")
			if code, body := post(t, b.base+"/rsscloud/pleaseNotify", s.form(feed, "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
				t.Fatalf("pleaseNotify: %d %s", code, body)
			}
			q := client.RelayRequest{Feed: feed}
			if via == "cnws" {
				q.Via, q.Hub = via, a.base+"/cnws"
			}
			b.relay(t, q)
			wait(t, "the first hub has it on disk", func() bool { // the state of the relay is active a moment before the hub has stored the subscription
				_, body := get(t, a.admin+"/v1/subscriptions")
				return strings.Contains(body, `"callback"`)
			})
			wait(t, "the call during the subscription is handled", func() bool { // the call that verifies the subscription counts as a notification
				_, body := get(t, b.admin+"/v1/log?kind=ping")
				return via == "websub" || strings.Contains(body, `"notify-`)
			})
			events := func(kind, text string) int {
				_, body := get(t, b.admin+"/v1/log?limit=1000&kind="+kind)
				return strings.Count(body, text)
			}
			for _, title := range []string{"two", "three"} {
				before := events("check", ": version ")
				write(title)
				if code, body := post(t, a.base+"/rsscloud/ping", url.Values{"url": {feed}}); code != 200 || !strings.Contains(body, `success="true"`) {
					t.Fatalf("ping: %d %s", code, body)
				}
				if got := s.wait(t, "the notification of "+title); got != feed {
					t.Errorf("it named %q", got)
				}
				wait(t, "the second hub has found "+title, func() bool { return events("check", ": version ") > before })
			}
			wait(t, "the second hub has delivered everything", func() bool {
				return events("notify", `"kind":"notify"`) == events("check", ": version ")
			})
			for len(s.received) > 0 { // drop the notification that the first read of the feed causes
				<-s.received
			}
			wait(t, "it is written that the hub spoke", func() bool {
				_, body := get(t, b.admin+"/v1/relays")
				return strings.Contains(body, `"heard_at"`)
			})

			req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, b.admin+"/v1/relays?feed="+url.QueryEscape(feed), nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			wait(t, "the relay is gone", func() bool {
				_, body := get(t, b.admin+"/v1/relays")
				return strings.Contains(body, `"relays":[]`)
			})
			write("four")
			post(t, a.base+"/rsscloud/ping", url.Values{"url": {feed}})
			wait(t, "the first hub knows it", func() bool {
				_, body := get(t, a.admin+"/v1/subscriptions")
				return !strings.Contains(body, b.base[len("http://127.0.0.1"):])
			})
			if n := len(s.received); n != 0 {
				t.Errorf("%d notifications afterwards", n)
			}
		})
	}
}

func cloudOf(hub string) string {
	host, port, _ := strings.Cut(strings.TrimPrefix(hub, "http://"), ":")
	return `<cloud domain="` + host + `" port="` + port + `" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post"/>`
}

func TestHubDoesNotSubscribeToItself(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	f := newFeed(t)
	f.set(`<rss version="2.0"><channel><title>one</title>` + cloudOf(r.base) + `</channel></rss>`)
	_, err := (&client.Client{Base: r.admin}).AddRelay(t.Context(), client.RelayRequest{Feed: f.URL + "/rss.xml"})
	if err == nil || !strings.Contains(err.Error(), "This server is the feed's own hub") {
		t.Errorf("adding it: %v", err)
	}
}

// TestRelayResumesAfterRestartAtAnotherAddress restarts the subscribed program on another port.
// The program must renew its subscription without a request from its operator.
func TestRelayResumesAfterRestartAtAnotherAddress(t *testing.T) {
	t.Parallel()
	for via, path := range map[string]string{"rsscloud": "/rsscloud/pleaseNotify", "websub": "/hub"} {
		t.Run(via, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			a, b := start(t, conf(t, t.TempDir())), start(t, conf(t, dir))
			f, s := newFeed(t), newSubscriber(t)
			feed := f.URL + "/rss.xml"
			if code, body := post(t, b.base+"/rsscloud/pleaseNotify", s.form(feed, "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
				t.Fatalf("pleaseNotify: %d %s", code, body)
			}
			b.relay(t, client.RelayRequest{Feed: feed, Via: via, Hub: a.base + path})
			if err := b.stop(); err != nil {
				t.Fatal(err)
			}
			b = start(t, conf(t, dir))
			port := b.base[strings.LastIndexByte(b.base, ':'):]
			wait(t, "the hub has the new address", func() bool {
				_, body := get(t, a.admin+"/v1/subscriptions")
				return strings.Contains(body, port+"/notify/")
			})
			f.set("<rss><channel><title>two</title></channel></rss>")
			if code, body := post(t, a.base+"/rsscloud/ping", url.Values{"url": {feed}}); code != 200 || !strings.Contains(body, `success="true"`) {
				t.Fatalf("ping: %d %s", code, body)
			}
			if got := s.wait(t, "the notification"); got != feed {
				t.Errorf("it named %q", got)
			}
		})
	}
}
