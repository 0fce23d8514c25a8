package app

import (
	"net"
	"strconv"

	"cloudburst/protocol/rsscloud"
)

// cloudAt is the <cloud> element of this server, whose public URL is given. The guide names
// http-post only, so at an https URL the element names the listener without TLS, if there
// is one; hub.cloud-protocol chooses otherwise. http-post at port 443 is TLS for programs that
// know https-post; others need the listener.
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

// plainPort is the port of the listener without TLS next to the public one; 0: there is none.
// While the program serves it is the port of the socket, which may come from the service
// manager or be any that was free.
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
