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

// Cloud is the <cloud> element of a feed: where and how to ask for notifications.
//
// spec:rsscloud-2003#cloud-attributes
type Cloud struct {
	Domain            string // name or IP address, without brackets
	Port              int    // 1 to 65535
	Path              string // begins with a slash; may have a query
	RegisterProcedure string // what to call over xml-rpc and soap
	Protocol          string // how to ask, as the feed spells it
}

// FindCloud returns the first usable <cloud> element of a feed. The feed may be
// in any encoding, may be broken before and after the element, and may have no
// items; an element inside an item does not count. An empty domain becomes the
// host of feedURL, a missing port the protocol's own, and a path without a slash
// gets one. The error is [ErrNoCloud], with the reason when an element is there.
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

	// Feeds in the field put a whole origin where the name belongs.
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

// CloudAt is the element for a cloud of ours whose public URL is base, asked by
// http-post (by https-post when base is https). A base that is no URL gives the
// zero Cloud.
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

// String is the element as it stands in a feed.
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

// RegisterURL is where registrations go: https for port 443 and for https-post,
// else http. A Cloud that did not come from [FindCloud] may be wrong, which is the
// error.
func (c Cloud) RegisterURL() (string, error) {
	return CallbackURL(c.Protocol, c.Domain, c.Port, c.Path)
}

// PingURL is where pings of the feed go, in the cloud's own protocol: the door
// beside pleaseNotify, or for xml-rpc and soap the same door. There is an error
// when the path does not say, as with clouds that are part of a weblog and watch
// it themselves.
func (c Cloud) PingURL() (string, error) { return c.beside("ping") }

// CancelURL is where registrations are cancelled, on clouds that can do that.
func (c Cloud) CancelURL() (string, error) { return c.beside("cancel") }

func (c Cloud) beside(door string) (string, error) {
	path, isRPC := c.Path, c.Protocol == XMLRPC || c.Protocol == SOAP
	if !isRPC || door != "ping" {
		bare, _, _ := strings.Cut(fixPath(path), "?")
		i := strings.LastIndexByte(bare, '/')
		if !strings.EqualFold(bare[i+1:], "pleaseNotify") {
			return "", fmt.Errorf("rsscloud: the cloud's path %s does not end in pleaseNotify, so it does not say where to %s; name the hub", wirehttp.Quote(path), door)
		}
		path = bare[:i+1] + door
	}
	return CallbackURL(c.Protocol, c.Domain, c.Port, path)
}

// escape makes s safe in text and in attributes of either quote.
func escape(s string) string {
	var b strings.Builder
	// A strings.Builder never fails.
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
