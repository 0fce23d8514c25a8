package authorui

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/origin"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

// Limits of a thread on a page.
const (
	threadAbove = 10 // maximum number of replies above a post
)

// threadView has the posts above and below a post.
type threadView struct {
	Above   []content.Reply // the first post of the thread comes first
	Skipped bool            // the page omits replies between the first and the second post of Above
	Replies []*content.Reply
	Part    string // path of the page with the whole thread; "": this page shows the whole thread
	More    string // URL of the next replies; "": none
	Feed    string // path of the feed of replies
	Stream  string // URL of the live stream; "": the page is not live
	Write   string // path of the form for a reply; "": the visitor cannot write
}

// Any reports whether there is a reply to show.
func (v threadView) Any() bool { return len(v.Replies) > 0 || v.Part != "" }

// addThread adds the thread of a post to its page.
//
// spec:cloudburst#thread-page
func (s *Pages) addThread(r *http.Request, v *postsView, p author.Post) error {
	if s.Threads == nil {
		return nil
	}
	ctx, path := r.Context(), s.Posts.Path(p)
	t := &v.Thread
	t.Feed, t.Stream = path+"/comments.rss", streamOf(v.Base, path)
	v.Links = append(v.Links, shell.FormatLink{Title: v.Say("Replies"), Href: t.Feed, Type: "application/rss+xml"})
	v.Script = "thread.js"
	if v.User != "" && v.Writes {
		t.Write = "/write?reply=" + url.QueryEscape(v.Base+path)
	}
	if p.Reply != nil {
		v.brief = true
		if err := s.above(ctx, t, p, path, v.Base); err != nil {
			return err
		}
	}
	q := conversation.ThreadQuery{ID: conversation.KeyOf(path), Levels: content.ReplyLevels + 1, Limit: conversation.MaxNodes}
	if part, err := strconv.ParseInt(r.URL.Query().Get("thread"), 10, 64); err == nil && part > 0 {
		q.ID, t.Part = part, path
	}
	if q.After = r.URL.Query().Get("after"); q.After != "" {
		t.Part = path
	}
	found, err := s.Threads.Thread(ctx, q)
	if err != nil {
		return err
	}
	if t.Part != "" && q.ID != conversation.KeyOf(path) && !s.isBelow(ctx, q.ID, path, found) {
		return nil
	}
	t.Replies = content.NestReplies(s.Renderer, found, v.Base, path, t.Write != "")
	if found.More {
		next := url.Values{"after": {found.Nodes[len(found.Nodes)-1].Path}}
		if t.Part != "" && q.ID != conversation.KeyOf(path) {
			next.Set("thread", strconv.FormatInt(q.ID, 10))
		}
		t.More = path + "?" + next.Encode()
	}
	return nil
}

// streamOf returns the URL of the live log filtered to the replies to a post.
func streamOf(base, path string) string {
	return origin.StreamPath + "?" + url.Values{"kind": {"save"}, "topic": {base + path + "/comments.rss"}}.Encode()
}

// isBelow reports whether a reply is in the thread of the post at a path. The page of a post must not
// show the thread of another post.
func (s *Pages) isBelow(ctx context.Context, id int64, path string, found conversation.Thread) bool {
	if len(found.Nodes) == 0 {
		return false
	}
	key := conversation.KeyOf(path)
	if found.Nodes[0].Root == key {
		return true
	}
	own, err := s.Threads.Above(ctx, path)
	return err == nil && len(own) > 0 && own[0].Root == found.Nodes[0].Root && strings.HasPrefix(found.Path, own[len(own)-1].Path)
}

// above adds the posts above a reply.
func (s *Pages) above(ctx context.Context, t *threadView, p author.Post, path, base string) error {
	list, err := s.Threads.Above(ctx, path)
	if err != nil {
		return err
	}
	top := cmp.Or(p.Reply.URL, p.Reply.GUID)
	if len(list) > 0 {
		top = list[0].ParentName
	}
	if strings.HasPrefix(top, "/") {
		top = base + top
	} else if err := s.Threads.Open(ctx, top); err != nil {
		s.Logger().WarnContext(ctx, "read the replies to another post", "err", err)
	}
	if known, ok := s.Threads.Known(ctx, top); ok && (shell.IsWebURL(known.Href) || strings.HasPrefix(known.Href, "/")) {
		one := content.Reply{ID: "above", Name: shell.CleanText(known.Name, conversation.MaxName), Href: known.Href, Text: shell.CleanText(known.Line, 200), At: shell.Moment{Zero: true}}
		if !strings.HasPrefix(known.Href, "/") {
			one.Host = shell.HostOf(known.Href)
		}
		t.Above = append(t.Above, one)
	}
	between := list[:max(len(list)-1, 0)]
	if t.Skipped = len(between) > threadAbove; t.Skipped {
		between = between[len(between)-threadAbove:]
	}
	for i := range between {
		one := content.NewReply(nil, &between[i], "", false)
		one.HTML, one.Text = "", conversation.FirstLine(cmp.Or(one.Title, sanitize.Text(between[i].HTML), one.Text))
		one.Title = ""
		t.Above = append(t.Above, *one)
	}
	return nil
}
