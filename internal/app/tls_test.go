package app_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/protocol/rsscloud"
)

const tlsName = "hub.test"

// client returns an HTTP client that trusts only the authority in roots. It resolves every host
// name to the supervisor's sockets, and does not follow redirects.
func (s *supervisor) client(roots *x509.CertPool) *http.Client {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		to := s.public.Addr()
		if strings.HasSuffix(addr, ":80") {
			to = s.plain.Addr()
		}
		return (&net.Dialer{}).DialContext(ctx, network, to.String())
	}
	tr := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	s.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func TestACMECertificatesSurviveRestart(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"http-01", "tls-alpn-01"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ca, s := newAuthority(t), newSupervisor(t)
			if kind == "http-01" {
				ca.plain = s.plain.Addr().String()
			} else {
				ca.shielded = s.public.Addr().String()
			}
			args := []string{"--tls.domains", tlsName, "--tls.acme-directory", ca.srv.URL + "/directory", "--tls.http-listen", "127.0.0.1:1", "--public-url", "https://" + tlsName}
			roots := x509.NewCertPool()
			roots.AddCert(ca.root)
			for range 2 {
				s.start(args...)
				s.awaitState("READY=1")
				res, err := s.client(roots).Get("https://" + tlsName + "/healthz")
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				if res.StatusCode != 200 || res.ProtoMajor != 2 {
					t.Errorf("%s by %s, want 200 by HTTP/2", res.Status, res.Proto)
				}
				if _, err := s.client(roots).Get("https://other.test/healthz"); err == nil {
					t.Error("a name that is not ours has a certificate")
				}
				s.stop()
			}
			ca.mu.Lock()
			defer ca.mu.Unlock()
			if want := []string{kind + " " + tlsName}; !slices.Equal(ca.proved, want) {
				t.Errorf("proved %v, want %v: the second start has all it needs", ca.proved, want)
			}
		})
	}
}

func TestPlainHTTPRequestsAreRedirectedExceptRSSCloudEndpoints(t *testing.T) {
	t.Parallel()
	s := newSupervisor(t)
	roots := filesFor(t, s.dir)
	s.start("--tls.cert", filepath.Join(s.dir, "cert.pem"), "--tls.key", filepath.Join(s.dir, "key.pem"),
		"--tls.http-listen", "127.0.0.1:1", "--public-url", "https://example.com")
	s.awaitState("READY=1")
	c := s.client(roots)
	tests := []struct {
		method, path string
		status       int
		location     string
	}{
		{"GET", "/feeds/a%20b?x=1", 301, "https://example.com/feeds/a%20b?x=1"},
		{"HEAD", "/", 301, "https://example.com/"},
		{"GET", "//evil.example/x", 301, "https://example.com//evil.example/x"},
		{"POST", "/login", 403, ""},
		{"PUT", "/alice/rss.xml", 403, ""},
		{"POST", "/ping", 200, ""},
		{"POST", "/rsscloud/ping", 200, ""},
		{"GET", "/healthz", 301, "https://example.com/healthz"},
	}
	for _, tt := range tests {
		form := url.Values{"url": {"https://example.com/test/rss.xml"}}.Encode()
		req, err := http.NewRequest(tt.method, "http://example.com"+tt.path, strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != tt.status || res.Header.Get("Location") != tt.location {
			t.Errorf("%s %s: %s to %q, want %d to %q; %s %v", tt.method, tt.path, res.Status, res.Header.Get("Location"), tt.status, tt.location, body, err)
		}
	}
	res, err := c.Get("https://example.com/healthz")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 || res.TLS.Version < tls.VersionTLS12 {
		t.Errorf("%s by TLS %x", res.Status, res.TLS.Version)
	}
	s.stop()
}

// TestProgramsRegisterAtTheCloudElementOfATLSServer starts a server with TLS and a plain
// listener. It registers at the <cloud> element of a feed, and then changes the feed.
func TestProgramsRegisterAtTheCloudElementOfATLSServer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		chosen, plain, protocol string
		onPlain                 bool
	}{
		{"auto", "127.0.0.1:0", "http-post", true},
		{"http-post", "127.0.0.1:0", "http-post", true},
		{"https-post", "127.0.0.1:0", "https-post", false},
		{"auto", "", "https-post", false},
	} {
		t.Run(tt.chosen+" "+tt.plain, func(t *testing.T) {
			t.Parallel()
			files := t.TempDir()
			c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: filesFor(t, files), ServerName: "example.com"}, DisableKeepAlives: true}}
			cfg := conf(t, t.TempDir())
			cfg.TLS.Cert, cfg.TLS.Key, cfg.TLS.HTTPListen = filepath.Join(files, "cert.pem"), filepath.Join(files, "key.pem"), tt.plain
			cfg.Hub.CloudProtocol, cfg.Hub.PingInterval = tt.chosen, time.Millisecond
			r := start(t, cfg)
			admin := r.addAlice()
			feed := "https://localhost:" + r.base[strings.LastIndexByte(r.base, ':')+1:] + "/alice/rss.xml"
			save := func(item string) {
				t.Helper()
				if _, err := admin.SaveFeed(t.Context(), "alice", client.PublicFeed, "", []byte(rssOf(item))); err != nil {
					t.Fatal(err)
				}
			}
			save("one")
			if _, err := admin.AddCloud(t.Context(), "alice", true); err != nil {
				t.Fatal(err)
			}
			res, err := c.Get(feed)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			doc, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			cloud, err := rsscloud.FindCloud(doc, feed)
			if err != nil {
				t.Fatalf("%v in %s", err, doc)
			}
			if onPublic := strings.HasSuffix(r.base, ":"+strconv.Itoa(cloud.Port)); cloud.Protocol != tt.protocol || onPublic == tt.onPlain {
				t.Errorf("the cloud is %s, and the public listener %s", cloud, r.base)
			}
			s := newSubscriber(t)
			u, err := url.Parse(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			port, err := strconv.Atoi(u.Port())
			if err != nil {
				t.Fatal(err)
			}
			// Programs from 2009 do not support https-post as a protocol for callbacks.
			result, err := (&rsscloud.Client{HTTP: c}).PleaseNotify(t.Context(), cloud, rsscloud.Registration{
				Protocol: rsscloud.HTTPPost, Domain: "localhost", Port: port, Path: "/notify", URLs: []string{feed},
			})
			if err != nil || !result.Success {
				t.Fatalf("registering at %s: %+v, %v", cloud, result, err)
			}
			save("two")
			if got := s.wait(t, "the change"); got != feed {
				t.Errorf("notified of %s", got)
			}
		})
	}
}

// filesFor writes a certificate for example.com and its key to files in dir. It returns a pool
// that trusts the certificate.
func filesFor(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	srv.StartTLS()
	defer srv.Close()
	pair := srv.TLS.Certificates[0]
	raw, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	return roots
}
