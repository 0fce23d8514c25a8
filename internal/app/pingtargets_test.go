package app_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/announce"
	"cloudburst/internal/app"
	"cloudburst/internal/fulltest"
)

// targetsOf parses a list of ping targets as the server's setting contains it.
func targetsOf(t *testing.T, list string) []announce.Target {
	t.Helper()
	targets, err := announce.ParseTargets(list)
	if err != nil {
		t.Fatal(err)
	}
	return targets
}

// saved saves a feed of alice with one item.
func (r *running) saved(c *client.Client, item string) {
	r.t.Helper()
	if _, err := c.SaveFeed(r.t.Context(), "alice", "rss", "application/rss+xml", []byte(rssOf(item))); err != nil {
		r.t.Fatal(err)
	}
}

// notified waits until exactly many ping targets have received a version or a later version. It
// returns their stored states.
func (r *running) notified(c *client.Client, version int64, many int) []client.PingTarget {
	r.t.Helper()
	var list []client.PingTarget
	wait(r.t, "the ping targets are notified", func() bool {
		list = nil
		for s, err := range c.PingTargets(r.t.Context(), client.PingTargetQuery{}) {
			if err != nil {
				r.t.Fatal(err)
			}
			if s.Notified >= version {
				list = append(list, s)
			}
		}
		return len(list) == many
	})
	return list
}

func TestSaveNotifiesSubscribersOfAnotherHub(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	b := start(t, conf(t, t.TempDir()))
	cfg := conf(t, t.TempDir())
	cfg.Ping.Targets = targetsOf(t, strings.Join([]string{
		"rsscloud " + b.base, "rsscloud-xmlrpc " + b.base + "/RPC2", "websub " + b.base + "/websub",
		"weblogs " + b.base + "/RPC2", "weblogs-extended " + b.base + "/RPC2", "get " + b.base + "/pingSiteForm?name={0}&url={1}",
	}, ", "))
	a := start(t, cfg)
	admin := a.addAlice()
	a.saved(admin, "one")
	a.notified(admin, 1, 6)

	topic := a.base + "/alice/rss.xml"
	s := newSubscriber(t)
	if code, body := post(t, b.base+"/rsscloud/pleaseNotify", s.form(topic, "")); code != http.StatusOK || !strings.Contains(body, `success="true"`) {
		t.Fatalf("pleaseNotify: %d %s", code, body)
	}
	s.wait(t, "the test call")
	a.saved(admin, "two")
	if got := s.wait(t, "the second version"); got != topic {
		t.Errorf("the subscriber of the other hub was notified of %s", got)
	}
	for _, one := range a.notified(admin, 2, 6) {
		if !one.OK || one.State != "told" || one.Topic != topic || one.NextAt != nil {
			t.Errorf("%+v", one)
		}
	}
	if _, log := get(t, a.base+"/log?kind=sink"); !strings.Contains(log, "about version 2 (rsscloud)") {
		t.Error("the log has no event of a ping target")
	}
	if _, err := admin.SaveFeed(t.Context(), "alice", "private", "application/rss+xml", []byte(rssOf("secret"))); err != nil {
		t.Fatal(err)
	}
	a.rest(t)
	for one, err := range admin.PingTargets(t.Context(), client.PingTargetQuery{}) {
		if err != nil || one.Topic != topic || one.Version != 2 {
			t.Errorf("after a private feed was saved: %+v, %v", one, err)
		}
	}
}

// unavailableHub is a ping target that the test can make unavailable.
type unavailableHub struct {
	*httptest.Server
	mu       sync.Mutex
	away     bool
	received []string
}

func newUnavailableHub(t *testing.T) *unavailableHub {
	h := &unavailableHub{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.away {
			http.Error(w, "away", http.StatusBadGateway)
			return
		}
		h.received = append(h.received, r.PostFormValue("url"))
		_, _ = w.Write([]byte(`<result success="true" msg="Thanks."/>`))
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *unavailableHub) is(away bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.away = away
}

func (h *unavailableHub) times() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.received)
}

