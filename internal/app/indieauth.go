package app

import (
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/endpoint/publishhttp"
	"cloudburst/internal/web"
)

// signInToApps enables the page on which users authorize apps. Users sign in to these apps with
// the URL of their author page.
func (a *App) signInToApps(pages *web.Web) {
	pages.Apps, pages.Rels = &publishhttp.IndieAuthClients{Web: a.client}, publishhttp.IndieAuthLinks()
}

// indieAuth returns the HTTP endpoints that apps call after the user has authorized them.
func (a *App) indieAuth() *publishhttp.IndieAuth {
	return &publishhttp.IndieAuth{
		Accounts: a.accounts, Public: a.names.Public, Writer: a.posts.Writer, Photo: a.photo, Trusted: a.cfg.TrustedProxies, Log: a.log,
	}
}

// photo returns the URL of the author's image; "": there is none.
func (a *App) photo(w author.Writer) string {
	if strings.HasPrefix(w.Avatar, "/") {
		return a.names.Public() + w.Avatar
	}
	return w.Avatar
}
