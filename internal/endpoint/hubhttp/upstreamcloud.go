package hubhttp

import (
	"context"
	"slices"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/upstream"
	"cloudburst/protocol/rsscloud"
)

// ownProcedure is what clouds call that notify by procedure; any other name is
// answered as well.
const (
	ownProcedure     = "rssCloud.notify"
	ownProcedureSOAP = "notify" // an element's name
)

// way is in which protocol a cloud is asked to tell us, and whether by our name or by
// the address that we call from.
type way struct {
	protocol string
	named    bool
}

// String is how a way is remembered.
func (w way) String() string {
	if w.named {
		return w.protocol + " domain"
	}
	return w.protocol
}

// askCloud asks the cloud of f in its own protocol. A cloud that refuses may know
// only some of the ways in which it can be asked to tell us: the next is tried. Once
// it has agreed to one, that is tried first.
//
// spec:cloudburst#cloud-ways
func (u *UpstreamClient) askCloud(ctx context.Context, f upstream.Follow) (a upstream.Answer, err error) {
	cloud, err := cloudOf(f)
	if err != nil {
		return a, asked(err)
	}
	c := &rsscloud.Client{HTTP: u.HTTP, UserAgent: u.UserAgent}
	var first error
	for _, w := range u.ways(f) {
		g, err := u.registration(f, w)
		if err == nil {
			var r rsscloud.Result
			r, err = c.PleaseNotify(ctx, cloud, g)
			a, err = answerOf(r.Success, r.Msg, err)
		} else {
			err = asked(err)
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

// ways are those in which the cloud of f can be asked for notifications, the likeliest
// first. A cloud that is called by procedure is asked to notify by procedure, too. By its
// own name this server proves itself with the challenge; without one, the address that it
// calls from counts. Clouds of 2003 know five parameters and their own protocol only; those
// of 2009 may know a domain as the sixth, and the form.
//
// spec:rsscloud-2009#domain-optional
// spec:rsscloud-2003#five-parameters
func (u *UpstreamClient) ways(f upstream.Follow) []way {
	named := knownByName(u.PublicURL())
	procedural := f.Wire == rsscloud.XMLRPC || f.Wire == rsscloud.SOAP
	var list []way
	add := func(protocol string, named bool) {
		if w := (way{protocol, named}); !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	switch {
	case procedural && strings.Contains(f.Proc, "rssPleaseNotify"):
		// An address has no certificate.
		add(f.Wire, named && strings.HasPrefix(u.PublicURL(), "https:"))
		add(f.Wire, false)
		add(f.Wire, named)
	case procedural:
		add(f.Wire, named)
		add(f.Wire, false)
		add(rsscloud.HTTPPost, named)
	default:
		add(rsscloud.HTTPPost, named)
	}
	if i := slices.IndexFunc(list, func(w way) bool { return w.String() == f.Notify }); i > 0 {
		agreed := list[i]
		list = slices.Insert(slices.Delete(list, i, i+1), 0, agreed)
	}
	return list
}

// registration is what the cloud of f is asked for.
func (u *UpstreamClient) registration(f upstream.Follow, w way) (rsscloud.Registration, error) {
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

// cloudOf is f as its cloud is asked.
//
// spec:rsscloud-2003#ask-in-protocol
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
