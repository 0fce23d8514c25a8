package app_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/app"
)

// domainServer is a server with its own certificate authority. For the authority, all host names
// resolve to this server.
type domainServer struct {
	*running
	http  *http.Client // client that trusts the authority and does not follow redirects
	admin *client.Client
}

func newDomainServer(t *testing.T) *domainServer {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	plain := free.Addr().String()
	free.Close()
	ca := newAuthority(t)
	ca.plain = plain
	cfg := conf(t, t.TempDir())
	cfg.PublicURL, cfg.TLS.Domains, cfg.TLS.ACMEDirectory, cfg.TLS.HTTPListen = "https://hub.test", []string{"hub.test"}, ca.srv.URL+"/directory", plain
	a := app.New(cfg, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, plain)
	}
	a.DialDomain = dial
	d := &domainServer{running: run(t, cfg, a)}
	d.admin = &client.Client{Base: d.running.admin}
	roots := x509.NewCertPool()
	roots.AddCert(ca.root)
	public := strings.TrimPrefix(d.base, "http://")
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		to := public
		if strings.HasSuffix(addr, ":80") {
			to = plain
		}
		return (&net.Dialer{}).DialContext(ctx, network, to)
	}}
	t.Cleanup(tr.CloseIdleConnections)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	d.http = &http.Client{Transport: tr, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return d
}

// get returns the status, body and headers of a response.
func (d *domainServer) get(url string) (int, string, http.Header) {
	d.t.Helper()
	res, err := d.http.Get(url)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return res.StatusCode, string(body), res.Header
}

// shows checks that a page contains texts. A text that begins with "!" must be absent.
func (d *domainServer) shows(url string, texts ...string) string {
	d.t.Helper()
	status, body, _ := d.get(url)
	if status != http.StatusOK {
		d.t.Errorf("%s: status %d", url, status)
	}
	for _, text := range texts {
		if want, not := strings.CutPrefix(text, "!"); strings.Contains(body, want) == not {
			d.t.Errorf("%s: %q is wrong in %s", url, text, body)
		}
	}
	return body
}

// moves checks that url redirects permanently to another URL.
func (d *domainServer) moves(url, to string) {
	d.t.Helper()
	if status, _, h := d.get(url); status != http.StatusMovedPermanently || h.Get("Location") != to {
		d.t.Errorf("%s: %d to %q, want 301 to %s", url, status, h.Get("Location"), to)
	}
}

// addUsers adds users who have the same password as alice.
func (d *domainServer) addUsers(names ...string) {
	d.t.Helper()
	for _, name := range names {
		if _, err := d.admin.AddUser(d.t.Context(), name, alicePassword); err != nil {
			d.t.Fatal(err)
		}
	}
}

