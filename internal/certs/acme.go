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
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"cloudburst/internal/fault"
)

// Store keeps what ACME needs, where all machines that serve the same names find it: also
// the answer to a challenge, for the authority may reach another machine than the one
// that asked. The contract is that of store.Certificates.
type Store interface {
	Certificate(ctx context.Context, name string) ([]byte, error)
	PutCertificate(ctx context.Context, name string, sealed []byte, now time.Time) error
	DeleteCertificate(ctx context.Context, name string) error
}

// ACME gets certificates for names from an authority and renews them. All fields are
// needed but Email and HTTP; make it ready with [ACME.Init].
type ACME struct {
	Domains   []string
	Directory string // URL
	Email     string
	Store     Store
	Key       []byte // 32 bytes: what the store keeps is sealed with a key made of it
	HTTP      *http.Client
	UserAgent string
	Now       func() time.Time
	Log       *slog.Logger

	manager *autocert.Manager
}

// Init checks the fields and makes it ready. Its error is fault.Invalid.
func (a *ACME) Init() error {
	for _, d := range a.Domains {
		if !strings.Contains(d, ".") || strings.ContainsAny(d, "*:/@ ") {
			return fault.New(fault.Invalid, "tls.domains holds %q; it needs whole names such as hub.example.org, without wildcards, ports and schemes.", d)
		}
	}
	if !strings.HasPrefix(a.Directory, "https://") && !strings.HasPrefix(a.Directory, "http://") {
		return fault.New(fault.Invalid, "tls.acme-directory is %q; it needs a URL such as %s.", a.Directory, autocert.DefaultACMEDirectory)
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
		Prompt: autocert.AcceptTOS, HostPolicy: autocert.HostWhitelist(a.Domains...), Email: a.Email,
		Cache:  &cache{a.Store, seal, a.Now, a.Log, sha256.Sum256([]byte(a.Directory))},
		Client: &acme.Client{DirectoryURL: a.Directory, HTTPClient: a.HTTP, UserAgent: a.UserAgent},
	}
	return nil
}

// TLS is the listener's configuration. Only names that certificates are asked for are
// served; a client that names none gets the certificate of the first.
//
// spec:acme-rfc8737#tls-alpn
func (a *ACME) TLS() *tls.Config {
	return Config(func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if hello.ServerName == "" {
			named := *hello
			named.ServerName = a.Domains[0]
			hello = &named
		}
		return a.manager.GetCertificate(hello)
	}, acme.ALPNProto)
}

// Challenges answers the authority over plain HTTP; everything else is next's.
//
// spec:acme-rfc8555#http-01
func (a *ACME) Challenges(next http.Handler) http.Handler { return a.manager.HTTPHandler(next) }

// Warm asks for what is missing, so that the first visitor does not wait for it, and
// begins the renewals. It returns when each name has been tried, and says what failed: then
// the next visitor has it tried again, at most once a minute.
func (a *ACME) Warm(ctx context.Context) {
	for _, d := range slices.Compact(slices.Sorted(slices.Values(a.Domains))) {
		if ctx.Err() != nil {
			return
		}
		_, err := a.manager.GetCertificate(&tls.ClientHelloInfo{
			ServerName: d, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
			SupportedCurves: []tls.CurveID{tls.CurveP256}, SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
		})
		if err != nil {
			a.Log.Error("no certificate", "domain", d, "err", err)
			continue
		}
		a.Log.Info("certificate ready", "domain", d)
	}
}

// cache is autocert's, over the store. What was sealed with another key counts as missing:
// it is asked for again.
type cache struct {
	store     Store
	seal      cipher.AEAD
	now       func() time.Time
	log       *slog.Logger
	authority [32]byte
}

// named is the name in the store: accounts and certificates of two authorities do not mix.
func (c *cache) storeName(key string) string { return fmt.Sprintf("%x/%s", c.authority[:4], key) }

// Get is autocert.Cache.Get.
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
		c.log.Warn("a kept certificate was sealed with another accounts.secret-key; a new one is asked for", "name", key)
		return nil, autocert.ErrCacheMiss
	}
	return plain, nil
}

// Put is autocert.Cache.Put.
func (c *cache) Put(ctx context.Context, key string, data []byte) error {
	return c.store.PutCertificate(ctx, c.storeName(key), c.seal.Seal(nil, nil, data, []byte(c.storeName(key))), c.now())
}

// Delete is autocert.Cache.Delete.
func (c *cache) Delete(ctx context.Context, key string) error {
	err := c.store.DeleteCertificate(ctx, c.storeName(key))
	if errors.Is(err, context.Canceled) {
		return nil // an answer to a challenge that is over
	}
	return err
}
