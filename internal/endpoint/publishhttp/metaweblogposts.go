package publishhttp

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/text"
	"cloudburst/protocol/metaweblog"
	"cloudburst/protocol/xmlrpc"
)

// editorSession is the session of an authenticated editor.
type editorSession struct {
	api   *MetaWeblog
	user  string
	agent string // User-Agent of the editor
}

// Blogs returns the only blog of the user.
func (s *editorSession) Blogs(ctx context.Context) ([]metaweblog.Blog, error) {
	w, err := s.api.Posts.Writer(ctx, s.user)
	if err != nil {
		return nil, err
	}
	name := w.Title
	if name == "" {
		name = s.user
	}
	return []metaweblog.Blog{{ID: s.user, Name: name, URL: s.api.Public() + "/" + s.user + "/", RPCURL: s.api.Public() + "/RPC2", Tagline: w.Blurb}}, nil
}

// User returns the authenticated user.
func (s *editorSession) User(context.Context) (metaweblog.User, error) {
	return metaweblog.User{ID: s.user, Nickname: s.user, URL: s.api.Public() + "/" + s.user + "/"}, nil
}

// blog rejects the ID of another user's blog. It accepts the placeholders that editors send before
// they know the ID.
func (s *editorSession) blog(id string) error {
	switch id = strings.TrimSpace(id); id {
	case s.user, "", "0", "1", "default":
		return nil
	}
	return fault.New(fault.NotFound, "%q is not your blog; yours is %q.", text.Clip(id, 40), s.user)
}

// post returns a post of the user that is not deleted.
func (s *editorSession) post(ctx context.Context, id string) (author.Post, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(id), 10, 64)
	if err != nil || n <= 0 {
		return author.Post{}, errNoPost(id)
	}
	p, err := s.api.Posts.Get(ctx, s.user, n)
	if fault.CodeOf(err) == fault.NotFound && err != nil || err == nil && p.State == author.Deleted {
		return author.Post{}, errNoPost(id)
	}
	return p, err
}

func errNoPost(id string) error {
	return fault.New(fault.NotFound, "You have no post %q; it may have been deleted.", text.Clip(id, 40))
}

// NewPost creates a post.
func (s *editorSession) NewPost(ctx context.Context, blogID string, e metaweblog.Edit) (string, error) {
	if err := s.blog(blogID); err != nil {
		return "", err
	}
	to, at := stateOf(author.Post{}, e)
	p, err := s.api.Posts.Save(ctx, author.Edit{
		User: s.user, To: to, At: at, Slug: slugOf(e), Via: viaMetaWeblog,
		Change: func(c *author.Content) error {
			c.Format = author.HTML
			return s.apply(c, e, author.Post{})
		},
	})
	if err != nil {
		return "", err
	}
	s.warn(ctx, p)
	return strconv.FormatInt(p.ID, 10), nil
}

// warn adds a response header if a post exceeds a limit, because the results of the methods have no
// field for a warning.
func (s *editorSession) warn(ctx context.Context, p author.Post) {
	addWarning(xmlrpc.HeaderFrom(ctx), s.api.Posts.Warning(ctx, p))
}

// EditPost changes the fields that the edit contains, and no others.
func (s *editorSession) EditPost(ctx context.Context, id string, e metaweblog.Edit) error {
	was, err := s.post(ctx, id)
	if err != nil {
		return err
	}
	to, at := stateOf(was, e)
	p, err := s.api.Posts.Save(ctx, author.Edit{
		User: s.user, ID: was.ID, To: to, At: at, Slug: slugOf(e), Via: viaMetaWeblog,
		Change: func(c *author.Content) error { return s.apply(c, e, was) },
	})
	if err == nil {
		s.warn(ctx, p)
	}
	return err
}

func slugOf(e metaweblog.Edit) string {
	if e.Slug == nil {
		return ""
	}
	return *e.Slug
}

// stateOf returns the new state and time of a post; "" leaves the state unchanged. A date that
// equals the current date is ignored.
//
// spec:cloudburst#metaweblog-publish
func stateOf(was author.Post, e metaweblog.Edit) (to author.State, at time.Time) {
	at = e.Created
	if !at.IsZero() && at.Equal(dateOf(was).UTC().Truncate(time.Second)) {
		at = time.Time{}
	}
	switch public := e.Public(); {
	case public == nil && was.State.HasReaders() && !at.IsZero():
		return author.Published, at
	case public == nil:
		return "", at
	case !*public:
		return author.Draft, time.Time{}
	case was.State == author.Scheduled && at.IsZero() && e.Status != metaweblog.StatusPublish:
		return "", at // the post stays scheduled
	}
	return author.Published, at // the post is scheduled if at is in the future
}

