package gateway

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/charset"
	"cloudburst/internal/fault"
	"cloudburst/xmlrpc"
)

// methodSaveRSS is the one method whose calls may be large.
const methodSaveRSS = "rssCloud.saveRss"

// Methods are the XML-RPC methods by which feeds are saved, for [Gateway].Methods.
func (f *Feeds) Methods() []xmlrpc.Method {
	return []xmlrpc.Method{{
		Name: methodSaveRSS,
		Help: "Saves a feed: user name, password (or a token that may create or update) and the text of the feed, at most 2 MiB, as a string or as base64. " +
			"The answer is the feed's public URL, or a fault that says why nothing was saved.",
		Signature: [][]string{{"string", "string", "string", "string"}, {"string", "string", "string", "base64"}},
		Do:        f.saveRSS,
	}}
}

// saveRSS is rssCloud.saveRss(user, password, rsstext).
//
// spec:rsscloud-2009#save-rss
func (f *Feeds) saveRSS(ctx context.Context, params []any) (any, error) {
	user, password, doc, err := saveParams(params)
	if err != nil {
		return nil, f.fault4(ctx, err)
	}
	doc.User, err = logIn(ctx, f.Accounts, user, password, f.caller(xmlrpc.RequestFrom(ctx), "saveRss"), []string{"update", "create"})
	if err != nil {
		// In a batch this ends the trying of passwords.
		return nil, fmt.Errorf("%w: %w", f.fault4(ctx, err), xmlrpc.ErrLogin)
	}
	now, err := f.Authors.Put(ctx, doc)
	if err != nil {
		return nil, f.fault4(ctx, err)
	}
	return f.Public() + address(now.User, now.Name), nil
}

// saveParams reads the three parameters.
func saveParams(params []any) (user, password string, d author.Document, err error) {
	d = author.Document{Name: author.Public, Door: "saveRss"}
	if len(params) != 3 {
		return "", "", d, fault.New(fault.Invalid, "There are %d parameters; send three: the user, the password and the text of the feed.", len(params))
	}
	user, ok1 := xmlrpc.String(params[0])
	password, ok2 := xmlrpc.String(params[1])
	if !ok1 || !ok2 {
		return "", "", d, fault.New(fault.Invalid, "The user and the password must be strings.")
	}
	switch text := params[2].(type) {
	case string:
		d.Bytes, d.Type = inItsEncoding(text)
	case []byte:
		d.Bytes = text
	default:
		return "", "", d, fault.New(fault.Invalid, "The text of the feed must be a string or base64.")
	}
	return user, password, d, nil
}

// inItsEncoding is a feed that came as a string, which has no encoding any more, in the
// one that it declares: as it was in the file that it was read from. Where that cannot
// be, it is UTF-8, whatever it says of itself.
func inItsEncoding(text string) (doc []byte, contentType string) {
	if doc, name, ok := charset.Encode(text); ok {
		return doc, "text/xml; charset=" + name
	}
	return []byte(text), "text/xml; charset=utf-8"
}

// fault4 is an error as the fault of an rssCloud method.
func (f *Feeds) fault4(ctx context.Context, err error) error {
	if code := fault.CodeOf(err); f.Log != nil && (code == fault.Internal || code == fault.Unavailable) {
		f.Log.WarnContext(ctx, "a feed could not be saved", "err", err)
	}
	return &xmlrpc.Fault{Code: faultRSSCloud, String: fault.Message(err)}
}

// Limits of calls that save a feed. Each markup character of it may come as six.
const (
	saveBody  = 6*author.MaxDocument + 64<<10
	saveSmall = 256 << 10 // what any call may have
	saveRooms = 3         // large calls in memory at once
	saveWait  = 5 * time.Second
)

// saveRoom lets calls that save a feed be large, few at a time and one from each
// address, and keeps all others small.
//
// spec:cloudburst#save-room
type saveRoom struct {
	small, large http.Handler
	addr         func(*http.Request) netip.Addr
	rooms        chan struct{}

	mu   sync.Mutex
	from map[netip.Addr]bool
}

// newSaveRoom is h with room for large calls.
func newSaveRoom(h xmlrpc.Handler, addr func(*http.Request) netip.Addr) *saveRoom {
	small, large := h, h
	small.MaxBytes, large.MaxBytes = saveSmall, saveBody
	return &saveRoom{small: &small, large: &large, addr: addr, rooms: make(chan struct{}, saveRooms), from: map[netip.Addr]bool{}}
}

// ServeHTTP answers one call.
func (s *saveRoom) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.ContentLength >= 0 && r.ContentLength <= saveSmall {
		s.small.ServeHTTP(w, r)
		return
	}
	body := bufio.NewReaderSize(r.Body, sniffed)
	// An error comes again when the body is read.
	head, _ := body.Peek(sniffed)
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	if !saves(head) {
		s.small.ServeHTTP(w, r)
		return
	}
	leave, ok := s.enter(r)
	if !ok {
		s.busy(w)
		return
	}
	defer leave()
	s.large.ServeHTTP(w, r)
}

// saves reports the beginning of a call of rssCloud.saveRss.
func saves(head []byte) bool {
	if !xmlrpc.Sniff(head) {
		return false
	}
	_, rest, ok := bytes.Cut(head, []byte("<methodName>"))
	name, _, whole := bytes.Cut(rest, []byte("<"))
	return ok && whole && strings.TrimSpace(string(name)) == methodSaveRSS
}

// enter waits for a room, for a while.
func (s *saveRoom) enter(r *http.Request) (leave func(), ok bool) {
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
	case s.rooms <- struct{}{}:
		return func() { <-s.rooms; out() }, true
	case <-timer.C:
	case <-r.Context().Done():
	}
	out()
	return nil, false
}

func (s *saveRoom) busy(w http.ResponseWriter) {
	body := xmlrpc.MarshalFault(&xmlrpc.Fault{Code: faultRSSCloud, String: "Several large feeds are being saved at the moment; please try again in a few seconds."})
	head := w.Header()
	head.Set("Retry-After", "5")
	head.Set("Content-Type", "text/xml; charset=utf-8")
	head.Set("Connection", "close") // the body is not read
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(body) // nobody is left to tell when the caller has gone
}
