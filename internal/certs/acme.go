package certs

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"cloudburst/internal/fault"
)

// Store stores the data of ACME. All machines that serve the same names must share one store,
// because the authority may connect to a different machine than the machine that requested the
// certificate. See store.Certificates for the contract.
type Store interface {
	Certificate(ctx context.Context, name string) ([]byte, error)
	PutCertificate(ctx context.Context, name string, sealed []byte, now time.Time) error
	DeleteCertificate(ctx context.Context, name string) error
}

// ACME obtains and renews certificates from an authority. All fields except Email and HTTP are
// required; call [ACME.Init] first.
type ACME struct {
	Domains   []string
	Also      func(name string) bool // reports whether another name may have a certificate; nil: no other names
	Directory string                 // URL of the authority's ACME directory
	Email     string
	Store     Store
	Key       []byte // 32 bytes: stored data is encrypted with a key derived from it
	HTTP      *http.Client
	UserAgent string
	Now       func() time.Time
	Log       *slog.Logger

	manager *autocert.Manager

	mu     sync.Mutex
	states map[string]state // key: host name; only names that may have a certificate
}

// state is the result of the last request for a certificate.
type state struct {
	until time.Time
	err   error
}

// obtain returns a certificate and records the result in states.
func (a *ACME) obtain(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	pair, err := a.manager.GetCertificate(hello)
	name := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	if slices.Contains(hello.SupportedProtos, acme.ALPNProto) || a.allow(context.Background(), name) != nil {
		return pair, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.states == nil {
		a.states = map[string]state{}
	}
	now := state{err: err}
	if err == nil && pair.Leaf != nil {
		now.until = pair.Leaf.NotAfter.UTC()
	}
	a.states[name] = now
	return pair, err
}

// State returns the expiry time of the certificate that this process last served for a name; zero:
// there is none yet. fault.Unavailable: the last request for a certificate failed.
func (a *ACME) State(_ context.Context, name string) (until time.Time, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.states[name]
	if s.err != nil {
		return time.Time{}, fault.Wrap(fault.Unavailable, s.err, "The last request to the certificate authority failed: %v.", s.err)
	}
	return s.until, nil
}

// Init checks the fields and prepares the manager. Its errors about fields are fault.Invalid.
func (a *ACME) Init() error {
	for _, d := range a.Domains {
		if !strings.Contains(d, ".") || strings.ContainsAny(d, "*:/@ ") {
			return fault.New(fault.Invalid, "tls.domains contains %q; it must list complete names such as hub.example.org, without wildcards, ports and schemes.", d)
		}
	}
	if !strings.HasPrefix(a.Directory, "https://") && !strings.HasPrefix(a.Directory, "http://") {
		return fault.New(fault.Invalid, "tls.acme-directory is %q; it must be a URL such as %s.", a.Directory, autocert.DefaultACMEDirectory)
	}
	key, err := hkdf.Key(sha256.New, a.Key, nil, "cloudburst certificates", 32)
	if err != nil {
		return err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return err
	}
	// spec:acme-rfc8555#terms
	a.manager = &autocert.Manager{
		Prompt: autocert.AcceptTOS, HostPolicy: a.allow, Email: a.Email,
		Cache:  &cache{a.Store, seal, a.Now, a.Log, sha256.Sum256([]byte(a.Directory))},
		Client: &acme.Client{DirectoryURL: a.Directory, HTTPClient: a.HTTP, UserAgent: a.UserAgent},
	}
	return nil
}

// allow accepts the configured domains and the names that Also accepts.
func (a *ACME) allow(ctx context.Context, name string) error {
	if a.Also != nil && a.Also(name) {
		return nil
	}
	return autocert.HostWhitelist(a.Domains...)(ctx, name)
}

// TLS returns the TLS configuration of the listener. The listener serves only the configured domains
// and the names that Also accepts. A client without a server name gets the certificate of the first
// domain.
//
// spec:acme-rfc8737#tls-alpn
func (a *ACME) TLS() *tls.Config {
	return Config(func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if hello.ServerName == "" {
			named := *hello
			named.ServerName = a.Domains[0]
			hello = &named
		}
		return a.obtain(hello)
	}, acme.ALPNProto)
}

// Challenges responds to the authority over plain HTTP and passes all other requests to next.
//
// spec:acme-rfc8555#http-01
func (a *ACME) Challenges(next http.Handler) http.Handler { return a.manager.HTTPHandler(next) }

// Warm requests missing certificates, so that the first visitor does not wait, and starts the
// renewals. It returns after one attempt per domain and logs failures. A failed domain is tried
// again on the next connection, at most once a minute.
func (a *ACME) Warm(ctx context.Context) {
	a.WarmNames(ctx, a.Domains)
}

// WarmNames does the same as [ACME.Warm] for the given names.
func (a *ACME) WarmNames(ctx context.Context, names []string) {
	for _, d := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if ctx.Err() != nil {
			return
		}
		_, err := a.obtain(&tls.ClientHelloInfo{
			ServerName: d, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
			SupportedCurves: []tls.CurveID{tls.CurveP256}, SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
		})
		if err != nil {
			a.Log.Error("cannot get a certificate", "domain", d, "err", err)
			continue
		}
		a.Log.Info("a certificate is ready", "domain", d)
	}
}

// cache implements autocert.Cache with the store. Data that was encrypted with another key counts as
// missing, so autocert requests it again.
type cache struct {
	store     Store
	seal      cipher.AEAD
	now       func() time.Time
	log       *slog.Logger
	authority [32]byte
}

// storeName returns the name in the store. The prefix separates the data of different authorities.
func (c *cache) storeName(key string) string { return fmt.Sprintf("%x/%s", c.authority[:4], key) }

// Get implements autocert.Cache.
func (c *cache) Get(ctx context.Context, key string) ([]byte, error) {
	sealed, err := c.store.Certificate(ctx, c.storeName(key))
	if fault.CodeOf(err) == fault.NotFound {
		return nil, autocert.ErrCacheMiss
	}
	if err != nil {
		return nil, err
	}
	plain, err := c.seal.Open(nil, nil, sealed, []byte(c.storeName(key)))
	if err != nil {
		c.log.Warn("a stored certificate is encrypted with another accounts.secret-key; requesting a new certificate", "name", key)
		return nil, autocert.ErrCacheMiss
	}
	return plain, nil
}

// Put implements autocert.Cache.
func (c *cache) Put(ctx context.Context, key string, data []byte) error {
	return c.store.PutCertificate(ctx, c.storeName(key), c.seal.Seal(nil, nil, data, []byte(c.storeName(key))), c.now())
}

// Delete implements autocert.Cache.
func (c *cache) Delete(ctx context.Context, key string) error {
	err := c.store.DeleteCertificate(ctx, c.storeName(key))
	if errors.Is(err, context.Canceled) {
		return nil // autocert cancels the deletion of a response when its challenge has ended
	}
	return err
}
