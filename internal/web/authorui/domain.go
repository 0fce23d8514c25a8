package authorui

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/ownhost"
	"cloudburst/internal/route"
	"cloudburst/internal/web/shell"
)

const domainPath = "/account/author/domain"

// Domains is the interface to the domains of authors; ownhost.Hosts implements it.
type Domains interface {
	Of(user string) (ownhost.Host, bool)
	Origin(user string) string
	ProofURL(name string) string
	Set(ctx context.Context, user, name string) (ownhost.Host, error)
	Verify(ctx context.Context, user string) (ownhost.Host, error)
	Remove(ctx context.Context, user string) (ownhost.Host, error)
}

// domainRoutes lists the routes of the settings of the domain of an author's page.
func (s *Pages) domainRoutes() []route.Route {
	if s.Domains == nil {
		return nil
	}
	return []route.Route{
		{Method: http.MethodGet, Path: domainPath, Handler: s.WithSession(s.domainPage), Protection: route.Session, Purpose: "The domain of the author's page."},
		{Method: http.MethodPost, Path: domainPath, Handler: s.WithSession(s.doDomain), Protection: route.Session, MaxBody: shell.FormOverhead, Purpose: "Stores, checks or removes the domain of the author's page."},
	}
}

type domainView struct {
	shell.View
	SiteTabs []menuItem
	Message  string
	Domain   string // the stored domain; "": none
	InUse    bool
	URL      string // URL of the page at the domain
	Old      string // URL of the page at this server
	Target   string // host name of this server
	Proof    string // URL that this server reads to verify the domain
	Entered  string // domain as typed in the form

	DomainWrong, AllWrong string
}

// domainPage shows the domain of the author's page.
func (s *Pages) domainPage(rw http.ResponseWriter, r *http.Request, session account.Session) {
	s.showDomain(rw, r, http.StatusOK, session.User, domainView{})
}

func (s *Pages) showDomain(rw http.ResponseWriter, r *http.Request, status int, user string, v domainView) {
	messages := map[string]string{"saved": "Saved. The domain is not in use yet.", "verified": "The domain leads here. Your page uses it now.", "removed": "Removed."}
	v.View, v.SiteTabs, v.Message = s.NewView(r, "Domain"), s.siteTabs(domainPath), messages[r.URL.Query().Get("done")]
	base := s.BaseURL(r)
	v.Old = base + "/" + user + "/"
	if u, err := url.Parse(base); err == nil {
		v.Target = u.Hostname()
	}
	if h, has := s.Domains.Of(user); has {
		v.Domain, v.InUse, v.Proof = h.Name, h.InUse(), s.Domains.ProofURL(h.Name)
		v.URL = s.Domains.Origin(user) + "/"
	}
	v.Entered = cmp.Or(v.Entered, v.Domain)
	s.Render(rw, r, status, "sitedomain", v)
}

// doDomain stores, checks or removes the domain.
func (s *Pages) doDomain(rw http.ResponseWriter, r *http.Request, session account.Session) {
	form, err := readForm(rw, r)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	var v domainView
	done := "removed"
	switch form.Get("do") {
	case "verify":
		done = "verified"
		_, err = s.Domains.Verify(r.Context(), session.User)
	case "remove":
		_, err = s.Domains.Remove(r.Context(), session.User)
		if fault.CodeOf(err) == fault.NotFound {
			err = nil
		}
	default:
		done = "saved"
		v.Entered = shell.CleanText(strings.TrimSpace(form.Get("domain")), 253)
		_, err = s.Domains.Set(r.Context(), session.User, form.Get("domain"))
	}
	if err == nil {
		http.Redirect(rw, r, domainPath+"?done="+done, http.StatusSeeOther)
		return
	}
	status, _ := shell.StatusOf(err)
	s.LogFailure(r, err, status)
	if fault.FieldOf(err) == "domain" {
		v.DomainWrong = shell.Reason(err)
	} else {
		v.AllWrong = shell.Reason(err)
	}
	s.showDomain(rw, r, status, session.User, v)
}
