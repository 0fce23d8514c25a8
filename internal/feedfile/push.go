package feedfile

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"cloudburst/feed"
	"cloudburst/feed/render"
)

// AddPush returns doc with the cloud and the hubs of o, and with its own URL (o.Self) if doc has
// none. The text is inserted directly after the feed's start tag, so all other bytes stay as they
// are. contentType is the type under which doc is served. A document with a cloud or a hub is
// returned unchanged. Formats without either are rejected: see [CheckPush].
//
// spec:cloudburst#add-cloud
func AddPush(doc []byte, contentType string, o render.Options) ([]byte, error) {
	f, err := feed.ParseBytes(doc, &feed.Options{Header: http.Header{"Content-Type": {contentType}}})
	if err != nil {
		return nil, refuse("the document is not a feed: %v", err)
	}
	if len(f.Clouds)+len(f.Hubs) > 0 {
		return doc, nil
	}
	if f.Self != "" {
		o.Self = ""
	}
	t, err := read(doc)
	if err != nil {
		return nil, err
	}
	at, text, err := t.push(o)
	if err != nil || text == "" {
		return doc, err
	}
	out, err := t.apply([]edit{{at, at, text}})
	if err != nil {
		return nil, err
	}
	f, err = feed.ParseBytes(out, &feed.Options{Header: http.Header{"Content-Type": {contentType}}})
	if err != nil || len(f.Clouds)+len(f.Hubs) == 0 {
		return nil, refuse("the cloud could not be added so that readers find it")
	}
	return out, nil
}

// CheckPush returns the reason why a document cannot have a cloud or a hub: its format or encoding
// does not support them. nil: it can.
func CheckPush(doc []byte) error {
	t, err := read(doc)
	if err == nil {
		_, _, err = t.push(render.Options{})
	}
	return err
}

// push returns the text to insert and its offset.
func (t *document) push(o render.Options) (at int, text string, err error) {
	if t.json {
		s, err := scanJSON(t.text)
		return s.brace, pushMembers(o), err
	}
	s, err := scanXML(t)
	if err != nil {
		return 0, "", err
	}
	if s.head == 0 || s.format == "rss090" || s.format == "rss091" {
		return 0, "", refuse("its format supports neither a cloud nor a hub")
	}
	if text = s.pushElements(o); t.ascii {
		text = toASCII(text)
	}
	return s.head, text, nil
}

// pushElements returns XML elements in the form of package render, with all namespaces that they
// need.
func (s *shape) pushElements(o render.Options) string {
	var b strings.Builder
	link := func(name, rel, href string) {
		if href != "" {
			fmt.Fprintf(&b, `<%s rel="%s" href="%s"/>`, name, rel, escape(href))
		}
	}
	cloud := func(space string) {
		if c := o.Cloud; c != nil {
			fmt.Fprintf(&b, `<cloud%s domain="%s" port="%s" path="%s" registerProcedure="%s" protocol="%s"/>`,
				space, escape(c.Domain), escape(c.Port), escape(c.Path), escape(c.RegisterProcedure), escape(c.Protocol))
		}
	}
	name := `atom:link xmlns:atom="` + nsAtom + `"`
	switch s.format {
	case "atom", "atom03":
		name = `link xmlns="` + s.space + `"`
		cloud(` xmlns=""`)
	case "rdf":
	default:
		space := ""
		if s.scope[""] != s.space {
			space = ` xmlns="` + escape(s.space) + `"`
		}
		cloud(space)
		if s.format != "rss20" { // RSS 0.92 to 0.94 have no modules
			return b.String()
		}
	}
	link(name, "self", o.Self)
	for _, hub := range o.Hubs {
		link(name, "hub", hub)
	}
	return b.String()
}

// pushMembers returns the members of a JSON Feed.
func pushMembers(o render.Options) string {
	out := ""
	if o.Self != "" {
		out += `"feed_url":` + quoted(o.Self) + ","
	}
	var hubs []string
	for _, hub := range o.Hubs {
		hubs = append(hubs, `{"type":"WebSub","url":`+quoted(hub)+`}`)
	}
	if c := o.Cloud; c != nil {
		u := url.URL{Scheme: "http", Host: net.JoinHostPort(c.Domain, c.Port), Path: c.Path}
		if c.Port == "443" || strings.HasPrefix(c.Protocol, "https") {
			u.Scheme = "https"
		}
		u.Host = strings.TrimSuffix(u.Host, map[string]string{"http": ":80", "https": ":443"}[u.Scheme])
		hubs = append(hubs, `{"type":"rssCloud","url":`+quoted(u.String())+`}`)
	}
	if len(hubs) == 0 {
		return out
	}
	return out + `"hubs":[` + strings.Join(hubs, ",") + `],`
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // strings have no encoding error
	return string(b)
}
