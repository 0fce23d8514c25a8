package api

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// Guard refuses what a browser may have been talked into by a stranger's page:
// requests for a host name that is not this listener's (a name that was rebound
// to our address), and writing requests that another site caused.
func (s *Server) Guard(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusForbidden, fault.New(fault.Refused, "This request comes from another site's page; the operator's listener answers its own only."))
	}))
	protected := cross.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.ownHost(r.Host) {
			writeError(w, http.StatusMisdirectedRequest, fault.New(fault.Refused,
				"The operator's listener is not called %q: use its address, or localhost.", cut(r.Host, 100)))
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		protected.ServeHTTP(w, r)
	})
}

// ownHost reports a Host header that no rebinding can produce: an address, a
// loopback name, or a name that the operator configured.
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

func cut(s string, most int) string { return text.Clip(s, most) }
