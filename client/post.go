package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Post is something that a user wrote, as it is on the server.
type Post struct {
	ID       int64  `json:"id,string"` // counts the user's posts, from 1
	User     string `json:"user"`
	Revision int64  `json:"revision"` // raised with each change
	// State is draft, scheduled (published by itself at DueAt), published or deleted.
	State string `json:"state"`
	URL   string `json:"url,omitempty"`  // of its page; "" before it was published
	GUID  string `json:"guid,omitempty"` // of its item in feeds
	Key   string `json:"key,omitempty"`  // what the program that made it calls it

	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	PublishedAt *time.Time `json:"published_at,omitempty"`
	DueAt       *time.Time `json:"due_at,omitempty"`
	UndoUntil   *time.Time `json:"undo_until,omitempty"` // the last change can be taken back
	Warning     string     `json:"warning,omitempty"`    // a short post over write.limit; "" for any other

	Title      string          `json:"title,omitempty"`
	Source     string          `json:"source,omitempty"` // as it was written
	Format     string          `json:"format"`           // of Source: markdown, html or text
	HTML       string          `json:"html,omitempty"`   // made of Source, safe to show
	Link       string          `json:"link,omitempty"`   // page that it is about
	Categories []string        `json:"categories"`
	Enclosures []PostEnclosure `json:"enclosures,omitempty"`
	Reply      *PostReply      `json:"reply,omitempty"`
	Outline    []PostNode      `json:"outline,omitempty"`
	Language   string          `json:"language,omitempty"`
}

// PostEnclosure is a file that belongs to a post.
type PostEnclosure struct {
	URL      string  `json:"url"` // whole, or a path of the server
	Type     string  `json:"type,omitempty"`
	Length   int64   `json:"length,omitempty"` // bytes
	Title    string  `json:"title,omitempty"`
	Alt      string  `json:"alt,omitempty"`        // a picture in words
	Duration float64 `json:"duration_s,omitempty"` // seconds
}

// PostReply is what a post answers.
type PostReply struct {
	URL   string `json:"url"` // "" in a change: it answers nothing any more
	GUID  string `json:"guid,omitempty"`
	Feed  string `json:"feed,omitempty"` // address of the item's feed
	Title string `json:"title,omitempty"`
}

// PostNode is a headline of a post that is an outline, with those below it.
type PostNode struct {
	Text       string          `json:"text"` // Markdown of one paragraph
	HTML       string          `json:"html,omitempty"`
	Title      string          `json:"title,omitempty"`
	Link       string          `json:"link,omitempty"`
	GUID       string          `json:"guid,omitempty"`
	CreatedAt  *time.Time      `json:"created_at,omitempty"`
	Categories []string        `json:"categories,omitempty"`
	Enclosures []PostEnclosure `json:"enclosures,omitempty"`
	Folded     bool            `json:"folded,omitempty"`
	Attrs      []PostAttr      `json:"attrs,omitempty"` // of an OPML headline, that no field is for
	Nodes      []PostNode      `json:"nodes,omitempty"`
}

// PostAttr is an attribute.
type PostAttr struct {
	Space string `json:"space,omitempty"` // namespace URI
	Name  string `json:"name"`
	Value string `json:"value"`
}

// PostChange is what a new post says, or what changes of one. What is nil stays.
type PostChange struct {
	Title      *string          `json:"title,omitempty"`
	Source     *string          `json:"source,omitempty"` // at most 256 KiB
	Format     *string          `json:"format,omitempty"` // markdown, html or text
	Link       *string          `json:"link,omitempty"`
	Categories *[]string        `json:"categories,omitempty"`
	Enclosures *[]PostEnclosure `json:"enclosures,omitempty"`
	Reply      *PostReply       `json:"reply,omitempty"`
	Outline    *[]PostNode      `json:"outline,omitempty"`
	Language   *string          `json:"language,omitempty"`

	// State is draft, scheduled or published; a new post without one is published. One
	// that is published with a date to come is scheduled.
	State *string `json:"state,omitempty"`
	// At is when it is due, or the date that it has.
	At *time.Time `json:"at,omitempty"`
	// Slug is a wish for the end of its address.
	Slug *string `json:"slug,omitempty"`
}

// PostQuery selects posts. Zero fields do not restrict.
type PostQuery struct {
	State         string    // draft, scheduled, published, deleted; "": all but deleted
	Category      string    // of published posts
	Match         string    // words or pieces of the title or the source
	Since, Before time.Time // they were published; Before is not included
	Limit         int       // most posts in all; 0: every one
}

// Preview is a post as it would be.
type Preview struct {
	HTML       string     `json:"html,omitempty"`
	Outline    []PostNode `json:"outline,omitempty"`
	Characters int        `json:"characters"` // of its words
	Limit      int        `json:"limit"`      // of a short post; 0: nothing is counted
	Over       bool       `json:"over"`       // it is longer than a short post is
}

