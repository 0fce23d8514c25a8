package readercheck

import (
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"
)

// These are the limits of the recorded data.
const (
	maxReaders  = 200
	maxRequests = 20_000 // maximum number of recorded requests per reader
)

// request is one request for a probe, with its response.
type request struct {
	At, End time.Time
	Probe   string
	Part    string // part of the probe; "feed" is the feed itself
	Query   string
	Status  int

	NoneMatch, Since       string // header values as received
	HasNoneMatch, HasSince bool
	GaveETag, GaveModified string
	Agent, Encoding        string
	Cookie, Referer        bool
	Proto                  int   // version of HTTP: major * 10 + minor
	Conn                   int64 // number of the connection; 0: unknown
	Busy                   int   // open requests of this reader, including this one
	Written                int64
	GaveUp                 bool // the reader closed the connection early
}

// reader is one program that reads the probes.
type reader struct {
	Name, Addr string
	mu         sync.Mutex
	requests   []*request
	dropped    int // number of requests that are not recorded
	busy       int
}

// requestsFor returns copies of the requests for a probe, oldest first; "" means all probes.
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

// begin records a request.
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

// set runs do, which changes a recorded request, under the lock.
func (r *reader) set(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}

// identify returns the name and address by which readers are distinguished.
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

// conditional reports whether the request had a validator.
func (a *request) conditional() bool { return a.HasNoneMatch || a.HasSince }

// feeds returns the requests for the feed itself.
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
