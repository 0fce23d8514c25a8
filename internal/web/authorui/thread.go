package authorui

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

// Threads is the interface to the threads of posts for the pages; conversation.Threads implements it.
type Threads interface {
	Thread(ctx context.Context, q conversation.ThreadQuery) (conversation.Thread, error)
	Above(ctx context.Context, name string) ([]conversation.Node, error)
	Known(ctx context.Context, url string) (conversation.Brief, bool)
	Open(ctx context.Context, url string) error
}

// Limits of a thread on a page.
const (
	threadLevels = 4  // levels of replies; deeper ones have a page of their own
	threadAbove  = 10 // replies above a post
)

// threadView is what is above and below a post.
type threadView struct {
	Above   []threadNode // from the top
	Skipped bool         // there are more replies between the first and the second
	Replies []*threadNode
	Part    string // path of the whole thread, if the page has a part of it
	More    string // URL of the next replies; "": none
	Feed    string // path of the feed of replies
	Stream  string // URL of the live stream; "": the page is not live
	Write   string // path of the form for a reply; "": the visitor cannot write
}

// Any reports whether there is a reply to show.
func (v threadView) Any() bool { return len(v.Replies) > 0 || v.Part != "" }

// threadNode is a reply on a page.
type threadNode struct {
	ID       string // of its element
	Name     string // of its author
	Profile  string // URL of its author; "": none
	Href     string // its page
	Host     string // of a page elsewhere
	Title    string
	HTML     template.HTML
	Text     string
	At       shell.Moment
	Hidden   bool
	Write    string // path of the form for a reply; "": none
	Continue string // URL of the replies below it, which the page does not show
	Inside   []*threadNode

	key int64
}

// Foreign reports whether the reply is on another site.
func (n *threadNode) Foreign() bool { return n.Host != "" }

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
		if err := s.above(ctx, t, p, path, v.Base); err != nil {
			return err
		}
	}
	q := conversation.ThreadQuery{ID: conversation.KeyOf(path), Levels: threadLevels + 1, Limit: conversation.MaxNodes}
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
	b := threadBuilder{s: s, body: s.NewBodyRenderer(true), base: v.Base, path: path, write: t.Write != ""}
	b.body.Heading = 3
	t.Replies = b.nest(found.Nodes, found.Depth())
	if found.More {
		next := url.Values{"after": {found.Nodes[len(found.Nodes)-1].Path}}
		if t.Part != "" && q.ID != conversation.KeyOf(path) {
			next.Set("thread", strconv.FormatInt(q.ID, 10))
		}
		t.More = path + "?" + next.Encode()
	}
	return nil
}

// streamOf is the URL of the live log filtered to the replies to a post.
func streamOf(base, path string) string {
	return "/log/stream?" + url.Values{"kind": {"save"}, "topic": {base + path + "/comments.rss"}}.Encode()
}

// isBelow reports whether a reply is in the thread of the post at a path, so that a page shows no
// thread of others.
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
	b := threadBuilder{s: s}
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
		one := threadNode{ID: "above", Name: shell.CleanText(known.Name, conversation.MaxName), Href: known.Href, Text: shell.CleanText(known.Line, 200), At: shell.Moment{Zero: true}}
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
		one := b.node(&between[i])
		one.HTML, one.Text = "", conversation.FirstLine(cmp.Or(one.Title, sanitize.Text(between[i].HTML), one.Text))
		one.Title = ""
		t.Above = append(t.Above, *one)
	}
	return nil
}

// threadBuilder builds the replies of a page.
type threadBuilder struct {
	s     *Pages
	body  *content.BodyRenderer
	base  string
	path  string // of the page
	write bool
}

// nest arranges nodes, which are in the order of their paths, below each other.
func (b *threadBuilder) nest(nodes []conversation.Node, base int) (top []*threadNode) {
	byKey := map[int64]*threadNode{}
	for i := range nodes {
		n := &nodes[i]
		level := n.Depth() - base
		parent := byKey[n.Parent]
		if level > threadLevels {
			if parent != nil {
				parent.Continue = b.path + "?thread=" + strconv.FormatInt(parent.key, 10)
			}
			continue
		}
		one := b.node(n)
		byKey[n.ID] = one
		if parent != nil {
			parent.Inside = append(parent.Inside, one)
		} else {
			top = append(top, one)
		}
	}
	return withoutHidden(top)
}

// withoutHidden removes hidden replies below which nothing is shown.
func withoutHidden(list []*threadNode) (kept []*threadNode) {
	for _, n := range list {
		n.Inside = withoutHidden(n.Inside)
		if !n.Hidden || len(n.Inside) > 0 {
			kept = append(kept, n)
		}
	}
	return kept
}

// node renders one reply.
func (b *threadBuilder) node(n *conversation.Node) *threadNode {
	one := &threadNode{ID: "r" + strconv.FormatInt(n.ID, 10), Hidden: n.Hidden, key: n.ID, At: content.DateMoment(n.At)}
	if n.Hidden {
		return one
	}
	one.Name, one.Title = shell.CleanText(cmp.Or(n.Author, shell.HostOf(n.Name)), conversation.MaxName), shell.CleanText(n.Title, 300)
	if n.User != "" {
		one.Href, one.Profile = n.Name, n.AuthorURL
		if b.body != nil {
			one.HTML = b.body.Render(n.HTML, false).HTML
		}
	} else {
		one.Text = shell.CleanText(n.Text, conversation.MaxText)
		if shell.IsWebURL(n.Name) {
			one.Href, one.Host = n.Name, shell.HostOf(n.Name)
		}
		if shell.IsWebURL(n.AuthorURL) {
			one.Profile = n.AuthorURL
		}
	}
	if b.write && one.Href != "" {
		to := one.Href
		if n.User != "" {
			to = b.base + to
		}
		one.Write = "/write?reply=" + url.QueryEscape(to)
	}
	return one
}
