package writerui

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

// Sent is the interface to the webmentions of posts for the pages; *conversation.Sender implements it.
type Sent interface {
	List(ctx context.Context, q conversation.SentQuery) ([]conversation.Sent, error)
	// Again schedules the failed webmentions of a post for a new attempt. It returns their number.
	Again(ctx context.Context, user string, post int64) (int, error)
}

// sentGroup contains the webmentions of one post.
type sentGroup struct {
	ID         int64
	Post, Href string // words and path of the post; Href "": the post is not public
	Rows       []sentRow
	Failed     bool // some of the webmentions can be sent again
}

// sentRow is a webmention in the list.
type sentRow struct {
	Target, Short string
	Words         string // name of the result
	Answer        string // result of the last attempt, for a failed or pending webmention; "": not displayed
	Good, Reply   bool
	Removed       bool
	Status        int
	Last, Next    shell.Moment
}

// sentWords names the result of a webmention.
func sentWords(r conversation.Result) string {
	switch r {
	case conversation.Accepted:
		return "Accepted"
	case conversation.NoEndpoint:
		return "This page receives no webmentions"
	case conversation.Failed:
		return "Failed"
	}
	return "Pending"
}

// postNames reads the words and the path of each post at most once.
type postNames struct {
	pages *Pages
	user  string
	known map[int64][2]string
}

// of returns the words and the path of a post. Both are empty if the post does not exist any more;
// the path is also empty if the post is not public.
func (n postNames) of(ctx context.Context, id int64) ([2]string, error) {
	if about, ok := n.known[id]; ok {
		return about, nil
	}
	about := [2]string{}
	p, err := n.pages.Posts.Get(ctx, n.user, id)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return about, err
	}
	if err == nil {
		about[0] = wordsOfPost(p)
		if p.State == author.Published {
			about[1] = n.pages.Posts.Path(p)
		}
	}
	n.known[id] = about
	return about, nil
}

// fillSent lists sent webmentions by post.
func (s *Pages) fillSent(ctx context.Context, v *repliesView, user string, query url.Values) error {
	q := conversation.SentQuery{User: user, AfterTarget: query.Get("after"), Limit: repliesPerPage + 1}
	// An invalid number counts as 0: all posts, from the newest.
	q.Post, _ = strconv.ParseInt(query.Get("post"), 10, 64)
	q.BeforePost, _ = strconv.ParseInt(query.Get("before"), 10, 64)
	list, err := s.Sent.List(ctx, q)
	if err != nil {
		return err
	}
	if len(list) > repliesPerPage {
		list = list[:repliesPerPage]
		last := list[len(list)-1]
		next := url.Values{"show": {showSent}, "before": {strconv.FormatInt(last.Post, 10)}, "after": {last.Target}}
		if q.Post != 0 {
			next.Set("post", query.Get("post"))
		}
		v.More = repliesPath + "?" + next.Encode()
	}
	posts := postNames{s, user, map[int64][2]string{}}
	if q.Post != 0 {
		about, err := posts.of(ctx, q.Post)
		if err != nil {
			return err
		}
		v.Post = about[0]
	}
	for _, o := range list {
		if n := len(v.Sent); n == 0 || v.Sent[n-1].ID != o.Post {
			about, err := posts.of(ctx, o.Post)
			if err != nil {
				return err
			}
			v.Sent = append(v.Sent, sentGroup{ID: o.Post, Post: about[0], Href: about[1]})
		}
		g := &v.Sent[len(v.Sent)-1]
		row := sentRow{Target: o.Target, Short: shell.ShortURL(o.Target), Words: sentWords(o.Result), Good: o.Result == conversation.Accepted, Reply: o.Reply, Removed: o.Removed, Status: o.Status, Last: v.When(o.LastAt), Next: v.When(time.Time{})}
		if o.Result == conversation.Pending && o.Tries > 0 {
			row.Answer, row.Next = o.Answer, v.When(o.DueAt)
		}
		if o.Result == conversation.Failed {
			row.Answer, g.Failed = o.Answer, true
		}
		g.Rows = append(g.Rows, row)
	}
	return nil
}
