package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Person is an author of the server who is listed in its directory.
type Person struct {
	User      string     `json:"user"`
	Name      string     `json:"name"`
	About     string     `json:"about,omitempty"`  // one line
	Avatar    string     `json:"avatar,omitempty"` // URL
	Page      string     `json:"page"`             // URL of the author's page
	Feed      string     `json:"feed"`             // URL of the public feed, for [River.AddSource]
	Posts     int64      `json:"posts"`            // published; 0 for an author who saves a feed
	LastAt    *time.Time `json:"last_at,omitempty"`
	Following ID         `json:"following,omitzero"` // source by which the river follows the author; 0: none
}

// People lists the authors whose names contain all words, newest post first.
func (r *River) People(ctx context.Context, words string, limit int) iter.Seq2[Person, error] {
	v := r.values(nil)
	set(v, "match", words)
	return pages(limit, v, func(v url.Values) ([]Person, string, error) {
		var page struct {
			People []Person `json:"people"`
			Next   string   `json:"next"`
		}
		err := r.c.call(ctx, "GET", "/v1/people", v, nil, &page)
		return page.People, page.Next, err
	})
}

// Thread is a page of the replies to a post.
type Thread struct {
	URL     string        `json:"url"`
	Above   []ThreadReply `json:"above"` // from the top of the thread to the post that this one replies to
	Replies []ThreadReply `json:"replies"`
	Next    string        `json:"next,omitempty"` // cursor of the next page
}

// ThreadReply is a post in a thread. A hidden one has no content: it was deleted, or its author is not
// approved.
type ThreadReply struct {
	ID        ID         `json:"id"`
	Parent    ID         `json:"parent,omitzero"` // post that it replies to
	Depth     int        `json:"depth"`           // levels below the post of the thread; 0 is the top of Above
	Hidden    bool       `json:"hidden,omitempty"`
	URL       string     `json:"url,omitempty"`
	At        *time.Time `json:"at,omitempty"`
	User      string     `json:"user,omitempty"` // author on this server
	Name      string     `json:"name,omitempty"` // of the author
	AuthorURL string     `json:"author_url,omitempty"`
	Title     string     `json:"title,omitempty"`
	HTML      string     `json:"html,omitempty"` // sanitized; of posts of this server
	Text      string     `json:"text,omitempty"` // plain; of other posts
}

// Thread returns the replies to the post at a URL in the order in which they are read: each reply
// follows the one to which it replies. cursor is "" or Next of the page before.
func (r *River) Thread(ctx context.Context, post, cursor string) (Thread, error) {
	v := url.Values{"url": {post}}
	set(v, "cursor", cursor)
	var t Thread
	err := r.call(ctx, "GET", "/v1/thread", v, nil, &t)
	return t, err
}

// Replies lists the whole thread below the post at a URL.
func (r *River) Replies(ctx context.Context, post string) iter.Seq2[ThreadReply, error] {
	return func(yield func(ThreadReply, error) bool) {
		for cursor := ""; ; {
			t, err := r.Thread(ctx, post, cursor)
			if err != nil {
				yield(ThreadReply{}, err)
				return
			}
			for _, one := range t.Replies {
				if !yield(one, nil) {
					return
				}
			}
			if cursor = t.Next; cursor == "" {
				return
			}
		}
	}
}
