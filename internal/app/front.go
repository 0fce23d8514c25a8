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
	"cloudburst/internal/fault"
)

// acmeTimeout bounds one request to the authority.
const acmeTimeout = 30 * time.Second

// streamsMost bounds what one connection may ask for at the same time, over HTTP/2.
const maxStreams = 100

// front is how the public listener speaks TLS.
type front struct {
	config *tls.Config
	acme   *certs.ACME // nil: the certificate is in files
}

// newFront makes it from the settings; nil without TLS. Its errors are about them.
func (a *App) newFront() (*front, error) {
	c := a.cfg.TLS
	switch {
	case !c.On():
		return nil, nil
	case len(c.Domains) > 0 && (c.Cert != "" || c.Key != ""):
		return nil, fault.New(fault.Invalid, "tls.domains and tls.cert are both set: certificates are either asked for or in files.")
	case len(c.Domains) == 0:
		if c.Cert == "" || c.Key == "" {
			return nil, fault.New(fault.Invalid, "tls.cert and tls.key belong together, and one of them is not set.")
		}
		files := &certs.Files{Cert: c.Cert, Key: c.Key, Now: a.clock.Now, OnChange: func(err error, read string) {
			if err != nil {
				a.log.Error("the certificate changed and cannot be used; the one of before is", "err", err)
				return
			}
			a.log.Info("the certificate changed and was read", "file", read)
		}}
		return &front{config: certs.Config(files.GetCertificate)}, files.Load()
	}
	key, err := secretKey(a.cfg.Accounts.SecretKey, a.cfg.Data)
	if err != nil {
		return nil, err
	}
	authority := &certs.ACME{
		Domains: c.Domains, Directory: c.ACMEDirectory, Email: c.Email, Store: &a.certificates, Key: key,
		HTTP: &http.Client{Timeout: acmeTimeout}, UserAgent: endpoint.UserAgent(Version, a.cfg.PublicURL), Now: a.clock.Now, Log: a.log,
	}
	if err := authority.Init(); err != nil {
		return nil, err
	}
	return &front{config: authority.TLS(), acme: authority}, nil
}

// warm gets the certificates that are missing, where an authority is asked for them.
func (f *front) warm(ctx context.Context) {
	if f != nil && f.acme != nil {
		f.acme.Warm(ctx)
	}
}

// plain is what stands on the listener without TLS: answers for the authority, the doors
// at which programs call that know nothing else, and the way to https for all others.
//
// spec:cloudburst#plain-doors
func (f *front) plain(public string, next http.Handler) http.Handler {
	public = "https://" + strings.TrimPrefix(strings.TrimPrefix(public, "http://"), "https://")
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case hubhttp.IsEndpoint(r.URL.Path):
			next.ServeHTTP(w, r)
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			http.Redirect(w, r, public+r.URL.RequestURI(), http.StatusMovedPermanently)
		default:
			// It was sent in the clear already; a redirect would hide that.
			respond(w, http.StatusForbidden, "This is taken over https only: "+public+r.URL.EscapedPath()+"\n")
		}
	})
	if f.acme != nil {
		h = f.acme.Challenges(h)
	}
	return h
}
