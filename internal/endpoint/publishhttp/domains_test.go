package publishhttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"cloudburst/internal/endpoint/publishhttp"
	"cloudburst/internal/ownhost"
)

// aliceDomain is a store in which the domain alice.example belongs to alice.
type aliceDomain struct{ ownhost.Store }

func (aliceDomain) AuthorHosts(context.Context) ([]ownhost.Host, error) {
	return []ownhost.Host{{User: "alice", Name: "alice.example", VerifiedAt: time.Now()}}, nil
}

func (aliceDomain) PastAuthorHosts(context.Context) ([]ownhost.Past, error) { return nil, nil }

func TestPathWithTheUserRedirectsToTheDomainInEveryEncoding(t *testing.T) {
	t.Parallel()
	public := func() string { return "https://hub.example" }
	hosts := &ownhost.Hosts{Store: aliceDomain{}, Public: public}
	if err := hosts.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := &publishhttp.Domains{Hosts: hosts, Public: public, Next: http.NotFoundHandler()}
	for from, to := range map[string]string{
		"https://hub.example/alice/x?a=%20":            "https://alice.example/x?a=%20",
		"https://hub.example/%61lice/x":                "https://alice.example/x",
		"https://hub.example/alice%2Fx":                "https://alice.example/x",
		"https://alice.example/alice//other/x":         "https://alice.example//other/x",
		"https://alice.example/alice/x":                "https://alice.example/x",
		"https://alice.example/%61lice/x%20y?a=b":      "https://alice.example/x%20y?a=b",
		"https://alice.example/alice%2F@other.example": "https://alice.example/@other.example",
		"https://alice.example/alice/a%2Fb":            "https://alice.example/a%2Fb",
	} {
		rec := httptest.NewRecorder()
		d.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, from, nil))
		if got := rec.Header().Get("Location"); rec.Code != http.StatusMovedPermanently || got != to {
			t.Errorf("%s: %d to %q, want %s", from, rec.Code, got, to)
		}
	}
}
