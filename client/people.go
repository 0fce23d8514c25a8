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
	About     string     `json:"about,omitempty"`  // one line about the author
	Avatar    string     `json:"avatar,omitempty"` // URL of an image
	Page      string     `json:"page"`             // URL of the author's page
	Feed      string     `json:"feed"`             // URL of the public feed, for [River.AddSource]
	Posts     int64      `json:"posts"`            // number of published posts; 0: the author saves a feed instead of posts
	LastAt    *time.Time `json:"last_at,omitempty"`
	Following ID         `json:"following,omitzero"` // ID of the source by which the river follows the author; 0: not followed
}

// People lists the authors whose names contain all words, the author with the newest post first.
// limit is the maximum number of authors; 0: all.
func (r *River) People(ctx context.Context, words string, limit int) iter.Seq2[Person, error] {
	v := r.values(nil)
	set(v, "match", words)
	return pages[Person](ctx, r.c, "/v1/people", v, "people", limit)
}

// Thread is a page of the replies to a post.
type Thread struct {
	URL     string        `json:"url"`
	Above   []ThreadReply `json:"above"` // posts above this post, from the first post of the thread to the post that this post replies to
	Replies []ThreadReply `json:"replies"`
	Next    string        `json:"next,omitempty"` // cursor of the next page
}

// ThreadReply is a post in a thread. If Hidden is set, the post has no content, because it was
// deleted or its author is not approved.
type ThreadReply struct {
	ID        ID         `json:"id"`
	Parent    ID         `json:"parent,omitzero"` // ID of the post that this post replies to
	Depth     int        `json:"depth"`           // number of levels below the post at Thread.URL; in Above: below the first post of the thread
	Hidden    bool       `json:"hidden,omitempty"`
	URL       string     `json:"url,omitempty"`
	At        *time.Time `json:"at,omitempty"`
	User      string     `json:"user,omitempty"` // author on this server
	Name      string     `json:"name,omitempty"` // name of the author
	AuthorURL string     `json:"author_url,omitempty"`
	Title     string     `json:"title,omitempty"`
	HTML      string     `json:"html,omitempty"` // sanitized HTML; set for posts on this server
	Text      string     `json:"text,omitempty"` // plain text; set for other posts
}

// Thread returns the replies to the post at a URL in reading order: each reply follows the post
// that it replies to. cursor is "" for the first page, otherwise Next of the previous page.
func (r *River) Thread(ctx context.Context, post, cursor string) (Thread, error) {
	v := url.Values{"url": {post}}
	set(v, "cursor", cursor)
	return answer[Thread](ctx, r.c, "GET", "/v1/thread", r.values(v), nil)
}

// Replies lists all replies in the thread below the post at a URL.
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
