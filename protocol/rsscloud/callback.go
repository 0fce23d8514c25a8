package rsscloud

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"cloudburst/internal/href"
	"cloudburst/internal/wirehttp"
)

// CallbackURL returns the URL that receives notifications in the given protocol. host is a name or
// an IP address (IPv6 with or without brackets). path may have a query and is kept byte for byte,
// except that non-ASCII bytes are percent-encoded. The scheme is https for https-post and for port
// 443, else http; the default port of the scheme is left out. The error is a [*FieldError]; for an
// unknown protocol, it wraps both [ErrProtocol] and a [*FieldError].
func CallbackURL(protocol, host string, port int, path string) (string, error) {
	// spec:rsscloud-2009#please-notify-fields
	if !ValidProtocol(protocol) {
		return "", protocolError(protocol)
	}
	clean, err := cleanHost(host)
	if err != nil {
		return "", err
	}
	if port < 1 || port > 65535 {
		return "", portError(strconv.Itoa(port))
	}
	if err := checkPath(path); err != nil {
		return "", err
	}
	scheme, implied := "http", 80
	if protocol == HTTPSPost || port == 443 {
		// spec:cloudburst#https-post
		scheme, implied = "https", 443
	}
	if strings.Contains(clean, ":") {
		clean = "[" + clean + "]"
	}
	if port != implied {
		clean += ":" + strconv.Itoa(port)
	}
	callback := scheme + "://" + clean + percentNonASCII(fixPath(path))
	// Report an invalid path now, because otherwise only the first notification would fail.
	if _, err := url.Parse(callback); err != nil {
		return "", fieldErr("path", "The path %s is not valid in a URL; write a percent sign as %%25.", wirehttp.Quote(path))
	}
	return callback, nil
}

