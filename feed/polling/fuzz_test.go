package polling_test

import (
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
)

func FuzzHints(f *testing.F) {
	f.Add("60", "6 24", "Sunday", "hourly", "2", "1", "5", "+0100", int64(0), 0.5)
	f.Add("1.5 hours", "0 1 2", "Mon,Tue", "yearly", "0", "", "", "", int64(1777860000), 1.0)
	f.Add("-1", "25", "Weds.", "", ".5", "99999999999", "-3", "-5:30", int64(-62135596800), 0.0)
	f.Fuzz(func(t *testing.T, ttl, hours, days, period, frequency, day, hour, zone string, base int64, jitter float64) {
		h := feed.Hints{TTL: ttl, SkipHours: strings.Split(hours, " "), SkipDays: strings.Split(days, ","), UpdatePeriod: period, UpdateFrequency: frequency,
			Schedule: &feed.Schedule{StartDate: ttl, StopDate: frequency, IntervalTime: feed.Span{Day: day}, EarliestTime: feed.Span{Hour: hour, Zone: zone}, LatestTime: feed.Span{Min: day}}}
		if base > -62135596800 && base < 253402300800 { // the range of valid dates
			h.UpdateBase.UTC = time.Unix(base, 0).UTC()
		}
		skip, _ := polling.ParseSkip(h.SkipHours, h.SkipDays)
		if at := skip.After(t0()); at.Before(t0()) || skip.Within(at) || at.Sub(t0()) > 7*24*time.Hour {
			t.Errorf("%v: After(%s) returned %s", skip, t0(), at)
		}
		s, d := polling.Next(polling.New(here, t0()), ok("1", h), t0(), polling.Options{Jitter: jitter})
		check(t, "fuzzed hints", s, d, t0())
		if d.Outcome != polling.Changed {
			t.Errorf("%+v", d)
		}
	})
}

func FuzzResponseHeader(f *testing.F) {
	f.Add("max-age=60, private", "0", "10", "3600", `W/"a"`, "Mon, 04 May 2026 02:20:00 GMT", 200)
	f.Add(`no-cache="Set-Cookie", MAX-AGE="7"`, "Fri, 31 Dec 9999 23:59:59 GMT", "", "Mon, 04 May 2026 08:20:00 GMT", "a", "junk", 429)
	f.Add("max-age=99999999999999999999,,=,\"", "-1", "99999999999999999999", "-5", "", "", 304)
	f.Fuzz(func(t *testing.T, control, expires, age, retry, etag, date string, code int) {
		h := header("Cache-Control", control, "Expires", expires, "Age", age, "Retry-After", retry, "ETag", etag, "Date", date)
		s := polling.New(here, t0())
		for _, a := range []polling.Answer{{Status: 200, Hints: &feed.Hints{}, Header: h}, {Status: code, Header: h}, {Status: 304, Header: h}} {
			var d polling.Decision
			s, d = polling.Next(s, a, t0(), polling.Options{})
			check(t, "fuzzed header", s, d, t0())
			if v := polling.Request(s); strings.ContainsAny(v.ETag, "\r\n\x00") {
				t.Errorf("a validator with a line break: %q", v.ETag)
			}
			if d.Gone {
				s = polling.Revive(s, t0())
			}
		}
	})
}

func FuzzRedirects(f *testing.F) {
	f.Add("https://a.example/rss.xml", "/new.xml", "https://b.example/", 301, 302)
	f.Add("http://u:p@[::1]:80/x", "//c.example:99/#f", "HTTPS://C.EXAMPLE", 308, 301)
	f.Fuzz(func(t *testing.T, url, to, hopTo string, first, second int) {
		s := polling.New(url, t0())
		a := ok("1", feed.Hints{})
		a.Moved = &feed.Moved{To: to, From: "redirect"}
		if next, good := a.Follow(s); good && (!strings.HasPrefix(next.To, "http") || strings.Contains(next.To, "#")) {
			t.Errorf("Follow returned %q", next.To)
		}
		a.Moved.From = "itunes:new-feed-url"
		a.Hops = []polling.Hop{hop(first, url, hopTo), hop(second, hopTo, to)}
		for i := range 4 {
			s, _ = polling.Next(s, a, t0().Add(time.Duration(i)*24*time.Hour), polling.Options{})
			if len(s.Moves) == 0 && s.URL != url {
				t.Errorf("moved to %q without a record in Moves", s.URL)
			}
		}
		polling.HostOf(s.URL)
	})
}
