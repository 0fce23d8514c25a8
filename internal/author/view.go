package author

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/fault"
)

// View identifies a feed that is generated from posts on request: the feed of a category, an
// archive page, the feed of all users, or a further page of one of these feeds.
type View struct {
	User     string // "": all users
	Category string // folded name, see [CategoryName]; "": all categories
	Archive  int64  // archive page of a user's feed, from 1; 0: not an archive
	Page     int    // page of a paged feed, from 1; 0: the feed itself, with the content of page 1
}

// Everyone takes the place of the user name in the path of the feed of all users.
const Everyone = "everyone"

// Base returns the path of a view, such as "/alice/category/go/". The path does not contain Page,
// which is a parameter of the query.
func (v View) Base() string {
	base := "/" + v.User + "/"
	if v.User == "" {
		base = "/" + Everyone + "/"
	}
	switch {
	case v.Archive > 0:
		base += "archive/" + strconv.FormatInt(v.Archive, 10) + "/"
	case v.Category != "":
		base += "category/" + url.PathEscape(v.Category) + "/"
	}
	return base
}

// IsAnnounced reports whether subscribers of the view are notified of changes. They are not
// notified of changes of archives and further pages, which readers request only for older posts.
//
// spec:cloudburst#view-feeds-notify
func (v View) IsAnnounced() bool { return v.Archive == 0 && v.Page == 0 }

// Viewed is the state of a view.
type Viewed struct {
	Version  int64     // increases with each change of the view, and also with changes of the user's other posts
	Modified time.Time // time of the newest change of the posts in the view
}

// maxPage is the maximum page number of a paged feed.
const maxPage = 100_000

// View returns the state of a view. fault.NotFound: the category has no posts, or the archive page
// does not exist yet.
func (p *Posts) View(ctx context.Context, v View) (Viewed, error) {
	all, err := p.Store.PostsChanged(ctx, v.User, "")
	if err != nil {
		return Viewed{}, err
	}
	own := all
	switch {
	case v.Category != "":
		if own, err = p.Store.PostsChanged(ctx, v.User, v.Category); err != nil {
			return Viewed{}, err
		}
	case v.User != "":
		w, err := p.Store.Writer(ctx, v.User)
		if err != nil {
			return Viewed{}, err
		}
		if v.Archive > p.ArchiveOf(w.LastSeq) || v.Archive == 0 && !w.Written {
			own = 0
		}
	default:
		// The feed of all users exists before the first post, so that users can follow the feed.
		all = max(all, 1)
		own = all
	}
	if own == 0 || v.Page > maxPage {
		return Viewed{}, fault.New(fault.NotFound, "There is no such feed here.")
	}
	return Viewed{Version: all, Modified: time.UnixMicro(own).UTC()}, nil
}

// ViewDocument builds the document of a view as RSS 2.0 with the options o. The bytes are identical
// until the view changes. fault.NotFound: View returns it, or the view has no such page.
func (p *Posts) ViewDocument(ctx context.Context, v View, o render.Options) (doc []byte, contentType string, err error) {
	state, err := p.View(ctx, v)
	if err != nil {
		return nil, "", err
	}
	w, err := p.Store.Writer(ctx, v.User)
	if err != nil {
		return nil, "", err
	}
	in := viewBuilder{p, v}
	posts, more, err := in.posts(ctx)
	if err != nil {
		return nil, "", err
	}
	if v.Page > 1 && len(posts) == 0 {
		return nil, "", fault.New(fault.NotFound, "The feed has no page %d.", v.Page)
	}
	if v.User == "" {
		p.items().ownGUIDs(posts)
	}
	f := p.Channel(w, posts)
	f.Link = p.items().at(v.Base())
	if err := in.setTitle(ctx, f, posts); err != nil {
		return nil, "", err
	}
	if v.IsAnnounced() { // a removed post changes the view, but not the dates of the other posts
		f.Updated = dateOf(state.Modified)
	}
	if v.Archive > 0 {
		in.linkArchive(f, w.LastSeq)
	} else if err := in.linkPages(ctx, f, more); err != nil {
		return nil, "", err
	}
	doc, _, err = render.Append(nil, f, "rss20", &o)
	if err != nil {
		return nil, "", fault.Wrap(fault.Internal, err, "The feed cannot be written.")
	}
	return doc, typeRSS, nil
}

// viewBuilder builds the document of one view.
type viewBuilder struct {
	*Posts
	View
}

// posts returns the posts of a view. more reports whether older posts exist.
func (v viewBuilder) posts(ctx context.Context) (posts []Post, more bool, err error) {
	q := PostQuery{User: v.User, State: Published, Category: v.Category}
	n := v.window()
	if v.Archive > 0 {
		q.FromSeq, q.ToSeq, q.Limit = (v.Archive-1)*int64(n)+1, v.Archive*int64(n), n
		posts, err = v.Store.Posts(ctx, q)
		slices.SortFunc(posts, func(a, b Post) int {
			return cmp.Or(b.PublishedAt.Compare(a.PublishedAt), cmp.Compare(b.ID, a.ID))
		})
		return posts, false, err
	}
	q.Limit = n + 1
	q.Skip = (max(v.Page, 1) - 1) * n
	if posts, err = v.Store.Posts(ctx, q); err != nil {
		return nil, false, err
	}
	if len(posts) > n {
		return posts[:n], true, nil
	}
	return posts, false, nil
}

