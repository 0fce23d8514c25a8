package doctor

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cloudburst/feed"
	"cloudburst/feed/discover"
	"cloudburst/internal/text"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// links contains the hubs and the self URLs of a feed, by where they were found.
type links struct {
	headHubs, bodyHubs []string // absolute URLs
	headSelf, bodySelf string   // absolute URLs
	written            string   // self URL as written in the document
	selves             []string // all self URLs of the document, absolute
	topic              string   // the URL that subscribers use; "": unknown
}

// hubs returns all hubs. The hubs of the HTTP header come first, because subscribers prefer them.
func (l *links) hubs() []string {
	out := slices.Clone(l.headHubs)
	for _, h := range l.bodyHubs {
		if !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// gather collects the links of the header and of the document.
func (x *exam) gather() error {
	head := discover.Header(x.first.header, x.first.url)
	x.links = links{headHubs: head.Hubs, headSelf: head.Self}
	bare := http.Header{"Content-Type": x.first.header.Values("Content-Type")}
	body, err := feed.ParseBytes(x.first.body, &feed.Options{URL: x.first.url, Header: bare})
	if err != nil {
		return err
	}
	for _, h := range body.Hubs {
		if h.Type != "rssCloud" {
			x.links.bodyHubs = append(x.links.bodyHubs, h.URL)
		}
	}
	x.links.bodySelf = body.Self
	for _, l := range body.Links {
		if l.Rel == "self" && !slices.Contains(x.links.selves, l.Href) {
			x.links.selves = append(x.links.selves, l.Href)
		}
	}
	raw, err := feed.ParseBytes(x.first.body, &feed.Options{URL: x.first.url, Header: bare, KeepRelative: true})
	if err != nil {
		return err
	}
	x.links.written = raw.Self
	return nil
}

// webSub checks the hubs and the self URL of the feed.
func (x *exam) webSub(ctx context.Context) bool {
	hubs := x.links.hubs()
	if len(hubs) == 0 {
		fix := "Name a hub in the feed or in the HTTP header:\n" + x.hubLink() + "\n" + x.linkHeader()
		if x.doc.Format == feed.RSS { // the method rssCloud has already checked <cloud>
			x.add(SubjectWebSub, "websub-hub", Note, "The feed names no WebSub hub, so WebSub readers are not notified.", fix)
		} else {
			x.add(SubjectWebSub, "websub-hub", Problem, "The feed names no hub, so nobody can subscribe to its changes.", fix)
		}
		if x.links.bodySelf+x.links.headSelf != "" {
			x.self(ctx)
		}
		return true
	}
	x.agree()
	x.self(ctx)
	for _, hub := range hubs[:min(len(hubs), maxHubs)] {
		x.hubEndpoint(ctx, hub)
	}
	x.ownHub(hubs)
	if n := len(hubs) - maxHubs; n > 0 {
		x.add(SubjectWebSub, "websub-hub", Note, fmt.Sprintf("%s were not examined; the limit is %d.", text.Plural(n, "further hub"), maxHubs), "")
	}
	return true
}

// agree compares the hubs of the header and of the document.
//
// spec:websub-2018#discovery-order
func (x *exam) agree() {
	l := &x.links
	where := "in the document"
	switch {
	case len(l.bodyHubs) == 0:
		where = "in the HTTP header"
	case len(l.headHubs) > 0:
		where = "in the HTTP header and in the document"
	}
	names := strings.Join(l.hubs(), ", ")
	if len(l.headHubs) > 0 && len(l.bodyHubs) > 0 && !slices.Equal(slices.Sorted(slices.Values(l.headHubs)), slices.Sorted(slices.Values(l.bodyHubs))) {
		x.add(SubjectWebSub, "websub-hub", Warning, fmt.Sprintf("The header names %s and the document %s. Some subscribers use the one, some the other.", short(strings.Join(l.headHubs, ", "), 400), short(strings.Join(l.bodyHubs, ", "), 400)),
			"Name the same hubs in both, and ping all of them.")
		return
	}
	x.add(SubjectWebSub, "websub-hub", OK, fmt.Sprintf("It names %s %s: %s", text.Plural(len(l.hubs()), "hub"), where, short(names, 400)), "")
}

// self checks the self URL of the feed. WebSub subscribers use it as the topic, at whatever URL they
// found the feed.
//
// spec:websub-2018#topic-is-self
func (x *exam) self(ctx context.Context) {
	l := &x.links
	const id = "websub-self"
	self := cmp.Or(l.headSelf, l.bodySelf)
	fix := "Name the URL of the feed, in the feed and in the header:\n" + x.selfLink(x.feed) + "\n" + x.linkHeader()
	switch {
	case self == "":
		x.add(SubjectWebSub, id, Problem, "The feed does not name its own URL (rel=self), which subscribers need as the topic.", fix)
		return
	case l.headSelf != "" && l.bodySelf != "" && l.headSelf != l.bodySelf:
		x.add(SubjectWebSub, "websub-self-agree", Warning, fmt.Sprintf("The self URL is %s in the header and %s in the document. A ping for one does not reach the subscribers of the other.", short(l.headSelf, 300), short(l.bodySelf, 300)), fix)
	case len(l.selves) > 1:
		x.add(SubjectWebSub, "websub-self-agree", Warning, fmt.Sprintf("The document has %d self URLs, and subscribers choose differently.", len(l.selves)), fix)
	}
	if rsscloud.CheckFeedURL(self) != nil {
		x.add(SubjectWebSub, id, Problem, fmt.Sprintf("The self URL of the feed, %s, is not a URL to fetch.", quote(self)), fix)
		return
	}
	if l.headSelf == "" && l.written != "" && !strings.Contains(l.written, "://") {
		x.add(SubjectWebSub, "websub-self-form", Warning, fmt.Sprintf("The self URL of the feed is relative, %s, and not every subscriber resolves it.", quote(l.written)), "Write the absolute URL:\n"+x.selfLink(self))
	}
	l.topic = self
	x.sameFeed(ctx, self, fix)
}

// sameFeed checks that the self URL leads to the same feed.
func (x *exam) sameFeed(ctx context.Context, self, fix string) {
	const id = "websub-self"
	level, effect := Problem, "The hub fetches this URL, so subscribers get no notifications."
	if len(x.links.hubs()) == 0 {
		level, effect = Warning, "Readers that use it lose the feed."
	}
	switch {
	case sameURL(self, x.feed) && len(x.first.hops) == 0:
		x.add(SubjectWebSub, id, OK, "Its self URL is the examined URL.", "")
		return
	case sameURL(self, x.feed):
		x.add(SubjectWebSub, id, Note, fmt.Sprintf("Its self URL is the one before the redirects: %s Hubs fetch it there each time.", x.feed), "")
		return
	case sameURL(self, x.first.url):
		x.add(SubjectWebSub, id, OK, "Its self URL is the one after the redirects.", "")
		return
	}
	got := x.get(ctx, self, how{limit: maxBody})
	switch {
	case !got.ok():
		x.add(SubjectWebSub, id, level, fmt.Sprintf("Its self URL %s is not readable: %s. %s", short(self, 300), got.outcome(), effect), fix)
	case sameURL(got.url, x.first.url), bytes.Equal(got.body, x.first.body):
		x.add(SubjectWebSub, id, Note, fmt.Sprintf("Its self URL is %s, the same feed at another URL. WebSub subscribers use that URL, so ping the hub with it.", short(self, 300)), "")
	default:
		x.add(SubjectWebSub, id, Warning, fmt.Sprintf("Its self URL is %s, which returns a different document. WebSub subscribers get that document.", short(self, 300)), fix)
	}
	if strings.HasPrefix(self, "http:") && strings.HasPrefix(x.first.url, "https:") {
		x.add(SubjectWebSub, "websub-self-insecure", Warning, "Its self URL uses http, but the feed is available over https.", "Use the https URL:\n"+x.selfLink("https:"+strings.TrimPrefix(self, "http:")))
	}
}

// hubEndpoint checks that a hub responds. It sends an empty request. A hub must reject this request,
// because the mode is missing.
func (x *exam) hubEndpoint(ctx context.Context, hub string) {
	const id = "websub-door"
	if err := rsscloud.CheckFeedURL(hub); err != nil {
		x.add(SubjectWebSub, id, Problem, fmt.Sprintf("The hub %s is not a URL for requests.", quote(hub)), "Write the complete URL of the hub:\n"+x.hubLink())
		return
	}
	if isLocal(hostOf(hub)) && !isLocal(hostOf(x.first.url)) {
		x.add(SubjectWebSub, "websub-local", Problem, fmt.Sprintf("The hub %s is known only on your machine or network, so subscribers elsewhere cannot reach it.", hub), "Use the public name of the hub.")
	}
	got := x.post(ctx, hub, url.Values{})
	const fix = "Start the hub, or name a running one. Its operator knows its URL."
	switch {
	case got.failure != "":
		x.add(SubjectWebSub, id, Problem, fmt.Sprintf("Connecting to the hub at %s failed: %s.", hub, got.failure), fix)
	case got.status == http.StatusNotFound, got.status == http.StatusGone, got.status == http.StatusMethodNotAllowed:
		x.add(SubjectWebSub, id, Problem, fmt.Sprintf("The server at %s has no hub at this path: its response is %s.", hub, statusText(got.status)), fix)
	case got.status >= 500:
		x.add(SubjectWebSub, id, Problem, fmt.Sprintf("The hub at %s fails with %s.", hub, statusText(got.status)), "Report this to its operator.")
	case got.status >= 400:
		x.add(SubjectWebSub, id, OK, fmt.Sprintf("A hub responds at %s.", hub), "")
	case got.status >= 300:
		x.add(SubjectWebSub, id, Warning, fmt.Sprintf("%s redirects (%s), and not every subscriber follows redirects.", hub, statusText(got.status)), "Use the current URL of the hub.")
	case got.page():
		x.pages = append(x.pages, hub)
		x.add(SubjectWebSub, id, Problem, fmt.Sprintf("%s returns a page (%s), not the response of a hub.", hub, statusText(got.status)), fix)
	default:
		x.add(SubjectWebSub, id, Warning, fmt.Sprintf("%s accepts an empty request (%s), which a hub must reject. It may be a page.", hub, statusText(got.status)), fix)
	}
}

// ownHub checks that one of the hubs is the expected server. A valid <cloud> makes a missing hub
// less severe.
func (x *exam) ownHub(hubs []string) {
	if x.d.Hub == "" {
		return
	}
	const id = "websub-named"
	own := x.hubBase()
	for _, hub := range hubs {
		if u, err := url.Parse(hub); err == nil && strings.EqualFold(u.Scheme+"://"+u.Host, own) {
			x.add(SubjectWebSub, id, OK, "One of the hubs is at "+own+".", "")
			return
		}
	}
	level := Problem
	if x.named() {
		level = Warning
	}
	x.add(SubjectWebSub, id, level, fmt.Sprintf("None of the hubs is at %s, so WebSub subscribers go elsewhere.", own), "Replace the hub by this one, or add this one:\n"+x.hubLink())
}

// hubURL returns the suggested WebSub endpoint.
func (x *exam) hubURL() string { return x.hubBase() + "/websub" }

// hubLink returns the suggested hub link in the format of the feed.
func (x *exam) hubLink() string {
	switch x.doc.Format {
	case feed.JSONFeed:
		return fmt.Sprintf(`"hubs": [{"type": "WebSub", "url": "%s"}],`, x.hubURL())
	case feed.Atom:
		return fmt.Sprintf(`<link rel="hub" href="%s"/>`, escape(x.hubURL()))
	}
	return fmt.Sprintf(`<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub" href="%s"/>`, escape(x.hubURL()))
}

// selfLink returns the suggested self link in the format of the feed.
func (x *exam) selfLink(address string) string {
	switch x.doc.Format {
	case feed.JSONFeed:
		return fmt.Sprintf(`"feed_url": "%s",`, strings.ReplaceAll(address, `"`, "%22"))
	case feed.Atom:
		return fmt.Sprintf(`<link rel="self" href="%s"/>`, escape(address))
	}
	return fmt.Sprintf(`<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="self" type="%s" href="%s"/>`, mediaTypeOf(x.doc), escape(address))
}

// linkHeader returns the suggested Link header with hub and self.
func (x *exam) linkHeader() string {
	hub := x.hubURL()
	if hubs := x.links.hubs(); len(hubs) > 0 {
		hub = hubs[0]
	}
	return "Link: " + websub.LinkHeader(hub, x.feed)
}
