package readercheck

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"
)

// partFeed is the part of a probe that readers subscribe to.
const partFeed = "feed"

// probe is a feed that tests some rules.
type probe struct {
	name, title string
	answer      func(v *visit)
	judge       func(list []request, now time.Time) []finding
}

// visit is one request for a probe.
type visit struct {
	w       *countingWriter
	r       *http.Request
	earlier []request // earlier requests of the same reader for the same probe
	now     time.Time
	base    string // base URL of the probe's parts, with a trailing slash
	probe   string
	part    string
	gaveUp  bool
}

// checks returns the earlier requests for the feed itself.
func (v *visit) checks() []request { return feeds(v.earlier) }

// document returns a feed of a few items, with extra in its channel.
func (v *visit) document(extra string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\" xmlns:sy=\"http://purl.org/rss/1.0/modules/syndication/\">\n<channel>\n<title>Probe: %s</title>\n<link>%s</link>\n<description>A feed that watches how it is read.</description>\n%s\n",
		html.EscapeString(v.probe), html.EscapeString(v.base+partFeed), extra)
	for i := range 3 {
		fmt.Fprintf(&b, "<item><title>Item %d of %s</title><guid isPermaLink=\"false\">%s-%d</guid><pubDate>Mon, 02 Nov 2026 0%d:00:00 GMT</pubDate></item>\n",
			i, html.EscapeString(v.probe), html.EscapeString(v.probe), i, i)
	}
	b.WriteString("</channel>\n</rss>\n")
	return []byte(b.String())
}

func (v *visit) set(name, value string) { v.w.Header().Set(name, value) }

// feed responds with the document, or with 304 if the request has the validators that are set in
// the response header.
func (v *visit) feed(extra string) {
	h := v.w.Header()
	etag, modified := h.Get("ETag"), h.Get("Last-Modified")
	none, since := v.r.Header.Get("If-None-Match"), v.r.Header.Get("If-Modified-Since")
	switch {
	case etag != "" && none == etag, etag == "" && modified != "" && since == modified:
		v.w.WriteHeader(http.StatusNotModified)
		return
	}
	v.full(extra)
}

// full responds with the document.
func (v *visit) full(extra string) { v.body(http.StatusOK, "application/rss+xml", v.document(extra)) }

func (v *visit) body(status int, kind string, body []byte) {
	v.set("Content-Type", kind)
	v.w.WriteHeader(status)
	_, _ = v.w.Write(body) // the client may have closed the connection
}

func (v *visit) redirect(status int, part string) {
	v.set("Location", v.base+part)
	v.w.WriteHeader(status)
}

func (v *visit) fail(status int, words string) { v.body(status, "text/plain", []byte(words+"\n")) }

// waitFor waits up to limit and reports whether the reader closed the connection.
func (v *visit) waitFor(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-v.r.Context().Done():
		v.gaveUp = true
	case <-timer.C:
	}
	return v.gaveUp
}

// probes returns all probes.
func probes() []probe {
	var all []probe
	all = append(all, validatorProbes()...)
	all = append(all, rhythmProbes()...)
	all = append(all, troubleProbes()...)
	all = append(all, moveProbes()...)
	return append(all, hostileProbes()...)
}