// Writer is what a user says of himself, and how much he wrote.
type Writer struct {
	User    string `json:"user"`
	Written bool   `json:"written"` // the public feed is made of posts, not a saved document
	Posts   int64  `json:"posts"`   // published
	Profile
}

// Profile is what a user says of himself.
type Profile struct {
	Name     string `json:"name"`  // of the person; "": the user name
	Email    string `json:"email"` // public mail address, which the feeds show
	Title    string `json:"title"` // of feed and page; "": the user's name
	Blurb    string `json:"blurb"` // plain text
	Link     string `json:"link"`  // a page elsewhere
	Language string `json:"language"`
	Accent   string `json:"accent"` // "#rrggbb"
	Avatar   string `json:"avatar"` // path or URL of a picture
	Theme    string `json:"theme"`  // "", light or dark
	// Hints say when to read the feed again; nil in [Client.SetProfile] leaves them as they are.
	Hints       *FeedHints `json:"hints,omitempty"`
	PingTargets []string   `json:"sinks"` // servers that are told of changes besides: "rsscloud URL" …
}

// FeedHints say when readers are to read the feed of a user's posts again. Zero fields say
// nothing.
type FeedHints struct {
	TTL             int        `json:"ttl"`        // minutes
	SkipHours       []int      `json:"skip_hours"` // of GMT, 0 to 23
	SkipDays        []string   `json:"skip_days"`  // Monday to Sunday
	UpdatePeriod    string     `json:"update_period"`
	UpdateFrequency int        `json:"update_frequency"`
	UpdateBase      *time.Time `json:"update_base,omitempty"`
}

// Posts lists a user's posts, the newest first.
func (c *Client) Posts(ctx context.Context, user string, q PostQuery) iter.Seq2[Post, error] {
	v := url.Values{}
	set(v, "state", q.State)
	set(v, "category", q.Category)
	set(v, "match", q.Match)
	for name, t := range map[string]time.Time{"since": q.Since, "before": q.Before} {
		if !t.IsZero() {
			v.Set(name, t.UTC().Format(time.RFC3339Nano))
		}
	}
	return pages(q.Limit, v, func(v url.Values) ([]Post, string, error) {
		var page struct {
			Posts []Post `json:"posts"`
			Next  string `json:"next"`
		}
		path, err := userPath("/v1/users/", user, "posts")
		if err == nil {
			err = c.call(ctx, "GET", path, v, nil, &page)
		}
		return page.Posts, page.Next, err
	})
}

// Post is one post, also a deleted one that is still kept.
func (c *Client) Post(ctx context.Context, user string, id int64) (Post, error) {
	return userCall[Post](ctx, c, "GET", nil, user, "posts", decimal(id))
}

// CreatePost makes a post. With a key, at most 200 bytes, the same call again is the same
// post.
func (c *Client) CreatePost(ctx context.Context, user string, p PostChange, key string) (Post, error) {
	header := http.Header{}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return headed[Post](ctx, c, "POST", header, p, user, "posts")
}

// ChangePost changes a post. With a revision it is refused when the post is another by
// now: the Error's Status is 412 then. 0: whatever is there.
func (c *Client) ChangePost(ctx context.Context, user string, id, revision int64, p PostChange) (Post, error) {
	return headed[Post](ctx, c, "PATCH", ifMatch(revision), p, user, "posts", decimal(id))
}

// DeletePost deletes a post; revision is as of ChangePost.
func (c *Client) DeletePost(ctx context.Context, user string, id, revision int64) (Post, error) {
	return headed[Post](ctx, c, "DELETE", ifMatch(revision), nil, user, "posts", decimal(id))
}

// UndoPost takes back the last change of a post that readers saw, within a minute.
func (c *Client) UndoPost(ctx context.Context, user string, id int64) (Post, error) {
	return userCall[Post](ctx, c, "POST", nil, user, "posts", decimal(id), "undo")
}

// PreviewPost shows a post as it would be; nothing is saved.
func (c *Client) PreviewPost(ctx context.Context, user string, p PostChange) (Preview, error) {
	return userCall[Preview](ctx, c, "POST", p, user, "posts", "preview")
}

// Writer is what a user says of himself.
func (c *Client) Writer(ctx context.Context, user string) (Writer, error) {
	return userCall[Writer](ctx, c, "GET", nil, user, "profile")
}

// SetProfile replaces what a user says of himself, all of it.
func (c *Client) SetProfile(ctx context.Context, user string, p Profile) (Writer, error) {
	return userCall[Writer](ctx, c, "PUT", p, user, "profile")
}

func ifMatch(revision int64) http.Header {
	h := http.Header{}
	if revision > 0 {
		h.Set("If-Match", strconv.Quote(decimal(revision)))
	}
	return h
}

// headed is userCall with headers.
func headed[T any](ctx context.Context, c *Client, method string, header http.Header, in any, names ...string) (out T, err error) {
	path, err := userPath("/v1/users/", names...)
	if err != nil {
		return out, err
	}
	err = c.callWith(ctx, method, path, nil, header, in, &out)
	return out, err
}
