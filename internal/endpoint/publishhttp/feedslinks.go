package publishhttp

import (
	"strconv"
	"strings"

	feedformat "cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// docInfo contains what a document declares about itself, in addition to the feed.
type docInfo struct {
	options render.Options
	link    []string
}

// newInfo determines what a document in a format declares: its URL, its hub and the other formats.
//
// spec:cloudburst#hosted-hubs
func (h *hosted) newInfo(format string) *docInfo {
	self, hub := locate(h.feeds, paged(formUnder(h.base, format), h.page)), h.public+"/websub"
	t := &docInfo{options: render.Options{Self: self, Sanitize: h.feeds.clean, Strict: true}}
	if h.unannounced {
		t.link = []string{"<" + self + `>; rel="self"`}
	} else {
		t.link = []string{websub.LinkHeader(hub, self)}
		t.options.Hubs, t.options.Cloud = []string{hub}, h.feeds.cloudAt(h.public)
	}
	if format == "html" {
		t.options.Alternates = alternatesOf(locate(h.feeds, h.base))
	}
	return t
}

// About returns the URL and the hub that a user's public feed declares.
func (f *Feeds) About(user string) render.Options {
	f.start()
	return f.hosted(user, author.Public).about("").options
}

// locate returns the URL of a path of this server.
func locate(f *Feeds, path string) string {
	if f.Locate != nil {
		return f.Locate(path)
	}
	return f.Public() + path
}

// alternatesOf lists the formats of the feed with the given base URL.
func alternatesOf(base string) []feedformat.Link {
	var all []feedformat.Link
	for _, format := range render.Formats() {
		if format.Ext != "" && format.Name != "html" {
			kind, _, _ := strings.Cut(format.Type, ";") // programs that search for feeds compare the media type without parameters
			all = append(all, feedformat.Link{Rel: "alternate", Href: formUnder(base, format.Name), Type: kind, Title: format.Title})
		}
	}
	return all
}

// formPath returns the path of a public feed in a format; "" is the saved document.
func formPath(user, name string) string { return formUnder("/"+user+"/", name) }

// formUnder is like formPath for a feed with the given base path.
func formUnder(base, name string) string {
	if name == "" {
		return base + pathSaved
	}
	if format, err := render.Lookup(name); err == nil && format.Ext != "" {
		return base + extPrefix + format.Ext
	}
	return base + pathSaved + "?format=" + name
}

// cloudAt returns this server's cloud for a feed; nil if public is not a URL.
func (f *Feeds) cloudAt(public string) *feedformat.Cloud {
	at := f.Cloud
	if at == nil {
		at = rsscloud.CloudAt
	}
	c := at(public)
	if c.Domain == "" {
		return nil
	}
	return &feedformat.Cloud{
		Domain: c.Domain, Port: strconv.Itoa(c.Port), Path: c.Path,
		RegisterProcedure: c.RegisterProcedure, Protocol: string(c.Protocol),
	}
}
