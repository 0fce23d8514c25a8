package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Post is a post of a user as stored on the server.
type Post struct {
	ID       int64  `json:"id,string"` // number of the post within the user's posts, from 1
	User     string `json:"user"`
	Revision int64  `json:"revision"` // increases with each change
	// State is draft, scheduled (to be published at DueAt), published, private (published for Groups) or
	// deleted.
	State string `json:"state"`
	URL   string `json:"url,omitempty"`  // URL of the post's page; "" before it is published
	GUID  string `json:"guid,omitempty"` // of the post's item in feeds
	Key   string `json:"key,omitempty"`  // idempotency key sent by the program that created the post

	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	PublishedAt *time.Time `json:"published_at,omitempty"`
	DueAt       *time.Time `json:"due_at,omitempty"`
	UndoUntil   *time.Time `json:"undo_until,omitempty"` // until when the last change can be undone
	Warning     string     `json:"warning,omitempty"`    // set if a short post is longer than the setting write.limit

	Title      string          `json:"title,omitempty"`
	Source     string          `json:"source,omitempty"` // text as written
	Format     string          `json:"format"`           // format of Source: markdown, html or text
	HTML       string          `json:"html,omitempty"`   // Source as sanitized HTML
	Link       string          `json:"link,omitempty"`   // page that the post is about
	Categories []string        `json:"categories"`
	Enclosures []PostEnclosure `json:"enclosures,omitempty"`
	Reply      *PostReply      `json:"reply,omitempty"`
	Card       *PostCard       `json:"card,omitempty"` // preview of a page that the text links to
	Outline    []PostNode      `json:"outline,omitempty"`
	Language   string          `json:"language,omitempty"`
	Groups     []string        `json:"groups,omitempty"` // slugs of the groups that the post is for; missing: everyone
}

// PostEnclosure is a file attached to a post.
type PostEnclosure struct {
	URL      string  `json:"url"` // absolute URL, or a path on the server
	Type     string  `json:"type,omitempty"`
	Length   int64   `json:"length,omitempty"` // bytes
	Title    string  `json:"title,omitempty"`
	Alt      string  `json:"alt,omitempty"`        // alternative text of an image
	Duration float64 `json:"duration_s,omitempty"` // seconds
}

// PostReply is the item that a post replies to.
type PostReply struct {
	URL   string `json:"url"` // "" in a PostChange: the post is no longer a reply
	GUID  string `json:"guid,omitempty"`
	Feed  string `json:"feed,omitempty"` // URL of the item's feed
	Title string `json:"title,omitempty"`
}

// PostNode is a headline in the outline of a post, with its subheads.
type PostNode struct {
	Text       string          `json:"text"` // one paragraph of Markdown
	HTML       string          `json:"html,omitempty"`
	Title      string          `json:"title,omitempty"`
	Link       string          `json:"link,omitempty"`
	GUID       string          `json:"guid,omitempty"`
	CreatedAt  *time.Time      `json:"created_at,omitempty"`
	Categories []string        `json:"categories,omitempty"`
	Enclosures []PostEnclosure `json:"enclosures,omitempty"`
	Folded     bool            `json:"folded,omitempty"`
	Attrs      []PostAttr      `json:"attrs,omitempty"` // OPML attributes without a field here
	Nodes      []PostNode      `json:"nodes,omitempty"`
}

// PostAttr is an attribute of an OPML outline element.
type PostAttr struct {
	Space string `json:"space,omitempty"` // namespace URI
	Name  string `json:"name"`
	Value string `json:"value"`
}

// PostChange holds the fields of a new post, or the fields to change in an existing one. A nil
// field is not changed.
type PostChange struct {
	Title      *string          `json:"title,omitempty"`
	Source     *string          `json:"source,omitempty"` // at most 256 KiB
	Format     *string          `json:"format,omitempty"` // markdown, html or text
	Link       *string          `json:"link,omitempty"`
	Categories *[]string        `json:"categories,omitempty"`
	Enclosures *[]PostEnclosure `json:"enclosures,omitempty"`
	Reply      *PostReply       `json:"reply,omitempty"`
	Card       *PostCard        `json:"card,omitempty"`
	Outline    *[]PostNode      `json:"outline,omitempty"`
	Language   *string          `json:"language,omitempty"`
	Groups     *[]string        `json:"groups,omitempty"` // slugs; empty: everyone

	// State is draft, scheduled, published or private. A post with Groups is private when it is
	// published. A new post without State is published. A published
	// post with a date in the future becomes scheduled.
	State *string `json:"state,omitempty"`
	// At is the time of publication: in the future for a scheduled post.
	At *time.Time `json:"at,omitempty"`
	// Slug is the preferred last part of the post's URL.
	Slug *string `json:"slug,omitempty"`
}

// PostQuery selects posts. A zero field does not restrict the result.
type PostQuery struct {
	State         string    // draft, scheduled, published, private or deleted; "": all except deleted
	Category      string    // category of a published post
	Match         string    // words or parts of words in the title or source
	Since, Before time.Time // publication time; Since is inclusive, Before is exclusive
	Limit         int       // maximum number of posts; 0 means all
}

