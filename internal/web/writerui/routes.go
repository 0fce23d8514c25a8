package writerui

import (
	"net/http"

	"cloudburst/internal/route"
	"cloudburst/internal/web/shell"
)

// maxSent is the maximum size in bytes of a form without files.
const maxSent = 3 * maxFormBytes // percent-encoding needs up to three bytes for one byte

// Routes lists the pages for writing and the endpoints of their script.
func (s *Pages) Routes() []route.Route {
	get, form := s.UserRoute, s.FormRoute
	script := func(method, path string, limit int64, purpose string, do func(http.ResponseWriter, *http.Request, string) (editorResponse, error)) route.Route {
		return route.Route{Method: method, Path: path, Handler: shell.SelfGuarded(s.forScript(do)), Protection: route.Session, MaxBody: limit, Purpose: purpose}
	}
	all := []route.Route{
		get("/write", "The editor for a new post.", s.writePage),
		{Method: http.MethodPost, Path: "/write", Handler: shell.SelfGuarded(s.Handle(s.doWrite)), Protection: route.Session, MaxBody: maxSent, Purpose: "Publishes, schedules, saves or previews a post."},
		form("/write/outline", maxOPML, "Imports an outline of another program into the editor.", s.readOPML),
		form("/write/outline.opml", maxSent, "Exports the outline of the form as OPML.", s.saveOPML),
		script(http.MethodPost, "/write/draft", maxSent, "Saves a draft while its author types.", s.doDraft),
		script(http.MethodPost, "/write/preview", maxSent, "Measures a post and shows how it will look.", s.doPreview),
		form("/write/look", maxSent, "Shows an unsaved post as its page would be.", s.doLook),
		script(http.MethodPost, "/write/media", maxSent, "Stores a file for a post.", s.doMedia),
		script(http.MethodPost, "/write/file", maxSent, "Finds out type and length of a file elsewhere.", s.doFile),
		script(http.MethodPost, "/write/card", maxSent, "Reads the preview of a page that the text links to.", s.doCard),
		script(http.MethodGet, "/write/categories", 0, "Categories of the author that begin with a prefix.", s.doCategories),
		get("/write/posts", "The posts of the author.", s.postsPage),
		get("/write/settings", "The author's choices for texts: short posts, URLs and hashtags.", rulesPages{s}.page),
		form("/write/settings", maxSent, "Changes the author's choices for texts.", rulesPages{s}.change),
		get("/write/{id}", "The editor for a post.", s.editPage),
		get("/write/{id}/versions", "The earlier versions of a post, with their differences.", versionPages{s}.page),
		form("/write/{id}/versions/{n}/restore", maxSent, "Restores an earlier version of a post.", versionPages{s}.restore),
		form("/write/{id}/undo", maxSent, "Undoes the last change of a post.", s.doUndoPost),
		form("/write/{id}/delete", maxSent, "Deletes a post.", s.doDeletePost),
		get("/account/author", "The profile of the author.", s.profilePage),
		form("/account/author", maxSent, "Changes the profile of the author.", s.doProfile),
	}
	if s.Replies != nil {
		all = append(all, get(repliesPath, "Replies of other sites to the author's posts, to approve or reject.", s.repliesPage),
			form(repliesPath, maxSent, "Approves or rejects a reply, or blocks its author.", s.doReplies))
	}
	return all
}
