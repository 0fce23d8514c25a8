package certs_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cloudburst/internal/certs"
	"cloudburst/internal/fault"
)

// write writes a self-signed certificate for name, valid until an hour after at, and its key. Both
// files have the modification time at.
func write(t *testing.T, dir, name string, at time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: at.Add(time.Hour), DNSNames: []string{name}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, file), at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func nameOf(t *testing.T, f *certs.Files) string {
	t.Helper()
	c, err := f.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(c.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return leaf.Subject.CommonName
}

func TestChangedCertificateIsReloaded(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	write(t, dir, "old.example", now)
	var reports []error
	f := &certs.Files{
		Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"),
		Now: func() time.Time { return now }, OnChange: func(err error, _ string) { reports = append(reports, err) },
	}
	if err := f.Load(); err != nil {
		t.Fatal(err)
	}
	step := func(want string, changes int) {
		t.Helper()
		now = now.Add(2 * time.Second)
		if got := nameOf(t, f); got != want || len(reports) != changes {
			t.Fatalf("it is %s after %d changes (%v), want %s after %d", got, len(reports), reports, want, changes)
		}
	}
	step("old.example", 0)
	if err := os.WriteFile(f.Cert, []byte("half a fi"), 0o600); err != nil {
		t.Fatal(err)
	}
	step("old.example", 1)
	step("old.example", 1) // the error is reported once
	write(t, dir, "new.example", now)
	step("new.example", 2)
	if reports[0] == nil || reports[1] != nil {
		t.Errorf("reports are %v, want an error and then nil", reports)
	}
	step("new.example", 2)
	if err := os.Remove(f.Key); err != nil {
		t.Fatal(err)
	}
	step("new.example", 3)
}

func TestCertificateWithWrongOrMissingKeyFileIsRejected(t *testing.T) {
	t.Parallel()
	a, b := t.TempDir(), t.TempDir()
	write(t, a, "a.example", time.Now())
	write(t, b, "b.example", time.Now())
	for _, f := range []*certs.Files{
		{Cert: filepath.Join(a, "cert.pem"), Key: filepath.Join(b, "key.pem")},
		{Cert: filepath.Join(a, "none.pem"), Key: filepath.Join(a, "key.pem")},
	} {
		if err := f.Load(); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s with %s: %v", f.Cert, f.Key, err)
		}
	}
}

func TestInvalidCertificateDomainsAreRejected(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"localhost", "*.example.org", "hub.example.org:443", "https://hub.example.org", "a b.example"} {
		a := &certs.ACME{Domains: []string{name}, Directory: "https://acme.example/directory", Key: make([]byte, 32)}
		if err := a.Init(); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	a := &certs.ACME{Domains: []string{"hub.example.org"}, Directory: "acme.example", Key: make([]byte, 32), Log: slog.New(slog.DiscardHandler)}
	if err := a.Init(); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a directory without a scheme: %v", err)
	}
}

func TestOldTLSVersionsAreDisabled(t *testing.T) {
	t.Parallel()
	c := certs.Config(nil, "acme-tls/1")
	if c.MinVersion != tls.VersionTLS12 || !bytes.Equal([]byte(c.NextProtos[0]), []byte("h2")) {
		t.Errorf("from version %x, protocols %v", c.MinVersion, c.NextProtos)
	}
}
