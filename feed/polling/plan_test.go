package polling_test

import (
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
)

func TestNextCheckWaitsForTheLatestTimeOfAllHints(t *testing.T) {
	t.Parallel()
	hourly := feed.Hints{UpdatePeriod: "hourly"}
	for name, tt := range map[string]struct {
		a       polling.Answer
		want    time.Duration
		decides polling.Rule
	}{
		"no hints: hourly":                    {ok("1", feed.Hints{}), time.Hour, polling.RuleDefault},
		"ttl":                                 {ok("1", feed.Hints{TTL: "120"}), 2 * time.Hour, polling.RuleTTL},
		"a short ttl is shorter than default": {ok("1", feed.Hints{TTL: "10"}), 10 * time.Minute, polling.RuleTTL},
		"ttl under the bound":                 {ok("1", feed.Hints{TTL: "1"}), 5 * time.Minute, polling.RuleTTL},
		"ttl over the bound":                  {ok("1", feed.Hints{TTL: "100000"}), 24 * time.Hour, polling.RuleTTL},
		"ttl 0 is invalid":                    {ok("1", feed.Hints{TTL: "0"}), time.Hour, polling.RuleDefault},
		"ttl -5 is invalid":                   {ok("1", feed.Hints{TTL: "-5"}), time.Hour, polling.RuleDefault},
		"ttl 60 minutes":                      {ok("1", feed.Hints{TTL: "60 minutes"}), time.Hour, polling.RuleTTL},
		"sy: hourly":                          {ok("1", hourly), time.Hour, polling.RuleSyndication},
		"sy: twice an hour":                   {ok("1", feed.Hints{UpdatePeriod: "hourly", UpdateFrequency: "2"}), 30 * time.Minute, polling.RuleSyndication},
		"sy: monthly is limited":              {ok("1", feed.Hints{UpdatePeriod: "monthly"}), 24 * time.Hour, polling.RuleSyndication},
		"ttl and sy: the later":               {ok("1", feed.Hints{TTL: "90", UpdatePeriod: "hourly"}), 90 * time.Minute, polling.RuleTTL},
		"max-age":                             {ok("1", feed.Hints{}, "Cache-Control", "max-age=43200"), 12 * time.Hour, polling.RuleMaxAge},
		"max-age in capitals and quotes":      {ok("1", feed.Hints{}, "Cache-Control", `public, Max-Age="43200"`), 12 * time.Hour, polling.RuleMaxAge},
		"max-age less Age":                    {ok("1", feed.Hints{}, "Cache-Control", "max-age=43200", "Age", "3600"), 11 * time.Hour, polling.RuleMaxAge},
		"Age beyond max-age":                  {ok("1", feed.Hints{}, "Cache-Control", "max-age=100", "Age", "3600"), time.Hour, polling.RuleDefault},
		"max-age of years":                    {ok("1", feed.Hints{}, "Cache-Control", "max-age=99999999999999999999"), 24 * time.Hour, polling.RuleMaxAge},
		"max-age is not a number":             {ok("1", feed.Hints{}, "Cache-Control", "max-age=soon"), time.Hour, polling.RuleDefault},
		"max-age without a value":             {ok("1", feed.Hints{}, "Cache-Control", "max-age"), time.Hour, polling.RuleDefault},
		"max-age is negative":                 {ok("1", feed.Hints{}, "Cache-Control", "max-age=-1"), time.Hour, polling.RuleDefault},
		"the first max-age counts":            {ok("1", feed.Hints{}, "Cache-Control", "max-age=7200, max-age=9"), 2 * time.Hour, polling.RuleMaxAge},
		"max-age within quotes is ignored":    {ok("1", feed.Hints{}, "Cache-Control", `private="a, max-age=7200"`), time.Hour, polling.RuleDefault},
		"s-maxage is for shared caches":       {ok("1", feed.Hints{}, "Cache-Control", "s-maxage=43200"), time.Hour, polling.RuleDefault},
		"no-cache is stale at once":           {ok("1", feed.Hints{}, "Cache-Control", "no-cache, max-age=43200"), time.Hour, polling.RuleDefault},
		"no-cache with a field name":          {ok("1", feed.Hints{}, "Cache-Control", `no-cache="Set-Cookie", max-age=43200`), 12 * time.Hour, polling.RuleMaxAge},
		"no-store is stale at once":           {ok("1", feed.Hints{}, "Cache-Control", "no-store", "Expires", "Mon, 04 May 2026 20:20:00 GMT"), time.Hour, polling.RuleDefault},
		"max-age outranks Expires":            {ok("1", feed.Hints{}, "Cache-Control", "max-age=7200", "Expires", "Mon, 04 May 2026 20:20:00 GMT"), 2 * time.Hour, polling.RuleMaxAge},
		"a short max-age leaves the default":  {ok("1", feed.Hints{}, "Cache-Control", "max-age=60"), time.Hour, polling.RuleDefault},
		"a long max-age outlasts ttl":         {ok("1", feed.Hints{TTL: "60"}, "Cache-Control", "max-age=43200"), 12 * time.Hour, polling.RuleMaxAge},
		"Expires":                             {ok("1", feed.Hints{}, "Expires", "Mon, 04 May 2026 05:20:00 GMT"), 3 * time.Hour, polling.RuleExpires},
		"Expires by the server's clock":       {ok("1", feed.Hints{}, "Expires", "Tue, 04 May 2027 05:20:00 GMT", "Date", "Tue, 04 May 2027 02:20:00 GMT"), 3 * time.Hour, polling.RuleExpires},
		"Expires 0":                           {ok("1", feed.Hints{}, "Expires", "0"), time.Hour, polling.RuleDefault},
		"Expires in the past":                 {ok("1", feed.Hints{}, "Expires", "Thu, 01 Jan 1970 00:00:00 GMT"), time.Hour, polling.RuleDefault},
		"Expires is not a date":               {ok("1", feed.Hints{}, "Expires", "next week"), time.Hour, polling.RuleDefault},
		"Expires in the year 9999":            {ok("1", feed.Hints{}, "Expires", "Fri, 31 Dec 9999 23:59:59 GMT"), 24 * time.Hour, polling.RuleExpires},
		"JSON Feed expired":                   {ok("1", feed.Hints{Expired: true}), 24 * time.Hour, polling.RuleFinished},
		"itunes:complete":                     {ok("1", feed.Hints{Complete: true}), 24 * time.Hour, polling.RuleFinished},
		"an archive":                          {ok("1", feed.Hints{Archive: true}), 24 * time.Hour, polling.RuleFinished},
		"expired outlasts ttl":                {ok("1", feed.Hints{Expired: true, TTL: "10"}), 24 * time.Hour, polling.RuleFinished},
		"Retry-After with a 200":              {ok("1", feed.Hints{}, "Retry-After", "7200"), 2 * time.Hour, polling.RuleRetryAfter},
		"podcast:updateFrequency is no hint":  {ok("1", feed.Hints{PodcastUpdates: "weekly"}), time.Hour, polling.RuleDefault},
	} {
		l := newTimeline(t).check(tt.a)
		if got := l.d.At.Sub(l.now); got != tt.want || l.effect(tt.decides) != polling.Decides {
			t.Errorf("%s: next check in %s, want %s by %s: %+v", name, got, tt.want, tt.decides, l.d.Considered)
		}
	}
}