// Preview is a post as it would appear.
type Preview struct {
	HTML       string     `json:"html,omitempty"`
	Outline    []PostNode `json:"outline,omitempty"`
	Characters int        `json:"characters"` // length of the text
	Limit      int        `json:"limit"`      // maximum length of a short post; 0 means no limit
	Over       bool       `json:"over"`       // the post is too long for a short post
}

// Writer is a user's profile with the number of posts.
type Writer struct {
	User    string `json:"user"`
	Written bool   `json:"written"` // the public feed is generated from posts, not from a saved document
	Posts   int64  `json:"posts"`   // published posts
	Profile
}

// Profile is a user's description of themselves and of their feeds.
type Profile struct {
	Name     string `json:"name"`  // name of the person; "": the user name
	Email    string `json:"email"` // public e-mail address, shown in feeds
	Title    string `json:"title"` // title of the feed and page; "": Name
	Blurb    string `json:"blurb"` // plain text
	Link     string `json:"link"`  // URL of another page
	Language string `json:"language"`
	Accent   string `json:"accent"` // color as "#rrggbb"
	Avatar   string `json:"avatar"` // path or URL of an image
	Theme    string `json:"theme"`  // "", light or dark
	// Hints contain the update schedule of the feed. nil in [Client.SetProfile] leaves them
	// unchanged.
	Hints       *FeedHints `json:"hints,omitempty"`
	Rules       *PostRules `json:"rules,omitempty"` // for the texts of posts; nil in [Client.SetProfile] leaves them unchanged
	PingTargets []string   `json:"sinks"`           // other servers to ping after changes, as "rsscloud URL"
	// Page has the settings of the user's page. nil in [Client.SetProfile] leaves them unchanged.
	Page *PageSettings `json:"page,omitempty"`
}

// PageSettings are the settings of a user's page.
type PageSettings struct {
	Design string        `json:"design"` // theme: "", journal, plain, gazette, terminal or garden
	Header string        `json:"header"` // path or URL of the image at the top
	Links  []ProfileLink `json:"links"`  // other pages of the user, marked with rel="me"
	Pinned int64         `json:"pinned"` // number of the post at the top; 0: none
}

// ProfileLink is a link to another page of a user.
type ProfileLink struct {
	Title string `json:"title"` // "": the host of the URL
	URL   string `json:"url"`
}

// FeedHints recommend when feed readers read the feed of a user's posts again. The feed omits
// fields that are zero.
type FeedHints struct {
	TTL             int        `json:"ttl"`        // minutes
	SkipHours       []int      `json:"skip_hours"` // hours in GMT, 0 to 23
	SkipDays        []string   `json:"skip_days"`  // English names, Monday to Sunday
	UpdatePeriod    string     `json:"update_period"`
	UpdateFrequency int        `json:"update_frequency"`
	UpdateBase      *time.Time `json:"update_base,omitempty"`
}

// Posts lists a user's posts, newest first.
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

// Post returns one post. A deleted post is available until the server removes it from its database.
func (c *Client) Post(ctx context.Context, user string, id int64) (Post, error) {
	return userCall[Post](ctx, c, "GET", nil, user, "posts", decimal(id))
}

// CreatePost creates a post. With a key of at most 200 bytes, a repeated call returns the same
// post.
func (c *Client) CreatePost(ctx context.Context, user string, p PostChange, key string) (Post, error) {
	header := http.Header{}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return headed[Post](ctx, c, "POST", header, p, user, "posts")
}

// ChangePost changes a post. If revision is not 0 and the post has another revision, the call fails
// with an [*Error] of Status 412.
func (c *Client) ChangePost(ctx context.Context, user string, id, revision int64, p PostChange) (Post, error) {
	return headed[Post](ctx, c, "PATCH", ifMatch(revision), p, user, "posts", decimal(id))
}

// DeletePost deletes a post. revision works as in [Client.ChangePost].
func (c *Client) DeletePost(ctx context.Context, user string, id, revision int64) (Post, error) {
	return headed[Post](ctx, c, "DELETE", ifMatch(revision), nil, user, "posts", decimal(id))
}

// UndoPost reverts the last published change of a post, within one minute of that change.
func (c *Client) UndoPost(ctx context.Context, user string, id int64) (Post, error) {
	return userCall[Post](ctx, c, "POST", nil, user, "posts", decimal(id), "undo")
}

// PreviewPost renders a post without saving it.
func (c *Client) PreviewPost(ctx context.Context, user string, p PostChange) (Preview, error) {
	return userCall[Preview](ctx, c, "POST", p, user, "posts", "preview")
}

// Writer returns a user's profile and number of posts.
func (c *Client) Writer(ctx context.Context, user string) (Writer, error) {
	return userCall[Writer](ctx, c, "GET", nil, user, "profile")
}

// SetProfile replaces the whole profile of a user.
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

// headed is like userCall with additional request headers.
func headed[T any](ctx context.Context, c *Client, method string, header http.Header, in any, names ...string) (out T, err error) {
	path, err := userPath("/v1/users/", names...)
	if err != nil {
		return out, err
	}
	err = c.callWith(ctx, method, path, nil, header, in, &out)
	return out, err
}
