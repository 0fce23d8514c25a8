package publishhttp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	feedformat "cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/fault"
	"cloudburst/internal/serve"
	"cloudburst/protocol/websub"
)

// pathComments is the end of the path of the feed with the replies to a post.
const pathComments = "/comments.rss"

// Comments returns the feed of the public replies to the post at a path, or fault.NotFound. If the
// post has another path since its date changed, the fault wraps a [MovedPost].
type Comments func(ctx context.Context, path string) (*feedformat.Feed, error)

// MovedPost is the cause of a fault about a post whose page has another path.
type MovedPost struct {
	Path string // path of the page, as in URLs
}

func (e *MovedPost) Error() string { return "the page of the post is at " + e.Path }

// commentsAt returns the path of the post, as in URLs, whose replies are the feed at rest, a path
// below the user.
func (f *Feeds) commentsAt(user, rest string) (post string, ok bool) {
	of, ok := strings.CutSuffix(rest, pathComments)
	if !ok || f.Comments == nil || user == "" || strings.Count(of, "/") != 3 || !isPage(of) {
		return "", false
	}
	return (&url.URL{Path: "/" + user + "/" + of}).EscapedPath(), true
}

// comments serves the feed of the replies to a post.
//
// spec:cloudburst#thread-comments
func (f *Feeds) comments(w http.ResponseWriter, r *http.Request, post string) {
	if !allowRead(w, r, false) {
		return
	}
	d, _, err := f.commentsDocument(r.Context(), post)
	if moved, ok := errors.AsType[*MovedPost](err); ok {
		http.Redirect(w, r, moved.Path+pathComments, http.StatusMovedPermanently)
		return
	}
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	d.ServeHTTP(w, r)
}

// commentsDocument writes the feed of the replies to a post.
func (f *Feeds) commentsDocument(ctx context.Context, post string) (*serve.Document, time.Time, error) {
	list, err := f.Comments(ctx, post)
	if err != nil {
		return nil, time.Time{}, err
	}
	public := f.Public()
	user, _, _ := strings.Cut(post[1:], "/")
	self, hub := locate(f, post+pathComments), public+"/websub"
	body, _, err := render.Append(nil, list, "rss20", &render.Options{Self: self, Hubs: []string{hub}, Cloud: f.cloudAt(public), Sanitize: f.clean, Strict: true})
	if err != nil {
		return nil, time.Time{}, fault.Wrap(fault.Internal, err, "The feed cannot be written.")
	}
	return serve.New(body, serve.Options{
		Type: "application/rss+xml; charset=utf-8", Cache: "public, max-age=60", Tags: serve.FeedTags(user), Link: []string{websub.LinkHeader(hub, self)}, Feed: true,
	}), list.Updated.UTC, nil
}
