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

// callable returns the reason why the hub can never call a callback, based only on the URL. nil:
// no reason is known. callable resolves no host names. The error may contain the URL, because the
// client sent it.
//
// spec:cloudburst#callback-own-listener
func (a *App) callable(raw string) error {
	err := a.callbackGuard().CheckURL(raw)
	if errors.Is(err, fetch.ErrBlocked) {
		return fault.Wrap(fault.Refused, fetch.ErrBlocked, "The callback %s is blocked by an administrator of this server.", fetch.Redact(raw))
	}
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

// ownListener reports whether a URL addresses one of this server's listeners in two ways that the
// guard cannot detect: by the host of public-url, or by the loopback address of the other IP
// version.
func (a *App) ownListener(raw string) bool {
	host, port, public := href.Host(raw), href.Port(raw), a.names.Public()
	if host == href.Host(public) {
		web := []string{"80", "443"} // one front end may serve both http and https
		return port == href.Port(public) || slices.Contains(web, port) && slices.Contains(web, href.Port(public))
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback() && slices.ContainsFunc(a.names.Listeners(), func(own netip.AddrPort) bool {
		return strconv.Itoa(int(own.Port())) == port && own.Addr().IsLoopback()
	})
}

// spellings returns other URLs of the feed at a URL: those of this server's listeners for its own
// feeds, and the usual spelling of scheme and host.
func (a *App) spellings(url string) []string {
	all := a.names.Of(url)
	if usual := href.UsualSpelling(url); usual != "" {
		all = append(all, usual)
	}
	return all
}
