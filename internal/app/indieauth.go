package app

import (
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/endpoint/publishhttp"
	"cloudburst/internal/web"
)

// signInToApps lets users sign in to programs with the URL of their page: the page on which they
// decide.
func (a *App) signInToApps(pages *web.Web) {
	pages.Apps, pages.Rels = &publishhttp.IndieAuthClients{Web: a.client}, publishhttp.IndieAuthLinks()
}

// indieAuth has the endpoints that programs call then.
func (a *App) indieAuth() *publishhttp.IndieAuth {
	return &publishhttp.IndieAuth{
		Accounts: a.accounts, Public: a.names.Public, Writer: a.posts.Writer, Photo: a.photo, Trusted: a.cfg.TrustedProxies, Log: a.log,
	}
}

// photo is the URL of the image of an author; "": there is none.
func (a *App) photo(w author.Writer) string {
	if strings.HasPrefix(w.Avatar, "/") {
		return a.names.Public() + w.Avatar
	}
	return w.Avatar
}
