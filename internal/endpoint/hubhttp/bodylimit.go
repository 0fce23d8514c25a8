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
	saveSmall   = 256 << 10                     // bytes allowed for every call
	saveBody    = 6*author.MaxDocument + 64<<10 // maximum bytes of a call that counts as a text
	saveRooms   = 3                             // concurrent large calls with a text
	saveFiles   = 2                             // concurrent large calls with a file
	saveWait    = 5 * time.Second
	filesWithin = 3 * time.Minute // for the upload of a file
)

// bodyLimit allows large calls of some methods: few at a time, and one per client address. All
// other calls are limited to the small size.
//
// spec:cloudburst#save-room
type saveRoom struct {
	small http.Handler
	large map[string]largeCalls // by method
	addr  func(*http.Request) netip.Addr
	texts chan struct{} // slots for calls no larger than a feed
	files chan struct{} // slots for larger calls

	mu   sync.Mutex
	from map[netip.Addr]bool
}

// largeMethod holds the limits of one method.
type largeCalls struct {
	handler http.Handler
	rooms   chan struct{}
	within  time.Duration // for the upload of the body
}

// newBodyLimit wraps h. large maps methods to the maximum size of their calls in bytes.
func newSaveRoom(h xmlrpc.Handler, large map[string]int64, addr func(*http.Request) netip.Addr) *saveRoom {
	h.MaxBytes = saveSmall
	small := h
	s := &saveRoom{
		small: &small, large: map[string]largeCalls{}, addr: addr, from: map[netip.Addr]bool{},
		texts: make(chan struct{}, saveRooms), files: make(chan struct{}, saveFiles),
	}
	for method, most := range large {
		s.add(h, method, most)
	}
	return s
}

func (s *saveRoom) add(h xmlrpc.Handler, method string, most int64) {
	h.MaxBytes = most
	c := largeCalls{handler: &h, rooms: s.texts, within: endpoint.UploadTimeout}
	if most > saveBody {
		c.rooms, c.within = s.files, filesWithin
	}
	s.large[method] = c
}

// ServeHTTP serves one call.
func (s *saveRoom) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.ContentLength >= 0 && r.ContentLength <= saveSmall {
		s.small.ServeHTTP(w, r)
		return
	}
	c, ok := s.large[methodOf(peek(r))]
	if !ok {
		s.small.ServeHTTP(w, r)
		return
	}
	leave, ok := s.enter(r, c.rooms)
	if !ok {
		s.busy(w)
		return
	}
	defer leave()
	// Ignore the errors: a writer without deadlines is behind a proxy that limits the time.
	rc := http.NewResponseController(w)
	_, _ = rc.SetReadDeadline(time.Now().Add(c.within)), rc.SetWriteDeadline(time.Now().Add(c.within+endpoint.AnswerTimeout))
	c.handler.ServeHTTP(w, r)
}

// methodOf returns the method of the call that starts with head; "" if it is not visible.
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
func (s *saveRoom) enter(r *http.Request, rooms chan struct{}) (leave func(), ok bool) {
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
	timer := time.NewTimer(saveWait)
	defer timer.Stop()
	select {
	case rooms <- struct{}{}:
		return func() { <-rooms; out() }, true
	case <-timer.C:
	case <-r.Context().Done():
	}
	out()
	return nil, false
}

func (s *saveRoom) busy(w http.ResponseWriter) {
	body := xmlrpc.MarshalFault(&xmlrpc.Fault{Code: endpoint.FaultRSSCloud, String: "Several large calls are being read at the moment; please try again in a few seconds."})
	head := w.Header()
	head.Set("Retry-After", "5")
	head.Set("Content-Type", "text/xml; charset=utf-8")
	head.Set("Connection", "close") // the body is not read
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(body) // ignore the error: the client has disconnected
}
