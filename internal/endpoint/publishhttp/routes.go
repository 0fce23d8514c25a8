package publishhttp

import (
	"net/http"

	"cloudburst/internal/author"
	"cloudburst/internal/event"
	"cloudburst/internal/route"
	"cloudburst/protocol/indieauth"
	"cloudburst/protocol/micropub"
)

// Routes lists the endpoints of Micropub. Each endpoint has a second route with a trailing slash.
//
// spec:cloudburst#endpoint-micropub
func (m *Micropub) Routes() []route.Route {
	site := &micropubSite{m}
	posts := &micropub.Handler{Backend: site, Log: m.Log}
	list := func(path string, h http.Handler, limit int64, purpose string) []route.Route {
		one := route.Route{Path: path, Handler: withSlowUpload(h), Protection: route.Token, MaxBody: limit, Purpose: purpose}
		slash := one
		slash.Path += "/{$}"
		return []route.Route{one, slash}
	}
	routes := list(pathMicropub, posts, micropub.MaxBody+m.MaxFile, "Accepts new posts and changes of posts by Micropub.")
	if m.Files == nil {
		return routes
	}
	posts.Media = site
	media := &micropub.MediaHandler{Auth: site, Media: site, Log: m.Log}
	return append(routes, list(pathMicropubMedia, media, m.MaxFile, "Accepts files for posts by Micropub.")...)
}

// formBody is the maximum size of an IndieAuth form in bytes.
const formBody = 64 << 10

// Routes lists the endpoints of IndieAuth. They check codes and tokens themselves. The sign-in page
// has the same URL as the authorization endpoint.
func (i *IndieAuth) Routes() []route.Route {
	s := &indieauth.Server{Backend: i, Log: i.Log}
	authorization := s.Authorization()
	return []route.Route{
		{Method: "POST", Path: pathAuthorization, Handler: authorization, MaxBody: formBody, Purpose: "Names the signed-in user to an app, by IndieAuth."},
		{Method: "OPTIONS", Path: pathAuthorization, Handler: authorization, Purpose: "Lets pages of other sites call the authorization endpoint."},
		{Path: pathToken, Handler: s.Token(), MaxBody: formBody, Purpose: "Exchanges an IndieAuth code for a token."},
		{Path: pathIntrospection, Handler: s.Introspection(), Protection: route.Token, MaxBody: formBody, Purpose: "Reports whether a token is valid, and its scopes."},
		{Path: pathRevocation, Handler: s.Revocation(), MaxBody: formBody, Purpose: "Revokes a token that an app no longer needs."},
		{Method: "GET", Path: pathAuthMetadata, Handler: http.HandlerFunc(i.metadata), Purpose: "Names the endpoints of IndieAuth for apps."},
	}
}

// PathConvert is the path of [Convert].
const PathConvert = "/convert"

// Routes lists the endpoint that converts known feeds.
func (c *Convert) Routes() []route.Route {
	return []route.Route{{Path: PathConvert, Handler: c, Purpose: "Converts a feed that this server knows to another format."}}
}

// Routes lists the endpoints for the list of all public hosted feeds and for the topics of private ones.
func (f *Feeds) Routes() []route.Route {
	return []route.Route{
		{Method: "GET", Path: "/feeds.opml", Handler: f.List(), Purpose: "Lists the public feeds of all users as OPML."},
		{Method: "OPTIONS", Path: "/feeds.opml", Handler: f.List(), Purpose: "Lets scripts of other sites read the list of all feeds."},
		{Method: "OPTIONS", Path: event.PrivateTopics + "{topic}/{document...}", Handler: http.HandlerFunc(topics{f}.serveTopic), Purpose: "Lets scripts of other sites read a private feed."},
		{Method: "GET", Path: event.PrivateTopics + "{topic}/{document...}", Handler: http.HandlerFunc(topics{f}.serveTopic), Protection: route.Token, Purpose: "Serves a private feed at the URL by which its reader subscribes to notifications, and the files of its posts at media/HASH/NAME."},
	}
}

// UserRoutes lists the paths of [Feeds] that begin with a user name. A mux cannot serve them:
// /{user}/rss.xml and a fixed subtree such as /reader/ would both match /reader/rss.xml, and
// neither is more specific. Therefore the list is only for the documentation, and [Feeds.ServeHTTP]
// parses the paths itself.
func (f *Feeds) UserRoutes() []route.Route {
	list := func(method, path string, limit int64, protection route.Protection, purpose string) route.Route {
		return route.Route{Method: method, Path: path, Handler: f, Protection: protection, MaxBody: limit, Purpose: purpose}
	}
	return []route.Route{
		list("GET", "/{user}", 0, route.Public, "Redirects to the page of a user."),
		list("GET", "/{user}/{$}", 0, route.Public, "Shows the page of a user with the newest posts."),
		list("GET", "/{user}/rss.xml", 0, route.Public, "Serves the public feed of a user as it was saved."),
		list("PUT", "/{user}/rss.xml", author.MaxDocument, route.Token, "Saves a new version of the public feed."),
		list("DELETE", "/{user}/rss.xml", 0, route.Token, "Ends the public feed, which is gone for readers."),
		list("GET", "/{user}/feed", 0, route.Public, "Serves the public feed in the format that the reader prefers."),
		list("GET", "/{user}/feed.{format}", 0, route.Public, "Serves the public feed in the format of the file extension."),
		list("GET", "/{user}/rsd.xml", 0, route.Public, "Names the endpoints for blog editors, as RSD."),
		list("GET", "/{user}/opml", 0, route.Public, "Lists the public feeds of a user as OPML."),
		list("GET", "/{user}/feeds.opml", 0, route.Public, "Lists the public feeds of a user as OPML."),
		list("GET", "/{user}/media/{hash}/{name}", 0, route.Public, "Serves a file that belongs to posts."),
		list("GET", "/{user}/category/{category}/{document}", 0, route.Public, "Serves the posts of a category as page or feed."),
		list("GET", "/{user}/archive/{number}/{document}", 0, route.Public, "Serves older posts as a feed of the archive."),
		list("GET", "/{user}/{year}/{post...}", 0, route.Public, "Shows one post, or the posts of a year, month or day."),
		list("GET", "/{user}/{year}/{month}/{day}/{slug}/comments.rss", 0, route.Public, "Serves the public replies to a post as RSS."),
		list("GET", "/{user}/formats", 0, route.Public, "Lists all formats of the feed of a user."),
		list("GET", "/{user}/search", 0, route.Public, "Searches the posts of a user."),
		list("GET", "/{user}/{page}", 0, route.Public, "Shows a page of a user that is not a post."),
		list("GET", "/{user}/private/{document}", 0, route.Token, "Serves the private feed to readers with a password."),
		list("PUT", "/{user}/private/rss.xml", author.MaxDocument, route.Token, "Saves a new version of the private feed."),
		list("DELETE", "/{user}/private/rss.xml", 0, route.Token, "Ends the private feed, which is gone for readers."),
		list("GET", "/{user}/private/{secret}/{document}", 0, route.Token, "Serves the private feed to readers with a secret URL, or that of a group to readers with a password."),
		list("GET", "/{user}/private/{group}/{secret}/{document}", 0, route.Token, "Serves the private feed of a group to readers with a secret URL."),
		list("GET", "/{user}/private/{group}/{secret}/media/{hash}/{name}", 0, route.Token, "Serves a file of private posts to readers of the group; group and secret are parts of the path as for the feed."),
	}
}
