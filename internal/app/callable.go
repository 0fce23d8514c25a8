package app

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/href"
)

// callable says why a callback can never be called: what can be seen in its URL. Nothing
// is looked up, and the address is the caller's own word, so the answer may be plain.
//
// spec:cloudburst#callback-own-listener
func (a *App) callable(raw string) error {
	err := (&fetch.Guard{Allow: a.cfg.Egress.AllowCallback, Setting: allowCallback, Own: a.names.Listeners, Callback: true}).CheckURL(raw)
	switch {
	case errors.Is(err, fetch.ErrOwn), err == nil && a.ownListener(raw):
		return fault.Wrap(fault.Refused, fetch.ErrOwn, "The callback %s is on this server itself; name an address of your own program.", fetch.Redact(raw))
	case err == nil:
		return nil
	case fetch.KindOf(err) == fetch.Refused:
		return fault.Wrap(fault.Refused, fetch.Cause(err), "The callback %s is at an address that this server does not call.", fetch.Redact(raw))
	}
	return fault.Wrap(fault.Refused, err, "The callback %s.", strings.TrimRight(fetch.Text(err), "."))
}

// ownListener reports whether a URL names one of this server's listeners in a way that the
// guard cannot see in the URL: by public-url, or as the loopback address of the other IP
// version.
func (a *App) ownListener(raw string) bool {
	host, port, public := href.Host(raw), href.Port(raw), a.names.Public()
	if host == href.Host(public) {
		web := []string{"80", "443"} // one front answers for http and for https
		return port == href.Port(public) || slices.Contains(web, port) && slices.Contains(web, href.Port(public))
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback() && slices.ContainsFunc(a.names.Listeners(), func(own netip.AddrPort) bool {
		return strconv.Itoa(int(own.Port())) == port && own.Addr().IsLoopback()
	})
}
