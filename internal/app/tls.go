package app

import (
	"context"
	"crypto/tls"
	"net/http"
	"strings"
	"time"

	"cloudburst/internal/certs"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/ownhost"
)

// acmeTimeout is the maximum time for one request to the certificate authority.
const acmeTimeout = 30 * time.Second

// maxStreams is the maximum number of concurrent HTTP/2 streams per connection.
const maxStreams = 100

// front terminates TLS on the public listener.
type front struct {
	config *tls.Config
	acme   *certs.ACME  // obtains certificates from an authority; nil: the certificate comes from files
	files  *certs.Files // reads the certificate from files; nil: the certificate comes from an authority
}

// newFront creates the front from the settings. It returns nil if TLS is off. Its errors name the
// invalid settings.
func (a *App) newFront() (*front, error) {
	c := a.cfg.TLS
	if err := checkTLS(c); err != nil || !c.On() {
		return nil, err
	}
	if len(c.Domains) == 0 {
		files := &certs.Files{Cert: c.Cert, Key: c.Key, Now: a.clock.Now, OnChange: func(err error, read string) {
			if err != nil {
				a.log.Error("the changed certificate cannot be used; the previous certificate stays in use", "err", err)
				return
			}
			a.log.Info("the changed certificate is in use", "file", read)
		}}
		return a.entrance(&front{config: certs.Config(files.GetCertificate), files: files}), files.Load()
	}
	key, err := secretKey(a.cfg.Accounts.SecretKey, a.cfg.Data)
	if err != nil {
		return nil, err
	}
	authority := &certs.ACME{
		Domains: c.Domains, Also: func(name string) bool { h := a.hosts.Load(); return h != nil && h.UserOf(name) != "" }, Directory: c.ACMEDirectory, Email: c.Email, Store: &a.certificates, Key: key,
		HTTP: &http.Client{Timeout: acmeTimeout}, UserAgent: endpoint.UserAgent(Version, a.cfg.PublicURL), Now: a.clock.Now, Log: a.log,
	}
	if err := authority.Init(); err != nil {
		return nil, err
	}
	return a.entrance(&front{config: authority.TLS(), acme: authority}), nil
}

// entrance stores the front, so that the domains of authors can use it.
func (a *App) entrance(f *front) *front {
	a.tls.Store(f)
	return f
}

// warm requests missing certificates for the configured domains and for names, if a certificate
// authority is configured.
func (f *front) warm(ctx context.Context, names []string) {
	if f != nil && f.acme != nil {
		f.acme.Warm(ctx)
		f.acme.WarmNames(ctx, names)
	}
}

// plain returns the handler of the plain HTTP listener. It answers the challenges of the
// certificate authority. For programs without TLS, it serves the hub's endpoints and the proof of
// a domain. It redirects all other GET and HEAD requests to https, and rejects all other
// requests.
//
// spec:cloudburst#plain-http
func (f *front) plain(public string, hosts *ownhost.Hosts, next http.Handler) http.Handler {
	public = "https://" + strings.TrimPrefix(strings.TrimPrefix(public, "http://"), "https://")
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case hubhttp.IsEndpoint(r.URL.Path), r.URL.Path == ownhost.ProofPath:
			next.ServeHTTP(w, r)
		case hosts.UserOf(r.Host) != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			http.Redirect(w, r, hosts.Origin(hosts.UserOf(r.Host))+r.URL.RequestURI(), http.StatusMovedPermanently)
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			http.Redirect(w, r, public+r.URL.RequestURI(), http.StatusMovedPermanently)
		default:
			// The client has already sent the body unencrypted. A redirect would hide this
			// mistake.
			respond(w, http.StatusForbidden, "This endpoint requires https: "+public+r.URL.EscapedPath()+"\n")
		}
	})
	if f.acme != nil {
		h = f.acme.Challenges(h)
	}
	return h
}
