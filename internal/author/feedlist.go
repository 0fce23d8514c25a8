package author

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/internal/fault"
)

// Limits of the list of a user's feeds. A longer list omits the oldest archive pages.
const (
	maxListedCategories = 1000
	maxListedArchives   = 1000
)

// FeedList returns the public feeds of a user as OPML, for import into feed readers: the main feed,
// then a folder with the category feeds by name, and a folder with the archive pages, newest first.
// fault.NotFound: the user has no feed. A moved feed is listed with its new URL, and an ended feed
// is not listed.
//
// spec:cloudburst#user-opml
func (p *Posts) FeedList(ctx context.Context, user string) (*opml.Document, error) {
	w, err := p.Store.Writer(ctx, user)
	if err != nil {
		return nil, err
	}
	main, err := p.Feeds.Feed(ctx, user, Public)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return nil, err
	}
	title := cmp.Or(strings.TrimSpace(w.Title), strings.TrimSpace(main.Title), user)
	who, page := p.Person(w), p.items().at(View{User: user}.Base())
	list := &opml.Document{Head: opml.Head{Title: "Feeds of " + title, OwnerName: cmp.Or(w.Profile.Name, user), OwnerEmail: who.Email, OwnerID: page}}
	moved := main.MovedTo
	if main.Temporary {
		moved = ""
	}
	if main.Version > 0 && !main.Gone {
		list.Add(feedLine(title, cmp.Or(moved, page+"rss.xml"), page))
	}
	if moved == "" && !main.Gone {
		if err := p.listViews(ctx, list, w, title); err != nil {
			return nil, err
		}
	}
	if len(list.Outlines) == 0 {
		return nil, fault.New(fault.NotFound, "%s has no public feed on this server.", user)
	}
	changed, err := p.Store.PostsChanged(ctx, user, "")
	if err != nil {
		return nil, err
	}
	if newest := max(changed, main.SavedAt.UnixMicro()); newest > 0 {
		list.Head.DateModified = opml.DateOf(time.UnixMicro(newest).UTC())
	}
	return list, nil
}

// listViews adds the category feeds and archive pages to a list.
func (p *Posts) listViews(ctx context.Context, list *opml.Document, w Writer, title string) error {
	counts, err := p.Store.PostCounts(ctx, w.User, ByCategory, "", maxListedCategories)
	if err != nil {
		return err
	}
	categories := opml.Outline{Text: "Categories"}
	for _, c := range counts {
		base := p.items().at(View{User: w.User, Category: c.Name}.Base())
		categories.Outlines = append(categories.Outlines, feedLine(title+": "+cmp.Or(c.Label, c.Name), base+"rss.xml", base))
	}
	archive, last := opml.Outline{Text: "Archive"}, p.ArchiveOf(w.LastSeq)
	for n := last; n > max(0, last-maxListedArchives); n-- {
		page := p.items().at(View{User: w.User}.Base() + "archive/")
		archive.Outlines = append(archive.Outlines, feedLine(fmt.Sprintf("%s: archive %d", title, n), p.ArchiveAddress(w.User, n), page))
	}
	for _, folder := range []opml.Outline{categories, archive} {
		if len(folder.Outlines) > 0 {
			list.Outlines = append(list.Outlines, folder)
		}
	}
	return nil
}

// feedLine returns the outline of a feed.
func feedLine(title, feed, page string) opml.Outline {
	return opml.Outline{Text: title, Title: title, Type: "rss", XMLURL: feed, HTMLURL: page}
}
