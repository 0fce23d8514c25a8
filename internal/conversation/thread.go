package conversation

import (
	"time"

	"cloudburst/internal/text"
)

// Limits of threads.
const (
	MaxThreadDepth = 64  // levels of replies; deeper replies are at the last level
	MaxNodes       = 100 // maximum number of replies on one page of a thread
	MaxCommentFeed = 200 // maximum number of replies that are read from one feed of comments
	maxFurther     = 20  // maximum number of further feeds of comments that one feed can add
	maxWalkDepth   = 3   // maximum length of a chain of feeds of comments
)

// KeyOf returns the key of a post in threads. name is the path of a post on this server
// ("/alice/2026/11/28/x"), or the URL or guid of any other post.
func KeyOf(name string) int64 { return text.ID(name) }

// Entry is the position of a reply in its thread. The post at the top of a thread has no entry; the
// other entries name it as their Root.
type Entry struct {
	Name    string // path of a post of this server; URL or guid of any other post
	GUID    string // guid of the post; "": the same as Name
	Parents []string
	At      time.Time // sorts the replies to the same parent
	User    string    // author of a post of this server, or of the post that Mention belongs to; "": neither
	Post    int64     // number of User's post
	Mention int64     // number of the mention that has the content; 0: see Item and Content
	Item    int64     // ID of the item in the river; 0: none
	Content           // content of a reply without a mention
	Author  string    // URL of the reply's author
}

// Spot is the position of a post to which someone replies.
type Spot struct {
	Found bool   // the post is itself a reply
	User  string // author of the nearest post of this server above the reply; "": none
	Post  int64
}

// Node is a reply as returned by queries.
type Node struct {
	ID, Parent  int64 // keys of the reply and of its parent
	Root        int64
	Path        string // position in the thread; sorting by Path gives the order of display
	At          time.Time
	User        string // author of a post of this server; "": another post
	Post        int64  // number of User's post
	Name        string // path or URL of the reply
	GUID        string
	ParentName  string // path, URL or guid of the parent
	Author      string // name of the reply's author
	AuthorURL   string // URL of the reply's author; "": none
	Title       string
	HTML        string // sanitized content of a post of this server
	Text        string // plain text of any other reply
	ParentTitle string // title of the parent; only for a post of this server
	Hidden      bool   // deleted or not approved, so it has no content
	Item        int64  // ID of the item in the river; 0: none
	Fallback    bool   // outside the threads of this server; only users with an account see it
}

// PathSegment is the length in bytes of the part of a Path for one level.
const PathSegment = 12

// Depth returns the level of a node in its thread, from 1.
func (n *Node) Depth() int { return len(n.Path) / PathSegment }

// ThreadQuery selects the replies below a post, in the order of their paths.
type ThreadQuery struct {
	ID     int64  // key of the post
	After  string // the batch begins after this path; "": at the first reply
	Levels int    // number of levels below the post; 0: all
	Limit  int    // maximum number of replies: up to MaxNodes, or up to 1,000 with All
	Newest bool   // return the newest replies first; not possible with After
	All    bool   // include replies that only users with an account see
}

// Thread is a batch of the replies below a post.
type Thread struct {
	Path  string // path of the post itself; "": the post is at the top
	Nodes []Node
	More  bool // there are more replies after the last one
}

// Depth returns the level of the post in its thread; 0: it is at the top.
func (t *Thread) Depth() int { return len(t.Path) / PathSegment }

// Work is a row of pending work: an item that replies to something, or a feed of comments to read.
type Work struct {
	Kind  string // WorkItem or WorkComments
	Name  string // ID of the item in decimal, or URL of the feed of comments
	Depth int    // number of feeds of comments that led to this one
	DueAt time.Time
	Tries int
	Lease int64
}

// Kinds of work.
const (
	WorkItem     = "item"
	WorkComments = "comments"
)

// Found is a reply that a feed contains.
type Found struct {
	URL, GUID    string
	Parents      []string // URLs and guids of the parent, the most precise first
	Name         string   // name of the reply's author
	Author       string   // URL of the reply's author, or of the feed
	Title, Text  string   // plain texts
	PublishedAt  time.Time
	CommentsFeed string // URL of the feed of comments on this reply; "": none
	Item         int64  // ID of the item in the river; 0: found in a feed of comments
	Source       int64  // ID of the item's feed in the river
	Private      bool   // the item's feed is private
	Via          string // URL of the feed of comments that contains the reply
}

// Brief describes the post to which an item of a river replies.
type Brief struct {
	Name string // name of the post's author
	Line string // title of the post, or its first line
	Href string // URL of the post's page, on this server if possible
}
