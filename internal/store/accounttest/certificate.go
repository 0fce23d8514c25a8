package accounttest

import (
	"context"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/store/storetest"
)

type certified interface {
	Certificate(ctx context.Context, name string) ([]byte, error)
	PutCertificate(ctx context.Context, name string, sealed []byte, now time.Time) error
	DeleteCertificate(ctx context.Context, name string) error
}

func certificateTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"NewestCertificateOfNameIsStored":     certificateTwice,
		"DeletedCertificateIsNotFound":        certificateGone,
		"ConcurrentWritesLeaveOneCertificate": certificateTogether,
		"NamesAreComparedBytewise":            certificateNames,
	}
}

func certificateTwice(t *testing.T, e *env) {
	s := e.Store.(certified)
	storetest.Must(t, s.PutCertificate(e.Ctx, "hub.example.org", []byte{0, 1, 255}, e.Now))
	storetest.Must(t, s.PutCertificate(e.Ctx, "hub.example.org", []byte{0, 2, 254}, e.In(time.Hour)))
	got, err := s.Certificate(e.Ctx, "hub.example.org")
	storetest.Must(t, err)
	storetest.Same(t, "content", got, []byte{0, 2, 254})
}

func certificateGone(t *testing.T, e *env) {
	s := e.Store.(certified)
	storetest.Must(t, s.DeleteCertificate(e.Ctx, "never"))
	storetest.Must(t, s.PutCertificate(e.Ctx, "token+http-01", []byte("x"), e.Now))
	storetest.Must(t, s.DeleteCertificate(e.Ctx, "token+http-01"))
	if _, err := s.Certificate(e.Ctx, "token+http-01"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a deleted certificate returns %v, want not found", err)
	}
}

func certificateTogether(t *testing.T, e *env) {
	s := e.Store.(certified)
	done := make(chan error)
	for i := range 8 {
		go func() { done <- s.PutCertificate(e.Ctx, "hub.example.org", []byte{byte(i)}, e.Now) }()
	}
	for range 8 {
		storetest.Must(t, <-done)
	}
	got, err := s.Certificate(e.Ctx, "hub.example.org")
	storetest.Must(t, err)
	if len(got) != 1 || got[0] > 7 {
		t.Errorf("of 8 contents %v is stored", got)
	}
}

func certificateNames(t *testing.T, e *env) {
	s := e.Store.(certified)
	storetest.Must(t, s.PutCertificate(e.Ctx, "a.example+rsa", []byte("rsa"), e.Now))
	for _, other := range []string{"a.example", "A.example+rsa", "a.example+rsa ", ""} {
		if got, err := s.Certificate(e.Ctx, other); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%q returns %q and %v, want not found", other, got, err)
		}
	}
}
