package readercheck

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const slack = 30 * time.Second // tolerance for clocks and response times

func rhythmProbes() []probe {
	even := func(t time.Time) bool { return t.UTC().Hour()%2 == 0 }
	var hours strings.Builder
	for h := 0; h < 24; h += 2 {
		fmt.Fprintf(&hours, "<hour>%d</hour>", h)
	}
	weekend := func(t time.Time) bool { return t.UTC().Weekday() == time.Saturday || t.UTC().Weekday() == time.Sunday }
	return []probe{
		{"ttl", "ttl of three hours", withHint("<ttl>180</ttl>"), minInterval(3 * time.Hour)},
		{"skip-hours", "skipHours of every second hour", withHint("<skipHours>" + hours.String() + "</skipHours>"), notDuring(even, "an hour that the feed skips")},
		{"skip-days", "skipDays of the weekend", withHint("<skipDays><day>Saturday</day><day>Sunday</day></skipDays>"), notDuring(weekend, "a day that the feed skips")},
		{"sy", "sy: four times a day", withHint("<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>"), minInterval(6 * time.Hour)},
		{"max-age", "max-age of four hours, in the first response only", maxAge, minInterval(4 * time.Hour)},
		{"expires", "Expires in five hours", expires, minInterval(5 * time.Hour)},
	}
}

func withHint(extra string) func(v *visit) {
	return func(v *visit) {
		v.set("ETag", `"hint"`)
		v.feed(extra)
	}
}

func maxAge(v *visit) {
	v.set("ETag", `"age"`)
	if len(v.checks()) == 0 {
		v.set("Cache-Control", "max-age=14400")
	}
	v.feed("")
}

func expires(v *visit) {
	v.set("ETag", `"expires"`)
	v.set("Expires", v.now.Add(5*time.Hour).UTC().Format(time.RFC1123[:len(time.RFC1123)-3]+"GMT"))
	v.feed("")
}

// minInterval judges the minimum time between two checks.
func minInterval(atLeast time.Duration) func([]request, time.Time) []finding {
	return func(list []request, now time.Time) []finding {
		between := gaps(feeds(list))
		if len(between) < 2 {
			return []finding{open(24, "a third check is needed")}
		}
		var out []finding
		for _, d := range between {
			if d < atLeast-slack {
				out = append(out, broken(24, "it was requested after %s; it requires %s", d.Round(time.Second), atLeast))
			} else {
				out = append(out, kept(24))
			}
		}
		return append(out, stillPolling(24, list, now)...)
	}
}

// notDuring judges whether checks avoid skipped times.
func notDuring(skipped func(time.Time) bool, what string) func([]request, time.Time) []finding {
	return func(list []request, now time.Time) []finding {
		list = feeds(list)
		if len(list) < 3 {
			return []finding{open(24, "a third check is needed")}
		}
		var out []finding
		for i := 1; i < len(list); i++ {
			if a := list[i]; skipped(a.At) {
				out = append(out, broken(24, "it was requested at %s, in %s", a.At.UTC().Format("15:04 on Monday"), what))
			} else {
				out = append(out, kept(24))
			}
		}
		return append(out, stillPolling(24, list, now)...)
	}
}

// stillPolling judges whether a reader has stopped polling: no request for more than 72 hours
// breaks the rule.
func stillPolling(rule int, list []request, now time.Time) []finding {
	if last := list[len(list)-1].At; now.Sub(last) > 72*time.Hour {
		return []finding{broken(rule, "it was not requested in %s", now.Sub(last).Round(time.Hour))}
	}
	return nil
}

// growing reports whether a wait in the second half of waits is at least twice the first wait.
func growing(waits []time.Duration) bool {
	if len(waits) < 3 {
		return false
	}
	first, last := waits[0], slices.Max(waits[len(waits)/2:])
	return last >= 2*first
}
