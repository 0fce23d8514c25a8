package hubclient

import (
	"net/netip"
	"net/url"
	"strings"
)

// Settings of a server that allow it to fetch from private addresses and to call them.
const (
	settingFetch    = "egress.allow-fetch"
	settingCallback = "egress.allow-callback"
)

// ExplainRefusal returns the message of a hub, with a hint if the hub rejected a private address.
// The hint names the setting that allows the address, because hubs do not name the setting in
// public responses.
func ExplainRefusal(message, feed string) string {
	setting := ""
	switch {
	case strings.Contains(message, "that this server does not read") && isPrivate(feed):
		setting = settingFetch
	case strings.Contains(message, "that this server does not call"):
		setting = settingCallback
	default:
		return message
	}
	return strings.TrimSuffix(message, ".") + ". If this is your hub, add the address to " + setting + "."
}

// isPrivate reports whether the host of a URL is a private or loopback address.
func isPrivate(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && (ip.Unmap().IsLoopback() || ip.Unmap().IsPrivate() || ip.Unmap().IsLinkLocalUnicast())
}