func TestSkippedHoursAndDaysDelayACheck(t *testing.T) {
	t.Parallel()
	hours := func(list ...string) feed.Hints { return feed.Hints{TTL: "60", SkipHours: list} }
	sunday := time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name string
		now  time.Time
		h    feed.Hints
		want string // day and time of the expected check
	}{
		{"not skipped", t0(), hours("6", "7"), "Mon 03:20:00"},
		{"one hour", t0(), hours("3"), "Mon 04:00:00"},
		{"the morning", t0(), hours("3", "4", "5", "6", "7", "8", "9", "10", "11"), "Mon 12:00:00"},
		{"every second hour", t0(), hours("1", "3", "5"), "Mon 04:00:00"},
		{"over midnight", t0().Add(20 * time.Hour), hours("23", "24", "1"), "Tue 02:00:00"},
		{"a list of all hours is ignored", t0(), hours("0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"), "Mon 03:20:00"},
		{"the whole day", sunday.Add(-90 * time.Minute), feed.Hints{TTL: "120", SkipDays: []string{"Sunday"}}, "Mon 00:00:00"}, // the check may be at any time on Saturday
		{"a long weekend", sunday.Add(-25 * time.Hour), feed.Hints{TTL: "120", SkipDays: []string{"Saturday", "Sunday", "Monday"}}, "Tue 00:00:00"},
		{"all but one hour of one day", t0(), feed.Hints{SkipHours: []string{"0 1 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23"}, SkipDays: []string{"Mon Tue Wed Thu Fri Sat"}}, "Sun 02:00:00"},
		{"the rest of the day", sunday.Add(9 * time.Hour), feed.Hints{TTL: "120", SkipDays: []string{"Sunday"}}, "Mon 00:00:00"},
		{"a list of all days is ignored", t0(), feed.Hints{TTL: "60", SkipDays: strings.Split("Mon Tue Wed Thu Fri Sat Sun", " ")}, "Mon 03:20:00"},
		{"the only permitted hour has just ended", t0().Add(40 * time.Minute), hours("0 1 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23"), "Tue 02:00:00"},
		{"a long ttl ends in a skipped hour", t0(), feed.Hints{TTL: "1400", SkipHours: []string{"1", "2", "3"}}, "Tue 00:50:00"}, // 24 hours later it would be 02:20, in a skipped hour
	} {
		l := newTimeline(t)
		l.now = tt.now
		l.check(ok("1", tt.h))
		if got := l.d.At.Format("Mon 15:04:05"); got != tt.want {
			t.Errorf("%s: %s, want %s (%s)", tt.name, got, tt.want, l.d.Reason)
		}
		skip, _ := polling.ParseSkip(tt.h.SkipHours, tt.h.SkipDays)
		if got := l.d.At.Sub(l.now); got < polling.Shortest || skip.Within(l.d.At) || len(tt.h.SkipDays)%7 == 0 && got > polling.Longest {
			t.Errorf("%s: next check in %s", tt.name, got)
		}
		if polling.Due(l.s, l.now) {
			t.Errorf("%s: due at once, as after a clock error", tt.name)
		}
	}
}

