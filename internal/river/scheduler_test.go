package river

import (
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/nettest"
	"cloudburst/internal/river/location"
)

func TestEquivalentHostNamesShareOneCheckInterval(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	sources := func() (list []Source) {
		for i, root := range nettest.Spellings("feeds.test") {
			list = append(list, Source{ID: int64(i + 1), State: polling.State{URL: root + "/rss.xml"}})
		}
		return list
	}
	started := func(d *scheduler, at time.Time) (n int) {
		for {
			job, _, _ := d.pick(at)
			if job == nil {
				return n
			}
			d.start(job, at)
			n++
		}
	}
	r := &River{Options: Options{PerHost: 2}}
	d := newScheduler(r.options())
	d.add(sources(), nil, now)
	if n := started(d, now); n != 1 {
		t.Errorf("%d checks start at once, want 1", n)
	}
	if n := started(d, now.Add(time.Second)); n != 1 {
		t.Errorf("%d checks start a second later, want 1", n)
	}
	if n := started(d, now.Add(3*time.Second)); n != 0 {
		t.Errorf("%d checks start in addition to two, want none", n)
	}
	if wait := d.reserve(polling.HostOf("http://FEEDS.test.:80/"), now.Add(3*time.Second), false); wait != 0 {
		t.Errorf("a request two seconds after the last one waits %s", wait)
	}
	if wait := d.reserve(polling.HostOf("HTTP://feeds.test"), now.Add(3*time.Second), false); wait != time.Second {
		t.Errorf("a request at the same time as the last one waits %s, want 1s", wait)
	}
}

func TestExemptHostMatchesEquivalentHostNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		own, url string
		want     bool
	}{
		{"Feeds.test", "http://feeds.test/", true},
		{"feeds.test.", "https://feeds.test:8443/", true},
		{"feeds.test:80", "http://feeds.test/", true},
		{"feeds.test:443", "https://feeds.test/", true},
		{"feeds.test:8080", "http://FEEDS.test:8080/", true},
		{"feeds.test:8080", "http://feeds.test/", false},
		{"feeds.test", "http://other.test/", false},
		{"[2001:db8:0::1]", "http://[2001:DB8::1]:81/", true},
		{"*", "http://other.test/", true},
	} {
		if got := location.OwnHost([]string{c.own}, polling.HostOf(c.url)); got != c.want {
			t.Errorf("%s is an own host with %q: %t", c.url, c.own, got)
		}
	}
}

// A loop can claim a source between the storing of a push and the call of markPushed.
func TestPushThatACheckCoversCausesNoSecondCheck(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for later, want := range map[time.Duration]bool{-time.Second: false, 0: false, time.Millisecond: true} {
		sc := newScheduler((&River{}).options())
		sc.add([]Source{{ID: 1, PushedAt: now, State: polling.New("http://feeds.test/rss", now)}}, nil, now)
		j, _, _ := sc.pick(now)
		if j == nil {
			t.Fatal("the pushed source does not start")
		}
		sc.start(j, now)
		if !sc.markPushed(1, now.Add(later)) || sc.finish(j, now) != want {
			t.Errorf("a push %s after that of the check: want another check: %t", later, want)
		}
	}
}
