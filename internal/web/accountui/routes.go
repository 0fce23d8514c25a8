package accountui

import (
	"net/http"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/route"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// Routes lists the pages to sign in, and those of an account.
func (s *Pages) Routes() []route.Route {
	all := s.signInRoutes()
	all = append(all,
		s.UserRoute("/account", "The password and the sessions of an account.", s.accountPage),
		s.form("/account/password", "Changes the password.", s.doPassword),
		s.form("/account/sessions/end", "Ends a session, or all except that of this browser.", s.doEndSession),
		s.UserRoute("/account/tokens", "The tokens of programs.", s.tokensPage),
		s.form("/account/tokens", "Creates a token for a program.", s.doNewToken),
		s.form("/account/tokens/revoke", "Revokes a token.", s.doRevokeToken),
		s.UserRoute("/account/private", "The groups of the author and the readers of their private feeds.", s.privatePage),
		s.form("/account/private", "Creates a secret for a reader of a private feed.", s.doNewSecret),
		s.form("/account/private/revoke", "Revokes a secret of a private feed.", s.doRevokeSecret))
	if s.Deletion != nil {
		all = append(all, s.form("/account/delete", "Deletes the account of the user.", s.doDelete))
	}
	if s.Groups != nil {
		all = append(all,
			s.form("/account/private/groups", "Creates a group, or changes its name.", s.doGroup),
			s.form("/account/private/groups/delete", "Deletes a group after a confirmation.", s.doDeleteGroup),
			s.form("/account/private/groups/restore", "Restores a deleted group.", s.doRestoreGroup))
	}
	if s.Apps != nil {
		all = append(all,
			s.UserRoute("/auth", "Asks whether a program may act for the user (IndieAuth).", s.authorizePage),
			s.form("/auth/decide", "Saves whether a program may act for the user.", s.doAuthorize))
	}
	if s.Moves != nil {
		i := importPages{s}
		all = append(all,
			s.UserRoute("/account/export", "Everything of the author as one file.", i.exportPage),
			s.UserRoute("/account/import", "The forms to export and to import an author.", i.movePage),
			s.FormRoute("/account/import", maxMove+shell.FormOverhead, "Stores a file and previews its import.", i.doMove),
			s.UserRoute("/account/import/{id}", "How far an import is, its preview, or its result.", i.movedPage),
			s.form("/account/import/{id}", "Imports or discards a previewed file.", i.doMoved),
			s.UserRoute("/account/import/{id}/urls", "Old and new URLs of imported posts as CSV.", i.movedURLs))
	}
	if s.Authors != nil {
		all = append(all, s.feedRoutes()...)
	}
	return all
}

// form returns the route of a form, which it reads for do.
func (s *Pages) form(path, purpose string, do func(http.ResponseWriter, *http.Request, account.Session, rsscloud.Form) error) route.Route {
	return s.FormRoute(path, rsscloud.MaxForm, purpose, func(rw http.ResponseWriter, r *http.Request, session account.Session) error {
		form, err := shell.ReadForm(rw, r)
		if err != nil {
			return err
		}
		return do(rw, r, session, form)
	})
}

func (s *Pages) signInRoutes() []route.Route {
	get := func(path, purpose string, do shell.Page) route.Route {
		return route.Route{Method: http.MethodGet, Path: path, Handler: s.Handle(do), Purpose: purpose}
	}
	post := func(path string, limit int64, purpose string, do shell.Page) route.Route {
		return route.Route{Method: http.MethodPost, Path: path, Handler: s.Handle(do), MaxBody: limit, Purpose: purpose}
	}
	return []route.Route{
		get("/setup", "The form for the first account.", s.setup),
		post("/setup", rsscloud.MaxForm, "Creates the first account.", s.doSetup),
		get("/login", "The form to sign in.", s.login),
		post("/login", rsscloud.MaxForm, "Signs in.", s.doLogin),
		post("/logout", 0, "Signs out.", s.logout),
		get("/signup", "The form for a new account.", s.signup),
		post("/signup", rsscloud.MaxForm, "Creates a new account.", s.doSignup),
	}
}

// feedRoutes lists the pages of hosted feeds.
func (s *Pages) feedRoutes() []route.Route {
	all := []route.Route{
		s.UserRoute("/account/feed", "The hosted feeds of the author.", s.feedsPage),
		s.FormRoute("/account/feed", author.MaxDocument+shell.FormOverhead, "Saves a feed from a file.", s.doSave),
		s.form("/account/feed/move", "Moves a feed to another URL.", s.doPlace),
		s.form("/account/feed/for-now", "Moves a feed to another URL for a while.", s.doPlace),
		s.form("/account/feed/end", "Ends a feed.", s.doPlace),
		s.form("/account/feed/restore", "Restores a feed.", s.doPlace),
		s.form("/account/feed/cloud", "Adds the server's own <cloud> to a feed, or removes it.", s.doCloud),
	}
	if s.Audience != nil {
		all = append(all, s.UserRoute("/account/readers", "The readers of the feeds.", s.readersPage))
	}
	if s.Profiles != nil {
		all = append(all, s.form("/account/feed/hints", "Changes the update hints of the feed.", s.doHints))
	}
	return all
}