func TestJitterRespectsHintsAndSkippedHours(t *testing.T) {
	t.Parallel()
	l := newTimeline(t)
	l.o.Jitter = 1
	l.check(ok("1", feed.Hints{TTL: "60"})).wait(66 * time.Minute)
	l.check(ok("2", feed.Hints{TTL: "1430"})).wait(24 * time.Hour)
	l.check(ok("3", feed.Hints{TTL: "1440"})).wait(24 * time.Hour)
	l.check(ok("4", feed.Hints{TTL: "60", SkipHours: []string{"3", "5"}})).wait(110 * time.Minute) // at 04:10, because checks after a skipped hour are spread over ten minutes
	l.check(ok("5", feed.Hints{TTL: "95", SkipHours: []string{"4"}})).wait(100*time.Minute - time.Second)
	// No hint determines the time of the daily check of a finished feed, so jitter can make it
	// earlier.
	l.check(ok("6", feed.Hints{Expired: true})).wait(24*time.Hour - 144*time.Minute)
	l.o.Jitter = 7 // counts as 1
	l.check(ok("7", feed.Hints{TTL: "60"})).wait(66 * time.Minute)
	l.o.Jitter = -7
	l.check(ok("8", feed.Hints{TTL: "60"})).wait(time.Hour)
}

