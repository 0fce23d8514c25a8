package author

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/author/rules"
	"cloudburst/internal/fault"
)

// converter converts a saved document to posts.
type converter struct{ *Posts }

// convert creates posts from the items of a document that the user saved. It runs before the first
// document that is made of posts replaces the saved one, so no item is lost. converted means that
// the following change must renumber all posts.
func (p converter) convert(ctx context.Context, user string) (converted bool, err error) {
	w, err := p.Store.Writer(ctx, user)
	if err != nil || w.Written {
		return false, err
	}
	f, doc, err := p.Feeds.Store.SavedDocument(ctx, user, Public)
	if fault.CodeOf(err) == fault.NotFound || err == nil && (f.Version == 0 || len(doc) == 0) {
		return false, nil // the user has never saved a document
	}
	if err != nil {
		return false, err
	}
	if err := allow(Document{}, f); err != nil {
		return false, err
	}
	parsed, err := feed.ParseBytes(doc, &feed.Options{URL: p.origin() + "/" + user + "/rss.xml", Header: http.Header{"Content-Type": {f.Type}}})
	if err != nil {
		return false, fault.Wrap(fault.Conflict, err, "The saved feed cannot be parsed, so its items cannot be preserved with the post. Save a valid feed, or end the feed first.")
	}
	posts := p.FromFeed(parsed, f.SavedAt)
	if err := KeepGUIDs(ctx, p.Store, user, parsed, posts); err != nil {
		return false, err
	}
	added, err := p.add(ctx, user, posts, nil)
	if err == nil && added < len(posts) {
		err = p.applyCorrections(ctx, user, posts)
	}
	if err != nil {
		return false, err
	}
	channel := ProfileOf(parsed)
	if copied := w.Profile; !copied.fill(channel) {
		return true, nil
	}
	_, err = p.Store.SetProfile(ctx, user, func(old *Profile) error {
		old.fill(channel)
		return nil
	})
	return true, err
}

