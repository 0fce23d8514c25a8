package publishhttp

import (
	"context"
	"log/slog"
	"net/url"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/route"
	"cloudburst/protocol/webfinger"
)

// WebFinger answers where the page and the feeds of an author are. All fields except
// Log must be set.
type WebFinger struct {
	Feeds   WebFingerFeeds
	Writers WebFingerWriters
	Hidden  func(ctx context.Context, user string) (bool, error) // reports whether the user is disabled
	Origins func() []string                                      // origins of this server, the canonical one first
	Log     *slog.Logger                                         // nil: no log
}

// WebFingerFeeds is the part of hosted feeds that [WebFinger] uses.
type WebFingerFeeds interface {
	Feed(ctx context.Context, user, name string) (author.Feed, error)
}

// WebFingerWriters is the part of posts that [WebFinger] uses.
type WebFingerWriters interface {
	Writer(ctx context.Context, user string) (author.Writer, error)
}

// Routes lists the WebFinger endpoint.
func (f *WebFinger) Routes() []route.Route {
	return []route.Route{{
		Path: webfinger.Path, Handler: &webfinger.Handler{Find: f.find, Log: f.Log},
		Purpose: "Answers where the page and the feeds of an author are (WebFinger).",
	}}
}

// find returns the document of an author who has a public feed, or nil for any other resource.
func (f *WebFinger) find(ctx context.Context, resource string) (*webfinger.Document, error) {
	user, ok := f.userOf(resource)
	if !ok {
		return nil, nil
	}
	if hidden, err := f.Hidden(ctx, user); err != nil || hidden {
		return nil, err
	}
	feed, err := f.Feeds.Feed(ctx, user, author.Public)
	switch {
	case fault.CodeOf(err) == fault.NotFound && err != nil:
		return nil, nil
	case err != nil:
		return nil, err
	case feed.Version == 0 || feed.Gone:
		return nil, nil
	}
	w, err := f.Writers.Writer(ctx, user)
	if err != nil {
		return nil, err
	}
	origin := f.Origins()[0]
	page := origin + "/" + user + "/"
	d := &webfinger.Document{Subject: "acct:" + user + "@" + hostOf(origin), Aliases: []string{page}}
	link := func(rel, kind, href string) {
		d.Links = append(d.Links, webfinger.Link{Rel: rel, Type: kind, Href: href})
	}
	link(webfinger.RelProfile, "text/html", page)
	if feed.MovedTo == "" {
		link(webfinger.RelUpdates, "application/rss+xml", page+"rss.xml")
		link(webfinger.RelAlternate, "application/atom+xml", page+"feed.atom")
		link(webfinger.RelAlternate, "application/feed+json", page+"feed.json")
	} else {
		link(webfinger.RelUpdates, "", feed.MovedTo)
	}
	switch avatar := w.Avatar; {
	case strings.HasPrefix(avatar, "/"):
		link(webfinger.RelAvatar, "", origin+avatar)
	case avatar != "":
		link(webfinger.RelAvatar, "", avatar)
	}
	return d, nil
}

// userOf returns the user in acct:user@host, or in the URL of a page under any origin of this
// server.
func (f *WebFinger) userOf(resource string) (user string, ok bool) {
	host := ""
	if a, is := webfinger.Split(resource); is {
		user, host = strings.ToLower(a.Name), a.Host
	} else {
		u, err := url.Parse(resource)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			return "", false
		}
		user, host = strings.Trim(u.Path, "/"), strings.ToLower(u.Host)
	}
	if user == "" || strings.ContainsAny(user, "/.") {
		return "", false
	}
	for _, origin := range f.Origins() {
		// A resource has no scheme, so the default ports of both schemes are omitted too.
		if own := hostOf(origin); host == own || host == strings.TrimSuffix(strings.TrimSuffix(own, ":443"), ":80") {
			return user, true
		}
	}
	return "", false
}

func hostOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}
