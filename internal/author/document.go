package author

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/author/inspect"
	"cloudburst/internal/fault"
)

const typeRSS = "application/rss+xml; charset=utf-8"

// document returns a function that builds the public feed of a user from the newest posts, always
// as RSS 2.0. If the posts exceed the size of one document, the document omits the oldest posts,
// which the archive pages contain.
//
// spec:rsscloud-2009#save-rss
func (p *Posts) document(user string) func(w Writer, newest []Post) (Saving, error) {
	return func(w Writer, all []Post) (Saving, error) {
		newest := all
		for {
			doc, f, err := p.written(w, newest, all)
			if err != nil {
				return Saving{}, err
			}
			if len(doc) > MaxDocument && len(newest) > 1 {
				newest = newest[:len(newest)/2]
				continue
			}
			hash := sha256.Sum256(doc)
			return Saving{
				User: user, Name: Public, At: p.now(), Type: typeRSS, Title: clipRunes(f.Title.Value, inspect.MaxTitle), Items: len(f.Items),
				Bytes: doc, Hash: hash[:], Quiet: p.Feeds.Notify == nil,
				Allow: func(now Feed) error { return allow(Document{}, now) },
			}, nil
		}
	}
}

func (p *Posts) written(w Writer, posts, all []Post) ([]byte, *feed.Feed, error) {
	f := p.Channel(w, posts)
	if n := p.archiveBefore(posts, all); n > 0 {
		f.Links = append(f.Links, feed.Link{Rel: "prev-archive", Href: p.ArchiveAddress(w.User, n)})
	}
	var o render.Options
	if p.About != nil {
		o = p.About(w.User)
	}
	doc, _, err := render.Append(nil, f, "rss20", &o)
	if err != nil {
		return nil, nil, fault.Wrap(fault.Internal, err, "The feed cannot be written.")
	}
	return doc, f, nil
}

// archiveBefore returns the number of the archive page that continues a feed of these posts without
// a gap; 0: no page. all are the posts that the store returned: the newest Window posts, and older
// posts down to the end of an archive page.
//
// spec:rfc5005#archived-prev
func (p *Posts) archiveBefore(posts, all []Post) int64 {
	var seqs []int64
	missed := int64(0) // newest Seq in all that is not in posts
	for _, post := range all {
		seqs = append(seqs, post.Seq)
		if !slices.ContainsFunc(posts, func(o Post) bool { return o.Seq == post.Seq }) {
			missed = max(missed, post.Seq)
		}
	}
	if len(seqs) < p.window() { // the user has fewer posts than one window
		return p.ArchiveOf(missed)
	}
	slices.SortFunc(seqs, func(a, b int64) int { return cmp.Compare(b, a) })
	// The Seq of the oldest post in the window determines the page, even if the posts between that
	// Seq and the end of the page were deleted.
	oldest := seqs[p.window()-1]
	return max((oldest-1)/int64(p.window()), p.ArchiveOf(missed))
}

// ArchiveOf returns the number, from 1, of the archive page that contains the post with this Seq;
// 0: no page.
func (p *Posts) ArchiveOf(seq int64) int64 {
	if seq < 1 {
		return 0
	}
	return (seq-1)/int64(p.window()) + 1
}

// ArchiveAddress returns the URL of page n of the archive of a user's feed.
func (p *Posts) ArchiveAddress(user string, n int64) string {
	return p.items().at(fmt.Sprintf("/%s/archive/%d/rss.xml", user, n))
}

func clipRunes(s string, limit int) string {
	n := 0
	for i := range s {
		if n == limit {
			return s[:i]
		}
		n++
	}
	return s
}