// ownGUIDs replaces guids that begin with the URL of a page of another user. An importing user
// chooses the guids of the imported posts, and feed readers would confuse posts with equal guids.
func (w itemWriter) ownGUIDs(posts []Post) {
	for i := range posts {
		post := &posts[i]
		others := func(guid string) bool {
			return strings.HasPrefix(guid, w.origin+"/") && !strings.HasPrefix(guid, w.origin+"/"+post.User+"/")
		}
		if others(post.GUID) {
			post.GUID, post.PermaLink = w.origin+w.path(*post), true
		}
		for _, n := range flatten(post.Outline, nil) {
			if others(n.GUID) {
				n.GUID = "" // the guid is then derived from the position of the node
			}
		}
	}
}

// setTitle sets the title of a view. In the feed of all users, it also sets the authors of the
// posts.
func (v viewBuilder) setTitle(ctx context.Context, f *feed.Feed, posts []Post) error {
	if v.User == "" {
		f.Title = plainText("Everyone here")
		f.Subtitle = plainText("What everyone writes at " + v.origin() + ".")
		for i := range f.Items {
			w, err := v.Store.Writer(ctx, posts[i].User)
			if err != nil {
				return err
			}
			who := v.Person(w)
			title := cmp.Or(w.Title, w.User)
			f.Items[i].Authors = []feed.Person{who}
			f.Items[i].Source = &feed.Source{Title: plainText(title), URL: who.URL + "rss.xml", Link: who.URL}
		}
	}
	if v.Category == "" {
		return nil
	}
	label, err := v.LabelOf(ctx, v.User, v.Category)
	if err != nil {
		return err
	}
	f.Title.Value += ": " + label
	f.Categories = []feed.Category{{Term: label}}
	return nil
}

// LabelOf returns the most recent spelling of a category of a user ("": all users). For a category
// without posts, it returns the folded name.
func (p *Posts) LabelOf(ctx context.Context, user, category string) (string, error) {
	counts, err := p.Store.PostCounts(ctx, user, ByCategory, category, 1)
	if err != nil {
		return "", err
	}
	for _, c := range counts {
		if c.Name == category && c.Label != "" {
			return c.Label, nil
		}
	}
	return category, nil
}

// linkArchive adds the links of an archive page to its neighbours.
//
// spec:rfc5005#archived-links
func (v viewBuilder) linkArchive(f *feed.Feed, lastSeq int64) {
	at := func(rel string, n int64) {
		f.Links = append(f.Links, feed.Link{Rel: rel, Href: v.ArchiveAddress(v.User, n)})
	}
	whole := lastSeq / int64(v.window())
	// spec:rfc5005#archive-element
	f.Hints.Archive = v.Archive <= whole
	f.Links = append(f.Links, feed.Link{Rel: "current", Href: v.items().at("/" + v.User + "/rss.xml")})
	if v.Archive > 1 {
		at("prev-archive", v.Archive-1)
	}
	if v.Archive < whole {
		at("next-archive", v.Archive+1)
	}
}

// linkPages adds the links between the pages of a feed.
//
// spec:rfc5005#paged-links
func (v viewBuilder) linkPages(ctx context.Context, f *feed.Feed, more bool) error {
	at := func(rel string, n int) {
		f.Links = append(f.Links, feed.Link{Rel: rel, Href: v.items().at(v.pagePath(n))})
	}
	n := max(v.Page, 1)
	if n == 1 && !more {
		return nil
	}
	at("first", 1)
	if n > 1 {
		at("previous", n-1)
	}
	if more {
		at("next", n+1)
	}
	last, err := v.lastPage(ctx)
	if err == nil && last >= n {
		at("last", last)
	}
	return err
}

// lastPage returns the number of the last page of a paged feed.
func (v viewBuilder) lastPage(ctx context.Context) (int, error) {
	var posts int64
	switch {
	case v.Category != "":
		counts, err := v.Store.PostCounts(ctx, v.User, ByCategory, v.Category, 1)
		if err != nil || len(counts) == 0 || counts[0].Name != v.Category {
			return 0, err
		}
		posts = counts[0].Posts
	case v.User != "":
		w, err := v.Store.Writer(ctx, v.User)
		if err != nil {
			return 0, err
		}
		posts = w.Posts
	default:
		months, err := v.Store.PostCounts(ctx, "", ByMonth, "", 10_000)
		if err != nil {
			return 0, err
		}
		for _, m := range months {
			posts += m.Posts
		}
	}
	n := int64(v.window())
	return int(min((posts+n-1)/n, maxPage)), nil
}

// pagePath returns the path of page n of a paged feed. Page 1 is the feed itself, except for a
// user's main feed, which is continued by archives and not by pages.
func (v View) pagePath(n int) string {
	path := v.Base() + "rss.xml"
	if n <= 1 && (v.User == "" || v.Category != "") {
		return path
	}
	return fmt.Sprintf("%s?page=%d", path, n)
}
