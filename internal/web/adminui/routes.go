package adminui

import (
	"net/http"
	"slices"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/route"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// Routes lists the pages.
func (s *Pages) Routes() []route.Route {
	return slices.Concat(s.userRoutes(), s.serverRoutes(), []route.Route{
		s.page("/admin/audit", "The log of what administrators did.", s.auditPage),
	})
}

func (s *Pages) userRoutes() []route.Route {
	all := []route.Route{
		s.page("/admin/users", "The users of this server.", s.usersPage),
		s.form("/admin/users", "Creates a user.", s.doCreate),
		s.page("/admin/users/{user}", "One user, with the actions on them.", s.userPage),
		s.action("/admin/users/{user}/disable", "Disables a user.", s.doDisable),
		s.action("/admin/users/{user}/enable", "Enables a user.", s.doEnable),
		s.action("/admin/users/{user}/promote", "Makes a user an administrator.", s.doPromote),
		s.action("/admin/users/{user}/demote", "Takes the role of an administrator away.", s.doDemote),
		s.form("/admin/users/{user}/password", "Sets the password of a user.", s.doPassword),
		s.page("/admin/users/{user}/delete", "Asks for the password before a user is deleted.", s.deletePage),
		s.form("/admin/users/{user}/delete", "Deletes a user.", s.doDelete),
		s.page("/admin/invites", "The invitations to create an account.", s.invitesPage),
		s.form("/admin/invites", "Creates an invitation.", s.doInvite),
		s.form("/admin/invites/revoke", "Revokes an invitation.", s.doRevokeInvite),
	}
	if s.Exports != nil {
		all = append(all, s.page("/admin/users/{user}/export", "Everything of a user as one file.", s.exportUser))
	}
	return all
}

func (s *Pages) serverRoutes() []route.Route {
	all := []route.Route{
		s.page("/admin", "What needs the attention of an administrator.", s.overviewPage),
		s.page("/admin/settings", "The settings in force.", s.settingsPage),
		s.form("/admin/settings", "Changes a setting while the server runs.", s.doSetting),
		s.form("/admin/settings/reset", "Returns a setting to its configured value.", s.doResetSetting),
		s.page("/admin/blocks", "The blocked hosts, networks and topics.", s.blocksPage),
		s.form("/admin/blocks", "Blocks a host, a network or a topic.", s.doBlock),
		s.form("/admin/blocks/remove", "Removes a block.", s.doUnblock),
	}
	if s.Subscriptions != nil && s.Hub != nil {
		all = append(all,
			s.page("/admin/subscriptions", "The subscriptions of the hub.", s.subscriptionsPage),
			s.form("/admin/subscriptions/remove", "Removes a subscription.", s.doRemoveSubscription))
	}
	if s.Domains != nil {
		all = append(all,
			s.page("/admin/domains", "The domains of authors.", s.domainsPage),
			s.form("/admin/domains/check", "Checks that a domain leads to this server.", s.doCheckDomain),
			s.form("/admin/domains/remove", "Removes the domain of an author.", s.doRemoveDomain))
	}
	if s.Admin.Backups != nil {
		all = append(all,
			s.page("/admin/backups", "The backups on this machine.", s.backupsPage),
			s.action("/admin/backups", "Makes a backup.", s.doBackup),
			s.page("/admin/backups/{name}", "Downloads a backup.", s.downloadBackup),
			s.action("/admin/backups/{name}/verify", "Verifies a backup.", s.doVerifyBackup),
			s.form("/admin/backups/{name}/delete", "Deletes a backup.", s.doDeleteBackup))
	}
	return all
}

func (s *Pages) page(path, purpose string, page shell.UserPage) route.Route {
	return route.Route{Method: http.MethodGet, Path: path, Handler: s.only(page), Protection: route.Session, Purpose: purpose}
}

// action returns the route of a form without fields.
func (s *Pages) action(path, purpose string, do shell.UserPage) route.Route {
	return route.Route{Method: http.MethodPost, Path: path, Handler: s.only(do), Protection: route.Session, MaxBody: rsscloud.MaxForm, Purpose: purpose}
}

// fields returns the value of a field of a posted form.
type fields func(name string) string

// form returns the route of a form, which it reads for do.
func (s *Pages) form(path, purpose string, do func(http.ResponseWriter, *http.Request, account.Session, fields) error) route.Route {
	return s.action(path, purpose, func(rw http.ResponseWriter, r *http.Request, session account.Session) error {
		form, err := shell.ReadForm(rw, r)
		if err != nil {
			return err
		}
		return do(rw, r, session, func(name string) string { return shell.FormValue(form, name) })
	})
}

// only serves a page to administrators, and an error page to other users.
func (s *Pages) only(page shell.UserPage) http.Handler {
	return s.WithSession(func(rw http.ResponseWriter, r *http.Request, session account.Session) error {
		if !session.Administrator {
			return s.Problem(rw, r, http.StatusForbidden, "For administrators only",
				"You are signed in as "+session.User+", who is not an administrator of this server. An administrator can give you this role.")
		}
		rw.Header().Set("Referrer-Policy", "same-origin")
		return page(rw, r, session)
	})
}

func (s *Pages) actor(r *http.Request, session account.Session) admin.Actor {
	return admin.Actor{Name: session.User, Addr: s.CallerAddr(r), Via: "page"}
}

// view is the data of every page of administrators.
type view struct {
	shell.View
	Pages   []tab
	Message string // result of the last action
	Undo    *undo
}

// tab is one of the pages of administrators.
type tab struct {
	Path, Label string
	Current     bool
}

// undo is a form that reverts the last action.
type undo struct {
	Action string
	Fields []shell.NamedValue
}

// newView returns the view of a page below the tab at path. The URL names the message of the
// last action by a key of done, so that a link cannot put text into a page.
func (s *Pages) newView(r *http.Request, title, path string, done map[string]string) view {
	v := view{View: s.NewView(r, title), Message: done[r.URL.Query().Get("done")]}
	v.Pages = []tab{{Path: "/admin", Label: "Overview"}, {Path: "/admin/users", Label: "Users"}, {Path: "/admin/invites", Label: "Invitations"},
		{Path: "/admin/settings", Label: "Settings"}, {Path: "/admin/blocks", Label: "Blocks"}}
	if s.Subscriptions != nil && s.Hub != nil {
		v.Pages = append(v.Pages, tab{Path: "/admin/subscriptions", Label: "Subscriptions"})
	}
	if s.Domains != nil {
		v.Pages = append(v.Pages, tab{Path: "/admin/domains", Label: "Domains"})
	}
	if s.Admin.Backups != nil {
		v.Pages = append(v.Pages, tab{Path: "/admin/backups", Label: "Backups"})
	}
	v.Pages = append(v.Pages, tab{Path: "/admin/audit", Label: "Audit log"})
	for i := range v.Pages {
		v.Pages[i].Current = v.Pages[i].Path == path
	}
	return v
}

const rowsPerPage = 50
