package doctor

import (
	"bytes"
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

// links are the hubs and the own address that a feed names, by where they stand.
type links struct {
	headHubs, bodyHubs []string // absolute
	headSelf, bodySelf string   // absolute
	written            string   // self as the document has it
	selves             []string // all of the document, absolute
	topic              string   // what subscribers ask for; "" when nothing says so
}

// hubs are all hubs, those of the header first, which is where subscribers look first.
func (l *links) hubs() []string {
	out := slices.Clone(l.headHubs)
	for _, h := range l.bodyHubs {
		if !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// gather sorts what the header says from what the document says.
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

// webSub looks at the hubs and the address that the feed names for WebSub.
func (x *exam) webSub(ctx context.Context) bool {
	hubs := x.links.hubs()
	if len(hubs) == 0 {
		fix := "Name a hub in the feed, or in the header of its answer:\n" + x.hubLink() + "\n" + x.linkHeader()
		if x.doc.Format == feed.RSS { // where <cloud> has been looked at
			x.add(SubjectWebSub, "websub-hub", Note, "The feed names no WebSub hub: readers that know only WebSub are not told of changes.", fix)
		} else {
			x.add(SubjectWebSub, "websub-hub", Problem, "The feed names no hub: nobody can ask to be told of changes.", fix)
		}
		if x.links.bodySelf+x.links.headSelf != "" {
			x.self(ctx)
		}
		return true
	}
	x.agree()
	x.self(ctx)
	for _, hub := range hubs[:min(len(hubs), maxHubs)] {
		x.hubDoor(ctx, hub)
	}
	x.ownHub(hubs)
	if n := len(hubs) - maxHubs; n > 0 {
		x.add(SubjectWebSub, "websub-hub", Note, fmt.Sprintf("%s were not asked: there are more than %d.", text.Plural(n, "further hub"), maxHubs), "")
	}
	return true
}

// agree compares the header with the document.
//
// spec:websub-2018#discovery-order
func (x *exam) agree() {
	l := &x.links
	where := "in the document"
	switch {
	case len(l.bodyHubs) == 0:
		where = "in the header of the answer"
	case len(l.headHubs) > 0:
		where = "in the header of the answer and in the document"
	}
	names := strings.Join(l.hubs(), ", ")
	if len(l.headHubs) > 0 && len(l.bodyHubs) > 0 && !slices.Equal(slices.Sorted(slices.Values(l.headHubs)), slices.Sorted(slices.Values(l.bodyHubs))) {
		x.add(SubjectWebSub, "websub-hub", Warning, fmt.Sprintf("The header names %s and the document %s: some subscribers go by the one, some by the other.", short(strings.Join(l.headHubs, ", "), 400), short(strings.Join(l.bodyHubs, ", "), 400)),
			"Name the same hubs in both, and tell all of them of changes.")
		return
	}
	x.add(SubjectWebSub, "websub-hub", OK, fmt.Sprintf("It names %s %s: %s", text.Plural(len(l.hubs()), "hub"), where, short(names, 400)), "")
}

// self looks at the address that the feed gives itself, which is what WebSub's
// subscribers ask for, whatever address they found it at.
//
// spec:websub-2018#topic-is-self
func (x *exam) self(ctx context.Context) {
	l := &x.links
	const id = "websub-self"
	self := l.headSelf
	if self == "" {
		self = l.bodySelf
	}
	fix := "Give the address that people subscribe to, in the feed and in the header:\n" + x.selfLink(x.feed) + "\n" + x.linkHeader()
	switch {
	case self == "":
		x.add(SubjectWebSub, id, Problem, "The feed does not give its own address (rel=self), which subscribers must ask the hub for.", fix)
		return
	case l.headSelf != "" && l.bodySelf != "" && l.headSelf != l.bodySelf:
		x.add(SubjectWebSub, "websub-self-agree", Warning, fmt.Sprintf("The header says that the feed's address is %s, the document says %s: subscribers are two peoples, and each is told of its own only.", short(l.headSelf, 300), short(l.bodySelf, 300)), fix)
	case len(l.selves) > 1:
		x.add(SubjectWebSub, "websub-self-agree", Warning, fmt.Sprintf("The document gives itself %d addresses: subscribers choose differently.", len(l.selves)), fix)
	}
	if rsscloud.CheckFeedURL(self) != nil {
		x.add(SubjectWebSub, id, Problem, fmt.Sprintf("The address that the feed gives itself, %s, is no URL that can be read.", quote(self)), fix)
		return
	}
	if l.headSelf == "" && l.written != "" && !strings.Contains(l.written, "://") {
		x.add(SubjectWebSub, "websub-self-form", Warning, fmt.Sprintf("The address that the feed gives itself is written %s: not every subscriber completes it.", quote(l.written)), "Write it whole:\n"+x.selfLink(self))
	}
	l.topic = self
	x.sameFeed(ctx, self, fix)
}

// sameFeed says whether the address that the feed gives itself leads to it.
func (x *exam) sameFeed(ctx context.Context, self, fix string) {
	const id = "websub-self"
	level, effect := Problem, "The hub reads it there, so nobody is told of anything."
	if len(x.links.hubs()) == 0 {
		level, effect = Warning, "Readers that go by it lose the feed."
	}
	switch {
	case self == x.feed && len(x.first.hops) == 0:
		x.add(SubjectWebSub, id, OK, "It gives its own address, the one that was examined.", "")
		return
	case self == x.feed:
		x.add(SubjectWebSub, id, Note, fmt.Sprintf("It gives the address before the redirects as its own: %s Hubs read it there each time.", x.feed), "")
		return
	case self == x.first.url:
		x.add(SubjectWebSub, id, OK, "It gives the address behind the redirects as its own.", "")
		return
	}
	got := x.get(ctx, self, how{most: maxBody})
	switch {
	case !got.ok():
		x.add(SubjectWebSub, id, level, fmt.Sprintf("It calls itself %s, and that cannot be read: %s. %s", short(self, 300), got.outcome(), effect), fix)
	case got.url == x.first.url, bytes.Equal(got.body, x.first.body):
		x.add(SubjectWebSub, id, Note, fmt.Sprintf("It calls itself %s, which is the same feed at another address. WebSub's subscribers ask for that one: tell the hub of that one.", short(self, 300)), "")
	default:
		x.add(SubjectWebSub, id, Warning, fmt.Sprintf("It calls itself %s, where something else is: WebSub's subscribers get that instead.", short(self, 300)), fix)
	}
	if strings.HasPrefix(self, "http:") && strings.HasPrefix(x.first.url, "https:") {
		x.add(SubjectWebSub, "websub-self-insecure", Warning, "The address that it gives itself is http, though the feed is there over https.", "Write the https address:\n"+x.selfLink("https:"+strings.TrimPrefix(self, "http:")))
	}
}

// hubDoor asks whether there is a hub, by a request without anything in it: a hub has
// to refuse that, for it lacks the mode.
func (x *exam) hubDoor(ctx context.Context, hub string) {
	const id = "websub-door"
	if err := rsscloud.CheckFeedURL(hub); err != nil {
		x.add(SubjectWebSub, id, Problem, fmt.Sprintf("The hub %s is no URL that can be asked.", quote(hub)), "Write the whole URL of the hub:\n"+x.hubLink())
		return
	}
	if isLocal(hostOf(hub)) && !isLocal(hostOf(x.first.url)) {
		x.add(SubjectWebSub, "websub-local", Problem, fmt.Sprintf("The hub %s is known on your own machine or network only: subscribers elsewhere cannot ask it.", hub), "Write the name by which the hub is reached from outside.")
	}
	got := x.post(ctx, hub, url.Values{})
	const fix = "Start the hub, or name the one that runs; its operator knows its URL."
	switch {
	case got.failure != "":
		x.add(SubjectWebSub, id, Problem, fmt.Sprintf("No hub can be reached at %s: %s.", hub, got.failure), fix)
	case got.status == http.StatusNotFound, got.status == http.StatusGone, got.status == http.StatusMethodNotAllowed:
		x.add(SubjectWebSub, id, Problem, fmt.Sprintf("There is a server at %s, but no hub: it answers %s.", hub, statusText(got.status)), fix)
	case got.status >= 500:
		x.add(SubjectWebSub, id, Problem, fmt.Sprintf("The hub at %s fails: it answers %s.", hub, statusText(got.status)), "Tell its operator.")
	case got.status >= 400:
		x.add(SubjectWebSub, id, OK, fmt.Sprintf("A hub answers at %s.", hub), "")
	case got.status >= 300:
		x.add(SubjectWebSub, id, Warning, fmt.Sprintf("%s redirects (%s): not every subscriber follows that.", hub, statusText(got.status)), "Name the address where the hub is now.")
	case got.page():
		x.pages = append(x.pages, hub)
		x.add(SubjectWebSub, id, Problem, fmt.Sprintf("What answers at %s is a page (%s), and no hub.", hub, statusText(got.status)), fix)
	default:
		x.add(SubjectWebSub, id, Warning, fmt.Sprintf("What answers at %s takes an empty request (%s), which a hub refuses: it may be a page.", hub, statusText(got.status)), fix)
	}
}

// ownHub says when none of the hubs is at the server that the publisher means. What is
// right in the <cloud> helps those who look there.
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
	x.add(SubjectWebSub, id, level, fmt.Sprintf("None of the hubs is at %s: its WebSub subscribers are asked to go elsewhere.", own), "Put this in the place of the other, or beside it:\n"+x.hubLink())
}

// hubURL is the WebSub door to copy.
func (x *exam) hubURL() string { return x.hubBase() + "/websub" }

// hubLink is what names a hub, in the feed's own format.
func (x *exam) hubLink() string {
	switch x.doc.Format {
	case feed.JSONFeed:
		return fmt.Sprintf(`"hubs": [{"type": "WebSub", "url": "%s"}],`, x.hubURL())
	case feed.Atom:
		return fmt.Sprintf(`<link rel="hub" href="%s"/>`, escape(x.hubURL()))
	}
	return fmt.Sprintf(`<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub" href="%s"/>`, escape(x.hubURL()))
}

// selfLink is what gives the feed's own address, in its own format.
func (x *exam) selfLink(address string) string {
	switch x.doc.Format {
	case feed.JSONFeed:
		return fmt.Sprintf(`"feed_url": "%s",`, strings.ReplaceAll(address, `"`, "%22"))
	case feed.Atom:
		return fmt.Sprintf(`<link rel="self" href="%s"/>`, escape(address))
	}
	return fmt.Sprintf(`<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="self" type="%s" href="%s"/>`, mediaTypeOf(x.doc), escape(address))
}

// linkHeader is the field that names hub and address.
func (x *exam) linkHeader() string {
	hub := x.hubURL()
	if hubs := x.links.hubs(); len(hubs) > 0 {
		hub = hubs[0]
	}
	return "Link: " + websub.LinkHeader(hub, x.feed)
}
