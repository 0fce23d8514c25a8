package client

import (
	"context"
	"time"
)

// Domain is the domain of a user's page. It is in use after it was verified.
type Domain struct {
	User       string     `json:"user"`
	Name       string     `json:"domain"`
	Token      string     `json:"token"`     // that ProofURL must return
	ProofURL   string     `json:"proof_url"` // read by [Site.VerifyDomain]
	CreatedAt  time.Time  `json:"created_at"`
	VerifiedAt *time.Time `json:"verified_at,omitempty"` // nil: not in use

	// Certificate is nil if the domain is not in use, or if this server does not terminate TLS.
	Certificate *Certificate `json:"certificate,omitempty"`
}

// Certificate is the state of the TLS certificate for a domain.
type Certificate struct {
	ExpiresAt *time.Time `json:"expires_at,omitempty"` // nil: there is none yet
	Error     string     `json:"error,omitempty"`      // why there is none, as a sentence
}

// Domains returns the domains of all users by name.
func Domains(ctx context.Context, c *Client) ([]Domain, error) {
	var out struct {
		Domains []Domain `json:"domains"`
	}
	err := c.call(ctx, "GET", "/v1/domains", nil, nil, &out)
	return out.Domains, err
}

// Domain returns the domain of the user's page. [IsNotFound] reports true for the error if there is
// none.
func (s Site) Domain(ctx context.Context) (Domain, error) {
	return userCall[Domain](ctx, s.Client, "GET", nil, s.User, "domain")
}

// SetDomain stores a domain for the user's page, in place of another one.
func (s Site) SetDomain(ctx context.Context, name string) (Domain, error) {
	return userCall[Domain](ctx, s.Client, "PUT", map[string]string{"domain": name}, s.User, "domain")
}

// VerifyDomain checks that the domain leads to the server and puts it into use.
func (s Site) VerifyDomain(ctx context.Context) (Domain, error) {
	return userCall[Domain](ctx, s.Client, "POST", nil, s.User, "domain", "verify")
}

// RemoveDomain ends the use of the domain and returns it.
func (s Site) RemoveDomain(ctx context.Context) (Domain, error) {
	return userCall[Domain](ctx, s.Client, "DELETE", nil, s.User, "domain")
}