func TestUserIntervalOverridesHints(t *testing.T) {
	t.Parallel()
	hints := feed.Hints{TTL: "600", UpdatePeriod: "weekly"}
	l := newTimeline(t)
	l.s.Interval = 2 * time.Minute
	l.check(ok("1", hints, "Cache-Control", "max-age=43200")).wait(2 * time.Minute)
	if l.effect(polling.RuleTTL) != polling.Overrode || l.effect(polling.RuleSyndication) != polling.Overrode || l.effect(polling.RuleMaxAge) != polling.Overrode {
		t.Errorf("%+v", l.d.Considered)
	}
	l.s.Interval = time.Second
	l.check(ok("1", hints)).wait(time.Minute)
	l.s.Interval = 7 * 24 * time.Hour
	l.check(ok("1", hints)).wait(7 * 24 * time.Hour)
	if polling.Due(l.s, l.now.Add(time.Hour)) {
		t.Error("a wait of a week is treated as a clock error")
	}
	l.s.Interval = 365 * 24 * time.Hour
	l.check(ok("1", hints)).wait(30 * 24 * time.Hour)
	l.s.Interval = -time.Hour
	l.check(ok("1", hints)).wait(24 * time.Hour)
}

func TestUserIntervalRespectsSkippedHoursAndDays(t *testing.T) {
	t.Parallel()
	l := newTimeline(t)
	l.s.Interval = 2 * time.Minute
	hints := feed.Hints{TTL: "600", SkipHours: []string{"2", "3", "4"}}
	l.check(ok("1", hints)).wait(160 * time.Minute) // the check is at 05:00
	if l.effect(polling.RuleSkip) != polling.Moves || l.effect(polling.RuleTTL) != polling.Overrode {
		t.Errorf("%+v", l.d.Considered)
	}
	if want := "the user's own interval of 2 min, moved out of skipHours (2–4 h); ttl 600 considered"; l.d.Reason != want {
		t.Errorf("the reason is %q, want %q", l.d.Reason, want)
	}
	l.o.Jitter = 1
	l.check(ok("1", hints)).wait(170 * time.Minute) // 160 minutes plus the spread of ten minutes
	l.o.Jitter = 0
	l.s.Interval = 24 * time.Hour // counted from a Monday
	l.check(ok("1", feed.Hints{SkipDays: []string{"Tuesday", "Wednesday"}})).wait(72*time.Hour - 140*time.Minute)
	l.check(status(500)).wait(72*time.Hour - 140*time.Minute)
	l.s.Interval = 30 * 24 * time.Hour
	l.check(ok("1", hints)).wait(30*24*time.Hour + 160*time.Minute)
	if polling.Due(l.s, l.now.Add(time.Hour)) {
		t.Error("the wait is treated as a clock error")
	}
}

func TestUserIntervalRespectsBackoffAndRetryAfter(t *testing.T) {
	t.Parallel()
	l := newTimeline(t)
	l.s.Interval = 2 * time.Minute
	l.check(status(500)).wait(10 * time.Minute)
	l.check(status(429, "Retry-After", "7200")).wait(2 * time.Hour)
	l.after(2*time.Hour, ok("1", feed.Hints{}, "Retry-After", "3600")).wait(time.Hour)
	l.s.Interval = 20 * time.Minute
	l.after(time.Hour, status(500)).wait(20 * time.Minute)
}

