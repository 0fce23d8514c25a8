package hubhttp

import (
	"context"
	"slices"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/upstream"
	"cloudburst/protocol/rsscloud"
)

// ownProcedure is the procedure that this server asks clouds to call. This server also accepts
// calls of other procedures.
const (
	ownProcedure     = "rssCloud.notify"
	ownProcedureSOAP = "notify" // in SOAP the procedure is the name of an element
)

// notifyMode is the way in which a cloud notifies this server: the protocol, and whether it uses
// this server's name or the address of the registration request.
type notifyMode struct {
	protocol string
	named    bool
}

// String returns the mode in the form that is stored.
func (w notifyMode) String() string {
	if w.named {
		return w.protocol + " domain"
	}
	return w.protocol
}

// askCloud registers at the cloud of f in the cloud's own protocol. Some clouds support only some
// modes, so askCloud tries the next mode after a refusal. It begins with the mode that the cloud
// last accepted.
//
// spec:cloudburst#cloud-fallback
func (u *UpstreamClient) askCloud(ctx context.Context, f upstream.Follow) (a upstream.Answer, err error) {
	cloud, err := cloudOf(f)
	if err != nil {
		return a, toFault(err)
	}
	c := &rsscloud.Client{HTTP: u.HTTP, UserAgent: u.UserAgent}
	var first error
	for _, w := range u.notifyModes(f) {
		g, err := u.registration(f, w)
		if err == nil {
			var r rsscloud.Result
			r, err = c.PleaseNotify(ctx, cloud, g)
			a, err = answerOf(r.Success, r.Msg, err)
		} else {
			err = toFault(err)
		}
		if err == nil {
			a.Notify = w.String()
			return a, nil
		}
		if first == nil {
			first = err
		}
		if code := fault.CodeOf(err); code != fault.Refused && code != fault.Invalid || ctx.Err() != nil {
			break
		}
	}
	return a, first
}

// notifyModes lists the modes to try with the cloud of f, most likely first. A cloud that is called
// by procedure should also notify by procedure. A request with the name of this server leads to a
// challenge, which this server answers; without a name, the cloud uses the address of the request.
// Clouds of the 2003 specification accept five parameters and use only their own protocol. Clouds
// of 2009 may accept a domain as the sixth parameter, and forms.
//
// spec:rsscloud-2009#domain-optional
// spec:rsscloud-2003#five-parameters
func (u *UpstreamClient) notifyModes(f upstream.Follow) []notifyMode {
	named := knownByName(u.PublicURL())
	procedural := f.Wire == rsscloud.XMLRPC || f.Wire == rsscloud.SOAP
	either := !isLocal(u.PublicURL()) && !strings.HasPrefix(u.PublicURL(), "https:") // only a name can have a certificate
	var list []notifyMode
	add := func(protocol string, named bool) {
		if w := (notifyMode{protocol, named}); !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	switch {
	case procedural && strings.Contains(f.Proc, "rssPleaseNotify"):
		// Only a host name can have a certificate, so use the name if the public URL has https.
		add(f.Wire, named && strings.HasPrefix(u.PublicURL(), "https:"))
		add(f.Wire, false)
		add(f.Wire, named || either)
	case procedural:
		add(f.Wire, named)
		add(f.Wire, false)
		if either {
			add(f.Wire, !named)
		}
		add(rsscloud.HTTPPost, named)
	default:
		add(rsscloud.HTTPPost, named)
		if either {
			add(rsscloud.HTTPPost, !named)
		}
	}
	if i := slices.IndexFunc(list, func(w notifyMode) bool { return w.String() == f.Notify }); i > 0 {
		agreed := list[i]
		list = slices.Insert(slices.Delete(list, i, i+1), 0, agreed)
	}
	return list
}

// registration returns the registration for the cloud of f.
func (u *UpstreamClient) registration(f upstream.Follow, w notifyMode) (rsscloud.Registration, error) {
	path, procedure := pathNotifyCloud, ""
	switch w.protocol {
	case rsscloud.XMLRPC:
		path, procedure = pathNotifyRPC, ownProcedure
	case rsscloud.SOAP:
		path, procedure = pathNotifySOAP, ownProcedureSOAP
	}
	g, err := rsscloud.RegistrationFor(w.protocol, u.PublicURL()+path, procedure, f.Topic)
	if err == nil && !w.named {
		g.Domain = ""
	}
	return g, err
}

// cloudOf returns the cloud of f, in the form that registration requests need.
//
// spec:rsscloud-2003#register-in-protocol
func cloudOf(f upstream.Follow) (rsscloud.Cloud, error) {
	c := rsscloud.Cloud{RegisterProcedure: f.Proc, Protocol: f.Wire}
	protocol, host, port, path, err := rsscloud.SplitCallback(f.Wire, f.Hub)
	if err != nil {
		return c, err
	}
	c.Domain, c.Port, c.Path = host, port, path
	if f.Wire != rsscloud.XMLRPC && f.Wire != rsscloud.SOAP {
		c.Protocol = protocol
	}
	return c, nil
}
