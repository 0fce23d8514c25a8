package signaltest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/store/storetest"
	"cloudburst/lab/outside"
	"cloudburst/protocol/cnws"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/websub"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

// scene is one run of the table. It consists of the server under test, an upstream hub and the
// network.
type scene struct {
	*harness
	t     *testing.T
	hub   *server // server under test
	other *server // upstream hub of some feeds
}

// signal reports a change of a cell's feed, either at an endpoint of the server or through the
// upstream hub. endpoint is the expected value of via in the log.
type signal struct {
	endpoint string
	relay    string // protocol between the upstream hub and the relay; "" for no relay
	river    string // protocol between the upstream hub and the river; "" for no river
	send     func(s *scene, t *testing.T, c cell) error
}

func signals() map[string]signal {
	cloud := func(protocol string) func(*scene, *testing.T, cell) error {
		return func(s *scene, t *testing.T, c cell) error {
			endpoint, err := rsscloud.PingEndpoint(protocol, s.hub.Base)
			if err != nil {
				return err
			}
			r, err := (&rsscloud.Client{}).Ping(t.Context(), protocol, endpoint, s.feed(c))
			return refused(err, !r.Success, r.Msg)
		}
	}
	notice := func(protocol string) func(*scene, *testing.T, cell) error {
		return func(s *scene, t *testing.T, c cell) error {
			return (&rsscloud.Client{}).Notify(t.Context(), protocol, s.hub.Base+"/notify/rsscloud", "rssCloud.notify", s.feed(c), 1)
		}
	}
	return map[string]signal{
		"ping-rest":    {"rest", "", "", cloud(rsscloud.HTTPPost)},
		"ping-xml-rpc": {"xml-rpc", "", "", cloud(rsscloud.XMLRPC)},
		"ping-soap":    {"soap", "", "", cloud(rsscloud.SOAP)},
		"ping-get": {"rest", "", "", func(s *scene, t *testing.T, c cell) error {
			return get(s.hub.Base+"/ping?url="+url.QueryEscape(s.feed(c)), `success="true"`)
		}},
		"weblogs-ping": {"weblogs", "", "", func(s *scene, t *testing.T, c cell) error {
			r, err := (&weblogs.Client{}).Ping(t.Context(), s.hub.Base+"/RPC2", weblogs.Ping{Name: "Café", URL: s.site(c)})
			return refused(err, r.Err, r.Message)
		}},
		"weblogs-extended": {"weblogs-extended", "", "", func(s *scene, t *testing.T, c cell) error {
			r, err := (&weblogs.Client{}).ExtendedPing(t.Context(), s.hub.Base+"/RPC2",
				weblogs.Ping{Name: "Café", URL: "http://elsewhere.invalid/", ChangesURL: "http://elsewhere.invalid/1", FeedURL: s.feed(c), Tags: []string{"a", "b"}})
			return refused(err, r.Err, r.Message)
		}},
		"pingsite-get": {"pingsite", "", "", func(s *scene, t *testing.T, c cell) error {
			return get(s.hub.Base+"/pingSiteForm?name=x&url="+url.QueryEscape(s.site(c)), "Thanks for the ping.")
		}},
		"pingsite-post": {"pingsite", "", "", func(s *scene, t *testing.T, c cell) error {
			return post(s.hub.Base+"/pingSiteForm", "application/x-www-form-urlencoded", url.Values{"name": {"x"}, "url": {s.feed(c)}}.Encode(), "Thanks for the ping.")
		}},
		"weblogs-soap": {"weblogs", "", "", func(s *scene, t *testing.T, c cell) error {
			return post(s.hub.Base+"/weblogUpdates", "text/xml", `<?xml version="1.0"?><SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/"><SOAP-ENV:Body>`+
				`<ping xmlns="http://www.soapware.org/"><weblogname>x</weblogname><weblogurl>`+s.site(c)+`</weblogurl></ping></SOAP-ENV:Body></SOAP-ENV:Envelope>`, "Thanks for the ping.")
		}},
		"publish-url": {"websub", "", "", func(s *scene, t *testing.T, c cell) error {
			return (&websub.Client{}).Publish(t.Context(), s.hub.Base+"/websub", s.feed(c))
		}},
		"publish-topic": {"websub", "", "", func(s *scene, t *testing.T, c cell) error {
			return post(s.hub.Base+"/hub", "application/x-www-form-urlencoded", url.Values{"hub.mode": {"publish"}, "hub.topic": {s.feed(c)}}.Encode(), "")
		}},
		"heard-cnws": {"notify-cnws", "cnws", "", func(s *scene, t *testing.T, c cell) error {
			wanted, err := (&cnws.Client{}).Notify(t.Context(), s.hub.Base+"/cnws", cnws.Change{ResourceID: s.feed(c), Title: "t"})
			return refused(err, !wanted, "the hub does not want the resource")
		}},
		"heard-http-post": {"notify-rsscloud", "rsscloud", "", notice(rsscloud.HTTPPost)},
		"heard-xml-rpc":   {"notify-rsscloud", "rsscloud", "", notice(rsscloud.XMLRPC)},
		"heard-soap":      {"notify-rsscloud", "rsscloud", "", notice(rsscloud.SOAP)},
		// Only the upstream hub knows the callback and the secret, so the test cannot send this
		// notification itself.
		"heard-websub": {"notify-websub", "websub", "", func(s *scene, t *testing.T, c cell) error {
			return (&websub.Client{}).Publish(t.Context(), s.other.Base+"/websub", s.feed(c))
		}},
		"river-rsscloud": {"notify-rsscloud", "", "rsscloud", pingOther},
		"river-websub":   {"notify-websub", "", "websub", pingOther},
		"river-cnws":     {"notify-cnws", "", "cnws", pingOther},
	}
}

