package polling_test

import (
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
)

func TestTTLIsParsedInCommonNotations(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]time.Duration{
		"60": time.Hour, " 60\n": time.Hour, "060": time.Hour, "60.0": time.Hour, "60.": time.Hour, "1.5": 90 * time.Second,
		".5": 30 * time.Second, "60 minutes": time.Hour, "60min": time.Hour, "60 Minutes.": time.Hour, "2 hours": 2 * time.Hour,
		"1 day": 24 * time.Hour, "90 s": 90 * time.Second, "99999999999999999999": 366 * 24 * time.Hour,
		"0": 0, "0.0": 0, "-5": 0, "": 0, "  ": 0, "sixty": 0, "1e3": 0, "60 weeks": 0, "1.2.3": 0, ".": 0, "NaN": 0, "٦٠": 0, "6 0": 0,
	} {
		got, problem := polling.ParseTTL(raw)
		if got != want || (problem == "") != (want > 0) {
			t.Errorf("ParseTTL(%q) = %s, %q; want %s", raw, got, problem, want)
		}
	}
}

func TestSyndicationModuleUsesDocumentedDefaults(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, tt := range []struct {
		period, frequency string
		want              time.Duration
		problem           bool
	}{
		{"hourly", "", time.Hour, false}, {"hourly", "2", 30 * time.Minute, false}, {"Daily", "1", day, false},
		{" weekly ", "7", day, false}, {"monthly", "", 30 * day, false}, {"yearly", "1", 365 * day, false},
		{"", "4", 6 * time.Hour, false}, {"hourly", "0.5", 2 * time.Hour, false},
		{"hourly", "0", time.Hour, true}, {"hourly", "-3", time.Hour, true}, {"daily", "often", day, true},
		{"hourly", "99999999999999", time.Second, false}, {"", "", 0, false}, {"fortnightly", "1", 0, true},
	} {
		s, problem, ok := polling.ParseSyndication(feed.Hints{UpdatePeriod: tt.period, UpdateFrequency: tt.frequency})
		if s.Every != tt.want || (problem != "") != tt.problem || ok != (tt.want > 0) {
			t.Errorf("%q %q: %s %q %t, want %s", tt.period, tt.frequency, s.Every, problem, ok, tt.want)
		}
	}
}

func TestSkipHoursAndDaysAreParsedInAllNotations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want  string
		hours, days []string
		problem     bool
	}{
		{"hours", "6–8, 22 h", []string{"6", "07", " 8 ", "22"}, nil, false},
		{"24 is 0", "0 h", []string{"24"}, nil, false},
		{"a list in one element", "1–3 h", []string{"1, 2;3"}, nil, false},
		{"with minutes", "6 h", []string{"06:00"}, nil, false},
		{"invalid hours are ignored", "5 h", []string{"25", "-1", "six", "5", "", "6.5"}, nil, true},
		{"all 24 hours are ignored", "", []string{"0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23"}, nil, true},
		{"1 to 24 are all hours", "", []string{"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24"}, nil, true},
		{"days", "Sunday, Saturday", nil, []string{"Saturday", "SUNDAY"}, false},
		{"abbreviated days", "Sunday, Monday, Tuesday, Wednesday, Thursday, Friday", nil, []string{"Su", "Mon.", "tues", "Weds", "Thur", "fri"}, false},
		{"unknown days", "Friday", nil, []string{"Freitag", "S", "T", "Sundays", "Friday"}, true},
		{"all seven days are ignored", "", nil, []string{"Mon Tue Wed Thu Fri Sat Sun"}, true},
		{"all days are ignored, the hours apply", "3 h", []string{"3"}, []string{"Mon Tue Wed Thu Fri Sat Sun"}, true},
		{"both", "6 h, Sunday", []string{"6"}, []string{"Sunday"}, false},
	} {
		s, problem := polling.ParseSkip(tt.hours, tt.days)
		if s.String() != tt.want || (problem != "") != tt.problem || s.Empty() != (tt.want == "") {
			t.Errorf("%s: %q %q, want %q", tt.name, s, problem, tt.want)
		}
	}
}

func TestSkippedHoursAndDaysAreInGMT(t *testing.T) {
	t.Parallel()
	s, _ := polling.ParseSkip([]string{"6", "7"}, []string{"Sunday"})
	tokyo := time.FixedZone("", 9*3600)
	if at := time.Date(2026, 5, 4, 15, 30, 0, 0, tokyo); !s.Within(at) { // in Tokyo; that is 06:30 GMT
		t.Error("06:30 GMT, 15:30 in Tokyo, is not skipped")
	}
	if at := time.Date(2026, 5, 4, 6, 30, 0, 0, tokyo); !s.Within(at) { // in Tokyo; that is Sunday 21:30 GMT
		t.Error("Sunday 21:30 GMT, Monday in Tokyo, is not skipped")
	}
	if at := s.After(time.Date(2026, 5, 4, 6, 0, 0, 1, time.UTC)); !at.Equal(time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)) {
		t.Errorf("After returned %s", at)
	}
	if got := len(s.Hours()) + 10*len(s.Days()); got != 12 {
		t.Errorf("%v %v", s.Hours(), s.Days())
	}
}

