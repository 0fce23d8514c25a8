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

// View names a feed that is made of posts when somebody asks for it: a category, a page of
// an archive, what everyone writes here, or a further page of any of them.
type View struct {
	User     string // "": everyone
	Category string // folded, see [CategoryName]; "": all
	Archive  int64  // page of the archive of a user's whole feed, from 1; 0: it is none
	Page     int    // of a feed in pages, from 1; 0: the feed itself, which has what page 1 has
}

// Everyone is what stands for the name of a user in addresses of what all write.
const Everyone = "everyone"

// Base is the path under which the forms of a view stand, "/alice/category/go/"; its Page is
// in the query.
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

// Told reports whether changes of the view are announced: those of the feeds themselves are;
// an archive and further pages are read when somebody looks for what is older.
//
// spec:cloudburst#views-told
func (v View) IsAnnounced() bool { return v.Archive == 0 && v.Page == 0 }

// Viewed is the state of a view.
type Viewed struct {
	Version  int64     // grows with each change, and with others of the same user
	Modified time.Time // of the newest change of its posts
}

// maxPage is the last page of a feed in pages that is looked for.
const maxPage = 100_000

// View tells the state of a view; fault.NotFound where there is none: a category that
// never had a post, an archive page that is not begun.
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
		// The feed of everyone is there before anybody has written, so that it can be followed.
		all = max(all, 1)
		own = all
	}
	if own == 0 || v.Page > maxPage {
		return Viewed{}, fault.New(fault.NotFound, "There is no such feed here.")
	}
	return Viewed{Version: all, Modified: time.UnixMicro(own).UTC()}, nil
}

// ViewDocument makes the document of a view, RSS 2.0 that says of itself what o says. It is
// the same as long as nothing in it changes. fault.NotFound as of View, and for pages after
// the last.
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
	f.Link = p.origin() + v.Base()
	if err := in.setTitle(ctx, f, posts); err != nil {
		return nil, "", err
	}
	if v.IsAnnounced() { // it changes also when a post leaves
		f.Updated = date(state.Modified)
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

// viewing makes the document of one view.
type viewBuilder struct {
	*Posts
	View
}

// posts are the posts of a view; more says that there are older ones.
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

// ownGUIDs gives posts of several users guids that are not those of others here. Who takes
// posts in chooses theirs: one below the page of somebody else could be that of his post, for
// which readers would take it.
func (w itemWriter) ownGUIDs(posts []Post) {
	for i := range posts {
		post := &posts[i]
		others := func(guid string) bool {
			return strings.HasPrefix(guid, w.origin+"/") && !strings.HasPrefix(guid, w.origin+"/"+post.User+"/")
		}
		if others(post.GUID) {
			post.GUID, post.PermaLink = w.address(*post), true
		}
		for _, n := range flatten(post.Outline, nil) {
			if others(n.GUID) {
				n.GUID = "" // it is known by its place
			}
		}
	}
}

// entitle gives the feed of a view its title, and the posts of everyone their authors.
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

// LabelOf is how a category was written last, of a user or of everyone; its name when that is not known any more.
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

// linkArchive says where an archive page is in the chain.
//
// spec:rfc5005#archived-links
func (v viewBuilder) linkArchive(f *feed.Feed, lastSeq int64) {
	at := func(rel string, n int64) {
		f.Links = append(f.Links, feed.Link{Rel: rel, Href: v.ArchiveAddress(v.User, n)})
	}
	whole := lastSeq / int64(v.window())
	// spec:rfc5005#archive-element
	f.Hints.Archive = v.Archive <= whole
	f.Links = append(f.Links, feed.Link{Rel: "current", Href: v.origin() + "/" + v.User + "/rss.xml"})
	if v.Archive > 1 {
		at("prev-archive", v.Archive-1)
	}
	if v.Archive < whole {
		at("next-archive", v.Archive+1)
	}
}

// linkPages says where a page is among those of its feed.
//
// spec:rfc5005#paged-links
func (v viewBuilder) linkPages(ctx context.Context, f *feed.Feed, more bool) error {
	at := func(rel string, n int) {
		f.Links = append(f.Links, feed.Link{Rel: rel, Href: v.origin() + v.pagePath(n)})
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

// lastPage is the number of the last page of a feed in pages.
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

// pagePath is where page n of a feed in pages is. The first is the feed itself, but for a
// user's whole feed, which has an archive and no pages to go on to.
func (v View) pagePath(n int) string {
	path := v.Base() + "rss.xml"
	if n <= 1 && (v.User == "" || v.Category != "") {
		return path
	}
	return fmt.Sprintf("%s?page=%d", path, n)
}
