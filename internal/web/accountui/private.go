package accountui

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

const privatePath = "/account/private"

type privateView struct {
	shell.View
	Message string
	Groups  []groupRow
	Deleted []groupRow

	New        groupRow // values of the form for a new group
	CanGroup   bool
	CanWrite   bool
	slug       string // slug of the group whose form has an error
	newSecret  shell.NamedValue
	groupError error
}

// groupRow is a group with its readers.
type groupRow struct {
	Slug, Name, Description string
	URL                     string // URL of the feed, without a secret
	Secrets                 []secretRow
	Public                  bool // the group has no private post or feed yet, so its readers get the public feed
	Items                   int
	DeletedAt               shell.Moment

	Reader, ReaderError                    string
	NameError, SlugError, DescriptionError string
	Open                                   bool // the form that changes the group is open
}

type secretRow struct {
	Selector, Reader string
	Made, Used       shell.Moment
}

// privatePage lists the groups and the readers of their feeds.
func (s *Pages) privatePage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.showPrivate(rw, r, session, http.StatusOK, privateView{})
}

// groups returns the groups of a user. If users cannot write posts, there is only the default group.
func (s *Pages) groups(ctx context.Context, user string) ([]author.Group, error) {
	if s.Groups == nil {
		return []author.Group{{Slug: author.DefaultGroup, Name: "Private"}}, nil
	}
	return s.Groups.Groups(ctx, user)
}

func (s *Pages) showPrivate(rw http.ResponseWriter, r *http.Request, session account.Session, status int, v privateView) error {
	v.View, v.Message = s.NewView(r, "Private feeds"), doneMessage(r)
	v.CanGroup, v.CanWrite = s.Groups != nil, s.Writes
	all, err := s.groups(r.Context(), session.User)
	if err != nil {
		return err
	}
	for _, g := range all {
		row := groupRow{Slug: g.Slug, Name: shell.CleanText(g.Name, 100), Description: shell.CleanText(g.Description, 500), DeletedAt: v.When(g.DeletedAt)}
		if g.IsDeleted() {
			v.Deleted = append(v.Deleted, row)
			continue
		}
		if err := s.fillGroup(r, &row, session.User, v); err != nil {
			return err
		}
		v.Groups = append(v.Groups, row)
	}
	if v.slug == "" {
		v.New.fail(v.groupError)
	}
	return s.Render(rw, r, status, "private", v)
}

// fillGroup adds the readers of a group, and the values and error of its forms.
func (s *Pages) fillGroup(r *http.Request, row *groupRow, user string, v privateView) error {
	row.URL = s.BaseURL(r) + author.GroupBase(user, row.Slug) + "rss.xml"
	secrets, err := s.Accounts.Secrets(r.Context(), user, author.GroupFeed(row.Slug))
	if err != nil {
		return err
	}
	for _, one := range secrets {
		row.Secrets = append(row.Secrets, secretRow{shell.CleanText(one.Selector, 100), shell.CleanText(one.Reader, 100), v.When(one.CreatedAt), v.When(one.UsedAt)})
	}
	if s.Authors != nil {
		f, err := s.Authors.Feed(r.Context(), user, author.GroupFeed(row.Slug))
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
		row.Items, row.Public = f.Items, row.Slug == author.DefaultGroup && f.Version == 0
	}
	if v.slug != row.Slug {
		return nil
	}
	if row.Reader, row.ReaderError = v.newSecret.Name, v.newSecret.Value; row.ReaderError == "" {
		row.Name, row.Description, row.Open = v.New.Name, v.New.Description, true
		row.fail(v.groupError)
	}
	return nil
}

// fail puts an error next to its field.
func (g *groupRow) fail(err error) {
	if err == nil {
		return
	}
	switch text := shell.Reason(err); fault.FieldOf(err) {
	case "slug":
		g.SlugError = text
	case "description":
		g.DescriptionError = text
	default:
		g.NameError = text
	}
}

type secretView struct {
	shell.View
	Reader, Group string
	URL           string // URL of the feed, with the secret
	Address       string // URL without a secret, for programs that sign in with a password or WSSE
	Name, Secret  string
}

