package polling_test

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
	"cloudburst/internal/nettest"
)

func TestRetryAfterIsParsedAsSecondsOrDate(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]time.Duration{
		"3600": time.Hour, " 7200 ": 2 * time.Hour, "31": 30 * time.Minute, // the wait is at least the growing wait after status 429
		"Mon, 04 May 2026 08:20:00 GMT": 6 * time.Hour, "Monday, 04-May-26 08:20:00 GMT": 6 * time.Hour, "Mon May  4 08:20:00 2026": 6 * time.Hour,
		"172800": 48 * time.Hour, "172801": 48 * time.Hour, "99999999999999999999999": 48 * time.Hour, "Fri, 31 Dec 9999 23:59:59 GMT": 48 * time.Hour,
		"0": 0, "-10": 0, "": 0, "soon": 0, "1 hour": 0, "3600.5": 0, "+3600": 0, "Sun, 03 May 2026 08:20:00 GMT": 0, "2026-05-04T08:20:00Z": 0,
	} {
		l := newTimeline(t).check(status(429, "Retry-After", raw))
		if want == 0 {
			want = 30 * time.Minute
			if l.d.Wait != nil {
				t.Errorf("%q was accepted: %+v", raw, l.d.Wait)
			}
		}
		if l.d.Wait != nil && l.d.Wait.Until.Sub(l.now) > polling.LongestRetry {
			t.Errorf("%q: the host waits until %s", raw, l.d.Wait.Until)
		}
		if got := l.d.At.Sub(l.now); got != want {
			t.Errorf("%q: next check in %s, want %s (%s)", raw, got, want, l.d.Reason)
		}
	}
}

func TestRetryAfterDateUsesTheServersClock(t *testing.T) {
	t.Parallel()
	newTimeline(t).check(status(503, "Retry-After", "Tue, 04 May 2027 04:20:00 GMT", "Date", "Tue, 04 May 2027 02:20:00 GMT")).wait(2 * time.Hour)
}

func TestRetryAfterAppliesToAnyStatus(t *testing.T) {
	t.Parallel()
	for _, code := range []int{200, 301, 403, 404, 429, 500, 503} {
		a := status(code, "Retry-After", "100000")
		if code == 200 {
			a.Hints = &feed.Hints{}
		}
		l := newTimeline(t).check(a)
		if got := l.d.At.Sub(l.now); got != 100000*time.Second {
			t.Errorf("%d: next check in %s", code, got)
		}
	}
	// Jitter only delays a check, and the longest wait is 48 hours.
	l := newTimeline(t)
	l.o.Jitter = 1
	l.check(status(503, "Retry-After", "170000")).wait(48 * time.Hour)
}

func TestRetryAfterDoesNotCountAsFailure(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{TTL: "90"}, "ETag", `"a"`))
	for range 50 {
		l.after(24*time.Hour, status(429)).outcome(polling.Failed)
	}
	for range 50 {
		l.after(24*time.Hour, status(503, "Retry-After", "60"))
	}
	if l.s.Failures != 0 || l.d.Gone || l.s.Limited == 0 {
		t.Errorf("%+v", l.s)
	}
	// After many responses that request a wait, a requested wait of one minute is not sufficient
	// any more.
	l.wait(24 * time.Hour)
	l.after(24*time.Hour, status(304)).wait(90 * time.Minute)
	if l.s.Limited != 0 || l.s.Wait != nil {
		t.Errorf("%+v", l.s)
	}
}

func TestRetryAfterDelaysAllChecksUntilItExpires(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(status(503, "Retry-After", "36000")).wait(10 * time.Hour)
	if good, from, why := polling.Refresh(l.s, l.now.Add(time.Hour)); good || !from.Equal(l.now.Add(10*time.Hour)) || why == "" {
		t.Errorf("check by hand: %t %s %q", good, from, why)
	}
	l.after(time.Hour, status(500)).wait(9 * time.Hour) // this request came too early, and the earlier wait still applies
	l.after(time.Hour, ok("1", feed.Hints{})).wait(time.Hour)
	if l.s.Wait != nil {
		t.Error("a successful check does not end the wait")
	}
}

func TestRetryAfterOfSeveralFeedsAppliesToTheirHost(t *testing.T) {
	t.Parallel()
	var h polling.Host
	reported := func(n int, after string, code int) polling.Decision {
		l := newTimeline(t)
		l.o.Host = h
		l.s.URL = fmt.Sprintf("https://a.example/%d.xml", n)
		l.check(status(code, "Retry-After", after))
		h = h.Add(l.d.Wait, l.now)
		return l.d
	}
	for i := range 4 { // the same feed several times
		if d := reported(1, fmt.Sprint(36000+i), 429); !d.HostWait.IsZero() {
			t.Fatalf("one waiting feed stops the host: %+v", d)
		}
	}
	if d := reported(2, "18000", 503); !d.HostWait.IsZero() {
		t.Fatalf("two waiting feeds stop the host: %+v", d)
	}
	if d := reported(9, "72000", 200); !d.HostWait.IsZero() {
		t.Fatalf("a wait with status 200 counts: %+v", d)
	}
	d := reported(3, "7200", 429)
	if want := t0().Add(2 * time.Hour); !d.HostWait.Equal(want) || !h.Until(t0()).Equal(want) {
		t.Fatalf("the host waits until %s, want %s", d.HostWait, want)
	}
	other := newTimeline(t)
	other.s.URL = "https://a.example/other.xml"
	other.o.Host = h
	other.check(ok("1", feed.Hints{})).wait(2 * time.Hour)
	if other.effect(polling.RuleHost) != polling.Decides {
		t.Errorf("%+v", other.d.Considered)
	}
	if at := h.Until(t0().Add(2 * time.Hour)); !at.IsZero() {
		t.Errorf("the wait does not end: %s", at)
	}
	if at := h.Until(t0().Add(-1000 * time.Hour)); !at.IsZero() {
		t.Errorf("after the clock was set back the host waits until %s", at)
	}
	for i := range 100 {
		reported(100+i, "3600", 429)
	}
	if len(h.Waits) > 8 {
		t.Errorf("%d waits are stored", len(h.Waits))
	}
}

func TestHostsWithDifferentPortsAreDistinct(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{"https://A.example/x": "a.example", "http://a.example:8080": "a.example:8080", "http://u:p@a.example/": "a.example", ":": ""} {
		if got := polling.HostOf(url); got != want {
			t.Errorf("HostOf(%q) = %q", url, got)
		}
	}
}

func TestEquivalentHostNamesAreEqual(t *testing.T) {
	t.Parallel()
	for _, root := range nettest.Spellings("feeds.example") {
		if got := polling.HostOf(root + "/rss.xml"); got != "feeds.example" {
			t.Errorf("the host of %s is %q", root, got)
		}
	}
}
