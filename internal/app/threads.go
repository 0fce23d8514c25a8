package app

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/href"
	"cloudburst/internal/publish"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/store"
)

// Limits for reading a feed of comments.
const (
	commentsTimeout = 15 * time.Second
	maxCommentsBody = 1 << 20
)

// newThreads creates the component that combines posts, items of the river and webmentions into
// threads.
func (a hosting) newThreads(st store.Store) {
	a.threads = &conversation.Threads{
		Store: st, Items: st, Comments: a.readComments, Target: a.postAt, ReaderOf: a.owners.readerOf, Post: a.briefOf, Now: a.clock.Now, Log: a.log,
		Own: func(url string) (string, bool) {
			u, own := a.names.Path(url)
			if !own {
				return "", false
			}
			return u.EscapedPath(), true
		},
		Changed: func(ctx context.Context, paths []string) { a.notifier.ThreadChanged(ctx, paths) },
	}
	a.conversation.Changed = a.threads.Decided
	a.posts.Name = a.threads.NameOf
	a.posts.Replied = func(ctx context.Context, p author.Post) {
		a.threads.Replied(ctx, author.PathOf(p))
		if p.State == author.Published {
			a.noteHosted(ctx, "read the replies to another post", a.threads.Open(ctx, p.Reply.URL))
		}
	}
	a.feeds.Comments = func(ctx context.Context, path string) (*feed.Feed, error) {
		p, err := a.publishedAt(ctx, path)
		if err != nil {
			return nil, err
		}
		return publish.Comments(ctx, a.threads, a.names.Public(), path, conversation.FirstLine(cmp.Or(p.Title, sanitize.Text(p.HTML))))
	}
}

// briefOf returns a short description of the post at a URL of this server. fault.NotFound: there
// is no post at the URL.
func (a hosting) briefOf(ctx context.Context, raw string) (b conversation.Brief, err error) {
	u, own := a.names.Path(raw)
	if !own {
		return b, fault.New(fault.NotFound, "There is no post at this URL.")
	}
	p, err := a.publishedAt(ctx, u.EscapedPath())
	if err != nil {
		return b, err
	}
	w, err := a.posts.Writer(ctx, p.User)
	if err != nil {
		return b, err
	}
	return conversation.Brief{Name: cmp.Or(w.Name, p.User), Line: conversation.FirstLine(cmp.Or(p.Title, sanitize.Text(p.HTML))), Href: u.EscapedPath()}, nil
}

// readComments fetches a feed of comments through the guard for feeds.
//
// spec:cloudburst#thread-walk
func (a hosting) readComments(ctx context.Context, url string) (list []conversation.Found, err error) {
	ctx, cancel := context.WithTimeout(ctx, commentsTimeout)
	defer cancel()
	got, err := a.reader.Get(ctx, fetch.Request{URL: url, Accept: "application/rss+xml, application/atom+xml, application/feed+json, */*;q=0.5"})
	switch {
	case err != nil && fetch.KindOf(err) == fetch.Refused:
		return nil, fault.Wrap(fault.Refused, err, "The feed of comments must not be read.")
	case err != nil:
		return nil, err
	case got.Status == http.StatusNotFound || got.Status == http.StatusGone:
		return nil, fault.New(fault.Gone, "The feed of comments does not exist.")
	case got.Status != http.StatusOK:
		return nil, fault.New(fault.Unreadable, "The feed of comments was answered with the status %d.", got.Status)
	case len(got.Body) > maxCommentsBody:
		return nil, fault.New(fault.Invalid, "The feed of comments has %d bytes; at most %d are read.", len(got.Body), maxCommentsBody)
	}
	f, err := feed.ParseBytes(got.Body, &feed.Options{URL: url})
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The feed of comments cannot be read.")
	}
	for i := range f.Items[:min(len(f.Items), conversation.MaxCommentFeed)] {
		list = append(list, foundComment(&f.Items[i]))
	}
	return list, nil
}

func foundComment(it *feed.Item) conversation.Found {
	c := conversation.Found{URL: cmp.Or(it.Link, it.ID), GUID: it.ID, Title: sanitize.Text(it.Title.Value), PublishedAt: it.Published.UTC}
	text := it.Summary.Value
	if text == "" && len(it.Content) > 0 {
		text = it.Content[0].Value
	}
	c.Text = strings.TrimSpace(sanitize.Text(text))
	if by := it.Byline(); len(by) > 0 {
		c.Name, c.Author = by[0].Name, by[0].URL
	}
	c.Name = cmp.Or(c.Name, href.Host(c.URL))
	if m := it.More; m != nil {
		c.CommentsFeed = m.CommentsFeed
		for _, to := range m.InReplyTo {
			for _, url := range []string{to.Href, to.Ref} {
				if url != "" {
					c.Parents = append(c.Parents, url)
				}
			}
		}
	}
	return c
}

// placeReplies assigns posts and mentions of earlier versions, which had no threads, to threads.
// It does so only once per installation.
func (a hosting) placeReplies(ctx context.Context) {
	now := a.clock.Now()
	won, err := a.store.ClaimTask(ctx, "threads begin", now, now, now.Add(forGood))
	if err != nil || !won {
		a.noteHosted(ctx, "place the replies of earlier versions", err)
		return
	}
	q := author.PostQuery{State: author.Published, Limit: 100}
	for ctx.Err() == nil {
		list, err := a.posts.List(ctx, q)
		if err != nil {
			a.noteHosted(ctx, "place the replies of earlier versions", err)
			return
		}
		for _, p := range list {
			if at := author.PlaceOf(p, a.posts.Name); len(at.Parents) > 0 {
				a.noteHosted(ctx, "place a reply", a.threads.Store.PutEntry(ctx, conversation.Entry{Name: at.Path, GUID: p.GUID, Parents: at.Parents, At: p.PublishedAt, User: p.User, Post: p.ID}))
			}
		}
		if len(list) < q.Limit {
			return
		}
		last := list[len(list)-1]
		q.After = &last
	}
}
