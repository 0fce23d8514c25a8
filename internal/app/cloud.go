package app

import (
	"net"
	"strconv"

	"cloudburst/protocol/rsscloud"
)

// cloudAt returns the <cloud> element of this server for a public URL. The rssCloud guide names
// only http-post. So for an https URL, the element names the plain listener if there is one,
// unless hub.cloud-protocol is https-post. Without a plain listener, the element names
// https-post, or http-post if hub.cloud-protocol is http-post. Programs that support https-post
// understand http-post at port 443 as TLS; all other programs need the plain listener.
//
// spec:cloudburst#cloud-protocol
func (a *App) cloudAt(public string) rsscloud.Cloud {
	c := rsscloud.CloudAt(public)
	if c.Protocol != rsscloud.HTTPSPost || a.cfg.Hub.CloudProtocol == rsscloud.HTTPSPost {
		return c
	}
	if port := a.plainPort(); port > 0 {
		c.Port, c.Protocol = port, rsscloud.HTTPPost
	} else if a.cfg.Hub.CloudProtocol == rsscloud.HTTPPost {
		c.Protocol = rsscloud.HTTPPost
	}
	return c
}

// plainPort returns the port of the plain HTTP listener; 0: there is none. While the server runs,
// the result is the port of the actual socket, which may be inherited or chosen by the system.
func (a *App) plainPort() int {
	if !a.cfg.TLS.On() || a.cfg.TLS.HTTPListen == "" {
		return 0
	}
	if own := a.names.Listeners(); len(own) > plainListener {
		return int(own[plainListener].Port())
	}
	_, port, err := net.SplitHostPort(a.cfg.TLS.HTTPListen)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return 0
	}
	return n
}