// dateOf returns the date of a post for editors.
func dateOf(p author.Post) time.Time {
	switch {
	case p.State == author.Scheduled:
		return p.DueAt
	case !p.PublishedAt.IsZero():
		return p.PublishedAt
	}
	return p.CreatedAt
}

// DeletePost deletes a post.
func (s *editorSession) DeletePost(ctx context.Context, id string) error {
	was, err := s.post(ctx, id)
	if err != nil {
		return err
	}
	_, err = s.api.Posts.Delete(ctx, s.user, was.ID, 0, viaMetaWeblog)
	return err
}

// Publish publishes a post now.
func (s *editorSession) Publish(ctx context.Context, id string) error {
	was, err := s.post(ctx, id)
	if err == nil && was.State == author.ForGroups {
		err = errPrivate(was.Groups)
	}
	if err != nil || was.State.HasReaders() {
		return err
	}
	p, err := s.api.Posts.Save(ctx, author.Edit{User: s.user, ID: was.ID, To: author.Published, Via: viaMetaWeblog})
	if err == nil {
		s.warn(ctx, p)
	}
	return err
}

// Post returns a post.
func (s *editorSession) Post(ctx context.Context, id string) (metaweblog.Post, error) {
	p, err := s.post(ctx, id)
	if err != nil {
		return metaweblog.Post{}, err
	}
	return s.editorPost(p), nil
}

// Limits of a list of posts.
const (
	maxRecent   = 500     // maximum number of posts
	maxBytes    = 4 << 20 // maximum bytes of their texts
	recentPages = 100     // number of posts per query
)

