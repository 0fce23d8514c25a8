package readercheck

import (
	"fmt"
	"net/http"
	"time"
)

// Readers must send these values of Last-Modified back unchanged.
const (
	dateUsual   = "Mon, 02 Nov 2026 03:04:05 GMT"
	dateUnusual = "2026-11-02T04:04:05+01:00"
)

func validatorProbes() []probe {
	return []probe{
		{"etag", "A constant ETag", constantValidators(`"one"`, ""), judgeValidators},
		{"weak", "A weak ETag", constantValidators(`W/"one-w"`, ""), judgeValidators},
		{"unquoted", "An ETag without quotes", constantValidators(`one-1`, ""), judgeValidators},
		{"date", "A constant Last-Modified", constantValidators("", dateUsual), judgeValidators},
		{"odd-date", "A Last-Modified in an unusual format", constantValidators("", dateUnusual), judgeValidators},
		{"both", "Both validators", constantValidators(`"two"`, dateUsual), judgeValidators},
		{"renew", "A 304 with another ETag", renew, judgeRenewal(5)},
		{"same", "The same document with another ETag", same, judgeRenewal(6)},
		{"hop", "A temporary redirect with validators at both ends", hop, judgeHop},
		{"cookie", "A server that sets cookies", cookie, func([]request, time.Time) []finding { return nil }},
	}
}

func constantValidators(etag, modified string) func(v *visit) {
	return func(v *visit) {
		if etag != "" {
			v.set("ETag", etag)
		}
		if modified != "" {
			v.set("Last-Modified", modified)
		}
		v.feed("")
	}
}

// judgeValidators judges requests for a document with constant validators.
func judgeValidators(list []request, _ time.Time) []finding {
	list = feeds(list)
	if len(list) < 2 {
		return []finding{open(1, "a second check is needed")}
	}
	var out []finding
	for i := 1; i < len(list); i++ {
		a, given := list[i], list[i-1]
		if !a.conditional() {
			out = append(out, broken(1, "request %d had no validators, %s after the previous one", i+1, a.At.Sub(given.At).Round(time.Second)))
			if a.At.Sub(given.At) < time.Minute {
				out = append(out, broken(9, "the URL of the feed was requested again %s after it was read", a.At.Sub(given.At).Round(time.Millisecond)))
				out = append(out, broken(22, "there were two requests within a minute"))
			}
			continue
		}
		out = append(out, kept(1), kept(9), kept(22))
		out = append(out, compareValidators(a, given)...)
	}
	return out
}

// compareValidators compares the validators in a request with the validators of the previous
// response.
func compareValidators(a, given request) []finding {
	var out []finding
	switch {
	case a.NoneMatch != given.GaveETag:
		out = append(out, broken(2, "If-None-Match was %q where the ETag is %q", clip(a.NoneMatch), given.GaveETag))
	case given.GaveETag != "":
		out = append(out, kept(2))
	}
	switch {
	case a.Since != given.GaveModified:
		out = append(out, broken(3, "If-Modified-Since was %q where Last-Modified is %q", clip(a.Since), given.GaveModified))
	case given.GaveModified != "":
		out = append(out, kept(3))
	}
	if given.GaveETag != "" && given.GaveModified != "" {
		if a.HasNoneMatch && a.HasSince {
			out = append(out, kept(4))
		} else {
			out = append(out, broken(4, "only one of the two validators was sent"))
		}
	}
	return out
}

// renew responds with 304 to any validator, and sends a new ETag with the 304.
func renew(v *visit) {
	n := len(v.checks())
	v.set("ETag", fmt.Sprintf(`"r%d"`, n))
	if n > 0 && v.r.Header.Get("If-None-Match") != "" {
		v.w.WriteHeader(http.StatusNotModified)
		return
	}
	v.full("")
}

// same sends the same document each time, with a new ETag.
func same(v *visit) {
	v.set("ETag", fmt.Sprintf(`"s%d"`, len(v.checks())))
	v.full("")
}

func judgeRenewal(rule int) func([]request, time.Time) []finding {
	return func(list []request, _ time.Time) []finding {
		list = feeds(list)
		if len(list) < 3 {
			return []finding{open(rule, "a third check is needed")}
		}
		var out []finding
		for i := 1; i < len(list); i++ {
			if list[i].NoneMatch != list[i-1].GaveETag {
				out = append(out, broken(rule, "If-None-Match was %q where the last ETag was %q", clip(list[i].NoneMatch), list[i-1].GaveETag))
			} else if i > 1 {
				out = append(out, kept(rule))
			}
		}
		return out
	}
}

// hop redirects temporarily to another URL. Both URLs have their own ETag.
func hop(v *visit) {
	if v.part == partFeed {
		v.set("ETag", `"hop"`)
		v.redirect(http.StatusFound, "target")
		return
	}
	v.set("ETag", `"target"`)
	v.feed("")
}

func judgeHop(list []request, _ time.Time) []finding {
	var out []finding
	targets := 0
	for i, a := range list {
		switch {
		case a.Part == partFeed && a.NoneMatch == `"target"`:
			out = append(out, broken(8, "the validator of the redirect target was sent to the redirecting URL"))
		case a.Part == partFeed:
			continue
		case a.NoneMatch == `"hop"`:
			out = append(out, broken(8, "the validator of the redirecting URL was sent to the redirect target"))
		}
		if a.Part == partFeed {
			continue
		}
		targets++
		if i == 0 || list[i-1].Part != partFeed || a.At.Sub(list[i-1].At) > inOneGo {
			out = append(out, broken(16, "the target of a temporary redirect was requested directly"))
		} else {
			out = append(out, kept(16))
		}
		if targets > 1 && len(out) == 0 {
			out = append(out, kept(8))
		}
	}
	if targets < 3 {
		return append(out, open(8, "a third check is needed"), open(11, "a third check is needed"))
	}
	return append(out, kept(8), kept(11))
}

func cookie(v *visit) {
	v.set("Set-Cookie", "seen=1; Path=/")
	v.set("ETag", `"c"`)
	v.feed("")
}
