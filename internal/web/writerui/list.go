package writerui

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// Maximum numbers of posts in a list.
const (
	maxListedPosts = 30 // of one kind on a page
	postsFirst     = 5  // of each kind except published, on the page with all kinds
)

type postsView struct {
	shell.View
	Message string
	Undo    *shell.UndoBar
	Done    string
	Query   string
	Show    string // name of the listed kind in the URL; "": all kinds
	Tabs    []postTab
	Lists   []postList
}

type postTab struct {
	Words, Href string
	Here        bool
}

// postList is a list of posts of one kind.
type postList struct {
	Words string // heading; "": the tab already names the kind
	Rows  []postRow
	More  string // URL of the next page; "": none
	All   string // URL of the complete list; "": none
}

// postRow is a post in a list.
type postRow struct {
	ID      int64
	Base    int64
	Words   string // title or first words of the post
	State   string
	Note    string // addition to the state, such as "unpublished changes"; "": none
	Href    string // path of the public page; "": none
	Edit    string
	When    shell.Moment
	Tags    []string
	Deleted bool
	Change  bool   // the row is a draft of changes to another post
	Warning string // message about a published post over the length limit; "": none
}

// postKinds lists the kinds of posts with their names in the URL and on the page.
func postKinds() []struct {
	Show, Words string
	State       author.State
} {
	return []struct {
		Show, Words string
		State       author.State
	}{
		{"drafts", "Drafts", author.Draft}, {"scheduled", "Scheduled", author.Scheduled},
		{"published", "Published", author.Published}, {"private", "Private", author.ForGroups}, {"deleted", "Deleted", author.Deleted},
	}
}

// postsPage lists the posts of the user.
func (s *Pages) postsPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	q := r.URL.Query()
	v := postsView{View: s.NewView(r, "Your posts"), Query: shell.CleanText(strings.TrimSpace(q.Get("q")), 200), Show: q.Get("show")}
	v.Script = "write.js"
	v.Message = didWords(q.Get("did"))
	if id, err := strconv.ParseInt(q.Get("done"), 10, 64); err == nil {
		v.Undo, v.Message, v.Done = s.undoOf(r.Context(), session.User, id, q.Get("did"), shell.TimeZone(r), s.Locale(r))
	}
	link := func(show string) string {
		to := url.Values{}
		if show != "" {
			to.Set("show", show)
		}
		if v.Query != "" {
			to.Set("q", v.Query)
		}
		if len(to) == 0 {
			return "/write/posts"
		}
		return "/write/posts?" + to.Encode()
	}
	v.Tabs = append(v.Tabs, postTab{"All", link(""), v.Show == ""})
	for _, k := range postKinds() {
		v.Tabs = append(v.Tabs, postTab{k.Words, link(k.Show), v.Show == k.Show})
		if v.Show != k.Show && (v.Show != "" || k.State == author.Deleted) {
			continue
		}
		list, err := s.postsOf(r, session.User, k.State, v, link(k.Show))
		if err != nil {
			return err
		}
		if v.Show == "" {
			list.Words = k.Words
		}
		if len(list.Rows) > 0 {
			v.Lists = append(v.Lists, list)
		}
	}
	return s.Render(rw, r, http.StatusOK, "writeposts", v)
}

// postsOf returns a page of the posts in one state; link is the URL of the complete list.
func (s *Pages) postsOf(r *http.Request, user string, state author.State, v postsView, link string) (postList, error) {
	limit := maxListedPosts
	if v.Show == "" && state != author.Published {
		limit = postsFirst
	}
	query := author.PostQuery{User: user, State: state, Match: v.Query, Limit: limit + 1}
	if id, err := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64); err == nil && (v.Show != "" || state == author.Published) {
		after, err := s.Posts.Get(r.Context(), user, id)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return postList{}, err
		}
		if err == nil {
			query.After = &after
		}
	}
	all, err := s.listed(r.Context(), query)
	if err != nil {
		return postList{}, err
	}
	var list postList
	more := len(all) > limit
	all = all[:min(len(all), limit)]
	for _, p := range all {
		list.Rows = append(list.Rows, s.postRow(r.Context(), p, v))
	}
	switch {
	case more && limit == postsFirst:
		list.All = link
	case more:
		sep := "?"
		if strings.Contains(link, "?") {
			sep = "&"
		}
		list.More = link + sep + "after=" + strconv.FormatInt(all[len(all)-1].ID, 10)
	}
	return list, nil
}

// listed returns the posts of a query. It leaves out deleted drafts of changes to other posts, which
// were published or discarded.
func (s *Pages) listed(ctx context.Context, query author.PostQuery) (all []author.Post, err error) {
	for {
		page, err := s.Posts.List(ctx, query)
		if err != nil {
			return nil, err
		}
		last := len(page) < query.Limit
		if !last {
			query.After = &page[len(page)-1]
		}
		for _, p := range page {
			if p.State != author.Deleted || author.EditedPost(p) == 0 {
				all = append(all, p)
			}
		}
		if last || len(all) >= query.Limit {
			return all, nil
		}
	}
}