// pingOther pings the feed at the upstream hub, which then notifies the server under test.
func pingOther(s *scene, t *testing.T, c cell) error {
	r, err := (&rsscloud.Client{}).Ping(t.Context(), rsscloud.HTTPPost, s.other.Base+"/rsscloud/ping", s.feed(c))
	return refused(err, !r.Success, r.Msg)
}

// subscribers returns functions that subscribe to a cell's feed at the server under test, by the
// kind of subscriber.
func subscribers() map[string]func(s *scene, t *testing.T, c cell) error {
	cloud := func(protocol string) func(*scene, *testing.T, cell) error {
		return func(s *scene, t *testing.T, c cell) error {
			g, err := rsscloud.RegistrationFor(protocol, s.server.URL+"/rsscloud/"+protocol, "feed.changed", s.feed(c))
			if err != nil {
				return err
			}
			g.Domain = ""
			at := rsscloud.CloudAt(s.hub.Base)
			r, err := (&rsscloud.Client{}).PleaseNotify(t.Context(), at, g)
			return refused(err, !r.Success, r.Msg)
		}
	}
	sub := func(secret string) func(*scene, *testing.T, cell) error {
		return func(s *scene, t *testing.T, c cell) error {
			callback := s.callback(s.feed(c), secret)
			return (&websub.Client{}).Subscribe(t.Context(), s.hub.Base+"/hub", websub.Subscription{Callback: callback, Topic: s.feed(c), Secret: secret})
		}
	}
	return map[string]func(*scene, *testing.T, cell) error{
		"http-post": cloud(rsscloud.HTTPPost), "xml-rpc": cloud(rsscloud.XMLRPC), "soap": cloud(rsscloud.SOAP),
		"websub": sub(""), "websub-secret": sub(secret),
		"cnws": func(s *scene, t *testing.T, c cell) error {
			r, err := (&cnws.Client{}).Subscribe(t.Context(), s.hub.Base+"/cnws", cnws.Subscribe{ResourceID: s.feed(c), NotificationURL: s.server.URL + "/cnws"})
			if err == nil && r.Title != "Café" {
				err = fmt.Errorf("the resource is called %q", r.Title)
			}
			return refused(err, !r.Status, r.Description)
		},
	}
}

