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

// Limits of calls that may be large.
const (
	saveSmall   = 256 << 10                     // bytes that any call may have
	saveBody    = 6*author.MaxDocument + 64<<10 // the most bytes of a call that counts as a text
	saveRooms   = 3                             // large calls in memory at once, of those that carry a text
	saveFiles   = 2                             // of those that carry a file
	saveWait    = 5 * time.Second
	filesWithin = 3 * time.Minute // for a file on its way in
)

// saveRoom lets calls of some methods be large, few at a time and one from each address,
// and keeps all others small.
//
// spec:cloudburst#save-room
type saveRoom struct {
	small http.Handler
	large map[string]largeCalls // by method
	addr  func(*http.Request) netip.Addr
	texts chan struct{} // taken by those no larger than a feed
	files chan struct{} // taken by those that are larger

	mu   sync.Mutex
	from map[netip.Addr]bool
}

// largeCalls are the calls of one method.
type largeCalls struct {
	door   http.Handler
	rooms  chan struct{}
	within time.Duration // for the body on its way in
}

// newSaveRoom is h with room for large calls: large are the most bytes of calls by their
// method.
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
	c := largeCalls{door: &h, rooms: s.texts, within: endpoint.UploadTimeout}
	if most > saveBody {
		c.rooms, c.within = s.files, filesWithin
	}
	s.large[method] = c
}

// ServeHTTP answers one call.
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
	// The errors say that this writer knows no deadlines: then a proxy in front bounds it.
	rc := http.NewResponseController(w)
	_, _ = rc.SetReadDeadline(time.Now().Add(c.within)), rc.SetWriteDeadline(time.Now().Add(c.within+endpoint.AnswerTimeout))
	c.door.ServeHTTP(w, r)
}

// methodOf is the method of a call of which this is the beginning; "": it cannot be seen.
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

// enter waits for a room, for a while.
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
	_, _ = w.Write(body) // nobody is left to tell when the caller has gone
}
