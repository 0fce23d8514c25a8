package authorui

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

// entries renders posts for a page.
func (s *Pages) entries(ctx context.Context, posts []author.Post, all bool) ([]content.PostView, error) {
	w := s.NewPostRenderer(ctx, all, false)
	entries := make([]content.PostView, len(posts))
	for i, p := range posts {
		var err error
		if entries[i], err = w.RenderPost(p); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// postPage serves the page of one post.
//
// spec:cloudburst#author-pages
func (s *Pages) postPage(rw http.ResponseWriter, r *http.Request, user, slug string) error {
	ctx := r.Context()
	p, err := s.Posts.BySlug(ctx, user, slug)
	switch {
	case fault.CodeOf(err) == fault.NotFound && err != nil:
		return s.NotFound(rw, r)
	case err != nil:
		return err
	case p.State == author.Deleted:
		return s.Problem(rw, r, http.StatusGone, "Deleted", "The author has deleted or unpublished this post.")
	case p.State != author.Published:
		return s.NotFound(rw, r)
	}
	if to := s.Posts.Path(p); r.URL.EscapedPath() != to { // the date or the spelling in the path is wrong: redirect
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		http.Redirect(rw, r, to, http.StatusMovedPermanently)
		return nil
	}
	v, err := s.postView(r, p)
	if err != nil {
		return err
	}
	if err := cmp.Or(s.addReplies(rw, r, &v, p), s.neighbours(ctx, &v, p)); err != nil {
		return err
	}
	stamp, err := s.Posts.Stamp(ctx, user, "")
	if err != nil {
		return err
	}
	s.sendWritten(rw, r, "post", &v, time.UnixMicro(stamp))
	return nil
}

// postView returns the page of a post, without its replies and neighbours.
func (s *Pages) postView(r *http.Request, p author.Post) (v postsView, err error) {
	w, err := s.Posts.Writer(r.Context(), p.User)
	if err != nil {
		return v, err
	}
	e, err := s.NewPostRenderer(r.Context(), false, true).RenderPost(p)
	if err != nil {
		return v, err
	}
	if v, err = s.listView(r, w, postList{User: p.User, Path: e.Path}); err != nil {
		return v, err
	}
	v.Posts, v.Type = []content.PostView{e}, "article"
	words := firstLine(sanitize.Text(p.HTML), 200)
	v.About = words
	v.Title = cmp.Or(e.Title, firstLine(words, 60), e.At.Text) + " · " + v.Writer.Title
	for _, f := range e.Files {
		if f.Kind == "image" {
			v.Image = s.whole(v.Base, f.Href)
			break
		}
	}
	return v, nil
}

// ShowUnsaved shows a post that is not saved as it would look on its page. Only the author may see this
// preview.
func (s *Pages) ShowUnsaved(rw http.ResponseWriter, r *http.Request, p author.Post) {
	v, err := s.postView(r, p)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	v.OwnPage = false // an unsaved post has no page to edit
	body, ok := s.Execute(rw, "post", &v)
	if !ok {
		return
	}
	s.AllowMedia(rw)
	rw.Header().Set("Cache-Control", "no-store")
	s.Send(rw, r, http.StatusOK, body)
}

// firstLine returns the beginning of a text of at most limit characters, cut between words.
func firstLine(s string, limit int) string {
	s = strings.Join(strings.Fields(shell.CleanText(s, 4*limit)), " ")
	if len([]rune(s)) <= limit {
		return s
	}
	s = string([]rune(s)[:limit])
	if i := strings.LastIndexByte(s, ' '); i > len(s)/2 {
		s = s[:i]
	}
	return s + "…"
}

// neighbours finds the posts published before and after a post.
func (s *Pages) neighbours(ctx context.Context, v *postsView, p author.Post) error {
	words := func(o author.Post) string {
		return cmp.Or(shell.CleanText(o.Title, 80), firstLine(sanitize.Text(o.HTML), 40), content.DateMoment(o.PublishedAt).Text)
	}
	next, err := s.Posts.List(ctx, author.PostQuery{User: p.User, State: author.Published, FromSeq: p.Seq + 1, Limit: 1})
	if err != nil {
		return err
	}
	if len(next) > 0 {
		v.Newer, v.NewerWords = s.Posts.Path(next[0]), words(next[0])
	}
	// Deleted posts leave gaps in the sequence, so each search covers a larger range.
	for n, to := int64(10), p.Seq-1; to > 0 && n <= 1000; n, to = n*10, to-n {
		before, err := s.Posts.List(ctx, author.PostQuery{User: p.User, State: author.Published, FromSeq: max(to-n+1, 1), ToSeq: to, Limit: int(n)})
		if err != nil {
			return err
		}
		if len(before) > 0 {
			last := before[len(before)-1]
			v.Older, v.OlderWords = s.Posts.Path(last), words(last)
			return nil
		}
	}
	return nil
}
