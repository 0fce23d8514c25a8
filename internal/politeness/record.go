package politeness

import (
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Bounds of what is remembered.
const (
	maxReaders  = 200
	maxRequests = 20_000 // of one reader
)

// asked is one request for a probe, and what was answered.
type request struct {
	At, End time.Time
	Probe   string
	Part    string // of the probe: "feed" is its address
	Query   string
	Status  int

	NoneMatch, Since       string // as they came
	HasNoneMatch, HasSince bool
	GaveETag, GaveModified string
	Agent, Encoding        string
	Cookie, Referer        bool
	Proto                  int   // major * 10 + minor
	Conn                   int64 // of which connection; 0: unknown
	Busy                   int   // requests of this reader under way, this one included
	Written                int64
	GaveUp                 bool // the reader ended it
}

// reader is one program that asks.
type reader struct {
	Name, Addr string
	mu         sync.Mutex
	requests   []*request
	dropped    int // requests that are not remembered
	busy       int
}

// of lists what was asked of a probe, the oldest first, as copies.
func (r *reader) requestsFor(probe string) []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []request
	for _, a := range r.requests {
		if probe == "" || a.Probe == probe {
			list = append(list, *a)
		}
	}
	return list
}

// begin remembers a request.
func (r *reader) begin(a *request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy++
	a.Busy = r.busy
	if len(r.requests) >= maxRequests {
		r.dropped++
		return
	}
	r.requests = append(r.requests, a)
}

func (r *reader) end(a *request, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy--
	a.End = now
}

// set changes what is remembered of a request.
func (r *reader) set(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}

// whose tells readers apart.
func identify(r *http.Request) (name, addr string) {
	addr, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		addr = r.RemoteAddr
	}
	name, _, _ = strings.Cut(r.UserAgent(), " ")
	name = strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return -1
	}, name)
	if len(name) > 100 {
		name = strings.ToValidUTF8(name[:100], "")
	}
	return name, addr
}

func record(r *http.Request, probe, part string, now time.Time) *request {
	a := &request{
		At: now, Probe: probe, Part: part, Query: r.URL.RawQuery, Agent: r.UserAgent(),
		Encoding: r.Header.Get("Accept-Encoding"), Referer: r.Referer() != "", Cookie: r.Header.Get("Cookie") != "",
		Proto: r.ProtoMajor*10 + r.ProtoMinor,
	}
	_, a.HasNoneMatch = r.Header["If-None-Match"]
	_, a.HasSince = r.Header["If-Modified-Since"]
	a.NoneMatch, a.Since = r.Header.Get("If-None-Match"), r.Header.Get("If-Modified-Since")
	a.Conn, _ = r.Context().Value(connKey{}).(int64)
	return a
}

// conditional says that it was asked with a validator.
func (a *request) conditional() bool { return a.HasNoneMatch || a.HasSince }

// feeds are the requests for the address of the feed.
func feeds(list []request) []request { return parts(list, partFeed) }

func parts(list []request, part string) []request {
	var out []request
	for _, a := range list {
		if a.Part == part {
			out = append(out, a)
		}
	}
	return out
}
