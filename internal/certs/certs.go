// Package certs has the certificates of the public listener: from files that may change
// while the program runs, or from an authority that is asked by ACME (RFC 8555) and proves
// by HTTP (http-01) or in the handshake itself (tls-alpn-01, RFC 8737) that the name is
// ours. Start with [Files] and [ACME].
package certs

import (
	"crypto/tls"
	"os"
	"sync"
	"time"

	"cloudburst/internal/fault"
)

// Config is how the listener speaks TLS: 1.2 and newer with Go's own choice of ciphers,
// HTTP/2 and HTTP/1.1.
func Config(get func(*tls.ClientHelloInfo) (*tls.Certificate, error), protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     append([]string{"h2", "http/1.1"}, protocols...),
		GetCertificate: get,
	}
}

// lookEvery is how often files are looked at, at most.
const checkInterval = time.Second

// Files are a certificate and its key in two files, which are read again when they change.
// While the new ones cannot be used, or do not belong together, the old ones are. Call
// [Files.Load] first.
type Files struct {
	Cert, Key string                       // paths, PEM
	Now       func() time.Time             // the clock by which they are looked at
	OnChange  func(err error, read string) // a change: what became of it

	mu        sync.Mutex
	current   *tls.Certificate
	stamp     [2]stamp // of what was tried last, good or not
	checkedAt time.Time
}

// stamp is by what a change of a file is noticed.
type stamp struct {
	at   time.Time
	size int64
}

// Load reads the files. Its error is fault.Invalid and names them.
func (f *Files) Load() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.load(f.stamps())
}

func (f *Files) load(s [2]stamp) error {
	f.stamp = s
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The certificate %s (tls.cert) and the key %s (tls.key) cannot be used together: %v.", f.Cert, f.Key, err)
	}
	f.current = &pair
	return nil
}

func (f *Files) stamps() (s [2]stamp) {
	for i, name := range []string{f.Cert, f.Key} {
		// One that is missing just now has a stamp of its own; reading it tells more.
		if info, err := os.Stat(name); err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}

// GetCertificate is for tls.Config.
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