func TestEveryPingProtocolReachesEverySubscriberProtocol(t *testing.T) {
	fulltest.Needs(t, "a build of the program")
	t.Parallel()
	cells := readTable(t)
	known, people := signals(), subscribers()
	seen := map[string]bool{}
	for _, c := range cells {
		seen[c.signal], seen[c.subscriber] = true, true
		if _, ok := known[c.signal]; !ok {
			t.Errorf("the table has the signal %s, which this test cannot send", c.signal)
		}
		if _, ok := people[c.subscriber]; !ok {
			t.Errorf("the table has the subscriber %s, which this test does not have", c.subscriber)
		}
		if c.outcome != "notified" {
			t.Errorf("%s × %s is %q, but this test checks only notified", c.signal, c.subscriber, c.outcome)
		}
	}
	if len(seen) != len(known)+len(people) {
		t.Errorf("the table has %d names, this test has %d", len(seen), len(known)+len(people))
	}
	if t.Failed() {
		return
	}
	bin := build(t)
	for name, more := range map[string]func(t *testing.T) []string{
		"SQLite":     func(*testing.T) []string { return nil },
		"PostgreSQL": func(t *testing.T) []string { return []string{"--database", storetest.Postgres(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHarness(t)
			s := &scene{harness: w, t: t, other: serve(t, bin), hub: serve(t, bin, more(t)...)}
			var group sync.WaitGroup
			slots := make(chan struct{}, 8)
			for _, c := range cells {
				slots <- struct{}{}
				group.Go(func() {
					defer func() { <-slots }()
					t.Run(c.signal+"/"+c.subscriber, func(t *testing.T) { s.play(t, c, known[c.signal], people[c.subscriber]) })
				})
			}
			group.Wait()
		})
	}
}

// play runs one cell: it subscribes, changes the feed, sends the signal, and checks that exactly
// one correct notification arrives.
func (s *scene) play(t *testing.T, c cell, sig signal, subscribe func(*scene, *testing.T, cell) error) {
	topic := s.feed(c)
	if sig.relay != "" {
		s.relay(t, c, sig.relay)
	}
	if sig.river != "" {
		s.follow(t, c, sig.river)
	}
	if err := subscribe(s, t, c); err != nil {
		t.Fatalf("subscribe: %v", err)
	}
	outside.Until(t, "the subscription exists", func() bool {
		return strings.Contains(s.hub.command(t, "subscriptions", "list", "--match", topic, "--json"), `"`+topic+`"`)
	})
	s.forget(topic)
	s.change(c)
	if err := sig.send(s, t, c); err != nil {
		t.Fatalf("signal: %v", err)
	}
	outside.Until(t, c.subscriber+" is notified", func() bool { return len(s.receivedFor(topic)) > 0 })
	outside.Until(t, "the log contains the endpoint "+sig.endpoint, func() bool { return slices.Contains(s.hub.endpoints(t, topic), sig.endpoint) })
	if got := s.receivedFor(topic); len(got) != 1 || got[0] != (received{by: c.subscriber}) {
		t.Errorf("received %+v, want one correct notification", got)
	}
}

// relay adds a relay to the server under test. The relay subscribes to the feed at the upstream
// hub.
func (s *scene) relay(t *testing.T, c cell, via string) {
	hub := s.other.Base + map[string]string{"rsscloud": "/rsscloud/pleaseNotify", "websub": "/websub", "cnws": "/cnws"}[via]
	s.hub.command(t, "relay", "add", s.feed(c), "--via", via, "--hub", hub)
	outside.Until(t, "the relay is active", func() bool {
		return slices.ContainsFunc(strings.Split(s.hub.command(t, "relay", "list", "--match", s.feed(c), "--json"), "\n"), func(line string) bool {
			return strings.Contains(line, `"`+s.feed(c)+`"`) && strings.Contains(line, `"state":"active"`)
		})
	})
}

// follow adds the feed to the river of the server under test. The feed names the upstream hub as
// its hub.
func (s *scene) follow(t *testing.T, c cell, via string) {
	topic := s.feed(c)
	s.mu.Lock()
	s.hubs[pathOf(topic)] = map[string]string{
		"rsscloud": rsscloud.CloudAt(s.other.Base).String(),
		"websub":   `<atom:link rel="hub" href="` + s.other.Base + `/websub"/><atom:link rel="self" href="` + topic + `"/>`,
	}[via]
	s.mu.Unlock()
	s.hub.command(t, "sources", "add", topic)
	if via == "cnws" {
		s.hub.command(t, "sources", "set", topic, "--cnws", s.other.Base+"/cnws")
	}
	outside.Until(t, "the river has a subscription", func() bool {
		got := s.hub.command(t, "explain", topic, "--json")
		// The rssCloud and CNWS protocols call the callback during the subscription, and the
		// river then reads the feed once more.
		return strings.Contains(got, `"state":"active"`) && (via == "websub" || strings.Contains(got, `"door":"notify-`+via+`"`))
	})
}

func refused(err error, refused bool, why string) error {
	if err == nil && refused {
		err = fmt.Errorf("refused: %s", why)
	}
	return err
}

func get(url, want string) error { return answered(http.Get(url))(want) }

func post(url, kind, body, want string) error {
	return answered(http.Post(url, kind, bytes.NewReader([]byte(body))))(want)
}

func answered(res *http.Response, err error) func(want string) error {
	return func(want string) error {
		if err != nil {
			return err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err == nil && (res.StatusCode > 299 || !strings.Contains(string(b), want)) {
			err = fmt.Errorf("answered %s: %s", res.Status, b)
		}
		return err
	}
}
