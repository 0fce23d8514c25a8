package authorui

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/route"
	"cloudburst/internal/web/shell"
)

const domainPath = "/account/author/domain"

// domainRoutes lists the routes of the settings of the domain of an author's page.
func (s *Pages) domainRoutes() []route.Route {
	if s.Domains == nil {
		return nil
	}
	return []route.Route{
		s.UserRoute(domainPath, "The domain of the author's page.", s.domainPage),
		s.FormRoute(domainPath, shell.FormOverhead, "Stores, checks or removes the domain of the author's page.", s.doDomain),
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
func (s *Pages) domainPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.showDomain(rw, r, http.StatusOK, session.User, domainView{})
}

func (s *Pages) showDomain(rw http.ResponseWriter, r *http.Request, status int, user string, v domainView) error {
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
	return s.Render(rw, r, status, "sitedomain", v)
}

// doDomain stores, checks or removes the domain.
func (s *Pages) doDomain(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	form, err := readForm(rw, r)
	if err != nil {
		return err
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
		return shell.Redirect(rw, r, domainPath+"?done="+done)
	}
	status, _ := shell.StatusOf(err)
	s.LogFailure(r, err, status)
	if fault.FieldOf(err) == "domain" {
		v.DomainWrong = shell.Reason(err)
	} else {
		v.AllWrong = shell.Reason(err)
	}
	return s.showDomain(rw, r, status, session.User, v)
}
