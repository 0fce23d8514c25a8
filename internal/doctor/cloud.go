package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cloudburst/feed"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/xmlrpc"
)

// cloudAt is a <cloud> element that can be used.
type cloudAt struct {
	rsscloud.Cloud
	door string // where registrations go
}

// rssCloud looks at the feed's cloud elements and at the hubs that they name.
func (x *exam) rssCloud(ctx context.Context) bool {
	x.sourceCloud()
	if len(x.doc.Clouds) == 0 {
		x.noCloud()
		return true
	}
	if n := len(x.doc.Clouds); n > 1 {
		x.add(SubjectRSSCloud, "cloud-several", Note, fmt.Sprintf("There are %d <cloud> elements: most readers ask the first only.", n), "")
	}
	for i := range x.doc.Clouds[:min(len(x.doc.Clouds), maxClouds)] {
		if c, ok := x.element(x.doc.Clouds[i]); ok {
			x.clouds = append(x.clouds, c)
			x.cloudDoor(ctx, c)
		}
	}
	x.ownElement()
	return true
}

// noCloud is worse when no other hub is named either.
func (x *exam) noCloud() {
	if x.doc.Format != feed.RSS {
		return // the other formats have no such element
	}
	fix := "Put this into the channel:\n" + x.ownCloud().String()
	if x.d.Hub == "" {
		fix = "Put this into the channel, with the host and port of your hub (--hub URL names yours):\n" + x.ownCloud().String()
	}
	if len(x.links.hubs()) > 0 || slices.ContainsFunc(x.doc.Hubs, func(h feed.Hub) bool { return h.Type == "rssCloud" }) {
		x.add(SubjectRSSCloud, "cloud", Note, "The feed has no <cloud> element: readers that look for that are not told of changes.", fix)
		return
	}
	x.add(SubjectRSSCloud, "cloud", Problem, "The feed names neither a <cloud> nor a WebSub hub: nobody can ask to be told of changes.", fix)
}

// ownCloud is the element to copy.
func (x *exam) ownCloud() rsscloud.Cloud { return rsscloud.CloudAt(x.hubBase()) }

// hubBase is the URL of the hub that the publisher means, or of one to put theirs for.
func (x *exam) hubBase() string {
	if u, err := url.Parse(x.d.Hub); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return "http://hub.example.org:5337"
}

// ownElement says when no <cloud> names the hub that it should.
func (x *exam) ownElement() {
	switch {
	case x.d.Hub == "":
	case x.named():
		x.add(SubjectRSSCloud, "cloud-hub", OK, "The <cloud> names the hub "+x.d.Hub+".", "")
	default:
		x.add(SubjectRSSCloud, "cloud-hub", Problem, fmt.Sprintf("No <cloud> names the hub %s: its subscribers are asked to register elsewhere.", x.d.Hub),
			"Put this in the place of the other:\n"+x.ownCloud().String())
	}
}

// named reports a <cloud> that names the hub that the publisher means.
func (x *exam) named() bool {
	own := x.ownCloud()
	return slices.ContainsFunc(x.clouds, func(c cloudAt) bool {
		// A hub at an https URL may have a port without TLS for rssCloud.
		return strings.EqualFold(c.Domain, own.Domain) && (c.Port == own.Port || own.Protocol == rsscloud.HTTPSPost && c.Protocol == rsscloud.HTTPPost)
	})
}

