package readercheck

import (
	"fmt"
	"net/http"
	"time"
)

const (
	downFor  = 10 // number of failing checks
	minWait  = 5*time.Minute - slack
	longWait = 49 * time.Hour // maximum time until a reader returns
)

func troubleProbes() []probe {
	return []probe{
		{"busy", "429 with Retry-After in seconds", busy(http.StatusTooManyRequests, func(time.Time) string { return "7200" }), respectsRetryAfter(2 * time.Hour)},
		{"busy-date", "503 with Retry-After as a date", busy(http.StatusServiceUnavailable, func(now time.Time) string {
			return now.Add(3 * time.Hour).UTC().Format(http.TimeFormat)
		}), respectsRetryAfter(3 * time.Hour)},
		{"busy-junk", "429 with an invalid Retry-After", busy(http.StatusTooManyRequests, func(time.Time) string { return "a little while" }), respectsRetryAfter(5 * time.Minute)},
		{"down", "A server that fails ten times, and recovers", down, judgeRecovery},
		{"gone", "410", gone, mustEnd(15)},
		{"forbidden", "403, with a reason", forbidden, judgeRefusals},
	}
}

// busy sends a Retry-After at every third check.
func busy(status int, value func(time.Time) string) func(v *visit) {
	return func(v *visit) {
		v.set("ETag", `"busy"`)
		if len(v.checks())%3 != 1 {
			v.feed("")
			return
		}
		v.set("Retry-After", value(v.now))
		v.fail(status, "Slowly, please.")
	}
}

func respectsRetryAfter(atLeast time.Duration) func([]request, time.Time) []finding {
	return func(list []request, now time.Time) []finding {
		list = feeds(list)
		var out []finding
		for i, a := range list {
			switch {
			case a.Status < 400:
			case i+1 < len(list) && list[i+1].At.Sub(a.At) < atLeast-slack:
				out = append(out, broken(13, "it was requested after %s although Retry-After was %s", list[i+1].At.Sub(a.At).Round(time.Second), atLeast))
			case i+1 < len(list):
				out = append(out, kept(13))
			case now.Sub(a.At) > longWait:
				out = append(out, broken(13, "it was not requested again after a Retry-After"))
			}
		}
		if len(out) == 0 {
			return []finding{open(13, "a check after a Retry-After is needed")}
		}
		return out
	}
}

func down(v *visit) {
	if n := len(v.checks()); n > 0 && n <= downFor {
		v.fail(http.StatusInternalServerError, "Something is wrong here.")
		return
	}
	v.set("ETag", `"down"`)
	v.feed("")
}

func judgeRecovery(list []request, now time.Time) []finding {
	list = feeds(list)
	var waits []time.Duration
	for i := 1; i < len(list); i++ {
		if list[i-1].Status >= 500 {
			waits = append(waits, list[i].At.Sub(list[i-1].At))
		}
	}
	var out []finding
	for _, w := range waits {
		if w < minWait {
			out = append(out, broken(14, "it was requested again after %s", w.Round(time.Second)))
		}
	}
	last := list[len(list)-1]
	switch {
	case last.Status >= 500 && now.Sub(last.At) > longWait:
		return append(out, broken(14, "it was not requested again after %d failures", len(waits)+1))
	case len(waits) < downFor:
		return append(out, open(14, "%d more failures are needed", downFor-len(waits)))
	case !growing(waits):
		return append(out, broken(14, "the waits do not grow: %s … %s", waits[0].Round(time.Second), waits[len(waits)-1].Round(time.Second)))
	}
	return append(out, kept(14))
}

func gone(v *visit) {
	if len(v.checks()) > 0 {
		v.fail(http.StatusGone, "This feed has ended.")
		return
	}
	v.set("ETag", `"gone"`)
	v.feed("")
}

// mustEnd judges whether the second check, which found that the feed is gone, was the last.
func mustEnd(rule int) func([]request, time.Time) []finding {
	return func(list []request, now time.Time) []finding {
		list = feeds(list)
		switch {
		case len(list) < 2:
			return []finding{open(rule, "the check that receives the 410 is needed")}
		case len(list) > 2:
			return []finding{broken(rule, "it was requested %d times after its end", len(list)-2)}
		case now.Sub(list[1].At) < 24*time.Hour:
			return []finding{open(rule, "a day without requests is needed")}
		}
		return []finding{kept(rule)}
	}
}

func forbidden(v *visit) { v.fail(http.StatusForbidden, "This kind of reader is not allowed.") }

