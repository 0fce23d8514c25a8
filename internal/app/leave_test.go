package app_test

import (
	"net/http"
	"testing"
	"time"

	"cloudburst/internal/fulltest"
)

// During the shutdown delay, /readyz reports that the server is stopping, so that a load balancer
// sends no new clients. The server continues to answer requests.
func TestStoppingServerStillAnswersDuringShutdownDelay(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	cfg := conf(t, t.TempDir())
	cfg.ShutdownDelay = 5 * time.Second
	r := start(t, cfg)
	f, s := newFeed(t), newSubscriber(t)
	feed := f.URL + "/rss.xml"
	ended := make(chan struct{})
	go func() { defer close(ended); _ = r.stop() }() // the error is checked during the cleanup of the test
	wait(t, "readyz reports the stop", func() bool {
		code, text := get(t, r.base+"/readyz")
		return code == http.StatusServiceUnavailable && text == "stopping\n"
	})
	if code, _ := get(t, r.admin+"/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("the operator's listener answers %d", code)
	}
	res, err := http.Get(r.base + "/")
	if err != nil {
		t.Fatalf("while it leaves: %v", err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK || !res.Close {
		t.Errorf("while it leaves, a page is answered %d, and its connection ends: %v", res.StatusCode, res.Close)
	}
	if code, body := post(t, r.base+"/rsscloud/pleaseNotify", s.form(feed, "yes")); code != http.StatusOK {
		t.Errorf("pleaseNotify while it leaves: %d %s", code, body)
	}
	if !accepted(r.base, feed) {
		t.Error("it takes no ping while it leaves")
	}
	if got := s.wait(t, "the notification"); got != feed {
		t.Errorf("the notification named %q", got)
	}
	select {
	case <-ended:
		t.Log("it ended before all of this was asked: a slow machine")
	default:
	}
}