func (s *Pages) postRow(ctx context.Context, p author.Post, v postsView) postRow {
	row := postRow{ID: p.ID, Base: p.Revision, Words: wordsOfPost(p), State: string(p.State), Warning: s.Posts.Warning(ctx, p), Edit: "/write/" + strconv.FormatInt(p.ID, 10)}
	for _, l := range p.Categories[:min(len(p.Categories), tagsOfRow)] {
		row.Tags = append(row.Tags, shell.CleanText(l, 60))
	}
	switch p.State {
	case author.ForGroups:
		row.When, row.Note = v.When(p.PublishedAt), v.Say("for %s", shell.CleanText(strings.Join(p.Groups, ", "), 100))
	case author.Published:
		row.When, row.Href = v.When(p.PublishedAt), s.Posts.Path(p)
	case author.Scheduled:
		row.When = v.When(p.DueAt)
	default:
		row.When, row.Deleted = v.When(p.UpdatedAt), p.State == author.Deleted
	}
	if of := author.EditedPost(p); of != 0 && p.State == author.Draft {
		row.Change, row.Note, row.Edit = true, "unpublished changes", "/write/"+strconv.FormatInt(of, 10)
	}
	return row
}

// wordsOfPost returns the title or the first words of a post, for lists.
func wordsOfPost(p author.Post) string {
	text := p.Title
	if text == "" {
		text = strings.Join(strings.Fields(sanitize.Text(p.HTML)), " ")
	}
	if text == "" && len(p.Outline) > 0 {
		text = strings.Join(strings.Fields(sanitize.Text(p.Outline[0].Title+" "+p.Outline[0].HTML)), " ")
	}
	if text == "" && p.Link != "" {
		text = shell.ShortURL(p.Link)
	}
	if text == "" && len(p.Enclosures) > 0 {
		text = fileField{URL: p.Enclosures[0].URL, Title: p.Enclosures[0].Title}.Name()
	}
	if text == "" {
		return "No posts yet"
	}
	return shell.CleanText(text, 140)
}

// doDeletePost deletes a post. The next page offers to undo this for author.UndoWithin.
func (s *Pages) doDeletePost(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	got, post, ok := s.onPost(rw, r, session)
	if !ok {
		return nil
	}
	base, err := strconv.ParseInt(got.fields.Get("base"), 10, 64)
	if err != nil || base < 0 {
		base = 0
	}
	if _, err := s.Posts.Delete(r.Context(), session.User, post.ID, base, "write"); err != nil {
		return err
	}
	s.discardDraft(r.Context(), session.User, post.ID)
	return s.redirect(rw, r, "/write/posts?did=deleted&done="+strconv.FormatInt(post.ID, 10))
}

// doUndoPost undoes the last change of a post.
func (s *Pages) doUndoPost(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	_, post, ok := s.onPost(rw, r, session)
	if !ok {
		return nil
	}
	now, err := s.Posts.Undo(r.Context(), session.User, post.ID, "write")
	if err != nil {
		return err
	}
	did := "undone"
	switch {
	case post.State == author.Deleted:
		did = "undone-deleted"
		if err := s.Posts.RestoreEditDraft(r.Context(), post, "write"); err != nil {
			s.Logger().Warn("restore the draft of a change", "user", session.User, "post", post.ID, "err", err)
		}
	case now.State == author.Draft && post.State != author.Draft:
		did = "undone-" + string(post.State)
	}
	return s.redirect(rw, r, "/write/"+strconv.FormatInt(post.ID, 10)+"?did="+did)
}

// undoneWords describes an undone change of a post; "": did is unknown.
func undoneWords(l *locale.Locale, did string, p author.Post) string {
	now := map[author.State]string{author.Draft: "a draft", author.Scheduled: "scheduled", author.Published: "published", author.ForGroups: "private"}[p.State]
	switch did {
	case "undone":
		return "Last change undone: the previous version is back."
	case "undone-deleted":
		return l.Say("Deletion undone: “%s” is %s again.", shell.CleanText(wordsOfPost(p), 60), l.Words(now))
	case "undone-published", "undone-private":
		return l.Say("Publishing undone: “%s” is %s again.", shell.CleanText(wordsOfPost(p), 60), l.Words(now))
	case "undone-scheduled":
		return l.Say("Scheduling undone: “%s” is %s again.", shell.CleanText(wordsOfPost(p), 60), l.Words(now))
	}
	return ""
}

// onPost reads a form without files, and the post that the path names. If it returns false, the response
// was sent.
func (s *Pages) onPost(rw http.ResponseWriter, r *http.Request, session account.Session) (*sent, author.Post, bool) {
	got, err := s.readSent(rw, r, "")
	if err != nil {
		s.Fail(rw, r, err)
		return nil, author.Post{}, false
	}
	post, ok := s.ownPost(rw, r, session)
	return got, post, ok
}

// tagsOfRow is the maximum number of categories of a post in the list.
const tagsOfRow = 8
