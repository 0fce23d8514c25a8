package shell

import "strings"

// section is an entry of the bar, with the pages of its tabs. A new section needs an icon in
// templates/icons.html.
type section struct {
	Path, Label, Icon string
	Tabs              []tab
	Current           bool // the page being shown belongs to this section
}

// tab is a page of a section.
type tab struct {
	Path, Label string
	Current     bool
}

// accountPath is the path of the section that is a menu in the bar.
const accountPath = "/account"

// sections lists the entries of the bar for the features of this server, and marks those of the page
// at path. The account is a menu, not a link, and has the pages of administrators for them only.
func (s *Shell) sections(path string, administrator bool) []section {
	var all []section
	if s.Reads {
		all = append(all, section{Path: "/river", Label: "Read", Icon: "river", Tabs: []tab{
			{Path: "/river", Label: "River"}, {Path: "/feeds", Label: "Feeds"}, {Path: "/feeds/categories", Label: "Categories"},
			{Path: "/feeds/import", Label: "Import and export"}, {Path: "/feeds/lists", Label: "Reading lists"}, {Path: "/feeds/notices", Label: "Forwarding"}, {Path: "/feeds/filters", Label: "Filters"},
			{Path: "/river/display", Label: "Display"}}})
	}
	if s.Sessions != nil && (s.Writes || s.Hosts) {
		write := section{Path: "/account/feed", Label: "Write", Icon: "write", Tabs: writeTabs(s.Options)}
		if s.Writes {
			write.Path = "/write"
		}
		all = append(all, write)
	}
	all = append(all, section{Path: "/hub", Label: "Hub", Icon: "hub", Tabs: []tab{
		{Path: "/hub", Label: "Overview"}, {Path: "/log", Label: "Log"}, {Path: "/topics", Label: "Topics"},
		{Path: "/changes", Label: "Recent changes"}, {Path: "/status", Label: "Status"}}})
	if s.Sessions != nil {
		mine := section{Path: accountPath, Label: "Account", Icon: "account", Tabs: []tab{
			{Path: "/account", Label: "Sign-in and sessions"}, {Path: "/account/tokens", Label: "Apps and tokens"}}}
		if administrator && s.Administers {
			mine.Tabs = append(mine.Tabs, tab{Path: "/admin", Label: "Administration"})
		}
		all = append(all, mine)
	}
	markCurrent(all, path)
	return all
}

func writeTabs(s Options) (all []tab) {
	if s.Writes {
		all = append(all, tab{Path: "/write", Label: "New post"}, tab{Path: "/write/posts", Label: "Posts"})
		if s.Replies {
			all = append(all, tab{Path: "/write/replies", Label: "Replies"})
		}
		all = append(all, tab{Path: "/account/author", Label: "Your page"})
	}
	if s.Hosts {
		all = append(all, tab{Path: "/account/feed", Label: "Your feeds"})
	}
	if s.CountsReaders {
		all = append(all, tab{Path: "/account/readers", Label: "Readers"})
	}
	all = append(all, tab{Path: "/account/private", Label: "Private feeds"})
	if s.Moves {
		all = append(all, tab{Path: "/account/import", Label: "Import and export"})
	}
	return all
}

// markCurrent marks the tab whose path is the longest prefix of path, and its section. The page of a
// post belongs to the list of posts, and the list of authors to the feeds.
func markCurrent(all []section, path string) {
	if rest, ok := strings.CutPrefix(path, "/write/"); ok && rest != "posts" && rest != "replies" {
		path = "/write/posts"
	}
	if path == "/people" || path == "/people/follow" {
		path = "/feeds"
	}
	type place struct{ section, tab int }
	best, longest := place{}, 0
	for i, one := range all {
		for j, t := range one.Tabs {
			if (path == t.Path || strings.HasPrefix(path, t.Path+"/")) && len(t.Path) > longest {
				best, longest = place{i, j}, len(t.Path)
			}
		}
	}
	if longest > 0 {
		all[best.section].Current = true
		all[best.section].Tabs[best.tab].Current = true
	}
}

// currentSection returns the section of the page; the zero value if the page belongs to none.
func (v View) currentSection() section {
	for _, one := range v.Sections {
		if one.Current {
			return one
		}
	}
	return section{}
}

// Bar lists the entries of the bar without the menu of the account.
func (v View) Bar() (all []section) {
	for _, one := range v.Sections {
		if one.Path != accountPath {
			all = append(all, one)
		}
	}
	return all
}

// InAccount reports whether the page belongs to the menu of the account.
func (v View) InAccount() bool { return v.currentSection().Path == accountPath }

// Menu lists the pages in the menu of the account.
func (v View) Menu() (all []tab) {
	if v.Writes {
		all = append(all, tab{Path: "/account/author", Label: "Profile"})
	}
	for _, one := range v.Sections {
		if one.Path == accountPath {
			all = append(all, one.Tabs...)
		}
	}
	return append(all, tab{Path: "/docs", Label: "Docs"})
}

// SectionTabs lists the pages of the section, if there are several.
func (v View) SectionTabs() []tab {
	if all := v.currentSection().Tabs; len(all) > 1 {
		return all
	}
	return nil
}

// TabsName returns the accessible name of the tabs.
func (v View) TabsName() string { return v.currentSection().Label }

// adminPages lists the templates of the pages of administrators.
func adminPages() []string {
	return []string{"admin", "adminusers", "adminuser", "admindelete", "admininvites", "adminsettings", "adminblocks", "admindomains", "adminsubscriptions", "adminbackups", "adminaudit"}
}
