package polling_test

import (
	"io"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
)

func TestFailedChecksAreRetriedWithBackoff(t *testing.T) {
	t.Parallel()
	const min = time.Minute
	for name, tt := range map[string]struct {
		a    polling.Answer
		want []time.Duration
	}{
		"500":             {status(500), []time.Duration{10 * min, 20 * min, 40 * min, 80 * min, 160 * min, 320 * min, 640 * min, 1280 * min, 1440 * min, 1440 * min}},
		"503":             {status(503), []time.Duration{10 * min, 20 * min}},
		"DNS":             {polling.Answer{Error: polling.ErrDNS}, []time.Duration{10 * min, 20 * min}},
		"timed out":       {polling.Answer{Error: polling.ErrTimeout}, []time.Duration{10 * min, 20 * min}},
		"404":             {status(404), []time.Duration{60 * min, 120 * min, 240 * min, 480 * min, 960 * min, 1440 * min, 1440 * min}},
		"400":             {status(400), []time.Duration{60 * min}},
		"408":             {status(408), []time.Duration{10 * min}},
		"403":             {status(403), []time.Duration{360 * min, 720 * min, 1440 * min, 1440 * min}},
		"401":             {status(401), []time.Duration{360 * min}},
		"451":             {status(451), []time.Duration{360 * min}},
		"TLS":             {polling.Answer{Error: polling.ErrTLS}, []time.Duration{60 * min, 120 * min}},
		"too large":       {polling.Answer{Error: polling.ErrTooLarge}, []time.Duration{60 * min, 120 * min}},
		"address filter":  {polling.Answer{Error: polling.ErrRefused}, []time.Duration{360 * min}},
		"HTML page":       {polling.Answer{Status: 200, Looks: "html"}, []time.Duration{30 * min, 60 * min, 120 * min}},
		"no content":      {polling.Answer{Status: 204}, []time.Duration{60 * min}},
		"partial content": {polling.Answer{Status: 206, Hints: &feed.Hints{}}, []time.Duration{60 * min}},
		"300":             {status(300), []time.Duration{60 * min}},
		"no response":     {polling.Answer{}, []time.Duration{60 * min}},
		"429 alone":       {status(429), []time.Duration{30 * min, 60 * min, 120 * min}},
		"unknown kind":    {polling.Answer{Error: "other"}, []time.Duration{60 * min}},
		"a feed, 500":     {polling.Answer{Status: 500, Hints: &feed.Hints{}}, []time.Duration{10 * min}},
	} {
		l := newTimeline(t)
		for i, want := range tt.want {
			l.after(time.Hour, tt.a)
			if got := l.d.At.Sub(l.now); got != want || l.d.Outcome != polling.Failed || l.d.Failure == "" {
				t.Errorf("%s, failure %d: next check in %s, want %s (%s)", name, i+1, got, want, l.d.Reason)
			}
		}
	}
}

func TestFailingFeedIsCheckedDailyAndSuccessResetsFailures(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{TTL: "90"}, "ETag", `"a"`))
	for i := range 1000 {
		a := []polling.Answer{status(404), status(500), {Error: polling.ErrDNS}, status(403), status(429)}[i%5]
		l.after(24*time.Hour, a)
		if l.d.Gone || l.d.At.IsZero() || l.d.At.Sub(l.now) > 24*time.Hour {
			t.Fatalf("after %d failures: %s", i+1, l.d)
		}
	}
	l.after(24*time.Hour, status(304)).outcome(polling.Unchanged).wait(90 * time.Minute)
	if l.s.Failures != 0 || l.s.Limited != 0 || l.s.Failure != nil {
		t.Errorf("%+v", l.s)
	}
}

func TestSkipHoursApplyAfterFailures(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{SkipHours: []string{"3", "4"}}, "ETag", `"a"`))
	l.after(35*time.Minute, status(500)).wait(2*time.Hour + 5*time.Minute) // the next check is at 05:00
}