func TestDomainOfAnAuthorServesTheirPageOverTLS(t *testing.T) {
	t.Parallel()
	d := newDomainServer(t)
	ctx := t.Context()
	d.addUsers("alice", "bob")
	text := "Hello from my domain"
	post, err := d.admin.CreatePost(ctx, "alice", client.PostChange{Source: &text}, "")
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(post.URL, "https://hub.test/alice")
	site, other := client.Site{Client: d.admin, User: "alice"}, client.Site{Client: d.admin, User: "bob"}
	if _, err := site.SetDomain(ctx, "Blog.Test."); err != nil {
		t.Fatal(err)
	}
	// Two authors may request the same domain. The first author who proves control of the domain
	// gets it.
	if _, err := other.SetDomain(ctx, "blog.test"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.http.Get("https://blog.test/"); err == nil {
		t.Error("an unverified domain has a certificate")
	}
	v, err := site.VerifyDomain(ctx)
	if err != nil || v.VerifiedAt == nil || v.Name != "blog.test" {
		t.Fatalf("%+v, %v", v, err)
	}
	if _, err := other.VerifyDomain(ctx); err == nil || !strings.Contains(err.Error(), "another author") {
		t.Errorf("a second author verifies the domain: %v", err)
	}

	const at = "https://blog.test"
	d.shows(at+"/", text, `href="`+path+`"`, `href="/rss.xml"`, `!="/alice/`, "!hub.test/alice/", "!Sign in", "!bob", `href="https://hub.test/"`, `content="`+at+`/"`)
	d.shows(at+path, text, `!="/alice/`, `content="`+at+path+`"`)
	d.shows(at+"/archive/", "!/alice/")
	d.shows(at+"/search?q=domain", text, `action="/search"`)
	rss := d.shows(at+"/rss.xml", `href="`+at+`/rss.xml"`, "<link>"+at+"/</link>", "<link>"+at+path+"</link>", `>https://hub.test/alice`+path+"</guid>")
	if both := d.shows("https://hub.test/alice/rss.xml"); both != rss {
		t.Errorf("the feed differs at its old URL: %s", both)
	}
	d.shows(at+"/feed.json", at+"/feed.json", at+path)
	d.shows(at+path+"/comments.rss", at+path+"/comments.rss")

	d.moves("https://hub.test/alice/", at+"/")
	d.moves("https://hub.test/alice"+path+"?x=1", at+path+"?x=1")
	d.moves(at+"/alice"+path, at+path)
	d.moves("http://blog.test/archive/", at+"/archive/")
	d.moves("http://hub.test/alice/", "https://hub.test/alice/")

	for _, p := range []string{"/login", "/river", "/bob/", "/write", "/private/x/rss.xml", "/v1/version", "/account"} {
		if status, body, h := d.get(at + p); status != http.StatusNotFound || len(h.Values("Set-Cookie")) > 0 || strings.Contains(body, `class="bar"`) {
			t.Errorf("%s at the domain: %d, %v, %s", p, status, h, body)
		}
	}
	if res, err := d.http.Post(at+"/login", "application/x-www-form-urlencoded", strings.NewReader("name=alice&password="+alicePassword)); err != nil || res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a sign-in at the domain: %v, %v", res, err)
	} else {
		res.Body.Close()
	}
	// After alice has removed the domain, her feed has its old URL again, and bob can verify the domain.
	if _, err := site.RemoveDomain(ctx); err != nil {
		t.Fatal(err)
	}
	d.shows("https://hub.test/alice/rss.xml", `href="https://hub.test/alice/rss.xml"`, "!blog.test")
	if v, err := other.VerifyDomain(ctx); err != nil || v.VerifiedAt == nil {
		t.Errorf("the domain stays taken after its author gave it up: %+v, %v", v, err)
	}
	list, err := client.Domains(ctx, d.admin)
	if err != nil || len(list) != 1 || list[0].User != "bob" {
		t.Fatalf("the operator sees %+v, %v", list, err)
	}
	if c := list[0].Certificate; c == nil || c.ExpiresAt == nil || c.Error != "" {
		t.Errorf("certificate of the domain: %+v", c)
	}
}

func TestHostileDomainsAreRefused(t *testing.T) {
	t.Parallel()
	d := newDomainServer(t)
	if _, err := d.admin.AddUser(t.Context(), "alice", alicePassword); err != nil {
		t.Fatal(err)
	}
	site := client.Site{Client: d.admin, User: "alice"}
	for name, want := range map[string]string{
		"hub.test": "the name of this server", "HUB.TEST.": "the name of this server", "127.0.0.1": "IP address", "[::1]": "IP address", "localhost": "complete name",
		"a.localhost": "complete name", "x": "complete name", "": "only its name", "blog.test:8443": "only its name", "blog.test/a": "only its name", "*.blog.test": "complete name",
		"a@blog.test": "only its name", "http://blog.test?x": "only its name", "a b.test": "domain", "1.2.3.4.5": "complete name", "-a.test": "complete name",
	} {
		if _, err := site.SetDomain(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	for _, host := range []string{"other.test", "blog.test\"", "alice", "..", "blog.test:0", "[", ":"} {
		req, err := http.NewRequest("GET", "https://hub.test/people", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := d.http.Do(req)
		if err == nil {
			res.Body.Close()
		}
		if err == nil && res.StatusCode >= 500 {
			t.Errorf("Host %q: %s", host, res.Status)
		}
	}
}
