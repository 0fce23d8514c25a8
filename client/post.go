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
	ID       int64  `json:"id,string"` // number of the post among the user's posts, from 1
	User     string `json:"user"`
	Revision int64  `json:"revision"` // increases with each change
	// State is draft, scheduled (to be published at DueAt), published, private (published for Groups) or
	// deleted.
	State string `json:"state"`
	URL   string `json:"url,omitempty"`  // URL of the post's page; "" before it is published
	Slug  string `json:"slug,omitempty"` // last segment of URL; before the publication, the preferred one
	GUID  string `json:"guid,omitempty"` // guid of the post's item in feeds; "": not published yet
	Key   string `json:"key,omitempty"`  // idempotency key sent by the program that created the post

	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	PublishedAt *time.Time `json:"published_at,omitempty"`
	DueAt       *time.Time `json:"due_at,omitempty"`
	UndoUntil   *time.Time `json:"undo_until,omitempty"` // time until which the last change can be undone
	Warning     string     `json:"warning,omitempty"`    // warning if a short post is longer than the setting write.limit; "": no warning

	Title      string          `json:"title,omitempty"`
	Source     string          `json:"source,omitempty"` // text as the author wrote it
	Format     string          `json:"format"`           // format of Source: markdown, html or text
	HTML       string          `json:"html,omitempty"`   // Source as sanitized HTML
	Link       string          `json:"link,omitempty"`   // URL of the page that the post is about
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
	Length   int64   `json:"length,omitempty"` // size in bytes
	Title    string  `json:"title,omitempty"`
	Alt      string  `json:"alt,omitempty"`        // alternative text of an image
	Duration float64 `json:"duration_s,omitempty"` // length of a recording in seconds
}

// PostReply is the item that a post replies to.
type PostReply struct {
	URL   string `json:"url"` // URL of the item's page; "" in a PostChange: the post is no longer a reply
	GUID  string `json:"guid,omitempty"`
	Feed  string `json:"feed,omitempty"` // URL of the item's feed
	Title string `json:"title,omitempty"`
}

// PostNode is a headline in the outline of a post, with the headlines below it.
type PostNode struct {
	Text       string          `json:"text"` // text of the headline, one paragraph of Markdown
	HTML       string          `json:"html,omitempty"`
	Title      string          `json:"title,omitempty"`
	Link       string          `json:"link,omitempty"`
	GUID       string          `json:"guid,omitempty"`
	CreatedAt  *time.Time      `json:"created_at,omitempty"`
	Categories []string        `json:"categories,omitempty"`
	Enclosures []PostEnclosure `json:"enclosures,omitempty"`
	Folded     bool            `json:"folded,omitempty"`
	Attrs      []PostAttr      `json:"attrs,omitempty"` // OPML attributes that have no field in PostNode
	Nodes      []PostNode      `json:"nodes,omitempty"`
}

// PostAttr is an attribute of an OPML outline element.
type PostAttr struct {
	Space string `json:"space,omitempty"` // namespace URI of the attribute
	Name  string `json:"name"`
	Value string `json:"value"`
}

// PostChange has the fields of a new post, or the changed fields of an existing post. A nil field
// is not changed.
type PostChange struct {
	Title      *string          `json:"title,omitempty"`
	Source     *string          `json:"source,omitempty"` // text, at most 256 KiB
	Format     *string          `json:"format,omitempty"` // format of Source: markdown, html or text
	Link       *string          `json:"link,omitempty"`
	Categories *[]string        `json:"categories,omitempty"`
	Enclosures *[]PostEnclosure `json:"enclosures,omitempty"`
	Reply      *PostReply       `json:"reply,omitempty"`
	Card       *PostCard        `json:"card,omitempty"`
	Outline    *[]PostNode      `json:"outline,omitempty"`
	Language   *string          `json:"language,omitempty"`
	Groups     *[]string        `json:"groups,omitempty"` // slugs of groups; empty: everyone

	// State is draft, scheduled, published or private. A new post without State is published. A post
	// with Groups becomes private instead of published. A published post with At in the future
	// becomes scheduled.
	State *string `json:"state,omitempty"`
	// At is the time of publication. For a scheduled post, it is in the future.
	At *time.Time `json:"at,omitempty"`
	// Slug is the preferred last segment of the post's URL.
	Slug *string `json:"slug,omitempty"`
}

