package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Reply is a page that links to a post of a user: a reply, like, repost, bookmark or plain link.
type Reply struct {
	ID          int64      `json:"id,string"`
	Post        int64      `json:"post,string"`      // number of the post
	State       string     `json:"state"`            // state: unread, waiting, approved or rejected
	Kind        string     `json:"kind,omitempty"`   // kind: reply, like, repost, bookmark or mention; "": the server has not read the page yet
	Source      string     `json:"source"`           // URL of the page
	Target      string     `json:"target"`           // URL of the post
	Host        string     `json:"host"`             // host of the page
	Author      string     `json:"author,omitempty"` // URL of the author that the page states
	Name        string     `json:"name,omitempty"`   // name of the author
	Title       string     `json:"title,omitempty"`
	Text        string     `json:"text,omitempty"`
	ReceivedAt  time.Time  `json:"receivedAt"`
	PublishedAt *time.Time `json:"publishedAt,omitempty"`
}

// ReplyQuery selects replies. A zero field does not restrict the result.
type ReplyQuery struct {
	State string // see Reply.State; "": all states except unread
	Post  int64  // number of a post; 0: all posts
	Limit int
}

// ReplyDecision is the result of a decision about a reply.
type ReplyDecision struct {
	ID        int64     `json:"id,string"`
	State     string    `json:"state"`     // new state of the reply
	DecidedAt time.Time `json:"decidedAt"` // identifies the decision for Conversation.Undo, which can revert it for ten minutes
}

// ReplyRule is a trusted or blocked author or host.
type ReplyRule struct {
	Verdict string    `json:"verdict"` // decision of the rule: trust or block
	Host    string    `json:"host"`
	Author  string    `json:"author"` // see Reply.Author; "*": all authors on the host
	Name    string    `json:"name,omitempty"`
	At      time.Time `json:"at"`
}

// SentWebmention is the webmention of a post to a page that it links to.
type SentWebmention struct {
	Post     int64      `json:"post,string"` // number of the post
	Source   string     `json:"source"`      // URL of the post
	Target   string     `json:"target"`      // URL of the page
	State    string     `json:"state"`       // state: pending, accepted, no-endpoint or failed
	Reply    bool       `json:"reply,omitempty"`
	Removed  bool       `json:"removed,omitempty"` // the post does not link to the page any more
	Endpoint string     `json:"endpoint,omitempty"`
	Status   int        `json:"status,omitempty"` // HTTP status of the last response; 0: no response
	Answer   string     `json:"answer,omitempty"` // result of the last attempt
	Tries    int        `json:"tries,omitempty"`  // number of consecutive failed attempts
	LastAt   *time.Time `json:"lastAt,omitempty"`
	NextAt   *time.Time `json:"nextAt,omitempty"`
}

// ReplySettings states whether a user sends and receives webmentions.
type ReplySettings struct {
	Receive bool `json:"receive"`
	Send    bool `json:"send"`
}

// Conversation manages the replies to the posts of one user.
type Conversation struct {
	Client *Client
	User   string // name of the user
}

// Replies lists the replies, newest first.
func (c Conversation) Replies(ctx context.Context, q ReplyQuery) iter.Seq2[Reply, error] {
	v := url.Values{}
	set(v, "state", q.State)
	if q.Post != 0 {
		v.Set("post", decimal(q.Post))
	}
	return userPages[Reply](ctx, c.Client, v, "replies", q.Limit, c.User, "replies")
}

// Decide decides about a reply. decision is approve, trust, reject, block-author or block-host.
func (c Conversation) Decide(ctx context.Context, id int64, decision string) (ReplyDecision, error) {
	return userCall[ReplyDecision](ctx, c.Client, "POST", map[string]string{"do": decision}, c.User, "replies", decimal(id))
}

// Undo reverts the decision with this DecidedAt.
func (c Conversation) Undo(ctx context.Context, decidedAt time.Time) error {
	_, err := userCall[struct{}](ctx, c.Client, "POST", map[string]time.Time{"decidedAt": decidedAt}, c.User, "replies", "undo")
	return err
}

// Rules lists the trusted and blocked authors and hosts, newest first.
func (c Conversation) Rules(ctx context.Context) ([]ReplyRule, error) {
	return userMember[[]ReplyRule](ctx, c.Client, "rules", c.User, "replies", "rules")
}

// DeleteRule deletes the rule about an author or a host.
func (c Conversation) DeleteRule(ctx context.Context, host, author string) error {
	path, err := userPath("/v1/users/", c.User, "replies", "rules")
	if err != nil {
		return err
	}
	return c.Client.call(ctx, "DELETE", path, url.Values{"host": {host}, "author": {author}}, nil, nil)
}

// Sent lists the webmentions of a post (0: all posts), those of the newest post first. limit is the
// maximum number of webmentions; 0: all.
func (c Conversation) Sent(ctx context.Context, post int64, limit int) iter.Seq2[SentWebmention, error] {
	v := url.Values{}
	if post != 0 {
		v.Set("post", decimal(post))
	}
	return userPages[SentWebmention](ctx, c.Client, v, "webmentions", limit, c.User, "webmentions")
}

// Settings returns whether the user sends and receives webmentions.
func (c Conversation) Settings(ctx context.Context) (ReplySettings, error) {
	return userCall[ReplySettings](ctx, c.Client, "GET", nil, c.User, "replies", "settings")
}

// SetSettings stores whether the user sends and receives webmentions.
func (c Conversation) SetSettings(ctx context.Context, s ReplySettings) (ReplySettings, error) {
	return userCall[ReplySettings](ctx, c.Client, "PUT", s, c.User, "replies", "settings")
}
