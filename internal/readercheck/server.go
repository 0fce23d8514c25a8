package readercheck

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/internal/date"
)

// Server serves the probes and the score. The zero value works.
type Server struct {
	Now func() time.Time // nil: time.Now
	// Public is the server's URL for readers; "": the URL is taken from the request.
	Public string
	// Seen is called at the first request of each reader; may be nil.
	Seen func(name, addr string)

	init    sync.Once
	mux     *http.ServeMux
	probes  []probe
	mu      sync.Mutex
	readers map[string]*reader
	conns   atomic.Int64
}

type connKey struct{}

// ConnContext numbers the connections, so that the server can detect reused connections. Assign it
// to http.Server.ConnContext.
func (s *Server) ConnContext(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, s.conns.Add(1))
}

func (s *Server) now() time.Time {
	return date.Now(s.Now)
}

func (s *Server) ready() {
	s.init.Do(func() {
		s.readers = map[string]*reader{}
		s.probes = probes()
		s.mux = http.NewServeMux()
		s.mux.HandleFunc("GET /{$}", s.page)
		s.mux.HandleFunc("GET /report.json", s.json)
		s.mux.HandleFunc("GET /probes.opml", s.opml)
		s.mux.HandleFunc("GET /probe/{probe}/{part}", s.probe)
	})
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.ready()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.mux.ServeHTTP(w, r)
}

func (s *Server) base(r *http.Request) string {
	if s.Public != "" {
		return strings.TrimRight(s.Public, "/")
	}
	return "http://" + r.Host
}

// probe responds as the named probe.
func (s *Server) probe(w http.ResponseWriter, r *http.Request) {
	name, part := r.PathValue("probe"), r.PathValue("part")
	i := slices.IndexFunc(s.probes, func(p probe) bool { return p.name == name })
	if i < 0 {
		http.NotFound(w, r)
		return
	}
	client := s.readerOf(r)
	if client == nil {
		http.Error(w, "Too many readers: this server distinguishes at most 200. Restart it.", http.StatusServiceUnavailable)
		return
	}
	earlier := client.requestsFor(name)
	a := record(r, name, part, s.now())
	client.begin(a)
	defer func() { client.end(a, s.now()) }()
	v := &visit{w: &countingWriter{ResponseWriter: w}, r: r, earlier: earlier, now: a.At, base: s.base(r) + "/probe/" + name + "/", probe: name, part: part}
	s.probes[i].answer(v)
	client.set(func() {
		a.Status, a.GaveETag, a.GaveModified = v.w.status, w.Header().Get("ETag"), w.Header().Get("Last-Modified")
		a.Written, a.GaveUp = v.w.written, v.gaveUp
	})
}

func (s *Server) readerOf(r *http.Request) *reader {
	name, addr := identify(r)
	key := addr + " " + name
	s.mu.Lock()
	known := s.readers[key]
	isNew := known == nil && len(s.readers) < maxReaders
	if isNew {
		known = &reader{Name: name, Addr: addr}
		s.readers[key] = known
	}
	s.mu.Unlock()
	if isNew && s.Seen != nil {
		s.Seen(name, addr)
	}
	return known
}

// Reports returns the scores of all readers. Readers with the most requests come first.
func (s *Server) Reports() []Report {
	s.ready()
	s.mu.Lock()
	list := make([]*reader, 0, len(s.readers))
	for _, r := range s.readers {
		list = append(list, r)
	}
	s.mu.Unlock()
	out := make([]Report, len(list))
	for i, r := range list {
		out[i] = s.report(r)
	}
	slices.SortFunc(out, func(a, b Report) int {
		if a.Requests != b.Requests {
			return b.Requests - a.Requests
		}
		return strings.Compare(a.Reader+a.Address, b.Reader+b.Address)
	})
	return out
}

func (s *Server) json(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(struct {
		Readers []Report `json:"readers"`
	}{s.Reports()}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(b.Bytes()) // the client may have closed the connection
}

// Probes returns the URLs of the probe feeds of a server at base.
func (s *Server) Probes(base string) []string {
	s.ready()
	out := make([]string, len(s.probes))
	for i, p := range s.probes {
		out[i] = strings.TrimRight(base, "/") + "/probe/" + p.name + "/" + partFeed
	}
	return out
}

func (s *Server) opml(w http.ResponseWriter, r *http.Request) {
	d := &opml.Document{Head: opml.Head{Title: "Probes of polite fetching rules"}}
	for i, u := range s.Probes(s.base(r)) {
		d.Add(opml.Outline{Text: s.probes[i].title, Type: "rss", XMLURL: u}, "Polite fetching rules")
	}
	var b bytes.Buffer
	if _, err := d.WriteTo(&b); err != nil {
		http.Error(w, fmt.Sprintf("The list cannot be written: %s.", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/x-opml; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // the client may have closed the connection
}

// countingWriter counts the written bytes.
type countingWriter struct {
	http.ResponseWriter
	status  int
	written int64
}

func (c *countingWriter) WriteHeader(status int) {
	c.status = cmp.Or(c.status, status)
	c.ResponseWriter.WriteHeader(status)
}

func (c *countingWriter) Write(b []byte) (int, error) {
	c.status = cmp.Or(c.status, http.StatusOK)
	n, err := c.ResponseWriter.Write(b)
	c.written += int64(n)
	return n, err
}

func (c *countingWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