// element looks at the attributes of one, as written.
//
// spec:rsscloud-2003#cloud-attributes
func (x *exam) element(c feed.Cloud) (cloudAt, bool) {
	written := fmt.Sprintf("<cloud domain=%s port=%s path=%s registerProcedure=%s protocol=%s/>",
		attribute(c.Domain), attribute(c.Port), attribute(c.Path), attribute(c.RegisterProcedure), attribute(c.Protocol))
	// The element alone, so that it is this one which is looked at.
	cloud, err := rsscloud.FindCloud([]byte("<rss><channel>"+written+"</channel></rss>"), x.first.url)
	out := cloudAt{Cloud: cloud}
	if err == nil {
		out.door, err = cloud.RegisterURL()
	}
	right := cloud
	if right.Protocol = strings.ToLower(strings.TrimSpace(c.Protocol)); !rsscloud.ValidProtocol(right.Protocol) {
		right.Protocol = rsscloud.HTTPPost
	}
	if right.Domain == "" {
		right = x.ownCloud()
	}
	if err != nil {
		x.add(SubjectRSSCloud, "cloud", Problem, fmt.Sprintf("The element %s cannot be used: %s", short(written, 400), sentence(lastReason(err))), "Write all five attributes, such as:\n"+right.String())
		return out, false
	}
	x.add(SubjectRSSCloud, "cloud", OK, fmt.Sprintf("The <cloud> sends registrations by %s to %s.", cloud.Protocol, out.door), "")
	x.attributes(c, cloud)
	return out, true
}

// lastReason is the sentence inside an error of rsscloud, for its own words are those
// of somebody who looks for an element.
func lastReason(err error) error {
	if e, ok := errors.AsType[*rsscloud.FieldError](err); ok {
		return errors.New(e.Msg)
	}
	return err
}

func attribute(s string) string { return `"` + escape(short(s, 300)) + `"` }

// attributes tells of what was filled in, and of hosts that only some can reach.
func (x *exam) attributes(c feed.Cloud, cloud rsscloud.Cloud) {
	var odd []string
	if c.Domain == "" {
		odd = append(odd, "domain is empty, which means the feed's own host, "+cloud.Domain)
	} else if !strings.EqualFold(strings.Trim(c.Domain, "[]"), cloud.Domain) {
		odd = append(odd, "domain is "+quote(c.Domain)+", where only a name belongs")
	}
	if c.Port == "" {
		odd = append(odd, "port is missing")
	}
	if c.Path == "" {
		odd = append(odd, "path is missing")
	} else if !strings.HasPrefix(c.Path, "/") {
		odd = append(odd, "path does not begin with a slash")
	}
	rpc := cloud.Protocol == rsscloud.XMLRPC || cloud.Protocol == rsscloud.SOAP
	if rpc && c.RegisterProcedure == "" {
		odd = append(odd, "registerProcedure is missing, which "+cloud.Protocol+" needs")
	}
	if len(odd) > 0 {
		right := cloud
		if rpc && right.RegisterProcedure == "" {
			right.RegisterProcedure = rsscloud.MethodPleaseNotify
		}
		x.add(SubjectRSSCloud, "cloud-attributes", Warning, "Not every reader makes of it what is meant: "+strings.Join(odd, "; ")+".", "Write it so:\n"+right.String())
	}
	if isLocal(cloud.Domain) && !isLocal(hostOf(x.first.url)) {
		x.add(SubjectRSSCloud, "cloud-local", Problem, fmt.Sprintf("Its domain, %s, is known on your own machine or network only: readers elsewhere cannot register.", cloud.Domain), "Write the name by which the hub is reached from outside.")
	}
}

// sourceCloud looks at the address of a hub in the element source:cloud.
func (x *exam) sourceCloud() {
	for _, h := range x.doc.Hubs {
		if h.Type != "rssCloud" {
			continue
		}
		if err := rsscloud.CheckFeedURL(h.URL); err != nil {
			x.add(SubjectRSSCloud, "source-cloud", Warning, fmt.Sprintf("The element source:cloud holds %s, which is no address of a hub.", quote(h.URL)), "Write the URL of the hub's door pleaseNotify.")
			continue
		}
		x.add(SubjectRSSCloud, "source-cloud", OK, fmt.Sprintf("The element source:cloud names %s.", short(h.URL, 300)), "")
	}
}

