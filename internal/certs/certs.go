// Package certs provides the certificates of the public listener: from files that may change at run
// time, or from an ACME authority (RFC 8555), with validation by HTTP (http-01) or in the TLS
// handshake (tls-alpn-01, RFC 8737). Start with [Files] and [ACME].
package certs

import (
	"crypto/tls"
	"os"
	"sync"
	"time"

	"cloudburst/internal/fault"
)

// Config returns the TLS configuration of a listener: TLS 1.2 and newer with Go's choice of
// ciphers, HTTP/2 and HTTP/1.1.
func Config(get func(*tls.ClientHelloInfo) (*tls.Certificate, error), protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     append([]string{"h2", "http/1.1"}, protocols...),
		GetCertificate: get,
	}
}

// checkInterval is the minimum time between two checks of the files.
const checkInterval = time.Second

// Files serves a certificate and its key from two files and reloads the files when they change. If
// the new files are unusable or do not match, Files continues with the old pair. Call [Files.Load]
// first.
type Files struct {
	Cert, Key string                       // paths of PEM files
	Now       func() time.Time             // clock for the checks
	OnChange  func(err error, read string) // called after each attempt to reload

	mu        sync.Mutex
	current   *tls.Certificate
	stamp     [2]stamp // state of both files at the last attempt to load them, successful or not
	checkedAt time.Time
}

// stamp identifies a version of a file.
type stamp struct {
	at   time.Time
	size int64
}

// Load reads the files. fault.Invalid: the files are unusable or do not match; the message names
// both files.
func (f *Files) Load() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.load(f.stamps())
}

func (f *Files) load(s [2]stamp) error {
	f.stamp = s
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return fault.New(fault.Invalid, "The certificate %s (tls.cert) and the key %s (tls.key) cannot be used together: %v.", f.Cert, f.Key, err)
	}
	f.current = &pair
	return nil
}

func (f *Files) stamps() (s [2]stamp) {
	for i, name := range []string{f.Cert, f.Key} {
		// A missing file has the zero stamp. The attempt to load the file then returns the error.
		if info, err := os.Stat(name); err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}

// Covers checks that the certificate is valid for a host name. fault.Invalid: it is not.
func (f *Files) Covers(name string) error {
	pair, err := f.GetCertificate(nil)
	if err == nil && pair.Leaf != nil {
		err = pair.Leaf.VerifyHostname(name)
	}
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The certificate of this server is not valid for %s, so browsers would refuse the page. Ask the operator to add the name to the certificate.", name)
	}
	return nil
}

// Until returns the expiry time of the certificate; zero: unknown.
func (f *Files) Until() time.Time {
	pair, err := f.GetCertificate(nil)
	if err != nil || pair == nil || pair.Leaf == nil {
		return time.Time{}
	}
	return pair.Leaf.NotAfter.UTC()
}

// GetCertificate implements tls.Config.GetCertificate.
func (f *Files) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	if d := now.Sub(f.checkedAt); d >= 0 && d < checkInterval {
		return f.current, nil
	}
	f.checkedAt = now
	if s := f.stamps(); s != f.stamp {
		err := f.load(s)
		if f.OnChange != nil {
			f.OnChange(err, f.Cert)
		}
	}
	return f.current, nil
}
