package publish

import (
	"cmp"
	"context"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/conversation"
	"cloudburst/internal/event"
	"cloudburst/internal/hub"
)

// Threads reads the replies below posts; *conversation.Threads implements it.
type Threads interface {
	Thread(ctx context.Context, q conversation.ThreadQuery) (conversation.Thread, error)
}

// maxComments is the maximum number of replies in a feed of comments.
const maxComments = 100

// Comments returns the public replies below a post on this server as a feed, newest first. path is
// the path of the post's page, and title the title of the post.
//
// spec:cloudburst#thread-comments
func Comments(ctx context.Context, threads Threads, origin, path, title string) (*feed.Feed, error) {
	t, err := threads.Thread(ctx, conversation.ThreadQuery{ID: conversation.KeyOf(path), Limit: maxComments, Newest: true})
	if err != nil {
		return nil, err
	}
	f := &feed.Feed{
		Format: feed.RSS, Version: "2.0", Title: feed.Text{Value: "Replies to " + cmp.Or(title, origin+path), Type: "text/plain"},
		Subtitle: feed.Text{Value: "Public replies to " + origin + path + ".", Type: "text/plain"}, Link: origin + path,
	}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; !n.Hidden {
			f.Items = append(f.Items, comment(n, origin))
		}
	}
	if len(f.Items) > 0 {
		f.Updated = f.Items[0].Published
	}
	return f, nil
}

func comment(n *conversation.Node, origin string) feed.Item {
	whole := func(name string) string {
		if len(name) > 0 && name[0] == '/' {
			return origin + name
		}
		return name
	}
	it := feed.Item{
		ID: cmp.Or(n.GUID, whole(n.Name)), Link: whole(n.Name), Published: feed.Date{UTC: n.At.UTC().Truncate(time.Second)},
		Authors: []feed.Person{{Name: n.Author, URL: whole(n.AuthorURL)}},
		Summary: feed.Text{Value: n.Text, Type: "text/plain"},
		More:    &feed.More{InReplyTo: []feed.InReplyTo{{Ref: whole(n.ParentName), Href: whole(n.ParentName)}}},
	}
	it.PermaLink = it.ID == it.Link
	if n.Title != "" {
		it.Title = feed.Text{Value: n.Title, Type: "text/plain"}
	}
	if n.User != "" {
		it.Summary = feed.Text{Value: n.HTML, Type: "text/html"}
		it.More.CommentsFeed = whole(n.Name) + "/comments.rss"
	}
	return it
}

// ThreadChanged sends notifications after replies below some posts changed: to the subscribers of
// the posts' feeds of comments, to the river and to open pages. paths has the paths of the posts'
// pages.
//
// spec:cloudburst#thread-comments
func (n *Notifier) ThreadChanged(ctx context.Context, paths []string) {
	if !n.Names.Served() {
		return // without a running server, nobody can read the feeds
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	for _, path := range paths {
		own := n.Names.Public() + path + "/comments.rss"
		e := event.Event{Kind: event.KindSave, TopicID: hub.TopicID(own), Topic: own, OK: true, Via: "reply", Text: "The replies to a post have changed."}
		n.Stamp(n.Now(), &e)
		n.logError(ctx, "cannot log a reply", n.Store.AppendEvents(ctx, []event.Event{e}))
		n.Publish(e)
		urls := n.Names.Bases(path + "/comments.rss")
		_, err := n.Readers.ReceivePushAny(ctx, urls, "save")
		n.logError(ctx, "cannot notify the river about a reply", err)
		followed, err := n.addFollowed(ctx, nil, urls)
		n.logError(ctx, "cannot find the subscribers of a thread", err)
		for _, u := range followed {
			_, err := n.Hub.Ping(ctx, hub.Ping{URL: u, Via: "save", ReaderNotified: true, OnlyThisURL: true})
			n.logError(ctx, "cannot notify the subscribers of a thread", err)
		}
	}
}