func TestDefaultIntervalFollowsPostingFrequency(t *testing.T) {
	t.Parallel()
	every := func(d time.Duration, n int) (out []time.Time) {
		for i := range n {
			out = append(out, t0().Add(-d*time.Duration(i)-time.Minute))
		}
		return out
	}
	const day = 24 * time.Hour
	shift := func(list []time.Time, d time.Duration) (out []time.Time) {
		for _, at := range list {
			out = append(out, at.Add(d))
		}
		return out
	}
	for name, tt := range map[string]struct {
		dates []time.Time
		want  time.Duration
	}{
		"none":                     {nil, time.Hour},
		"one":                      {every(day, 1), time.Hour},
		"a post a day":             {every(day, 10), 6 * time.Hour},
		"a post in two hours":      {every(2*time.Hour, 10), 30 * time.Minute},
		"a post in five minutes":   {every(5*time.Minute, 20), 15 * time.Minute},
		"a post a week":            {every(7*day, 10), 24 * time.Hour},
		"ten at once, once a day":  {append(every(time.Minute, 5), append(shift(every(time.Minute, 5), -day), append(shift(every(time.Minute, 5), -2*day), shift(every(time.Minute, 5), -3*day)...)...)...), 6 * time.Hour},
		"an old post first":        {append(every(day, 10), t0().Add(-3000*day)), 6 * time.Hour},
		"silent for two days":      {shift(every(2*time.Hour, 10), -2*day), 2 * time.Hour},
		"silent for a year":        {shift(every(2*time.Hour, 10), -365*day), 24 * time.Hour},
		"future dates are ignored": {append(every(day, 10), shift(every(time.Hour, 10), 100*day)...), 6 * time.Hour},
		"only future dates":        {shift(every(day, 10), 100*day), time.Hour},
		"zero dates":               {[]time.Time{{}, time.Unix(0, 0)}, time.Hour},
	} {
		a := ok("1", feed.Hints{})
		a.Dates = tt.dates
		l := newTimeline(t).check(a)
		if got := l.d.At.Sub(l.now); got.Round(time.Minute) != tt.want {
			t.Errorf("%s: next check in %s, want %s (%s)", name, got, tt.want, l.d.Reason)
		}
	}
}

func TestFeedWithoutDatesUsesObservedChanges(t *testing.T) {
	t.Parallel()
	l := newTimeline(t)
	for i := range 6 {
		l.after(8*time.Hour, ok(string(rune('a'+i)), feed.Hints{}))
	}
	l.wait(2 * time.Hour)
	l.after(0, status(304)).outcome(polling.Failed) // a 304, although the server never sent a validator
	for range 20 {
		l.after(24*time.Hour, ok("f", feed.Hints{}))
	}
	l.outcome(polling.Unchanged).wait(20 * time.Hour) // the feed has not changed for twenty days
	if len(l.s.Changes) > 6 {
		t.Errorf("%d changes are stored", len(l.s.Changes))
	}
}

func TestReasonOfNextCheckNamesDecidingAndConsideredRules(t *testing.T) {
	t.Parallel()
	berlin := time.FixedZone("CEST", 2*3600)
	for _, tt := range []struct {
		want string
		a    polling.Answer
		zone *time.Location
	}{
		{"next check 14:20: max-age 12 h seen 02:20; ttl 60 and skipHours considered",
			ok("1", feed.Hints{TTL: "60", SkipHours: []string{"6", "7"}}, "Cache-Control", "max-age=43200"), time.UTC},
		{"next check 16:20: max-age 12 h seen 04:20; ttl 60 considered",
			ok("1", feed.Hints{TTL: "60"}, "Cache-Control", "max-age=43200"), berlin},
		{"next check 03:20: no hints, so every 1 h", ok("1", feed.Hints{}), time.UTC},
		{"next check 03:20: no hints, so every 1 h; ttl -1 ignored (a negative number)", ok("1", feed.Hints{TTL: "-1"}), time.UTC},
		{"next check 12:00: ttl 300, moved out of skipHours (6–11 h)",
			ok("1", feed.Hints{TTL: "300", SkipHours: []string{"6 7 8 9 10 11"}}), time.UTC},
		{"next check Tue 02:20: ttl 4000, 24 h is the longest wait", ok("1", feed.Hints{TTL: "4000"}), time.UTC},
		{"next check 02:25: ttl 1, 5 min is the shortest wait; max-age 1 min considered",
			ok("1", feed.Hints{TTL: "1"}, "Cache-Control", "max-age=60"), time.UTC},
		{"next check 08:20: 403 Forbidden: Bots are not welcome.", polling.Answer{Status: 403, Detail: "Bots are\nnot welcome."}, time.UTC},
		{"next check 03:20: Retry-After 3600 with 429 Too Many Requests; a wait that grows with failures considered", status(429, "Retry-After", "3600"), time.UTC},
		{"no further check: 410 Gone", status(410), time.UTC},
	} {
		l := newTimeline(t)
		l.now = l.now.In(tt.zone)
		l.check(tt.a)
		if got := l.d.Sentence(l.now); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestExplainReturnsTheSamePlanLater(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{TTL: "60", SkipHours: []string{"6"}}, "Cache-Control", "max-age=43200"))
	for _, d := range []time.Duration{0, time.Hour, 11 * time.Hour} {
		e := polling.Explain(l.s, l.now.Add(d), polling.Options{})
		if !e.At.Equal(l.d.At) || e.Reason != l.d.Reason || len(e.Considered) != len(l.d.Considered) {
			t.Errorf("after %s: %s", d, e)
		}
	}
	if e := polling.Explain(polling.New(here, t0()), t0(), polling.Options{}); !e.At.Equal(t0()) || e.Reason == "" {
		t.Errorf("new feed: %s", e)
	}
	l.check(status(410))
	if e := polling.Explain(l.s, l.now, polling.Options{}); !e.Gone || !e.At.IsZero() || e.Reason != "410 Gone" {
		t.Errorf("feed that is gone: %s", e)
	}
}

