package politeness

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const slack = 30 * time.Second // that clocks may differ and answers take

func rhythmProbes() []probe {
	even := func(t time.Time) bool { return t.UTC().Hour()%2 == 0 }
	var hours strings.Builder
	for h := 0; h < 24; h += 2 {
		fmt.Fprintf(&hours, "<hour>%d</hour>", h)
	}
	weekend := func(t time.Time) bool { return t.UTC().Weekday() == time.Saturday || t.UTC().Weekday() == time.Sunday }
	return []probe{
		{"ttl", "ttl of three hours", hinted("<ttl>180</ttl>"), apart(3 * time.Hour)},
		{"skip-hours", "skipHours of every second hour", hinted("<skipHours>" + hours.String() + "</skipHours>"), never(even, "an hour that the feed skips")},
		{"skip-days", "skipDays of the weekend", hinted("<skipDays><day>Saturday</day><day>Sunday</day></skipDays>"), never(weekend, "a day that the feed skips")},
		{"sy", "sy: four times a day", hinted("<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>"), apart(6 * time.Hour)},
		{"max-age", "max-age of four hours, in the first answer only", maxAge, apart(4 * time.Hour)},
		{"expires", "Expires in five hours", expires, apart(5 * time.Hour)},
	}
}

func hinted(extra string) func(v *visit) {
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

// apart judges the least time between two checks.
func apart(least time.Duration) func([]asked, time.Time) []finding {
	return func(list []asked, now time.Time) []finding {
		between := gaps(feeds(list))
		if len(between) < 2 {
			return []finding{open(24, "a third check has to be seen")}
		}
		var out []finding
		for _, d := range between {
			if d < least-slack {
				out = append(out, broken(24, "it was asked for after %s; it asks for %s", d.Round(time.Second), least))
			} else {
				out = append(out, kept(24))
			}
		}
		return append(out, alive(24, list, now)...)
	}
}

// never judges when no check may be.
func never(skipped func(time.Time) bool, what string) func([]asked, time.Time) []finding {
	return func(list []asked, now time.Time) []finding {
		list = feeds(list)
		if len(list) < 3 {
			return []finding{open(24, "a third check has to be seen")}
		}
		var out []finding
		for i := 1; i < len(list); i++ {
			if a := list[i]; skipped(a.At) {
				out = append(out, broken(24, "it was asked for at %s, in %s", a.At.UTC().Format("15:04 on Monday"), what))
			} else {
				out = append(out, kept(24))
			}
		}
		return append(out, alive(24, list, now)...)
	}
}

// alive judges that a reader did not stop.
func alive(manner int, list []asked, now time.Time) []finding {
	if last := list[len(list)-1].At; now.Sub(last) > 72*time.Hour {
		return []finding{broken(manner, "it was not asked for in %s", now.Sub(last).Round(time.Hour))}
	}
	return nil
}

// rising says whether waits grow, on the whole.
func rising(waits []time.Duration) bool {
	if len(waits) < 3 {
		return false
	}
	first, last := waits[0], slices.Max(waits[len(waits)/2:])
	return last >= 2*first
}
