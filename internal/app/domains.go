package app

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/endpoint/publishhttp"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/href"
	"cloudburst/internal/ownhost"
	"cloudburst/internal/store"
)

// proofTimeout is the maximum time for the request that verifies a domain.
const proofTimeout = 15 * time.Second

// lateHosts provides the domains of authors. Until the store is open, it provides none.
type lateHosts struct {
	at *atomic.Pointer[ownhost.Hosts]
}

// Inner implements origin.Hosts.
func (l lateHosts) Inner(raw string) string { return l.at.Load().Inner(raw) }

// URL implements origin.Hosts. Call URL only if Any returns true.
func (l lateHosts) URL(path string) string { return l.at.Load().URL(path) }

// Former implements origin.Hosts. Call Former only if Any returns true.
func (l lateHosts) Former(path string) []string { return l.at.Load().Former(path) }

// Any implements origin.Hosts.
func (l lateHosts) Any() bool {
	h := l.at.Load()
	return h != nil && h.Any()
}

// newHosts connects the domains of authors with the other components.
func (a hosting) newHosts(ctx context.Context, st store.Store) error {
	// The reader has no guard against the server's own addresses, because a domain of an author
	// leads to this server.
	reader := fetch.New(fetch.Options{
		Guard:     &fetch.Guard{Allow: a.cfg.Egress.AllowFetch, Setting: allowFetch, Blocks: a.admin},
		UserAgent: endpoint.UserAgent(Version, a.cfg.PublicURL), Timeout: proofTimeout, MaxBody: 16 << 10, MaxRedirects: 2, Dial: a.DialDomain,
	})
	h := &ownhost.Hosts{
		Store: st, Public: a.names.Public, Now: a.clock.Now, Keep: max(a.cfg.WebSub.MaxLease, a.hub.Options.Expiry),
		Own: func(name string) bool {
			return slices.Contains(a.cfg.TLS.Domains, name) || slices.ContainsFunc(a.names.All(), func(o string) bool { return href.Host(o) == name })
		},
		Read: func(ctx context.Context, url string) ([]byte, error) {
			res, err := reader.Get(ctx, fetch.Request{URL: url})
			switch {
			case err != nil:
				return nil, fault.Wrap(fault.Unreadable, err, "%s", fetch.Text(err))
			case !res.OK():
				return nil, fault.New(fault.Unreadable, "the answer has the status %s", strconv.Itoa(res.Status)+" "+http.StatusText(res.Status))
			}
			return res.Body, nil
		},
		Covers: func(name string) error {
			if f := a.tls.Load(); f != nil && f.files != nil {
				return f.files.Covers(name)
			}
			return nil
		},
		CertificateOf: a.certificateOf,
		Obtain: func(ctx context.Context, name string) {
			if f := a.tls.Load(); f != nil && f.acme != nil {
				f.acme.WarmNames(ctx, []string{name})
			}
		},
		Changed: a.domainChanged,
		Loaded: func() {
			publishhttp.Relocate(a.feeds)
			a.hostsRead.Add(1)
		},
	}
	if err := h.Load(ctx); err != nil {
		return err
	}
	a.hosts.Store(h)
	return nil
}

// domainChanged writes the feed of a user again, because the feed contains its own URL. It also
// requests a certificate for the domain.
func (a hosting) domainChanged(ctx context.Context, user string) {
	publishhttp.Relocate(a.feeds)
	w, err := a.posts.Writer(ctx, user)
	if err == nil && w.Written {
		err = a.posts.Renew(ctx, user, "domain")
	}
	a.noteHosted(ctx, "write the feed of an author with a new domain", err)
	one, ok := a.hosts.Load().Of(user)
	if f := a.tls.Load(); ok && one.InUse() && f != nil && f.acme != nil {
		go f.acme.WarmNames(context.WithoutCancel(ctx), []string{one.Name})
	}
}

// certificateOf returns the state of the certificate for a domain.
func (a hosting) certificateOf(ctx context.Context, name string) ownhost.Certificate {
	f := a.tls.Load()
	c := ownhost.Certificate{Served: f != nil}
	var err error
	switch {
	case f == nil:
	case f.acme != nil:
		c.Until, err = f.acme.State(ctx, name)
	default:
		if err = f.files.Covers(name); err == nil {
			c.Until = f.files.Until()
		}
	}
	if err != nil {
		c.Error = fault.Message(err)
	}
	return c
}

// dropHost removes the domain of a user who is about to be deleted.
func (a hosting) dropHost(ctx context.Context, user string) error {
	return a.hosts.Load().Forget(ctx, user)
}

// domainNames lists the names of the domains in use.
func (a hosting) domainNames() (all []string) {
	for _, h := range a.hosts.Load().All() {
		if h.InUse() {
			all = append(all, h.Name)
		}
	}
	return all
}

// domains returns the handler that serves the domains of authors, and calls next for all other
// requests.
func (a routing) domains(next http.Handler) *publishhttp.Domains {
	return &publishhttp.Domains{Hosts: a.hosts.Load(), Public: a.names.Public, Next: next}
}