func TestPlanUsesTheTimeOfTheLastCheck(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{TTL: "600"}))
	l.s.Interval = 30 * time.Minute
	s, d := polling.Plan(l.s, l.now.Add(10*time.Minute), polling.Options{})
	if want := l.now.Add(30 * time.Minute); !d.At.Equal(want) || !s.NextAt.Equal(want) {
		t.Errorf("%s, want %s", d.At, want)
	}
	s, d = polling.Plan(l.s, l.now.Add(50*time.Minute), polling.Options{})
	if want := l.now.Add(50 * time.Minute); !d.At.Equal(want) || !s.NextAt.Equal(want) {
		t.Errorf("an overdue check is planned at %s, want now, %s", d.At, want)
	}
}

// TestMissedCheckWaitsForEndOfSkippedHours calls Plan and Resume while the check is overdue and
// the current hour is skipped.
func TestMissedCheckWaitsForEndOfSkippedHours(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{TTL: "60", SkipHours: []string{"6", "7"}})).wait(time.Hour)
	six := l.now.Add(4 * time.Hour) // time 06:20
	s, d := polling.Plan(l.s, six, polling.Options{})
	if want := l.now.Add(340 * time.Minute); !s.NextAt.Equal(want) || !d.At.Equal(want) || d.Reason != "ttl 60, moved out of skipHours (6–7 h)" {
		t.Errorf("after Plan the check is due at %s, want %s: %s", s.NextAt, want, d)
	}
	if s = polling.Resume(l.s, six, 0.5); !s.NextAt.Equal(l.now.Add(345 * time.Minute)) {
		t.Errorf("after Resume the check is due at %s", s.NextAt)
	}
	if s = polling.Resume(l.s, l.now.Add(time.Hour), 0.5); !s.NextAt.Equal(l.now.Add(time.Hour + 150*time.Second)) {
		t.Errorf("outside of skipped hours the check is due at %s", s.NextAt)
	}
}

func TestNewSkipHoursPostponeThePlannedCheckAfterAPush(t *testing.T) {
	t.Parallel()
	l := live(t).wait(24 * time.Hour)
	a := pushed("new")
	a.Hints.SkipHours = []string{l.s.NextAt.Format("15")}
	l.after(time.Minute, a)
	if skip, _ := polling.ParseSkip(a.Hints.SkipHours, nil); skip.Within(l.s.NextAt) {
		t.Errorf("the check was not moved, it is at %s: %s", l.s.NextAt, l.d)
	}
}