// Posts returns the newest posts in the requested states. It stops after maxBytes of text.
//
// spec:cloudburst#metaweblog-recent
func (s *editorSession) Posts(ctx context.Context, blogID string, q metaweblog.PostQuery) ([]metaweblog.Post, error) {
	if err := s.blog(blogID); err != nil {
		return nil, err
	}
	var all []metaweblog.Post
	limit := min(q.Limit, maxRecent)
	for _, of := range []struct {
		state  author.State
		status string
	}{{author.Draft, metaweblog.StatusDraft}, {author.Scheduled, metaweblog.StatusFuture}, {author.Published, metaweblog.StatusPublish}, {author.ForGroups, metaweblog.StatusPrivate}} {
		if len(q.Statuses) > 0 && !slices.Contains(q.Statuses, of.status) {
			continue
		}
		some, err := s.newest(ctx, of.state, limit, q.Titles)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortStableFunc(all, func(a, b metaweblog.Post) int { return b.Created.Compare(a.Created) })
	size := 0
	for i, p := range all {
		if size += len(p.Description) + len(p.More); i == limit || i > 0 && size > maxBytes {
			return all[:i], nil
		}
	}
	return all, nil
}

// newest returns the posts in one state, newest first.
func (s *editorSession) newest(ctx context.Context, state author.State, limit int, titles bool) ([]metaweblog.Post, error) {
	var all []metaweblog.Post
	q, size := author.PostQuery{User: s.user, State: state}, 0
	for len(all) < limit && size < maxBytes {
		q.Limit = min(recentPages, limit-len(all))
		page, err := s.api.Posts.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, p := range page {
			one := s.editorPost(p)
			if titles {
				one.Description, one.More = "", ""
			}
			size += len(one.Description) + len(one.More)
			all = append(all, one)
		}
		if len(page) < q.Limit {
			break
		}
		q.After = &page[len(page)-1]
	}
	return all, nil
}

// Categories returns the categories of published posts, and those that were created before their
// first post.
func (s *editorSession) Categories(ctx context.Context, blogID string) ([]metaweblog.Category, error) {
	if err := s.blog(blogID); err != nil {
		return nil, err
	}
	counts, err := s.api.Posts.Categories(ctx, s.user)
	if err != nil {
		return nil, err
	}
	all := make([]metaweblog.Category, len(counts))
	for i, c := range counts {
		all[i] = s.category(c.Name, c.Label)
		all[i].Posts = c.Posts
	}
	w, err := s.api.Posts.Writer(ctx, s.user)
	for _, g := range w.AllGroups() {
		if len(w.Groups) > 0 && !g.IsDeleted() { // most authors have no groups
			all = append(all, s.category(groupPrefix+g.Slug, groupPrefix+g.Slug))
		}
	}
	return all, err
}

// NewCategory creates a category before its first post.
func (s *editorSession) NewCategory(ctx context.Context, blogID, label string) (metaweblog.Category, error) {
	if err := s.blog(blogID); err != nil {
		return metaweblog.Category{}, err
	}
	if err := s.api.Posts.AddCategory(ctx, s.user, label); err != nil {
		return metaweblog.Category{}, err
	}
	return s.category(author.CategoryName(label), label), nil
}

func (s *editorSession) category(name, label string) metaweblog.Category {
	if slug, ok := strings.CutPrefix(name, groupPrefix); ok {
		page := s.api.Public() + author.GroupBase(s.user, slug)
		return metaweblog.Category{ID: name, Name: label, HTMLURL: page, RSSURL: page + pathSaved}
	}
	page := s.api.Public() + "/" + s.user + "/category/" + url.PathEscape(name) + "/"
	return metaweblog.Category{ID: name, Name: label, HTMLURL: page, RSSURL: page + pathSaved}
}

// PostCategories returns the categories of a post.
func (s *editorSession) PostCategories(ctx context.Context, id string) ([]metaweblog.Category, error) {
	p, err := s.post(ctx, id)
	if err != nil {
		return nil, err
	}
	labels, _ := p.SplitCategories()
	labels = append(labels, groupCategories(p.Groups)...)
	all := make([]metaweblog.Category, len(labels))
	for i, label := range labels {
		all[i] = s.category(categoryID(label), label)
		all[i].Primary = i == 0
	}
	return all, nil
}

// SetCategories sets the categories of a post by their names, and its groups if there are any. An
// unknown name becomes a new category. Keywords do not change.
func (s *editorSession) SetCategories(ctx context.Context, id string, ids []string) error {
	was, err := s.post(ctx, id)
	if err != nil {
		return err
	}
	ids, groups := splitGroups(ids)
	counts, err := s.api.Posts.Categories(ctx, s.user)
	if err != nil {
		return err
	}
	label := map[string]string{}
	for _, c := range counts {
		label[c.Name] = c.Label
	}
	for _, l := range was.Categories {
		label[author.CategoryName(l)] = l
	}
	labels := make([]string, len(ids))
	for i, id := range ids {
		labels[i] = id
		if l := label[author.CategoryName(id)]; l != "" {
			labels[i] = l
		}
	}
	_, err = s.api.Posts.Save(ctx, author.Edit{
		User: s.user, ID: was.ID, Via: viaMetaWeblog,
		Change: func(c *author.Content) error {
			_, keywords := c.SplitCategories()
			c.Categories = slices.Concat(labels, keywords)
			if len(groups) > 0 { // editors send this list after each post; without groups in it, a private post stays private
				c.Groups = groups
			}
			return nil
		},
	})
	return err
}

// Upload stores a file.
func (s *editorSession) Upload(ctx context.Context, blogID string, m metaweblog.Media) (metaweblog.File, error) {
	switch err := s.blog(blogID); {
	case err != nil:
		return metaweblog.File{}, err
	case s.api.Files == nil:
		return metaweblog.File{}, fault.New(fault.Unsupported, "This server does not support files.")
	case int64(len(m.Bits)) > s.api.maxMedia():
		return metaweblog.File{}, fault.New(fault.Invalid, "The file has %d bytes; at most %d are accepted here. Add it on the page on which you write.", len(m.Bits), s.api.maxMedia())
	}
	f, err := s.api.Files.Put(ctx, s.user, m.Name, m.Type, bytes.NewReader(m.Bits))
	if err != nil {
		return metaweblog.File{}, err
	}
	return s.file(f), nil
}

func (s *editorSession) file(f author.File) metaweblog.File {
	return metaweblog.File{ID: f.Hash, Name: f.Name, Type: f.Type, URL: s.api.Public() + s.api.Files.Path(f), Added: f.AddedAt}
}

// File returns an uploaded file by its ID.
func (s *editorSession) File(ctx context.Context, blogID, id string) (metaweblog.File, error) {
	none := fault.New(fault.NotFound, "You have no file %q; it may have been deleted.", text.Clip(id, 70))
	if err := s.blog(blogID); err != nil {
		return metaweblog.File{}, err
	}
	if s.api.Files == nil {
		return metaweblog.File{}, none
	}
	f, err := s.api.Files.Get(ctx, s.user, strings.TrimSpace(id))
	if fault.CodeOf(err) == fault.NotFound && err != nil {
		return metaweblog.File{}, none
	}
	if err != nil {
		return metaweblog.File{}, err
	}
	return s.file(f), nil
}
