package storetest

import (
	"context"
	"testing"
	"time"

	"cloudburst/internal/fault"
)

type certified interface {
	Certificate(ctx context.Context, name string) ([]byte, error)
	PutCertificate(ctx context.Context, name string, sealed []byte, now time.Time) error
	DeleteCertificate(ctx context.Context, name string) error
}

func certificateTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"TheNewestOfANameIsKept":         certificateTwice,
		"WhatIsDeletedIsNotFound":        certificateGone,
		"TwoProcessesWriteOneAtTheEnd":   certificateTogether,
		"NamesAreKnownByTheirExactBytes": certificateNames,
	}
}

func certificateTwice(t *testing.T, e *env) {
	s := e.Store.(certified)
	must(t, s.PutCertificate(e.ctx, "hub.example.org", []byte{0, 1, 255}, e.now))
	must(t, s.PutCertificate(e.ctx, "hub.example.org", []byte{0, 2, 254}, e.in(time.Hour)))
	got, err := s.Certificate(e.ctx, "hub.example.org")
	must(t, err)
	same(t, "content", got, []byte{0, 2, 254})
}

func certificateGone(t *testing.T, e *env) {
	s := e.Store.(certified)
	must(t, s.DeleteCertificate(e.ctx, "never"))
	must(t, s.PutCertificate(e.ctx, "token+http-01", []byte("x"), e.now))
	must(t, s.DeleteCertificate(e.ctx, "token+http-01"))
	if _, err := s.Certificate(e.ctx, "token+http-01"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("what was deleted answers %v, want not found", err)
	}
}

func certificateTogether(t *testing.T, e *env) {
	s := e.Store.(certified)
	done := make(chan error)
	for i := range 8 {
		go func() { done <- s.PutCertificate(e.ctx, "hub.example.org", []byte{byte(i)}, e.now) }()
	}
	for range 8 {
		must(t, <-done)
	}
	got, err := s.Certificate(e.ctx, "hub.example.org")
	must(t, err)
	if len(got) != 1 || got[0] > 7 {
		t.Errorf("of 8 contents %v is kept", got)
	}
}

func certificateNames(t *testing.T, e *env) {
	s := e.Store.(certified)
	must(t, s.PutCertificate(e.ctx, "a.example+rsa", []byte("rsa"), e.now))
	for _, other := range []string{"a.example", "A.example+rsa", "a.example+rsa ", ""} {
		if got, err := s.Certificate(e.ctx, other); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%q answers %q and %v, want not found", other, got, err)
		}
	}
}