// SplitCallback is the inverse of [CallbackURL]. It returns host without brackets, port, path, and
// the protocol with which they form the same URL again (https-post where http-post cannot). The
// error is a [*FieldError]; for an unknown protocol, it wraps both [ErrProtocol] and a
// [*FieldError].
func SplitCallback(protocol, callback string) (p, host string, port int, path string, err error) {
	fail := func(why string) (string, string, int, string, error) {
		return "", "", 0, "", fieldErr("callback", "The callback %s cannot be registered: %s.", wirehttp.Quote(callback), why)
	}
	scheme, rest, ok := strings.Cut(callback, "://")
	scheme = strings.ToLower(scheme)
	if !ok || scheme != "http" && scheme != "https" {
		return fail("it must begin with http:// or https://")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host, path = rest[:end], rest[end:]
	port = 80
	if scheme == "https" {
		port = 443
	}
	if h, digits, found := cutPort(host); found {
		host = h
		if port, err = parsePort(digits); err != nil {
			return fail("its port must be from 1 to 65535")
		}
	}
	if host, err = cleanHost(host); err != nil {
		return fail("its host is not a name or an address")
	}
	if scheme == "https" && port != 443 {
		switch protocol {
		case HTTPPost, HTTPSPost:
			protocol = HTTPSPost
		default:
			return fail(protocol + " over https works on port 443 only")
		}
	}
	if scheme == "http" && (port == 443 || protocol == HTTPSPost) {
		return fail("port 443 and https-post mean https")
	}
	if _, err := CallbackURL(protocol, host, port, path); err != nil {
		return "", "", 0, "", err
	}
	return protocol, host, port, fixPath(path), nil
}

func cutPort(hostport string) (host, port string, ok bool) {
	i := strings.LastIndexByte(hostport, ':')
	if i < 0 || strings.Contains(hostport[i:], "]") || strings.Contains(hostport[:i], ":") && !strings.Contains(hostport, "]") {
		return hostport, "", false
	}
	return hostport[:i], hostport[i+1:], true
}

// ChallengeURL returns the callback with the parameters of a challenge appended to its
// query. The existing query is not changed.
//
// spec:rsscloud-2009#challenge
func ChallengeURL(callback, feed, challenge string) string {
	sep := "&"
	switch mark := strings.IndexByte(callback, '?'); {
	case mark < 0:
		sep = "?"
	case mark == len(callback)-1, strings.HasSuffix(callback, "&"):
		sep = ""
	}
	return callback + sep + "url=" + url.QueryEscape(feed) + "&challenge=" + url.QueryEscape(challenge)
}

// CheckFeedURL returns a [*FieldError] unless s can be the URL of a feed: http or https,
// with a host, without user name and fragment, at most [MaxURL] bytes. It does not
// normalize s, because a feed is identified by exactly the URL that its author pings.
//
// spec:rsscloud-2009#feed-by-many-urls
func CheckFeedURL(s string) error {
	switch {
	case s == "":
		return fieldErr("url", "The feed's URL is missing.")
	case len(s) > MaxURL:
		return fieldErr("url", "The feed's URL %s is longer than %d bytes.", wirehttp.Quote(s), MaxURL)
	case !utf8.ValidString(s):
		return fieldErr("url", "The feed's URL %s is not UTF-8.", wirehttp.Quote(s))
	case strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fieldErr("url", "The feed's URL %s has a space or a control character in it; write a space as %%20.", wirehttp.Quote(s))
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return fieldErr("url", "%s is not a URL.", wirehttp.Quote(s))
	case u.Scheme != "http" && u.Scheme != "https":
		return fieldErr("url", "The feed's URL %s must begin with http:// or https://.", wirehttp.Quote(s))
	case u.Hostname() == "":
		return fieldErr("url", "The feed's URL %s names no host.", wirehttp.Quote(s))
	case u.User != nil:
		return fieldErr("url", "The feed's URL has a user name in it, and everything here is public; leave it out.")
	case strings.Contains(s, "#"):
		return fieldErr("url", "The feed's URL %s has a fragment; leave out the # and what follows.", wirehttp.Quote(s))
	}
	return nil
}

// CheckProcedure returns a [*FieldError] unless name is a valid notifyProcedure for the
// given protocol. http-post and https-post ignore the procedure, so any name is valid.
func CheckProcedure(protocol, name string) error {
	if protocol != XMLRPC && protocol != SOAP {
		// spec:rsscloud-2009#notify-procedure-field
		return nil
	}
	if name == "" {
		return fieldErr("notifyProcedure", "notifyProcedure is empty; %s needs the name of the procedure to call.", protocol)
	}
	// spec:cloudburst#procedure-name
	if len(name) > 128 || strings.ContainsFunc(name, func(r rune) bool {
		return !isAlnum(r) && !strings.ContainsRune("_.:/", r)
	}) {
		return fieldErr("notifyProcedure", "notifyProcedure %s must be 1 to 128 letters, digits or any of _ . : /.", wirehttp.Quote(name))
	}
	if protocol == SOAP && (strings.ContainsAny(name, ":/") || !isLetter(rune(name[0])) && name[0] != '_') {
		return fieldErr("notifyProcedure", "notifyProcedure %s cannot be the name of an XML element, which soap needs: begin with a letter and use no : or /.", wirehttp.Quote(name))
	}
	for _, own := range [...]string{"rssCloud.", "xmlStorageSystem.", "system.", "weblogUpdates.", "metaWeblog.", "blogger.", "mt."} {
		if len(name) > len(own) && strings.EqualFold(name[:len(own)], own) && ownMethod(name) {
			return fieldErr("notifyProcedure", "notifyProcedure %s is the name of a cloud's own method; register the procedure of your handler.", wirehttp.Quote(name))
		}
	}
	return nil
}

// ownMethod reports whether name is a method of a cloud. It permits names such as
// rssCloud.notify, which aggregators use.
func ownMethod(name string) bool {
	switch strings.ToLower(name) {
	case "rsscloud.hello", "rsscloud.ping", "rsscloud.pleasenotify", "rsscloud.saverss", "xmlstoragesystem.rsspleasenotify":
		return true
	}
	prefix, _, _ := strings.Cut(strings.ToLower(name), ".")
	return prefix != "rsscloud" && prefix != "xmlstoragesystem"
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
func isAlnum(r rune) bool  { return isLetter(r) || r >= '0' && r <= '9' }

func protocolError(p string) error {
	hint := "xml-rpc, soap, http-post or https-post"
	if low := strings.ToLower(strings.TrimSpace(p)); low != p && ValidProtocol(low) {
		hint = low + ", in lowercase"
	}
	return fmt.Errorf("%w: %w", ErrProtocol, fieldErr("protocol", "The protocol is %s; it must be %s.", wirehttp.Quote(p), hint))
}

func portError(p string) *FieldError {
	if p == "" {
		return fieldErr("port", "The port is empty; send the number of the port on which your program listens.")
	}
	return fieldErr("port", "The port is %s; it must be a number from 1 to 65535.", wirehttp.Quote(p))
}

func parsePort(s string) (int, error) {
	if s == "" || len(s) > 5 || strings.Trim(s, "0123456789") != "" {
		return 0, portError(s)
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 65535 {
		return 0, portError(s)
	}
	return n, nil
}

func checkPath(path string) error {
	lower := strings.ToLower(path)
	switch {
	case len(path) > MaxPath:
		return fieldErr("path", "The path %s is longer than %d bytes.", wirehttp.Quote(path), MaxPath)
	case !utf8.ValidString(path):
		return fieldErr("path", "The path %s is not UTF-8.", wirehttp.Quote(path))
	case strings.Contains(path, "#"):
		return fieldErr("path", "The path %s has a fragment; leave out the # and what follows.", wirehttp.Quote(path))
	case strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fieldErr("path", "The path %s has a space, a line end or a control character in it; write a space as %%20.", wirehttp.Quote(path))
	case strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"):
		return fieldErr("path", "The path %s is a whole URL; send what comes after the host, and name the host in domain.", wirehttp.Quote(path))
	}
	return nil
}

func fixPath(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + path
}

func percentNonASCII(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// cleanHost normalizes a host: a name in lowercase ASCII without a final dot, or an IP
// address without brackets.
func cleanHost(s string) (string, error) {
	bad := fieldErr("domain", "The domain %s is not a host name or an IP address.", wirehttp.Quote(s))
	host := strings.TrimSpace(s)
	if h, _, err := net.SplitHostPort(host); err == nil && h != "" {
		bad = fieldErr("domain", "The domain %s has a port in it; send the port in its own field.", wirehttp.Quote(s))
	}
	if strings.Contains(host, "/") {
		return "", fieldErr("domain", "The domain %s is a URL or part of one; send the name of the host alone, and the rest as port and path.", wirehttp.Quote(s))
	}
	inner, bracketed := strings.CutPrefix(host, "[")
	if bracketed {
		var ok bool
		if inner, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(inner, ":") {
			return "", bad
		}
	}
	if strings.ContainsAny(inner, ":%") {
		a, err := netip.ParseAddr(inner)
		if err != nil {
			return "", bad
		}
		return HostOf(a)
	}
	if a, err := netip.ParseAddr(inner); err == nil {
		return HostOf(a)
	}
	return cleanName(strings.TrimSuffix(inner, "."), bad)
}

// HostOf returns the host of a callback for an IP address. An IPv4-mapped IPv6 address
// becomes IPv4. The error is a [*FieldError] for an invalid address and for one with a
// zone, which has a meaning on one machine only.
func HostOf(a netip.Addr) (string, error) {
	if !a.IsValid() {
		return "", fieldErr("domain", "The caller's address is not known; name the host in domain.")
	}
	if a.Zone() != "" {
		return "", fieldErr("domain", "The address %s has a zone, which no other machine knows; leave it out.", wirehttp.Quote(a.String()))
	}
	return a.Unmap().String(), nil
}

func cleanName(name string, bad *FieldError) (string, error) {
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		ascii, err := href.ASCII(name)
		if err != nil {
			return "", bad
		}
		// IDNA converts full-width digits to ASCII digits, so the result may be an IP address.
		if a, err := netip.ParseAddr(ascii); err == nil {
			return HostOf(a)
		}
		name = ascii
	}
	name = strings.ToLower(name)
	if name == "" || len(name) > 253 {
		return "", bad
	}
	last := ""
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, func(r rune) bool {
			return !isAlnum(r) && r != '-' && r != '_'
		}) {
			return "", bad
		}
		last = label
	}
	// Resolvers disagree on whether 127.1, 2130706433 and 0x7f.1 are addresses or names, so reject
	// them.
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", bad
	}
	return name, nil
}