func TestCDFSchedulesAreParsed(t *testing.T) {
	t.Parallel()
	span := func(day, hour, minute string) feed.Span { return feed.Span{Day: day, Hour: hour, Min: minute} }
	for _, tt := range []struct {
		name string
		c    feed.Schedule
		at   time.Duration // expected check, counted from t0 (02:20); 0: the schedule is ignored
	}{
		{"daily at five", feed.Schedule{IntervalTime: span("1", "", ""), EarliestTime: span("", "5", "")}, 2*time.Hour + 40*time.Minute},
		{"daily at one is tomorrow", feed.Schedule{IntervalTime: span("1", "", ""), EarliestTime: span("", "1", "")}, 22*time.Hour + 40*time.Minute},
		{"a window that contains the check is used", feed.Schedule{IntervalTime: span("1", "", ""), EarliestTime: span("", "2", ""), LatestTime: span("", "5", "")}, 23*time.Hour + 40*time.Minute},
		{"six-hourly", feed.Schedule{IntervalTime: span("", "6", "")}, 3*time.Hour + 40*time.Minute},
		{"start in the future", feed.Schedule{StartDate: "2026-05-04T12:30:00Z", IntervalTime: span("", "6", "")}, 10*time.Hour + 10*time.Minute},
		{"steps count from the start", feed.Schedule{StartDate: "2026-05-03T00:30:00Z", IntervalTime: span("", "1", "")}, 10 * time.Minute},
		{"time zone", feed.Schedule{IntervalTime: span("1", "", ""), EarliestTime: feed.Span{Hour: "5", Zone: "-0500"}}, 7*time.Hour + 40*time.Minute},
		{"start date in the time zone", feed.Schedule{StartDate: "2026-05-04", IntervalTime: span("1", "", ""), EarliestTime: feed.Span{Hour: "5", Zone: "-0500"}}, 7*time.Hour + 40*time.Minute},
		{"ended", feed.Schedule{StopDate: "2026-05-01", IntervalTime: span("", "6", "")}, 0},
		{"no interval", feed.Schedule{EarliestTime: span("", "5", "")}, 0},
		{"interval of zero", feed.Schedule{IntervalTime: span("0", "0", "")}, 0},
		{"interval is not a number", feed.Schedule{IntervalTime: span("one", "", "")}, 0},
	} {
		l := newTimeline(t).check(ok("1", feed.Hints{Schedule: &tt.c}))
		want, effect := tt.at, polling.Decides
		if want == 0 {
			want, effect = time.Hour, polling.Ignored
		}
		if got := l.d.At.Sub(l.now); got != want || l.effect(polling.RuleSchedule) != effect {
			t.Errorf("%s: next check in %s, want %s (%+v)", tt.name, got, want, l.d.Considered)
		}
	}
}

func TestUpdateBaseDeterminesTheUpdateTimes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		base time.Time
		want time.Duration
	}{
		"past":      {time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC), 40 * time.Minute},
		"future":    {time.Date(2030, 1, 1, 12, 45, 0, 0, time.UTC), 25 * time.Minute},
		"too soon":  {time.Date(2000, 1, 1, 0, 21, 0, 0, time.UTC), polling.Shortest},
		"now":       {t0(), time.Hour},
		"year 1":    {time.Date(1, 1, 1, 0, 30, 0, 0, time.UTC), 10 * time.Minute},
		"year 9999": {time.Date(9999, 1, 1, 0, 30, 0, 0, time.UTC), 10 * time.Minute},
	} {
		l := newTimeline(t).check(ok("1", feed.Hints{UpdatePeriod: "hourly", UpdateBase: feed.Date{Raw: "x", UTC: tt.base}}))
		if got := l.d.At.Sub(l.now); got != tt.want {
			t.Errorf("%s: next check in %s, want %s", name, got, tt.want)
		}
	}
}

func TestStoredHintsAreSmallAndDoNotRetainTheDocument(t *testing.T) {
	t.Parallel()
	long := make([]byte, 1<<20)
	for i := range long {
		long[i] = '6'
	}
	many := make([]string, 10000)
	for i := range many {
		many[i] = "6"
	}
	l := newTimeline(t).check(ok("1", feed.Hints{TTL: string(long), SkipHours: many, SkipDays: []string{string(long)}}))
	if len(l.s.Hints.TTL) > 64 || len(l.s.Hints.SkipHours) > 48 || len(l.s.Hints.SkipDays[0]) > 64 {
		t.Errorf("lengths %d %d %d", len(l.s.Hints.TTL), len(l.s.Hints.SkipHours), len(l.s.Hints.SkipDays[0]))
	}
	if n := len(l.d.Reason); n > 1000 {
		t.Errorf("reason of %d bytes", n)
	}
}
