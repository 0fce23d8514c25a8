package conversation

import (
	"time"

	"cloudburst/internal/text"
)

// Limits of threads.
const (
	MaxThreadDepth = 64  // levels of replies; deeper replies are at the last level
	MaxNodes       = 100 // replies of one page of a thread
	MaxCommentFeed = 200 // replies that are taken from one feed of comments
	maxFurther     = 20  // feeds of comments to which one such feed leads
	maxWalkDepth   = 3   // feeds of comments that lead to further ones, in a row
)

// KeyOf returns the key of a post in threads: of its path if it is on this server ("/alice/2026/11/28/x"),
// of its URL or guid otherwise.
func KeyOf(name string) int64 { return text.ID(name) }

// Entry is the place of a reply in its thread. The post at the top of a thread has no entry: it is
// the Root of the others.
type Entry struct {
	Name    string // path of a post of this server, URL or guid of any other
	GUID    string // "": as Name
	Parents []string
	At      time.Time // decides the order below the same parent
	User    string    // author of a post of this server, or of the post below which Mention is; "": neither
	Post    int64     // number of that post
	Mention int64     // number of the mention with the content; 0: see Item and Content
	Item    int64     // ID of the item in the river; 0: none
	Content           // of a reply without a mention
	Author  string    // URL of its author
}

// Spot is the place at which a reply to a post goes.
type Spot struct {
	Found bool   // the post is a reply itself
	User  string // author of the nearest post of this server above the reply; "": none
	Post  int64
}

// Node is a reply as it is read.
type Node struct {
	ID, Parent  int64 // keys
	Root        int64
	Path        string // position in the thread; replies in their order have growing paths
	At          time.Time
	User        string // author, if it is a post of this server
	Post        int64  // number of that post
	Name        string // path or URL of the reply
	GUID        string
	ParentName  string // path, URL or guid of the post that it replies to
	Author      string // name of its author
	AuthorURL   string // "": none
	Title       string
	HTML        string // of a post of this server; sanitized
	Text        string // of any other reply; plain
	ParentTitle string // of a post of this server: the title of what it replies to
	Hidden      bool   // deleted, or not approved: it has no content
	Item        int64  // ID of the item in the river; 0: none
	Fallback    bool   // it is not part of a thread of this server; only users with an account see it
}

// PathSegment is the length of the part of a path for one level.
const PathSegment = 12

// Depth returns the level of a node in its thread, from 1.
func (n *Node) Depth() int { return len(n.Path) / PathSegment }

// ThreadQuery selects the replies below a post, in the order of their paths.
type ThreadQuery struct {
	ID     int64  // key of the post
	After  string // path after which the page begins; "": the first page
	Levels int    // levels below the post; 0: all
	Limit  int    // at most MaxNodes, or 1000 with All
	Newest bool   // newest first, without After
	All    bool   // also replies that only users with an account see
}

// Thread is a page of the replies below a post.
type Thread struct {
	Path  string // of the post itself; "": it is at the top
	Nodes []Node
	More  bool // there are more nodes after the last
}

// Depth returns the level of the post in its thread; 0: it is at the top.
func (t *Thread) Depth() int { return len(t.Path) / PathSegment }

// Work is a row of pending work: an item that replies to something, or a feed of comments to read.
type Work struct {
	Kind  string // WorkItem or WorkComments
	Name  string // ID of the item in decimal, or URL of the feed
	Depth int    // of a feed of comments: how many feeds led to it
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
	Parents      []string // URLs and guids of the post that it replies to, the most precise first
	Name         string   // name of its author
	Author       string   // URL of its author, or of the feed
	Title, Text  string   // plain
	PublishedAt  time.Time
	CommentsFeed string // URL of the feed of its comments; "": none
	Item         int64  // ID of the item in the river; 0: found in a feed of comments
	Source       int64  // ID of its feed in the river
	Private      bool   // its feed is private
	Via          string // URL of the feed of comments
}

// Brief is the data that a river shows about the post that an item replies to.
type Brief struct {
	Name string // name of its author
	Line string // its title or first line
	Href string // its page: on this server if possible
}
