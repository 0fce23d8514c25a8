package api

import (
	"context"
	"net/http"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/ownhost"
)

// domainRoutes lists the endpoints for the domain of a user's page.
func domainRoutes() []postRoute {
	change, read := []string{scopeUpdate}, []string{scopeCreate, scopeUpdate, scopeDelete}
	return []postRoute{
		{"GET", "/v1/users/{user}/domain", read, withDomains((postAPI).domain)},
		{"PUT", "/v1/users/{user}/domain", change, withDomains((postAPI).setDomain)},
		{"DELETE", "/v1/users/{user}/domain", change, withDomains((postAPI).removeDomain)},
		{"POST", "/v1/users/{user}/domain/verify", change, withDomains((postAPI).verifyDomain)},
	}
}

// withDomains wraps an endpoint that requires Options.Domains.
func withDomains(handle func(postAPI, *postCall) error) func(postAPI, *postCall) error {
	return func(s postAPI, c *postCall) error {
		if s.Domains == nil {
			return fault.New(fault.Unsupported, "This server has no domains of users.")
		}
		return plainPost(handle)(s, c)
	}
}

func (s postAPI) answerDomain(c *postCall, h ownhost.Host, err error) error {
	if err != nil {
		return err
	}
	return exchange.OK(c.w, s.domainOf(c.ctx(), h))
}

func (s *Server) domainOf(ctx context.Context, h ownhost.Host) client.Domain {
	d := client.Domain{User: h.User, Name: h.Name, Token: h.Token, ProofURL: s.Domains.ProofURL(h.Name), CreatedAt: form.Milli(h.CreatedAt), VerifiedAt: form.When(h.VerifiedAt)}
	if cert := s.Domains.Certificate(ctx, h.Name); h.InUse() && cert.Served {
		d.Certificate = &client.Certificate{ExpiresAt: form.When(cert.Until), Error: cert.Error}
	}
	return d
}

func (s postAPI) domain(c *postCall) error {
	h, has := s.Domains.Of(c.user)
	if !has {
		return fault.New(fault.NotFound, "%s has no domain.", c.user)
	}
	return s.answerDomain(c, h, nil)
}

func (s postAPI) setDomain(c *postCall) error {
	var in struct {
		Domain string `json:"domain"`
	}
	if err := exchange.ReadJSON(c.w, c.r, &in); err != nil {
		return err
	}
	h, err := s.Domains.Set(c.ctx(), c.user, in.Domain)
	return s.answerDomain(c, h, err)
}

func (s postAPI) verifyDomain(c *postCall) error {
	h, err := s.Domains.Verify(c.ctx(), c.user)
	return s.answerDomain(c, h, err)
}

func (s postAPI) removeDomain(c *postCall) error {
	h, has := s.Domains.Of(c.user)
	if !has {
		return fault.New(fault.NotFound, "%s has no domain.", c.user)
	}
	remove := func() error { _, err := s.Domains.Remove(c.ctx(), c.user); return err }
	if c.public {
		return s.answerDomain(c, h, remove())
	}
	return s.answerDomain(c, h, s.audited(c.r, "domain.remove", c.user, h.Name, remove))
}

// domains sends the domains of all users to the operator.
func (s *Server) domains(w http.ResponseWriter, r *http.Request) error {
	if s.Domains == nil {
		return fault.New(fault.Unsupported, "This server has no domains of users.")
	}
	list := []client.Domain{}
	for _, h := range s.Domains.All() {
		list = append(list, s.domainOf(r.Context(), h))
	}
	return exchange.OK(w, map[string]any{"domains": list})
}
