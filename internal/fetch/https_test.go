package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHTTPSUsesHTTP1AndFollowsNoRedirects(t *testing.T) {
	t.Parallel()
	type seen struct{ Proto, URI, Host, Agent, Type, Hops, Body string }
	got := make(chan seen, 1)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- seen{r.Proto, r.RequestURI, r.Host, r.UserAgent(), r.Header.Get("Content-Type"), r.Header.Get("X-Hub-Hops"), string(body)}
		w.Header().Set("Location", "/elsewhere")
		w.Header().Set("Retry-After", "9")
		w.WriteHeader(307)
		io.WriteString(w, "moved")
	}))
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = log.New(t.Output(), "", 0)
	srv.StartTLS()
	defer srv.Close()
	s := newTestSender(t, SenderOptions{UserAgent: "Test/1", TLSConfig: trustServer(srv)})
	host := strings.TrimPrefix(srv.URL, "https://")
	for i, path := range []string{"/a%2fb/../c?x=%zz", "//two//x?q", "/plain", ""} {
		r := s.Send(t.Context(), &Message{URL: srv.URL + path, ContentType: "text/plain", Header: []string{"X-Hub-Hops", "1"}, Body: []byte("url=x"), WantBody: true})
		if r.Err != nil || r.Status != 307 || r.Location != "/elsewhere" || r.RetryAfter != "9" || string(r.Body) != "moved" || r.Dialled != (i == 0) {
			t.Fatalf("%s: %+v", path, r)
		}
		if path == "" {
			path = "/"
		}
		if d := cmp.Diff(seen{"HTTP/1.1", path, host, "Test/1", "text/plain", "1", "url=x"}, <-got); d != "" {
			t.Errorf("%s (-want +got):\n%s", path, d)
		}
	}
	untrusting := newTestSender(t, SenderOptions{})
	if r := untrusting.Send(t.Context(), &Message{URL: srv.URL}); KindOf(r.Err) != TLS || r.NotTried || !r.Dialled {
		t.Errorf("unknown certificate: %+v", r)
	}
	plain := rawServer(t, "127.0.0.1:0", func(c net.Conn, _ int) { io.WriteString(c, "HTTP/1.1 400 Speak TLS\r\n\r\n") })
	if r := untrusting.Send(t.Context(), &Message{URL: "https://" + plain}); r.Err == nil || r.Timeout {
		t.Errorf("https to a plain port: %+v", r)
	}
}

func TestHTTPSReusesConnectionsWithinLimits(t *testing.T) {
	t.Parallel()
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			io.Copy(w, io.LimitReader(neverEnding('x'), 1<<20))
		case "/headers":
			w.Header().Set("X", strings.Repeat("x", 100<<10))
		}
		fmt.Fprint(w, r.RequestURI)
	}))
	defer srv.Close()
	s := newTestSender(t, SenderOptions{TLSConfig: trustServer(srv)})
	for i := range 3 {
		if r := s.Send(t.Context(), &Message{URL: srv.URL + "/x"}); !r.OK() || r.Dialled != (i == 0) {
			t.Errorf("%d: %+v", i, r)
		}
	}
	if r := s.Send(t.Context(), &Message{URL: srv.URL + "//a%2f?%zz", WantBody: true}); string(r.Body) != "//a%2f?%zz" {
		t.Errorf("%+v", r)
	}
	if r := s.Send(t.Context(), &Message{URL: srv.URL + "/long", WantBody: true, MaxBody: 5000}); len(r.Body) != 5000 || !r.Partial || !r.OK() {
		t.Errorf("%d bytes, %+v", len(r.Body), r.Err)
	}
	if r := s.Send(t.Context(), &Message{URL: srv.URL + "/long", WantBody: true}); len(r.Body) != 4096 || !r.Partial || !r.OK() {
		t.Errorf("%d bytes, %+v", len(r.Body), r.Err)
	}
	if r := s.Send(t.Context(), &Message{URL: srv.URL + "/headers"}); KindOf(r.Err) != TooLarge {
		t.Errorf("giant headers: %+v", r)
	}
}

func TestHTTPSConnectionsThatThePeerClosedAreReplacedAndSessionsResumed(t *testing.T) {
	t.Parallel()
	resumed := make(chan bool, 1)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resumed <- r.TLS.DidResume
	}))
	closed := make(chan struct{}, 1)
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	srv.Config.ErrorLog = log.New(t.Output(), "", 0)
	srv.Config.IdleTimeout = time.Millisecond // after each response the server sends close_notify and closes
	srv.StartTLS()
	defer srv.Close()
	s := newTestSender(t, SenderOptions{TLSConfig: trustServer(srv)})
	for i := range 3 {
		if r := s.Send(t.Context(), &Message{URL: srv.URL, Body: []byte("url=x")}); !r.OK() || !r.Dialled {
			t.Fatalf("%d: %+v", i, r)
		}
		if got := <-resumed; got != (i > 0) {
			t.Errorf("send %d resumed the session: %v", i, got)
		}
		<-closed
	}
	if n := s.Idle(); n != 1 {
		t.Errorf("%d idle connections", n)
	}
}

func TestHTTPSPeerThatReadsNothingIsClosedAtTheTimeout(t *testing.T) {
	t.Parallel()
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	sent, closed := make(chan struct{}), make(chan error, 1)
	address := rawServer(t, "127.0.0.1:0", func(c net.Conn, _ int) {
		if err := tls.Server(c, &tls.Config{Certificates: srv.TLS.Certificates}).Handshake(); err != nil {
			closed <- err
			return
		}
		<-sent
		_, err := io.Copy(io.Discard, c)
		closed <- err
	})
	s := newTestSender(t, SenderOptions{TLSConfig: trustServer(srv), Timeout: 50 * time.Millisecond})
	if r := s.Send(t.Context(), &Message{URL: "https://" + address, Body: make([]byte, 64<<20)}); !r.Timeout || r.NotTried {
		t.Errorf("%+v", r)
	}
	close(sent)
	<-closed
}

type neverEnding byte

func (b neverEnding) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

func trustServer(srv *httptest.Server) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	return &tls.Config{RootCAs: pool}
}