// PostQuery selects posts. A zero field does not restrict the result.
type PostQuery struct {
	State         string    // state: draft, scheduled, published, private or deleted; "": all states except deleted
	Category      string    // category; selects only published posts
	Match         string    // words or parts of words that the title or the source contains
	Since, Before time.Time // publication time; Since is inclusive, Before is exclusive
	Limit         int       // maximum number of posts; 0 means all
}

// Preview is a post as it would be published.
type Preview struct {
	HTML       string     `json:"html,omitempty"`
	Outline    []PostNode `json:"outline,omitempty"`
	Characters int        `json:"characters"` // length of the text in characters
	Limit      int        `json:"limit"`      // maximum length of a short post; 0 means no limit
	Over       bool       `json:"over"`       // the post exceeds Limit
}

// Writer is a user's profile with the number of posts.
type Writer struct {
	User    string `json:"user"`
	Written bool   `json:"written"` // the public feed is generated from posts, not from a saved document
	Posts   int64  `json:"posts"`   // number of published posts
	Profile
}

// Profile is the part of a user's data that their pages and feeds show.
type Profile struct {
	Name     string `json:"name"`  // name of the person; "": the user name
	Email    string `json:"email"` // e-mail address that feeds show to everyone
	Title    string `json:"title"` // title of the feed and page; "": Name
	Blurb    string `json:"blurb"` // description of the feed, plain text
	Link     string `json:"link"`  // URL of the user's page on another server
	Language string `json:"language"`
	Accent   string `json:"accent"` // color of the page, as "#rrggbb"
	Avatar   string `json:"avatar"` // path or URL of an image
	Theme    string `json:"theme"`  // color scheme of the page: "" (the reader's choice), light or dark
	// Hints are the hints for feed readers in the feed; nil in [Client.SetProfile] leaves them
	// unchanged.
	Hints       *FeedHints `json:"hints,omitempty"`
	Rules       *PostRules `json:"rules,omitempty"` // rules for the texts of posts; nil in [Client.SetProfile] leaves them unchanged
	PingTargets []string   `json:"sinks"`           // other servers to ping after changes, as "rsscloud URL"
	// Page has the settings of the user's page; nil in [Client.SetProfile] leaves them unchanged.
	Page *PageSettings `json:"page,omitempty"`
}

// PageSettings are the settings of a user's page.
type PageSettings struct {
	Design string        `json:"design"` // theme: "", journal, plain, gazette, terminal or garden
	Header string        `json:"header"` // path or URL of the image at the top
	Links  []ProfileLink `json:"links"`  // other pages of the user, marked with rel="me"
	Pinned int64         `json:"pinned"` // number of the post at the top; 0: no post
}

// ProfileLink is a link to another page of a user.
type ProfileLink struct {
	Title string `json:"title"` // title of the link; "": the page shows the host of the URL
	URL   string `json:"url"`
}

// FeedHints state when feed readers should read the feed of a user's posts. The feed omits zero
// fields.
type FeedHints struct {
	TTL             int        `json:"ttl"`        // minutes between two reads
	SkipHours       []int      `json:"skip_hours"` // hours in GMT without reads, 0 to 23
	SkipDays        []string   `json:"skip_days"`  // days without reads: Monday to Sunday
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
	setTime(v, "since", q.Since)
	setTime(v, "before", q.Before)
	return userPages[Post](ctx, c, v, "posts", q.Limit, user, "posts")
}

// Post returns one post. A deleted post is available until the server removes it from the database.
func (c *Client) Post(ctx context.Context, user string, id int64) (Post, error) {
	return userCall[Post](ctx, c, "GET", nil, user, "posts", decimal(id))
}

// CreatePost creates a post. If an earlier call had the same key, CreatePost returns the post of
// that call. key has at most 200 bytes; "": no key.
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

// DeletePost deletes a post. If revision is not 0 and the post has another revision, the call fails
// as in [Client.ChangePost].
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

// headed is like userCall but also sends the headers in header.
func headed[T any](ctx context.Context, c *Client, method string, header http.Header, in any, names ...string) (out T, err error) {
	path, err := userPath("/v1/users/", names...)
	if err != nil {
		return out, err
	}
	err = callWith(ctx, c, method, path, nil, header, in, &out)
	return out, err
}