// cloudDoor asks whether there is a hub. Over http-post the request is a registration
// without any field: no callback and no feed, so that no hub has anything to do with
// it but say so. Over xml-rpc and soap it is a call that only greets.
func (x *exam) cloudDoor(ctx context.Context, c cloudAt) {
	if c.Protocol == rsscloud.XMLRPC {
		x.rpcDoor(ctx, c)
		return
	}
	if c.Protocol == rsscloud.SOAP {
		x.soapDoor(ctx, c)
		return
	}
	got := x.post(ctx, c.door, url.Values{})
	result, err := rsscloud.ParseResult(got.body)
	if got.failure == "" && err == nil && !result.Success && got.status < 500 && got.status != http.StatusNotFound {
		x.add(SubjectRSSCloud, "cloud-door", OK, "A hub answers there.", "")
		return
	}
	x.noDoor(c.door, got, "an rssCloud hub")
}

func (x *exam) rpcDoor(ctx context.Context, c cloudAt) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	client := xmlrpc.Client{URL: c.door, HTTP: x, UserAgent: x.d.UserAgent, MaxBytes: maxAnswer}
	_, err := client.Call(ctx, rsscloud.MethodHello)
	_, fault := errors.AsType[*xmlrpc.Fault](err)
	if err == nil || fault {
		// A fault is an answer too: few hubs know the greeting.
		x.add(SubjectRSSCloud, "cloud-door", OK, "A hub answers there.", "")
		return
	}
	got := answer{url: c.door}
	if e, ok := errors.AsType[*xmlrpc.HTTPError](err); ok {
		got.status = e.Status
	} else if _, ok := errors.AsType[*xmlrpc.SyntaxError](err); ok {
		got.status = http.StatusOK
	} else {
		got.failure = x.d.words(err)
	}
	x.noDoor(c.door, got, "an XML-RPC server")
}

// soapDoor looks only whether there is something that answers in SOAP: an empty
// request gets a fault.
func (x *exam) soapDoor(ctx context.Context, c cloudAt) {
	got := x.post(ctx, c.door, url.Values{})
	if got.failure == "" && (bytes.Contains(got.body, []byte("Envelope")) || got.status == http.StatusUnsupportedMediaType) {
		x.add(SubjectRSSCloud, "cloud-door", OK, "A hub answers there.", "")
		return
	}
	x.noDoor(c.door, got, "a SOAP server")
}

// noDoor says what is at a door that is no hub's.
func (x *exam) noDoor(door string, got answer, what string) {
	const id = "cloud-door"
	switch fix := "Start the hub, or name the one that runs; its operator knows the right <cloud> element."; {
	case got.failure != "":
		x.add(SubjectRSSCloud, id, Problem, fmt.Sprintf("No hub can be reached at %s: %s.", door, got.failure), fix)
	case got.status == http.StatusNotFound, got.status == http.StatusGone, got.status == http.StatusMethodNotAllowed:
		x.add(SubjectRSSCloud, id, Problem, fmt.Sprintf("There is a server at %s, but no hub: it answers %s.", door, statusText(got.status)), fix)
	case got.status >= 500:
		x.add(SubjectRSSCloud, id, Problem, fmt.Sprintf("The hub at %s fails: it answers %s.", door, statusText(got.status)), "Tell its operator.")
	case got.status == http.StatusTooManyRequests:
		x.add(SubjectRSSCloud, id, Note, fmt.Sprintf("The hub at %s has had too many requests from here; it was not examined further.", door), "")
	case got.status >= 300 && got.status <= 399:
		x.add(SubjectRSSCloud, id, Problem, fmt.Sprintf("%s redirects (%s): most readers do not follow that when they register.", door, statusText(got.status)), "Name the address where the hub is now.")
	case got.page():
		x.add(SubjectRSSCloud, id, Problem, fmt.Sprintf("What answers at %s is a page (%s), and no hub.", door, statusText(got.status)), fix)
	default:
		x.add(SubjectRSSCloud, id, Warning, fmt.Sprintf("What answers at %s (%s) does not do so as %s does.", door, statusText(got.status), what), fix)
	}
}
