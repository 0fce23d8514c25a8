package api

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"cloudburst/internal/api/exchange"
	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// Guard rejects requests that a page of another site made a browser send: requests whose host name
// belongs to another site and resolves to this listener (DNS rebinding), and cross-site writes.
func (s *Server) Guard(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		exchange.WriteError(w, http.StatusForbidden, fault.New(fault.Refused, "The admin listener rejects requests from pages of other sites."))
	}))
	protected := cross.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.ownHost(r.Host) {
			exchange.WriteError(w, http.StatusMisdirectedRequest, fault.New(fault.Refused,
				"The host name %q is unknown to the admin listener: use its address or localhost.", cut(r.Host, 100)))
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		protected.ServeHTTP(w, r)
	})
}

// ownHost reports whether a Host header is safe from DNS rebinding: an IP address, a loopback name
// or a name from the configuration.
func (s *Server) ownHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || slices.ContainsFunc(s.Hosts, func(own string) bool {
		return own != "" && strings.EqualFold(own, host)
	})
}

func cut(s string, limit int) string { return text.Clip(s, limit) }