// applyCorrections updates the published posts whose items differ in a saved document, because
// users can edit a post by editing its item in the document. Dates are unchanged, and the feed is
// not rebuilt.
func (p converter) applyCorrections(ctx context.Context, user string, posts []Post) error {
	for i := range posts {
		if posts[i].GUID == "" {
			continue
		}
		was, err := p.Store.PostByKey(ctx, user, "", posts[i].GUID)
		if fault.CodeOf(err) == fault.NotFound || err == nil && was.State != Published {
			continue
		}
		if err != nil {
			return err
		}
		o := Composer{user: user, Rules: rules.Rules{PlainTags: len(was.Hashtags) == 0}}
		saved, err := p.imported(o, posts[i])
		if err != nil {
			return err
		}
		if saved.Link == p.Address(was) { // in a feed, the link of a post without a link is its own URL
			saved.Link = ""
		}
		if page := p.items().page(was); len(was.Hashtags) > 0 { // the links of hashtags are absolute in a document
			was.HTML = onPage(was.HTML, page)
			saved.HTML = onPage(saved.HTML, page)
		}
		if sameForReaders(&was.Content, &saved.Content) {
			continue
		}
		w := Writing{User: user, ID: was.ID, At: p.now(), Window: p.window()}
		w.Change = func(now Post, _ bool, _ *Post, _ Writer, _ func(string) (string, error)) (*Post, *Post, error) {
			if now.Revision != was.Revision {
				return nil, nil, errAgain
			}
			now.Content, now.UpdatedAt, now.UndoUntil = saved.Content, later(p.now(), now.UpdatedAt), time.Time{}
			return &now, nil, nil
		}
		if _, err := p.Store.WritePost(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// sameForReaders reports whether two contents look equal to readers of a feed. The source format is
// ignored, because other programs may lose it.
func sameForReaders(a, b *Content) bool {
	return a.Title == b.Title && a.HTML == b.HTML && addressOf(a.Link) == addressOf(b.Link) && slices.Equal(a.Categories, b.Categories) &&
		slices.EqualFunc(a.Enclosures, b.Enclosures, func(x, y Enclosure) bool { return addressOf(x.URL) == addressOf(y.URL) }) &&
		slices.EqualFunc(a.Outline, b.Outline, sameNode)
}

// addressOf returns a URL in the form in which the feed parser returns it.
func addressOf(s string) string {
	if u, err := url.Parse(s); err == nil {
		return u.String()
	}
	return s
}

func sameNode(a, b Node) bool {
	return a.HTML == b.HTML && slices.EqualFunc(a.Nodes, b.Nodes, sameNode)
}

// FromFeed converts the items of a feed to posts, newest first. An item without a date gets the
// date at; if at is zero, it becomes a draft. FromFeed stores data that has no field in [Post] in
// Rest, and Item writes it again.
func (p *Posts) FromFeed(f *feed.Feed, at time.Time) []Post {
	posts := make([]Post, 0, len(f.Items))
	for i := range f.Items {
		post := fromItem(&f.Items[i])
		if f.Format == feed.Atom && hasMadeTitle(&f.Items[i]) {
			post.Title = ""
		}
		switch {
		case !post.PublishedAt.IsZero():
		case at.IsZero():
			post.State = Draft
		default: // later items get earlier dates
			post.PublishedAt = at.Add(-time.Duration(i) * time.Millisecond)
		}
		if post.UpdatedAt.Before(post.PublishedAt) {
			post.UpdatedAt = post.PublishedAt
		}
		posts = append(posts, post)
	}
	return posts
}

// KeepGUIDs gives the posts that [Posts.FromFeed] made of f the GUIDs under which an earlier version stored
// them, so that they are not added again.
//
// spec:cloudburst#post-former-guids
func KeepGUIDs(ctx context.Context, store PostStore, user string, f *feed.Feed, posts []Post) error {
	former := map[int]string{}
	for i := range posts {
		if id := f.Items[i].FormerID(f.Base); id != "" && id != posts[i].GUID {
			former[i] = id
		}
	}
	known, err := store.KnownGUIDs(ctx, user, slices.Collect(maps.Values(former)))
	if err != nil || len(known) == 0 {
		return err
	}
	maps.DeleteFunc(former, func(_ int, id string) bool { return !known[id] })
	var current []string
	for i := range former {
		current = append(current, posts[i].GUID)
	}
	if known, err = store.KnownGUIDs(ctx, user, current); err != nil {
		return err
	}
	for i, id := range former {
		if !known[posts[i].GUID] {
			posts[i].GUID = id
		}
	}
	return nil
}

// hasMadeTitle reports whether the title of an item is only the beginning of its text. Package
// render generates such a title for formats that require a title.
func hasMadeTitle(it *feed.Item) bool {
	for _, t := range append([]feed.Text{it.Summary}, it.Content...) {
		s := t.Value
		if isMarkup(t) {
			s = textOf(s)
		}
		if s = render.FirstWords(s, render.TitleLength); s != "" {
			return words(it.Title) == strings.Join(strings.Fields(s), " ")
		}
	}
	return false
}

func fromItem(it *feed.Item) Post {
	rest := it.Clone()
	post := Post{State: Published, GUID: it.ID, PermaLink: it.PermaLink, PublishedAt: it.Published.UTC, UpdatedAt: it.Updated.UTC}
	if post.PublishedAt.IsZero() {
		post.PublishedAt = it.Updated.UTC
	}
	c := &post.Content
	c.Title = words(it.Title)
	c.Link = it.Link
	if it.PermaLink && it.Link == it.ID {
		c.Link = ""
	}
	c.Source, c.Format = sourceOf(it)
	for _, cat := range it.Categories {
		if label := cmp.Or(cat.Term, cat.Label); CategoryName(label) != "" {
			c.Categories = append(c.Categories, label)
		}
	}
	c.Enclosures, rest.Media = splitMedia(it)
	if m := it.More; m != nil {
		if len(m.InReplyTo) > 0 {
			r := m.InReplyTo[0]
			c.Reply = &Reply{URL: cmp.Or(r.Href, r.Ref), GUID: r.Ref, Feed: r.Source}
		}
		c.Language = m.Language
		if rest.More.CommentsFeed == it.Link+pathComments || rest.More.CommentsFeed == it.ID+pathComments { // Item wrote this value
			rest.More.CommentsFeed = ""
		}
		rest.More.Markdown, rest.More.InReplyTo, rest.More.Language = "", nil, ""
	}
	c.Outline, rest = nodesOf(it, rest)
	excerpt := feed.Text{}
	if len(it.Content) > 0 && len(it.Items) == 0 && !strings.ContainsAny(it.Summary.Value, "<&") {
		excerpt = it.Summary
	}
	rest.Title, rest.Summary, rest.Content, rest.Items = feed.Text{}, excerpt, nil, nil
	rest.Enclosures, rest.Link, rest.Published, rest.Updated = nil, "", feed.Date{}, feed.Date{}
	c.Rest = rest
	return post
}

// sourceOf returns the text of an item as a source that the author can edit, and the format of the
// source.
func sourceOf(it *feed.Item) (string, Format) {
	if it.More != nil && it.More.Markdown != "" {
		return it.More.Markdown, Markdown
	}
	t := it.Summary
	if short, ok := unlisted(it); ok {
		t = short
	} else if len(it.Content) > 0 {
		t = it.Content[0]
	}
	if t.Value == "" {
		return "", Markdown
	}
	if isMarkup(t) {
		return t.Value, HTML
	}
	return t.Value, Plain
}

func isMarkup(t feed.Text) bool { return t.Type == "text/html" || t.Type == "application/xhtml+xml" }

func words(t feed.Text) string {
	s := t.Value
	if isMarkup(t) {
		s = textOf(s)
	}
	return clipRunes(strings.Join(strings.Fields(s), " "), MaxTitle)
}