func TestPendingPingIsSentAfterRestart(t *testing.T) {
	t.Parallel()
	target := newUnavailableHub(t)
	target.is(true)
	dir := t.TempDir()
	setting := "--ping.targets=rsscloud " + target.URL + "/rsscloud/ping"
	p := spawn(t, dir, setting)
	admin := p.addAlice()
	p.saved(admin, "one")
	wait(t, "the first attempt", func() bool {
		for s := range admin.PingTargets(t.Context(), client.PingTargetQuery{}) {
			return s.Tries > 0 && s.State == "owed" && s.NextAt != nil
		}
		return false
	})
	p.kill()
	target.is(false)
	p = spawn(t, dir, setting)
	wait(t, "the ping after the restart", func() bool { return target.times() == 1 })
	p.notified(&client.Client{Base: p.admin}, 1, 1)
}

func TestVersionNotSentBeforeStopIsSentToPingTargetsAfterStart(t *testing.T) {
	t.Parallel()
	target := newUnavailableHub(t)
	dir := t.TempDir()
	first := spawn(t, dir)
	first.addAlice()
	first.kill()
	// The version is on disk, but its pings are not: this is the state after a crash directly
	// after the save.
	a, err := app.Open(t.Context(), conf(t, dir), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	operator := httptest.NewServer(a.Admin())
	(&running{t: t}).saved(&client.Client{Base: operator.URL}, "one")
	operator.Close()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	p := spawn(t, dir, "--ping.targets=rsscloud "+target.URL+"/rsscloud/ping")
	wait(t, "the ping", func() bool { return target.times() == 1 })
	p.notified(&client.Client{Base: p.admin}, 1, 1)
}

func TestOperatorUpdatesTestFeedAndSubscribersAreNotified(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	r := start(t, conf(t, t.TempDir()))
	admin := &client.Client{Base: r.admin}
	topic := r.base + "/test/rss.xml"
	s := newSubscriber(t)
	if code, body := post(t, r.base+"/rsscloud/pleaseNotify", s.form(topic, "")); code != http.StatusOK || !strings.Contains(body, `success="true"`) {
		t.Fatalf("pleaseNotify: %d %s", code, body)
	}
	s.wait(t, "the test call")
	tags := map[string]bool{}
	var last string
	for i := range 3 {
		tick, err := admin.TickTestFeed(t.Context())
		if err != nil || tick.URL != topic {
			t.Fatal(tick, err)
		}
		res, err := http.Get(r.base + "/test/rss.xml")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		last = res.Header.Get("ETag")
		tags[last] = true
		if time.Since(tick.At) < time.Second && res.Header.Get("Last-Modified") != "" {
			t.Error("it has a date that the next change could have as well")
		}
		if i == 0 {
			if got := s.wait(t, "the change"); got != topic {
				t.Errorf("notified of %s", got)
			}
		}
	}
	if len(tags) != 3 {
		t.Errorf("three changes have %d tags", len(tags))
	}
	req, _ := http.NewRequest(http.MethodGet, r.base+"/test/rss.xml", nil)
	req.Header.Set("If-None-Match", last)
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusNotModified {
		t.Fatalf("again: %v %v", res, err)
	}
	res.Body.Close()
	if _, body := get(t, r.base+"/test/rss.xml"); strings.Count(body, "<item>") != 8+3 || strings.Count(body, "somebody wanted") != 3 {
		t.Errorf("the feed is %s", body)
	}
	if code, page := get(t, r.base+"/test/"); code != http.StatusOK || !strings.Contains(page, "1 subscription now") || strings.Contains(page, "Change it now") {
		t.Errorf("its page: %d %s", code, page)
	}
	if code, _ := post(t, r.base+"/test/tick", url.Values{}); code != http.StatusOK { // the response is the sign-in page
		t.Errorf("anonymous tick: %d", code)
	}
	if _, body := get(t, r.base+"/test/rss.xml"); strings.Count(body, "somebody wanted") != 3 {
		t.Error("an anonymous request changed the test feed")
	}
}
