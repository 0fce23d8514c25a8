package fetch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestMain runs a helper program instead of the tests if FETCH_TEST_ROLE is set. The receiver is a
// separate process, so that its work does not count as the sender's.
func TestMain(m *testing.M) {
	switch os.Getenv("FETCH_TEST_ROLE") {
	case "receiver":
		runReceiver()
		return
	case "few-sockets":
		runWithFewSockets()
		return
	}
	os.Exit(m.Run())
}

// runReceiver listens on all of 127.0.0.0/8, prints its port, and answers every request at once
// until its standard input ends. It does not answer requests for /never.
func runReceiver() {
	lc := net.ListenConfig{KeepAlive: -1}
	l, err := lc.Listen(context.Background(), "tcp4", "0.0.0.0:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	fmt.Println(port)
	if pair := os.Getenv("FETCH_TEST_TLS"); pair != "" {
		certificate, err := tls.X509KeyPair([]byte(pair), []byte(pair))
		if err != nil {
			fmt.Println(err)
			return
		}
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate}})
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				if errors.Is(err, syscall.EMFILE) {
					continue
				}
				return
			}
			go answerRequests(c)
		}
	}()
	io.Copy(io.Discard, os.Stdin)
}

// answerRequests answers each request on a connection with a body of 5 bytes and a Content-Length.
func answerRequests(c net.Conn) {
	defer c.Close()
	buf, n := make([]byte, 2048), 0
	for {
		k, err := c.Read(buf[n:])
		if err != nil {
			return
		}
		n += k
		i := bytes.Index(buf[:n], []byte("\r\n\r\n"))
		if i < 0 || n < i+4+5 {
			continue
		}
		if bytes.HasPrefix(buf, []byte("POST /never")) {
			io.Copy(io.Discard, c)
			return
		}
		n = 0
		if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: Fri, 02 Jan 2026 03:04:05 GMT\r\nContent-Length: 2\r\n\r\nok"); err != nil {
			return
		}
	}
}

// startSecureReceiver is like startReceiver, over TLS. It returns the certificates to trust.
func startSecureReceiver(tb testing.TB) (port string, roots *x509.CertPool) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	pair := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(pair)
	pair = append(pair, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	return startReceiver(tb, "FETCH_TEST_TLS="+string(pair)), roots
}

// startReceiver starts a receiver with the given environment and returns its port.
func startReceiver(tb testing.TB, env ...string) (port string) {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "FETCH_TEST_ROLE=receiver"), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { in.Close(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// runWithFewSockets limits this process to 40 file descriptors. It sends to many hosts of the
// receiver on port FETCH_TEST_PORT, by address and by name, and prints every wrong outcome.
func runWithFewSockets() {
	limit := syscall.Rlimit{Cur: 40, Max: 40}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		fmt.Println(err)
		return
	}
	port := os.Getenv("FETCH_TEST_PORT")
	unreachable := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", "127.0.0.1:1")
	}}
	s := NewSender(SenderOptions{Guard: loopback(), Timeout: 2 * time.Minute, IdleTotal: 20, Resolver: unreachable})
	defer s.Close()
	for i := range 20 { // open idle connections, which must be closed later
		s.Send(context.Background(), &Message{URL: fmt.Sprintf("http://127.0.3.%d:%s/", i+1, port), Body: []byte("url=x")})
	}
	ctx, cancel := context.WithCancel(context.Background())
	var answered, notTried, blamed atomic.Int64
	var wg, all sync.WaitGroup
	for i := range 100 {
		all.Add(1)
		wg.Go(func() {
			done := sync.OnceFunc(all.Done)
			defer done()
			host := fmt.Sprintf("127.0.4.%d", i+1)
			if i%3 == 0 {
				host = "somewhere.test"
			}
			if i < 40 {
				time.AfterFunc(time.Second, done) // these sends hold their sockets until they are cancelled
			}
			path := map[bool]string{true: "/never", false: "/"}[i < 40 && i%3 != 0]
			switch r := s.Send(ctx, &Message{URL: "http://" + host + ":" + port + path, Body: []byte("url=x")}); {
			case r.OK():
				answered.Add(1)
			case r.NotTried:
				notTried.Add(1)
			case i%3 != 0 || exhausted(r.Err):
				blamed.Add(1)
				fmt.Println("counted against the peer:", r.Err)
			}
		})
	}
	all.Wait()
	cancel()
	wg.Wait()
	if r := s.Send(context.Background(), &Message{URL: "http://127.0.5.1:" + port + "/", Body: []byte("url=x")}); !r.OK() {
		fmt.Println("afterwards:", r.Err)
	}
	if notTried.Load() == 0 {
		fmt.Println("sockets did not run out")
	}
	fmt.Println("end")
}

func TestSenderRecoversFromSocketExhaustionWithoutBlamingPeers(t *testing.T) {
	t.Parallel()
	port := startReceiver(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "FETCH_TEST_ROLE=few-sockets", "FETCH_TEST_PORT="+port)
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "end\n" {
		t.Errorf("%v: %s", err, out)
	}
}
