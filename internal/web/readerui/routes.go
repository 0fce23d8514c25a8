package readerui

import (
	"net/http"
	"slices"

	"cloudburst/internal/route"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// Routes lists the pages of the river and of followed feeds.
func (p *Pages) Routes() []route.Route {
	return slices.Concat(p.river.routes(), p.follow.routes())
}

// ReaderRoutes makes routes of a reader for other groups of pages.
func (p *Pages) ReaderRoutes() shell.ReaderRoutes {
	with := func(page shell.ReaderPage) riverPage {
		return func(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
			return page(rw, r, reader)
		}
	}
	return shell.ReaderRoutes{
		Own: func(path, purpose string, page shell.ReaderPage) route.Route {
			return p.follow.own(path, purpose, with(page))
		},
		Form: func(path, purpose string, do shell.ReaderPage) route.Route {
			return p.follow.form(path, purpose, with(do))
		},
	}
}

// read returns the route of a page of a river that may be public.
func (s *base) read(path, purpose string, page riverPage) route.Route {
	return route.Route{Method: http.MethodGet, Path: path, Handler: s.forReader(accessRead, page), Purpose: purpose}
}

// own returns the route of a private page of a reader.
func (s *base) own(path, purpose string, page riverPage) route.Route {
	return route.Route{Method: http.MethodGet, Path: path, Handler: shell.SelfGuarded(s.forReader(accessWrite, page)), Protection: route.Session, Purpose: purpose}
}

// form returns the route of a form of a private page.
func (s *base) form(path, purpose string, do riverPage) route.Route {
	return route.Route{Method: http.MethodPost, Path: path, Handler: shell.SelfGuarded(s.forReader(accessWrite, do)), Protection: route.Session, MaxBody: rsscloud.MaxForm, Purpose: purpose}
}

// withForm reads the form for do.
func withForm(do func(http.ResponseWriter, *http.Request, string, rsscloud.Form) error) riverPage {
	return func(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
		form, err := shell.ReadForm(rw, r)
		if err != nil {
			return err
		}
		return do(rw, r, reader, form)
	}
}

func withMaxBody(r route.Route, bytes int64) route.Route {
	r.MaxBody = bytes
	return r
}

// open returns the route of a public page.
func (s *base) open(path, purpose string, page shell.Page) route.Route {
	return route.Route{Method: http.MethodGet, Path: path, Handler: s.Handle(page), Purpose: purpose}
}

func (s *riverPages) routes() []route.Route {
	mark := func(path, purpose string, do riverPage) route.Route {
		r := s.form(path, purpose, do)
		r.MaxBody = maxMarks
		return r
	}
	return []route.Route{
		s.read("/river", "The river of the followed feeds.", s.riverPage),
		s.read("/river/stream", "The river, live, as server-sent events.", s.riverStream),
		s.read("/river/item/{id}", "One item of the river.", s.itemPage),
		s.form("/river/item/{id}/full", "Reads the page of an item for its full text.", s.doFull),
		mark("/river/mark", "Marks items as read or starred.", s.doMark),
		mark("/river/read", "Marks all items as read.", s.doRead),
		mark("/river/search", "Saves a search of the river, or removes a saved one.", s.doSearch),
		mark("/river/read/undo", "Undoes the last marking of all items.", s.doUndoRead),
		s.own("/river/welcome", "The first steps of a new user.", s.welcomePage),
		s.open("/river/display", "The display settings of the river.", s.displayPage),
		{Method: http.MethodPost, Path: "/river/display", Handler: s.Handle(s.doDisplay), MaxBody: maxMarks, Purpose: "Stores the display settings of the river: in the account, or in a cookie."},
		{Method: http.MethodGet, Path: "/river/image", Handler: http.HandlerFunc(s.ServeImage), Purpose: "An image of an item, read by this server for its readers."},
		s.open("/rivers/{owner}", "The public categories of a reader.", s.publicIndex),
		s.open("/rivers/{owner}/{category}", "The river of a public category.", s.public(s.riverOf)),
		s.open("/rivers/{owner}/{category}/stream", "The river of a public category, live, as server-sent events.", s.public(s.streamOf)),
		s.open("/rivers/{owner}/{category}/item/{id}", "One item of a public category.", s.public(s.itemOf)),
		s.open("/rivers/{owner}/{category}/opml", "The feeds of a public category as OPML.", s.public(s.publicOPML)),
		s.open("/rivers/{owner}/{category}/{file}", "The river of a public category as a feed.", s.public(s.publicFeed)),
	}
}

func (s *followPages) routes() []route.Route {
	imported := s.form("/feeds/import", "Imports a list of feeds.", s.doImport)
	imported.MaxBody = MaxImport + shell.FormOverhead
	return []route.Route{
		s.own("/feeds", "The feeds that the reader follows.", s.sourcesPage),
		s.own("/feeds/add", "The form to follow a feed.", s.addPage),
		s.form("/feeds/add", "Follows a feed.", withForm(s.doAdd)),
		withMaxBody(s.form("/feeds/selected", "Unfollows, checks, moves or marks read the ticked feeds.", s.doSelected), maxMarks),
		withMaxBody(s.form("/feeds/selected/undo", "Undoes the last change of several feeds.", s.doUndoSelected), maxMarks),
		s.own("/feeds/{id}", "The items of a followed feed.", s.sourcePage),
		s.own("/feeds/{id}/{part}", "The settings or the diagnosis of a followed feed.", s.sourcePartPage),
		s.form("/feeds/{id}/settings", "Changes the settings of a followed feed.", s.doSettings),
		s.form("/feeds/{id}/login", "Saves or removes the login of a followed feed.", s.doSourceLogin),
		s.form("/feeds/{id}/refresh", "Checks a feed now.", s.doRefresh),
		s.form("/feeds/{id}/revive", "Resumes checks of a feed that was given up.", s.doRevive),
		s.form("/feeds/{id}/undo", "Undoes the move of a feed to another URL.", s.doUndo),
		s.form("/feeds/{id}/unfollow", "Unfollows a feed.", s.doUnfollow),
		s.form("/feeds/{id}/unfollow/undo", "Follows a feed again as before.", s.doUndoUnfollow),
		s.own("/feeds/import", "The form to import a list of feeds.", s.importPage),
		imported,
		s.own("/feeds/import/{id}", "How far an import is.", s.importedPage),
		s.own("/feeds/export.opml", "The followed feeds as OPML.", s.export),
		s.own("/feeds/categories", "The categories of the reader.", s.categoriesPage),
		s.form("/feeds/categories", "Creates a category.", withForm(s.doCategory)),
		s.form("/feeds/categories/rename", "Renames a category.", withForm(s.doRenameCategory)),
		s.form("/feeds/categories/remove", "Removes a category.", withForm(s.doRemoveCategory)),
		s.form("/feeds/categories/public", "Makes a category public or private.", withForm(s.doPublicCategory)),
		s.own("/feeds/lists", "The reading lists of the reader.", s.listsPage),
		s.form("/feeds/lists/drop", "Unfollows a reading list.", withForm(s.doDropList)),
		s.open("/feeds/start", "The recommended feeds.", s.startPage),
		s.form("/feeds/start", "Follows some of the recommended feeds.", withForm(s.doStart)),
	}
}