func TestForbiddenFeedShowsReasonAndWaitsSixHours(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(polling.Answer{Status: 403, Detail: " Your client\nis blocked. "}).wait(6 * time.Hour)
	if want := "403 Forbidden: Your client is blocked."; l.d.Failure != want || l.s.Failure.Text != want || l.d.Reason != want || l.s.Failure.Status != 403 {
		t.Errorf("%q %+v", l.d.Failure, l.s.Failure)
	}
	l.check(polling.Answer{Status: 403, Detail: string(make([]byte, 1<<20))})
	if n := len(l.s.Failure.Text); n > 1000 {
		t.Errorf("stored failure text of %d bytes", n)
	}
}

func TestGoneFeedIsNotCheckedUntilRevived(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{}, "ETag", `"a"`)).after(time.Hour, status(410)).outcome(polling.IsGone)
	if !l.d.Gone || !l.d.At.IsZero() || !l.s.NextAt.IsZero() || l.s.Gone == nil || l.d.Reason != "410 Gone" {
		t.Errorf("%+v", l.d)
	}
	for _, d := range []time.Duration{0, time.Hour, 10 * 365 * 24 * time.Hour} {
		if polling.Due(l.s, l.now.Add(d)) {
			t.Errorf("due after %s", d)
		}
	}
	if s := polling.Resume(l.s, l.now, 0.5); !s.NextAt.IsZero() {
		t.Error("Resume plans a check of a feed that is gone")
	}
	// The validators stay because the items also stay.
	l.validators(`"a"`, "")
	// A user may check whether the feed exists again. After another failure the state stays the
	// same.
	a := status(500)
	a.Cause = polling.ByHand
	l.after(time.Hour, a)
	if !l.d.Gone || !l.d.At.IsZero() {
		t.Errorf("%+v", l.d)
	}
	s := polling.Revive(l.s, l.now)
	if !polling.Due(s, l.now) || s.Gone != nil {
		t.Errorf("%+v", s)
	}
	l.after(time.Hour, ok("2", feed.Hints{})).wait(time.Hour)
	if l.d.Gone || l.s.Gone != nil {
		t.Error("a successful check does not revive the feed")
	}
}

func TestStatus410AfterRedirectsCountsOnlyIfTheyArePermanent(t *testing.T) {
	t.Parallel()
	newTimeline(t).check(via(status(410), hop(301, here, there))).outcome(polling.IsGone)
	newTimeline(t).check(via(status(410), hop(302, here, there))).outcome(polling.Failed)
	newTimeline(t).check(via(status(410), hop(301, here, there), hop(307, there, beyond))).outcome(polling.Failed)
}

func TestLocalErrorsDoNotCountAsFeedFailures(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{TTL: "90"}, "ETag", `"a"`))
	before := l.s
	l.after(90*time.Minute, polling.Answer{Error: polling.ErrLocal, Detail: "out of sockets"}).outcome(polling.Postponed).wait(5 * time.Minute)
	if l.s.Failures != 0 || l.s.Failure != nil || !l.s.CheckedAt.Equal(before.CheckedAt) {
		t.Errorf("%+v", l.s)
	}
}

func TestReadDistinguishesFeedsFromOtherDocuments(t *testing.T) {
	t.Parallel()
	var a polling.Answer
	a.Read(nil, &feed.NotFeedError{Looks: "image"})
	if a.Looks != "image" || a.Hints != nil {
		t.Errorf("%+v", a)
	}
	a = polling.Answer{}
	a.Read(&feed.Feed{Format: feed.Redirect}, nil)
	if a.Looks == "" || a.Hints != nil {
		t.Errorf("%+v", a)
	}
	a = polling.Answer{}
	a.Read(nil, io.ErrUnexpectedEOF)
	if a.Looks == "" || a.Hints != nil {
		t.Errorf("%+v", a)
	}
	a = polling.Answer{}
	a.Read(&feed.Feed{Hints: feed.Hints{TTL: "5"}, Items: []feed.Item{{Published: feed.Date{UTC: t0()}, Updated: feed.Date{UTC: t0().Add(1)}}, {Updated: feed.Date{UTC: t0()}}, {}}}, nil)
	if a.Hints == nil || a.Hints.TTL != "5" || len(a.Dates) != 2 || !a.Dates[0].Equal(t0()) {
		t.Errorf("%+v", a)
	}
}