func judgeRefusals(list []request, now time.Time) []finding {
	between := gaps(feeds(list))
	if len(between) < 4 && now.Sub(list[0].At) < 72*time.Hour {
		return []finding{open(29, "more checks are needed")}
	}
	for i, d := range between {
		switch {
		case d < minWait:
			return []finding{broken(29, "it was requested again after %s", d.Round(time.Second))}
		case i >= 3 && d < 90*time.Minute:
			return []finding{broken(29, "after %d refusals it was requested again after %s", i+1, d.Round(time.Minute))}
		}
	}
	return []finding{kept(29)}
}

// moveProbes returns the probes with redirects.
func moveProbes() []probe {
	return []probe{
		{"moved", "301 to another URL", func(v *visit) { movedFeed(v, func() { v.redirect(http.StatusMovedPermanently, "new") }) }, acceptsMove(16)},
		{"repair", "301 to a maintenance page, for two checks", repair, judgeRepair},
		{"document", "A redirect document", func(v *visit) {
			movedFeed(v, func() {
				v.body(http.StatusOK, "application/xml", []byte(fmt.Sprintf("<?xml version=\"1.0\"?>\n<redirect><newLocation>%snew</newLocation></redirect>\n", v.base)))
			})
		}, acceptsMove(17)},
		{"document-gone", "An empty redirect document", func(v *visit) {
			if len(v.checks()) == 0 {
				v.feed("")
				return
			}
			v.body(http.StatusOK, "application/xml", []byte("<?xml version=\"1.0\"?>\n<redirect><newLocation/></redirect>\n"))
		}, mustEnd(17)},
		{"chain", "A chain of redirects without end", func(v *visit) {
			n := 0
			_, _ = fmt.Sscanf(v.part, "%d", &n) // the feed itself is hop 0
			v.redirect(http.StatusFound, fmt.Sprint(n+1))
		}, judgeChain},
	}
}

// movedFeed responds with a feed. From the second check on, it calls away, which responds that the
// feed has moved.
func movedFeed(v *visit, away func()) {
	v.set("ETag", fmt.Sprintf("%q", v.part))
	if v.part == partFeed && len(v.checks()) > 0 {
		v.w.Header().Del("ETag")
		away()
		return
	}
	v.feed("")
}

// acceptsMove judges whether the reader accepts the new URL, but only after three checks in a day.
func acceptsMove(rule int) func([]request, time.Time) []finding {
	return func(list []request, now time.Time) []finding {
		var seen []time.Time // checks that saw the move
		var last request
		for _, a := range list {
			if a.Part == partFeed && len(feeds(list)) > 0 && a.At != list[0].At {
				seen = append(seen, a.At)
			}
			if a.Part != partFeed && (last.Part != partFeed || a.At.Sub(last.At) > inOneGo) {
				if len(seen) < 3 || a.At.Sub(seen[0]) < 24*time.Hour-slack {
					return []finding{broken(rule, "the move was accepted after %d checks in %s", len(seen), a.At.Sub(seen[0]).Round(time.Minute))}
				}
				return []finding{kept(rule)}
			}
			last = a
		}
		if len(seen) > 12 && now.Sub(seen[0]) > 96*time.Hour {
			return []finding{broken(rule, "the move was not accepted after %d checks", len(seen))}
		}
		return []finding{open(rule, "a direct request for the new URL is needed")}
	}
}

func repair(v *visit) {
	n := len(v.checks())
	switch {
	case v.part != partFeed:
		v.body(http.StatusOK, "text/html", []byte("<!doctype html><title>Repair</title><p>We are back soon.</p>\n"))
	case n == 1 || n == 2:
		v.redirect(http.StatusMovedPermanently, "repair")
	default:
		v.set("ETag", `"well"`)
		v.feed("")
	}
}

func judgeRepair(list []request, now time.Time) []finding {
	n := len(feeds(list))
	switch last := list[len(list)-1]; {
	case n >= 5:
		return []finding{kept(16)}
	case n >= 3 && now.Sub(last.At) > longWait:
		return []finding{broken(16, "a maintenance page was accepted as the new URL")}
	}
	return []finding{open(16, "checks after the maintenance are needed")}
}

func judgeChain(list []request, _ time.Time) []finding {
	for _, a := range list {
		n := 0
		if _, err := fmt.Sscanf(a.Part, "%d", &n); err == nil && n > 5 {
			return []finding{broken(18, "%d redirects were followed", n)}
		}
	}
	if len(feeds(list)) < 2 {
		return []finding{open(18, "a second check is needed")}
	}
	return []finding{kept(18)}
}
