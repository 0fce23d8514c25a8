package transfer

import (
	"archive/zip"
	"context"
	"fmt"
	"slices"

	"cloudburst/feed/opml"
	"cloudburst/feed/render"
	"cloudburst/internal/author"
)

// feedForms returns the feed formats of the archive, with the file name extension and the name of
// the feed that contains the newest posts.
func feedForms() []struct{ format, ext, newest string } {
	return []struct{ format, ext, newest string }{{"rss20", ".xml", "rss.xml"}, {"atom", ".atom", "atom.xml"}, {"jsonfeed", ".json", "feed.json"}}
}

// exportFeeds writes the published posts as feeds, one archive file per batch. It also writes the
// newest posts under the usual feed names, and the list of the archive files.
func (t *Transfer) exportFeeds(ctx context.Context, a *archive, w author.Writer, progress Progress) error {
	var newest []author.Post
	list := &opml.Document{Version: "2.0"}
	list.Head.Title = "Archive of " + w.User
	n, done := 0, 0
	err := t.published(ctx, w.User, func(posts []author.Post) error {
		n++
		name := fmt.Sprintf("archive-%04d", n)
		newest = append(newest, posts...)
		newest = newest[max(0, len(newest)-t.batchLimit()):]
		if err := t.exportFeed(a, w, posts, func(ext, _ string) string { return name + ext }); err != nil {
			return err
		}
		first, last := posts[0].PublishedAt, posts[len(posts)-1].PublishedAt
		list.Add(opml.Outline{
			Text: fmt.Sprintf("%d posts, %s to %s", len(posts), first.Format("2 January 2006"), last.Format("2 January 2006")),
			Type: "rss", Version: "RSS2", XMLURL: name + ".xml",
		})
		done += len(posts)
		progress.at(PhaseFeeds, done, max(int(w.Posts), done))
		return nil
	})
	if err != nil {
		return err
	}
	if err := t.exportFeed(a, w, newest, func(_, newest string) string { return newest }); err != nil {
		return err
	}
	return a.entry(dirFeeds+"archives.opml", zip.Deflate, func() error {
		_, err := list.WriteTo(a)
		return err
	})
}

// exportFeed writes one batch of posts in all formats, newest first.
func (t *Transfer) exportFeed(a *archive, w author.Writer, posts []author.Post, name func(ext, newest string) string) error {
	posts = slices.Clone(posts)
	slices.SortStableFunc(posts, func(a, b author.Post) int { return b.PublishedAt.Compare(a.PublishedAt) })
	channel := t.Posts.Channel(w, posts)
	for _, form := range feedForms() {
		err := a.entry(dirFeeds+name(form.ext, form.newest), zip.Deflate, func() error {
			_, err := render.Write(a, channel, form.format, &render.Options{Updated: a.manifest.ExportedAt})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
