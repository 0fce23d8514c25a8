package fetch

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers A and AAAA queries on loopback. lookup receives the lowercase name without its
// trailing dot, and the number of earlier queries for it.
func nameServer(t *testing.T, lookup func(name string, times int) []string) *net.Resolver {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() })
	go func() {
		counts := map[string]int{}
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply := answerDNS(buf[:n], counts, lookup); reply != nil {
				pc.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

func answerDNS(question []byte, counts map[string]int, lookup func(string, int) []string) []byte {
	var p dnsmessage.Parser
	head, err := p.Start(question)
	if err != nil {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	addrs := lookup(name, counts[name+q.Type.String()])
	counts[name+q.Type.String()]++
	head.Response, head.Authoritative = true, true
	if addrs == nil {
		head.RCode = dnsmessage.RCodeNameError
	}
	b := dnsmessage.NewBuilder(nil, head)
	b.StartQuestions()
	b.Question(q)
	b.StartAnswers()
	for _, a := range addrs {
		ip := netip.MustParseAddr(a)
		h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}
		if ip.Is4() && q.Type == dnsmessage.TypeA {
			b.AResource(h, dnsmessage.AResource{A: ip.As4()})
		} else if ip.Is6() && q.Type == dnsmessage.TypeAAAA {
			b.AAAAResource(h, dnsmessage.AAAAResource{AAAA: ip.As16()})
		}
	}
	out, err := b.Finish()
	if err != nil {
		return nil
	}
	return out
}

// tripwire is a listener that fails the test if it receives a connection.
type tripwire struct {
	port  string
	count atomic.Int64
}

// newTripwire listens on the same port of 127.0.0.1 and, if available, [::1].
func newTripwire(t *testing.T) *tripwire {
	t.Helper()
	w := &tripwire{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, w.port, _ = net.SplitHostPort(l.Addr().String())
	w.watch(t, l)
	if l, err := net.Listen("tcp", "[::1]:"+w.port); err == nil {
		w.watch(t, l)
	}
	return w
}

func (w *tripwire) watch(t *testing.T, l net.Listener) {
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.count.Add(1)
			c.Close()
		}
	}()
}

func (w *tripwire) check(t *testing.T) {
	t.Helper()
	if n := w.count.Load(); n != 0 {
		t.Errorf("the tripwire was reached %d times", n)
	}
}

// rawServer calls handle for each connection to a loopback address; n is the number of the
// connection, from 0.
func rawServer(t *testing.T, address string, handle func(c net.Conn, n int)) (hostport string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for c := range open {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	wg.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			wg.Go(func() {
				defer c.Close()
				handle(c, n)
			})
		}
	})
	return l.Addr().String()
}

// readRequest returns one request as text. It uses Content-Length to find the end of the body.
func readRequest(r *bufio.Reader) (string, error) {
	var b strings.Builder
	length := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return b.String(), err
		}
		b.WriteString(line)
		if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			for _, c := range strings.TrimSpace(v) {
				length = length*10 + int(c-'0')
			}
		}
		if line == "\r\n" {
			break
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(r, body)
	b.Write(body)
	return b.String(), err
}

// answering returns a handler that answers every request on a connection with text.
func answering(text string) func(net.Conn, int) {
	return func(c net.Conn, _ int) {
		r := bufio.NewReader(c)
		for {
			if _, err := readRequest(r); err != nil {
				return
			}
			if _, err := io.WriteString(c, text); err != nil {
				return
			}
		}
	}
}

// once returns a handler that answers one request with text and closes the connection.
func once(text string) func(net.Conn, int) {
	return func(c net.Conn, _ int) {
		if _, err := readRequest(bufio.NewReader(c)); err == nil {
			io.WriteString(c, text)
			closeWrite(c)
			io.Copy(io.Discard, c)
		}
	}
}

func closeWrite(c net.Conn) {
	if c, ok := c.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
}

func loopback() *Guard { return &Guard{Allow: prefixes("127.0.0.0/8", "::1/128")} }

func newTestSender(t *testing.T, o SenderOptions) *Sender {
	t.Helper()
	if o.Guard == nil {
		o.Guard = loopback()
	}
	s := NewSender(o)
	t.Cleanup(s.Close)
	return s
}

func newTestClient(t *testing.T, o Options) *Client {
	t.Helper()
	if o.Guard == nil {
		o.Guard = loopback()
	}
	if o.Bucket == 0 {
		o.Bucket = -1
	}
	c := New(o)
	t.Cleanup(c.CloseIdle)
	return c
}

const ok204 = "HTTP/1.1 204 No Content\r\n\r\n"

// distant returns a deadline that no test reaches.
func distant() time.Time { return time.Now().Add(time.Minute) }
