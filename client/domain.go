package client

import (
	"context"
	"time"
)

// Domain is the domain of a user's page. The server uses the domain after it was verified.
type Domain struct {
	User       string     `json:"user"`
	Name       string     `json:"domain"`
	Token      string     `json:"token"`     // text that the server expects at ProofURL
	ProofURL   string     `json:"proof_url"` // URL that [Site.VerifyDomain] reads
	CreatedAt  time.Time  `json:"created_at"`
	VerifiedAt *time.Time `json:"verified_at,omitempty"` // time of the verification; nil: not verified and not in use

	// Certificate is nil if the domain is not in use, or if this server does not terminate TLS.
	Certificate *Certificate `json:"certificate,omitempty"`
}

// Certificate is the state of the TLS certificate for a domain.
type Certificate struct {
	ExpiresAt *time.Time `json:"expires_at,omitempty"` // expiry of the certificate; nil: no certificate yet
	Error     string     `json:"error,omitempty"`      // reason why the domain has no certificate, as a sentence
}

// Domains returns the domains of all users, sorted by name.
func Domains(ctx context.Context, c *Client) ([]Domain, error) {
	return memberOf[[]Domain](ctx, c, "GET", "/v1/domains", nil, nil, "domains")
}

// Domain returns the domain of the user's page. If the user has no domain, [IsNotFound] reports
// true for the error.
func (s Site) Domain(ctx context.Context) (Domain, error) {
	return userCall[Domain](ctx, s.Client, "GET", nil, s.User, "domain")
}

// SetDomain stores a domain for the user's page. It replaces an earlier domain.
func (s Site) SetDomain(ctx context.Context, name string) (Domain, error) {
	return userCall[Domain](ctx, s.Client, "PUT", map[string]string{"domain": name}, s.User, "domain")
}

// VerifyDomain checks that the domain leads to the server. If it does, the server uses the domain
// from then on.
func (s Site) VerifyDomain(ctx context.Context) (Domain, error) {
	return userCall[Domain](ctx, s.Client, "POST", nil, s.User, "domain", "verify")
}

// RemoveDomain removes the domain from the user's page and returns the domain.
func (s Site) RemoveDomain(ctx context.Context) (Domain, error) {
	return userCall[Domain](ctx, s.Client, "DELETE", nil, s.User, "domain")
}
