package rsscloud

import (
	"net/http"
	"strconv"
	"strings"
)

// preference is a client's preference for a media type. Preferences compare by q, then by
// the specificity of the range.
type preference struct {
	q     float64
	exact int // how specific the range is: 0 for */*, 1 for text/*, 2 for the type itself
}

func (p preference) less(o preference) bool {
	if p.q != o.q {
		return p.q < o.q
	}
	return p.exact < o.exact
}

// wantsJSON evaluates the header Accept: the response is XML unless the client prefers JSON. If the
// client accepts neither, ok is false.
//
// spec:cloudburst#answer-accept
func wantsJSON(h http.Header) (json, ok bool) {
	accept := strings.Join(h.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return false, true
	}
	xml, js := preferenceForXML(accept), preferenceFor(accept, "application/json")
	return xml.less(js), xml.q > 0 || js.q > 0
}

// prefersHTML reports whether the client is a browser: its header Accept prefers text/html to XML
// and to JSON.
//
// spec:cloudburst#ping-page
func prefersHTML(h http.Header) bool {
	accept := strings.Join(h.Values("Accept"), ",")
	page := preferenceFor(accept, "text/html")
	return preferenceForXML(accept).less(page) && preferenceFor(accept, "application/json").less(page)
}

func preferenceForXML(accept string) preference {
	xml := preferenceFor(accept, "text/xml")
	if other := preferenceFor(accept, "application/xml"); xml.less(other) {
		return other
	}
	return xml
}

// preferenceFor returns the preference of the most specific range of accept that matches
// media.
func preferenceFor(accept, media string) preference {
	best := preference{exact: -1}
	major, _, _ := strings.Cut(media, "/")
	for part := range strings.SplitSeq(accept, ",") {
		name, params, _ := strings.Cut(part, ";")
		exact := -1
		switch strings.ToLower(strings.TrimSpace(name)) {
		case media:
			exact = 2
		case major + "/*":
			exact = 1
		case "*/*", "*":
			exact = 0
		}
		if exact <= best.exact {
			continue
		}
		best = preference{quality(params), exact}
	}
	return best
}

// quality returns the q parameter. A missing or invalid q counts as 1.
func quality(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 1
		}
		return q
	}
	return 1
}
