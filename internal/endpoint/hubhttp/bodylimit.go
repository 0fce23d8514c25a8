package hubhttp

import (
	"bytes"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/endpoint"
	"cloudburst/protocol/xmlrpc"
)

// Limits of large calls.
const (
	smallCall   = 256 << 10                     // maximum bytes of a call, unless the method allows large calls
	maxTextCall = 6*author.MaxDocument + 64<<10 // maximum bytes of a call that counts as a text
	textSlots   = 3                             // maximum number of concurrent large calls with a text
	fileSlots   = 2                             // maximum number of concurrent large calls with a file
	slotWait    = 5 * time.Second
	fileTimeout = 3 * time.Minute // time limit for the upload of a file
)

// bodyLimit limits calls to smallCall bytes, except for the methods in large. Only a few large
// calls may be in progress, and only one per client address.
//
// spec:cloudburst#save-size-limit
type bodyLimit struct {
	small http.Handler
	large map[string]largeMethod // key: name of the method
	addr  func(*http.Request) netip.Addr
	texts chan struct{} // slots for calls of at most maxTextCall bytes
	files chan struct{} // slots for larger calls

	mu   sync.Mutex
	from map[netip.Addr]bool
}

// largeMethod is a method that allows large calls, with its limits.
type largeMethod struct {
	handler http.Handler
	slots   chan struct{}
	timeout time.Duration // time limit for the upload of the body
}

// newBodyLimit wraps h. large maps methods to the maximum size of their calls in bytes.
func newBodyLimit(h xmlrpc.Handler, large map[string]int64, addr func(*http.Request) netip.Addr) *bodyLimit {
	h.MaxBytes = smallCall
	small := h
	s := &bodyLimit{
		small: &small, large: map[string]largeMethod{}, addr: addr, from: map[netip.Addr]bool{},
		texts: make(chan struct{}, textSlots), files: make(chan struct{}, fileSlots),
	}
	for method, limit := range large {
		s.add(h, method, limit)
	}
	return s
}

func (s *bodyLimit) add(h xmlrpc.Handler, method string, limit int64) {
	h.MaxBytes = limit
	c := largeMethod{handler: &h, slots: s.texts, timeout: endpoint.UploadTimeout}
	if limit > maxTextCall {
		c.slots, c.timeout = s.files, fileTimeout
	}
	s.large[method] = c
}

// ServeHTTP serves one call.
func (s *bodyLimit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.ContentLength >= 0 && r.ContentLength <= smallCall {
		s.small.ServeHTTP(w, r)
		return
	}
	c, ok := s.large[methodOf(peek(r))]
	if !ok {
		s.small.ServeHTTP(w, r)
		return
	}
	release, ok := s.acquire(r, c.slots)
	if !ok {
		s.busy(w)
		return
	}
	defer release()
	// Ignore the errors: a writer that supports no deadlines is behind a proxy that limits the
	// time.
	rc := http.NewResponseController(w)
	_, _ = rc.SetReadDeadline(time.Now().Add(c.timeout)), rc.SetWriteDeadline(time.Now().Add(c.timeout+endpoint.AnswerTimeout))
	c.handler.ServeHTTP(w, r)
}

// methodOf returns the method of the call that starts with head, or "" if head does not contain the
// name.
func methodOf(head []byte) string {
	if !xmlrpc.Sniff(head) {
		return ""
	}
	_, rest, ok := bytes.Cut(head, []byte("<methodName>"))
	name, _, whole := bytes.Cut(rest, []byte("<"))
	if !ok || !whole {
		return ""
	}
	return strings.TrimSpace(string(name))
}

// acquire waits a limited time for a slot.
func (s *bodyLimit) acquire(r *http.Request, slots chan struct{}) (release func(), ok bool) {
	addr := s.addr(r)
	s.mu.Lock()
	taken := s.from[addr]
	if !taken {
		s.from[addr] = true
	}
	s.mu.Unlock()
	if taken {
		return nil, false
	}
	out := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.from, addr)
	}
	timer := time.NewTimer(slotWait)
	defer timer.Stop()
	select {
	case slots <- struct{}{}:
		return func() { <-slots; out() }, true
	case <-timer.C:
	case <-r.Context().Done():
	}
	out()
	return nil, false
}

func (s *bodyLimit) busy(w http.ResponseWriter) {
	body := xmlrpc.MarshalFault(&xmlrpc.Fault{Code: endpoint.FaultRSSCloud, String: "Several large calls are being read at the moment; please try again in a few seconds."})
	head := w.Header()
	head.Set("Retry-After", "5")
	head.Set("Content-Type", "text/xml; charset=utf-8")
	head.Set("Connection", "close") // the body was not read, so the connection cannot be reused
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(body) // ignore the error: the client has disconnected
}
