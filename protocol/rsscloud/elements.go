package rsscloud

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"cloudburst/internal/wirehttp"
)

// Cloud is the <cloud> element of a feed: where and how to register for notifications.
//
// spec:rsscloud-2003#cloud-attributes
type Cloud struct {
	Domain            string // name or IP address, without brackets
	Port              int    // 1 to 65535
	Path              string // begins with a slash; may have a query
	RegisterProcedure string // the procedure to call over xml-rpc and soap
	Protocol          string // the protocol of the registration, as the feed spells it
}

// FindCloud returns the first usable <cloud> element of a feed. The feed may be in any
// encoding, may have broken markup before and after the element, and may have no items. An
// element inside an item is ignored. An empty domain becomes the host of feedURL, a missing
// port becomes the protocol's default, and a missing leading slash is added to the path.
// The error is [ErrNoCloud]; if there is an unusable element, the error states the reason.
func FindCloud(feed []byte, feedURL string) (Cloud, error) {
	// spec:rsscloud-2003#cloud-in-channel
	var found Cloud
	var bad error
	scanCloud(feed, func(attr map[string]string) bool {
		c, err := newCloud(attr, feedURL)
		if err != nil {
			if bad == nil {
				bad = err
			}
			return true
		}
		found, bad = c, nil
		return false
	})
	switch {
	case bad != nil:
		return Cloud{}, fmt.Errorf("%w: %w", ErrNoCloud, bad)
	case found == Cloud{}:
		return Cloud{}, ErrNoCloud
	}
	return found, nil
}

func newCloud(attr map[string]string, feedURL string) (Cloud, error) {
	c := Cloud{
		RegisterProcedure: attr["registerprocedure"],
		Protocol:          attr["protocol"],
		Path:              attr["path"],
	}
	if err := checkPath(c.Path); err != nil {
		return Cloud{}, err
	}
	c.Path = fixPath(c.Path)

	// Some real feeds give an origin (https://host:port) instead of a host name.
	domain, port := attr["domain"], attr["port"]
	secure := strings.HasPrefix(strings.ToLower(domain), "https://")
	if _, rest, ok := strings.Cut(domain, "://"); ok {
		domain = rest
	}
	domain, _, _ = strings.Cut(domain, "/")
	if h, p, err := net.SplitHostPort(domain); err == nil && h != "" {
		domain, port = h, cmp.Or(port, p)
	}
	if domain == "" {
		// spec:rsscloud-2003#cloud-empty-domain
		u, err := url.Parse(feedURL)
		if err != nil || u.Hostname() == "" {
			return Cloud{}, fieldErr("domain", "The cloud element has an empty domain, which means the feed's own host, and the feed's URL is not known.")
		}
		domain = u.Hostname()
	}
	host, err := cleanHost(domain)
	if err != nil {
		return Cloud{}, err
	}
	c.Domain = host
	if port == "" {
		port = "80"
		if c.Protocol == HTTPSPost || secure {
			port = "443"
		}
	}
	c.Port, err = parsePort(port)
	return c, err
}

// CloudAt returns the element for a cloud with the public URL base. The protocol is
// http-post, or https-post if base is https. An invalid base results in the zero Cloud.
//
// spec:rsscloud-2003#cloud-attributes
func CloudAt(base string) Cloud {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return Cloud{}
	}
	c := Cloud{Domain: u.Hostname(), Port: 80, Path: strings.TrimRight(u.EscapedPath(), "/") + "/rsscloud/pleaseNotify", Protocol: HTTPPost}
	if u.Scheme == "https" {
		c.Port, c.Protocol = 443, HTTPSPost
	}
	if port, err := strconv.Atoi(u.Port()); err == nil {
		c.Port = port
	}
	return c
}

// String returns the element as it appears in a feed.
func (c Cloud) String() string {
	var b strings.Builder
	b.WriteString("<cloud")
	for _, a := range [...][2]string{
		{"domain", c.Domain}, {"port", strconv.Itoa(c.Port)}, {"path", c.Path},
		{"registerProcedure", c.RegisterProcedure}, {"protocol", c.Protocol},
	} {
		b.WriteString(" " + a[0] + `="`)
		b.WriteString(escape(a[1]))
		b.WriteString(`"`)
	}
	b.WriteString(" />")
	return b.String()
}

// RegisterURL returns the URL for registrations: https for port 443 and for https-post,
// else http. A Cloud that [FindCloud] returned is always valid; for any other the error is
// a [*FieldError] or [ErrProtocol].
func (c Cloud) RegisterURL() (string, error) {
	return CallbackURL(c.Protocol, c.Domain, c.Port, c.Path)
}

// PingURL returns the URL for pings, in the cloud's own protocol. Over xml-rpc and soap it
// is the URL for registrations; over http-post and https-post it is the path next to
// pleaseNotify. The error means that the path does not end in pleaseNotify, as with clouds
// that are part of a weblog and need no pings.
func (c Cloud) PingURL() (string, error) { return c.sibling("ping") }

// CancelURL returns the URL that cancels registrations. Not all clouds support it. The
// error is the one of [Cloud.PingURL].
func (c Cloud) CancelURL() (string, error) { return c.sibling("cancel") }

func (c Cloud) sibling(endpoint string) (string, error) {
	path, isRPC := c.Path, c.Protocol == XMLRPC || c.Protocol == SOAP
	if !isRPC || endpoint != "ping" {
		bare, _, _ := strings.Cut(fixPath(path), "?")
		i := strings.LastIndexByte(bare, '/')
		if !strings.EqualFold(bare[i+1:], "pleaseNotify") {
			return "", fmt.Errorf("rsscloud: the cloud's path %s does not end in pleaseNotify, so there is no known URL to %s; name the hub", wirehttp.Quote(path), endpoint)
		}
		path = bare[:i+1] + endpoint
	}
	return CallbackURL(c.Protocol, c.Domain, c.Port, path)
}

// escape escapes s for text and for attributes in either quotes.
func escape(s string) string {
	var b strings.Builder
	// A strings.Builder never returns an error.
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
