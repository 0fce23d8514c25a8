package adminui

import (
	"context"
	"net/http"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/fault"
	"cloudburst/internal/ownhost"
	"cloudburst/internal/web/shell"
)

type domainsView struct {
	view
	Rows   []domainRow
	Failed string // error of the last action; "": none
}

type domainRow struct {
	Name, User  string
	URL         string // URL of the author's page; "": the domain is not in use
	InUse       bool
	Since       shell.Moment // when the domain was verified; if the domain is not in use, when the author entered it
	TLS         bool         // this server has a certificate for the domain
	Certificate shell.Moment // when the certificate expires; zero if CertError is set or the certificate is pending
	HasEnd      bool
	CertError   string
}

func domainMessages() map[string]string {
	return map[string]string{"check": "The domain leads here.", "remove": "The domain is removed. The page is at this server’s address again."}
}

// domainsPage lists the domains of authors.
func (s *Pages) domainsPage(rw http.ResponseWriter, r *http.Request, _ account.Session) error {
	return s.showDomains(rw, r, http.StatusOK, "")
}

func (s *Pages) showDomains(rw http.ResponseWriter, r *http.Request, status int, failed string) error {
	v := domainsView{view: s.newView(r, "Domains", "/admin/domains", domainMessages()), Failed: failed}
	if failed != "" {
		v.Message = ""
	}
	for _, h := range s.Domains.All() {
		row := domainRow{Name: h.Name, User: h.User, InUse: h.InUse(), Since: v.When(h.CreatedAt)}
		if row.InUse {
			c := s.Domains.Certificate(r.Context(), h.Name)
			row.URL, row.Since = s.Domains.Origin(h.User)+"/", v.When(h.VerifiedAt)
			row.TLS, row.CertError, row.HasEnd = c.Served, shell.CleanText(c.Error, 300), !c.Until.IsZero()
			if row.HasEnd {
				row.Certificate = v.When(c.Until)
			}
		}
		v.Rows = append(v.Rows, row)
	}
	return s.Render(rw, r, status, "admindomains", v)
}

// doCheckDomain verifies a domain again.
func (s *Pages) doCheckDomain(rw http.ResponseWriter, r *http.Request, session account.Session, field fields) error {
	return s.changeDomain(rw, r, session, field, admin.DomainCheck, "check", s.Domains.Check)
}

// doRemoveDomain removes a domain after confirmation.
func (s *Pages) doRemoveDomain(rw http.ResponseWriter, r *http.Request, session account.Session, field fields) error {
	return s.changeDomain(rw, r, session, field, admin.DomainRemove, "remove", s.Domains.Remove)
}

func (s *Pages) changeDomain(rw http.ResponseWriter, r *http.Request, session account.Session, field fields, action, done string, do func(context.Context, string) (ownhost.Host, error)) error {
	user := shell.CleanText(field("user"), account.MaxName)
	h, has := s.Domains.Of(user)
	if !has {
		return s.showDomains(rw, r, http.StatusNotFound, "There is no such domain any more.")
	}
	if action == admin.DomainRemove && field("sure") == "" {
		return s.AskFirst(rw, r, "Remove this domain?", shell.Question{
			Lines:  []string{s.Locale(r).Say("The page of %s is no longer at %s. Links to the domain stop working.", user, h.Name), "Its author can add the domain again. Only they can do that."},
			Action: "/admin/domains/remove", Button: "Remove", Back: "/admin/domains", Fields: []shell.NamedValue{{Name: "user", Value: user}},
		})
	}
	err := s.Admin.Do(r.Context(), s.actor(r, session), action, user, h.Name, func() error {
		_, err := do(r.Context(), user)
		return err
	})
	if fault.CodeOf(err) == fault.Internal && err != nil {
		return err
	}
	if err != nil {
		return s.showDomains(rw, r, s.Refused(rw, r, err), shell.Reason(err))
	}
	return shell.Redirect(rw, r, "/admin/domains?done="+done)
}
