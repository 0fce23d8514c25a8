package authorui

import (
	"cmp"
	"context"
	"net/http"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/webmention"
)

// Replies is the interface to replies from other sites for the pages.
type Replies interface {
	// Shown lists the approved mentions of a post, oldest first.
	Shown(ctx context.Context, user string, post int64) ([]conversation.Mention, error)
	// Accepts reports whether the author accepts mentions.
	Accepts(ctx context.Context, user string) (bool, error)
}

// webmentionPath is the path of the webmention endpoint that the pages of posts name.
const webmentionPath = "/webmention"

// repliesView has the approved mentions of a post by other sites.
type repliesView struct {
	Replies []replyView
	Others  []othersView // mentions without a text, such as likes
}

// othersView lists the people with the same reaction, such as a like.
type othersView struct {
	Class string // microformats class, such as "u-like"
	Words string // heading, such as "Liked by"
	List  []replyView
}

type replyView struct {
	Name, Href   string // name of the author, and the URL of their page; Href "": unknown
	Source, Host string // URL and host of the page with the reply
	Title, Text  string
	At           shell.Moment
}

// Any reports whether there is a mention to show.
func (v repliesView) Any() bool { return len(v.Replies) > 0 || len(v.Others) > 0 }

// addReplies adds the thread of a post and its mentions by other sites, and names the webmention
// endpoint in the response.
//
// spec:webmention-2017#endpoint-advertised
func (s *Pages) addReplies(rw http.ResponseWriter, r *http.Request, v *postsView, p author.Post) (err error) {
	if err := s.addThread(r, v, p); err != nil || s.Replies == nil {
		return err
	}
	open, err := s.Replies.Accepts(r.Context(), p.User)
	if err != nil {
		return err
	}
	if open {
		v.Webmention = webmentionPath
		rw.Header().Add("Link", webmention.LinkHeader(s.BaseURL(r)+webmentionPath))
	}
	v.Replies, err = s.replies(r.Context(), p.User, p.ID)
	return err
}

// replies reads the mentions that are shown below a post.
func (s *Pages) replies(ctx context.Context, user string, post int64) (v repliesView, err error) {
	list, err := s.Replies.Shown(ctx, user, post)
	if err != nil {
		return v, err
	}
	others := []othersView{{Class: "u-like", Words: "Liked by"}, {Class: "u-repost", Words: "Reposted by"}, {Class: "u-bookmark", Words: "Bookmarked by"}, {Class: "u-mention", Words: "Linked from"}}
	kinds := map[conversation.Kind]int{conversation.Like: 0, conversation.Repost: 1, conversation.Bookmark: 2, conversation.Link: 3}
	for _, m := range list {
		one := replyView{Name: shell.CleanText(cmp.Or(m.Name, m.Host), conversation.MaxName), Source: m.Source, Host: m.Host,
			Title: shell.CleanText(m.Title, 2*conversation.MaxName), Text: shell.CleanText(m.Text, conversation.MaxText), At: content.DateMoment(m.ReceivedAt)}
		if shell.IsWebURL(m.Author) {
			one.Href = m.Author
		}
		if !m.PublishedAt.IsZero() && m.PublishedAt.Before(m.ReceivedAt) {
			one.At = content.DateMoment(m.PublishedAt)
		}
		if i, quiet := kinds[m.Kind]; quiet {
			others[i].List = append(others[i].List, one)
		} else if s.Threads == nil {
			v.Replies = append(v.Replies, one)
		}
	}
	for _, o := range others {
		if len(o.List) > 0 {
			v.Others = append(v.Others, o)
		}
	}
	return v, nil
}