// doNewSecret creates a secret for one reader of a group and shows it once.
func (s *Pages) doNewSecret(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	g := author.Group{Slug: author.DefaultGroup, Name: "Private"}
	if s.Groups != nil {
		slug := cmp.Or(shell.FormValue(form, "group"), author.DefaultGroup)
		var err error
		if g, err = s.Groups.Group(r.Context(), session.User, slug); err != nil {
			return err
		}
	}
	v := privateView{slug: g.Slug, newSecret: shell.NamedValue{Name: shell.CleanText(strings.TrimSpace(shell.FormValue(form, "reader")), 100)}}
	if v.newSecret.Name == "" {
		v.newSecret.Value = "Enter a name for the reader, so that you can recognise the secret."
		return s.showPrivate(rw, r, session, http.StatusBadRequest, v)
	}
	made, err := s.Accounts.NewSecret(r.Context(), session.User, author.GroupFeed(g.Slug), v.newSecret.Name)
	if err != nil {
		status := s.Refused(rw, r, err)
		v.newSecret.Value = shell.Reason(err)
		return s.showPrivate(rw, r, session, status, v)
	}
	plain := strings.TrimPrefix(made.Plain, made.Selector+".")
	base := s.BaseURL(r) + author.GroupBase(session.User, g.Slug)
	return s.Render(rw, r, http.StatusOK, "secret", secretView{View: s.NewView(r, "New secret"),
		Reader: shell.CleanText(made.Reader, 100), Group: shell.CleanText(g.Name, 100), URL: base + made.Selector + "." + plain + "/rss.xml", Address: base + "rss.xml",
		Name: made.Selector, Secret: plain})
}

// doRevokeSecret revokes a secret after confirmation.
func (s *Pages) doRevokeSecret(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	selector := shell.FormValue(form, "selector")
	if shell.FormValue(form, "sure") == "" {
		return s.AskFirst(rw, r, "Revoke this secret?", shell.Question{
			Lines:  []string{"The reader is then refused with this secret. Other secrets stay valid. This cannot be undone, but you can create another secret."},
			Action: privatePath + "/revoke", Fields: []shell.NamedValue{{Name: "selector", Value: selector}}, Button: "Revoke", Back: privatePath,
		})
	}
	if err := s.Accounts.RevokeSecret(r.Context(), session.User, selector); err != nil && fault.CodeOf(err) != fault.NotFound {
		return err
	}
	return shell.Redirect(rw, r, privatePath+"?done=secret")
}

// doGroup creates a group, or changes the group that the form names.
func (s *Pages) doGroup(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	one := func(name string) string { return strings.TrimSpace(shell.FormValue(form, name)) }
	g := author.Group{Slug: strings.ToLower(one("slug")), Name: one("name"), Description: one("description")}
	group := one("group")
	var err error
	if group == "" {
		g, err = s.Groups.AddGroup(r.Context(), session.User, g)
		group = g.Slug
	} else {
		_, err = s.Groups.ChangeGroup(r.Context(), session.User, group, func(old *author.Group) { old.Name, old.Description = g.Name, g.Description })
	}
	if code := fault.CodeOf(err); err != nil && (code == fault.Invalid || code == fault.Conflict) {
		status, _ := shell.StatusOf(err)
		return s.showPrivate(rw, r, session, status, privateView{slug: one("group"), groupError: err, New: groupRow{
			Slug: shell.CleanText(one("slug"), 40), Name: shell.CleanText(g.Name, 200), Description: shell.CleanText(g.Description, 1000)}})
	}
	if err != nil {
		return err
	}
	return shell.Redirect(rw, r, privatePath+"?done=group#g-"+group)
}

// doDeleteGroup deletes a group after confirmation.
func (s *Pages) doDeleteGroup(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	g, err := s.Groups.Group(r.Context(), session.User, shell.FormValue(form, "group"))
	if err != nil {
		return err
	}
	if shell.FormValue(form, "sure") == "" {
		l := s.Locale(r)
		return s.AskFirst(rw, r, l.Say("Delete the group %s?", shell.CleanText(g.Name, 60)), shell.Question{
			Lines: []string{"Its private feed is then refused to all its readers.",
				"Its posts stay private: nobody but you sees those that are for no other group. You can restore the group with its readers and posts."},
			Action: privatePath + "/groups/delete", Fields: []shell.NamedValue{{Name: "group", Value: g.Slug}}, Button: "Delete group", Back: privatePath,
		})
	}
	if _, err := s.Groups.RemoveGroup(r.Context(), session.User, g.Slug); err != nil {
		return err
	}
	return shell.Redirect(rw, r, privatePath+"?done=ungroup")
}

// doRestoreGroup restores a deleted group.
func (s *Pages) doRestoreGroup(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	g, err := s.Groups.RestoreGroup(r.Context(), session.User, shell.FormValue(form, "group"))
	if err != nil {
		return err
	}
	return shell.Redirect(rw, r, privatePath+"?done=regroup#g-"+g.Slug)
}
