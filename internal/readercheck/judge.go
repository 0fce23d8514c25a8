package readercheck

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/text"
)

const (
	atOnce    = 2                      // maximum number of open requests
	interval  = 900 * time.Millisecond // minimum time between checks, minus a tolerance for network delay
	inOneGo   = 10 * time.Second       // a request within this time after a redirect follows the redirect
	minuteTop = 0.25                   // maximum share of checks in the first minute of an hour
	enoughTop = 40                     // checks needed to judge minuteTop
)

var agentForm = regexp.MustCompile(`^[^\s/]+/\S+ .*\(\+?https?://[^\s;)]+`)
var agentCount = regexp.MustCompile(`\b\d+ subscribers?\b`)

// judgeRequests judges each request by the rules that apply to every request.
func judgeRequests(list []request) []finding {
	var out []finding
	gaveCookie := false
	for _, a := range list {
		switch {
		case a.Query != "":
			out = append(out, broken(10, "the request had the query ?%s, which the feed URL does not have", clip(a.Query)))
		case a.Cookie:
			out = append(out, broken(10, "a cookie was sent"))
		case gaveCookie:
			out = append(out, kept(10))
		}
		gaveCookie = gaveCookie || a.Probe == "cookie"
		if a.Referer {
			out = append(out, broken(11, "a Referer was sent"))
		}
		if strings.Contains(a.Encoding, "gzip") {
			out = append(out, kept(12))
		} else {
			out = append(out, broken(12, "Accept-Encoding is %q", clip(a.Encoding)))
		}
		out = append(out, judgeAgent(a.Agent))
	}
	return out
}

func judgeAgent(text string) finding {
	switch {
	case !agentForm.MatchString(text):
		return broken(23, "User-Agent is %q: it must have a name with a version and (+https://…)", clip(text))
	case !agentCount.MatchString(text):
		return broken(23, "User-Agent is %q: it does not state the number of subscribers, as in \"3 subscribers\"", clip(text))
	}
	return kept(23)
}

// judgeAll judges all requests of a reader together.
func judgeAll(all []request) []finding {
	out := slices.Concat(judgeConnections(all), judgeIntervals(all), judgeProtocol(all))
	return append(out, judgeHours(all)...)
}

func judgeConnections(all []request) []finding {
	for _, a := range all {
		if a.Busy > atOnce {
			return []finding{broken(19, "%d requests were open at once", a.Busy)}
		}
	}
	return nil
}

// judgeIntervals judges the time between two checks. Followed redirects belong to one check.
func judgeIntervals(all []request) []finding {
	var last time.Time
	n := 0
	for _, a := range all {
		if a.Part != partFeed {
			continue
		}
		if n++; n > 1 && a.At.Sub(last) < interval {
			return []finding{broken(19, "two checks started within %s", a.At.Sub(last).Round(time.Millisecond))}
		}
		last = a.At
	}
	if n < 10 {
		return []finding{open(19, "more checks are needed")}
	}
	return []finding{kept(19)}
}

func judgeProtocol(all []request) []finding {
	near, again := 0, 0
	for i, a := range all {
		if a.Proto < 11 {
			return []finding{broken(26, "HTTP/%d.%d was used", a.Proto/10, a.Proto%10)}
		}
		if i > 0 && a.Conn != 0 && a.At.Sub(all[i-1].End) < 5*time.Second && !all[i-1].GaveUp && all[i-1].Busy == 1 {
			near++
			if slices.ContainsFunc(all[max(0, i-4):i], func(b request) bool { return b.Conn == a.Conn }) {
				again++
			}
		}
	}
	switch {
	case near < 5:
		return []finding{open(26, "requests in quick succession are needed")}
	case again*2 < near:
		return []finding{broken(26, "of %d requests shortly after another, only %d used the same connection", near, again)}
	}
	return []finding{kept(26)}
}

func judgeHours(all []request) []finding {
	n, top := 0, 0
	first := map[string]bool{}
	for _, a := range all {
		if a.Part != partFeed || !first[a.Probe] {
			first[a.Probe] = true
			continue
		}
		if n++; a.At.Minute() == 0 {
			top++
		}
	}
	switch {
	case n < enoughTop:
		return []finding{open(20, "more checks are needed")}
	case float64(top) > minuteTop*float64(n):
		return []finding{broken(20, "%d of %d checks were in the first minute of an hour", top, n)}
	}
	return []finding{kept(20)}
}

// gaps returns the times between checks of a feed.
func gaps(list []request) []time.Duration {
	var out []time.Duration
	for i := 1; i < len(list); i++ {
		out = append(out, list[i].At.Sub(list[i-1].At))
	}
	return out
}

func clip(s string) string { return text.Clip(s, 100) }
