package hubclient

import (
	"net/netip"
	"net/url"
	"strings"
)

// The settings by which a server reads and calls addresses that are not public.
const (
	settingFetch    = "egress.allow-fetch"
	settingCallback = "egress.allow-callback"
)

// ExplainRefusal is what a hub said, and where it refused a private address the setting that
// would allow it. The hub itself does not name the setting to everybody who asks.
func ExplainRefusal(said, feed string) string {
	setting := ""
	switch {
	case strings.Contains(said, "that this server does not read") && isPrivate(feed):
		setting = settingFetch
	case strings.Contains(said, "that this server does not call"):
		setting = settingCallback
	default:
		return said
	}
	return strings.TrimSuffix(said, ".") + ". If the hub is yours: it uses private addresses where " + setting + " lists them."
}

// isPrivate reports a URL whose host is a private address or this machine.
func isPrivate(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && (ip.Unmap().IsLoopback() || ip.Unmap().IsPrivate() || ip.Unmap().IsLinkLocalUnicast())
}
