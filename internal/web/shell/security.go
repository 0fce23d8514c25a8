package shell

import (
	"net/http"
	"net/url"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/origin"
)

// Policy lets a page load its own styles, scripts and images, and nothing else.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Wrap adds the headers of pages to the replies and a visit to the requests.
func (s *Shell) Wrap(next http.Handler) http.Handler { return s.withVisit(headers(next)) }

// GuardForms refuses forms that other sites send, except to the paths in open.
func (s *Shell) GuardForms(next http.Handler, open ...string) http.Handler {
	guard := http.NewCrossOriginProtection()
	if u, err := url.Parse(s.PublicURL); err == nil && u.Host != "" {
		// Behind a proxy that rewrites Host, the browser's Origin is still the public URL. An
		// invalid origin does not prevent the start.
		_ = guard.AddTrustedOrigin(u.Scheme + "://" + u.Host)
	}
	for _, path := range open {
		guard.AddInsecureBypassPattern("POST " + path)
	}
	guard.SetDenyHandler(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		s.Fail(rw, r, fault.New(fault.Refused, "This form was sent from another site, so nothing was done. Open the form here and send it again."))
	}))
	return guard.Handler(next)
}

func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h := rw.Header()
		h.Set("Content-Security-Policy", Policy)
		if at, ok := origin.SiteOf(r.Context()); ok {
			h.Set("Content-Security-Policy", strings.Replace(Policy, "form-action 'self'", "form-action 'self' "+at.Public, 1))
		}
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		next.ServeHTTP(rw, r)
	})
}

// SetPageHeaders sets the caching headers of a page.
func (s *Shell) SetPageHeaders(rw http.ResponseWriter, r *http.Request) {
	h := rw.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	session := s.Visitor(r)
	setReader(h, session)
	if h.Get("Cache-Control") == "" { // a header that the handler has set is stricter
		h.Set("Cache-Control", "no-cache")
		if session.User != "" {
			h.Set("Cache-Control", "private, no-cache")
		}
	}
	h.Add("Vary", "Accept-Encoding")
	h.Add("Vary", "Accept-Language")
	h.Set("Content-Language", s.Locale(r).Code)
	if s.Sessions != nil {
		h.Add("Vary", "Cookie")
	}
}
