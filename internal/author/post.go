package author

import (
	"encoding/json"
	"time"

	"cloudburst/feed"
)

// State is where a post is on its way to readers.
type State string

// States of a post.
const (
	Draft     State = "draft"     // only its author sees it
	Scheduled State = "scheduled" // published by itself at DueAt
	Published State = "published" // everybody sees it
	Deleted   State = "deleted"   // gone from everywhere; can be brought back for a while
)

// Format is what the source of a post is written in.
type Format string

// Formats of a source. The zero value is Markdown.
const (
	Markdown Format = "markdown" // CommonMark with tables, strikethrough, task lists and bare links
	HTML     Format = "html"
	Plain    Format = "text" // words with line ends; nothing in them is markup
)

// Post is one thing that somebody wrote, with its place in his feed.
type Post struct {
	User     string
	ID       int64 // counts the user's posts, from 1
	Revision int64 // raised by one with each change, from 1
	State    State

	// GUID is that of its item, and Slug the last part of its page's path; both are ""
	// until the post is published, and stay from then on whatever happens to it.
	GUID      string
	PermaLink bool // GUID is the address of its page
	Slug      string
	// Seq is its place in the order of publishing, by which archives are cut; 0: it was
	// never published.
	Seq int64
	// Key is what the program that made the post calls it, so that making it twice is making it
	// once; "": nothing.
	Key string

	CreatedAt   time.Time
	UpdatedAt   time.Time // last change that readers see, or of a draft
	PublishedAt time.Time // the date of its item; zero: it was never published
	DueAt       time.Time // of one that is Scheduled
	// UndoUntil is until when [Posts.Undo] takes the last change back; zero: there is none.
	UndoUntil time.Time

	Content
}

// Content is what the author wrote. Its JSON form is how it is stored and exported.
type Content struct {
	Title      string      `json:"title,omitempty"` // plain text, one line, at most 300 characters; short posts have none
	Source     string      `json:"source,omitempty"`
	Format     Format      `json:"format,omitempty"`
	HTML       string      `json:"html,omitempty"` // made of Source by [Posts]: safe to show; what callers put there is overwritten
	Link       string      `json:"link,omitempty"` // page that the post is about
	Categories []string    `json:"categories,omitempty"`
	Keywords   []string    `json:"keywords,omitempty"` // those of Categories that a program set as keywords
	Enclosures []Enclosure `json:"enclosures,omitempty"`
	Reply      *Reply      `json:"reply,omitempty"`
	Outline    []Node      `json:"outline,omitempty"` // posts within the post
	Language   string      `json:"language,omitempty"`
	// Rest is what an imported item had that no field here is for. It comes out again in
	// every format.
	Rest *feed.Item `json:"rest,omitempty"`
	// Properties are those of Micropub that no field here is for, by name: JSON lists of
	// values, which programs that ask for the source of the post get back.
	Properties map[string]json.RawMessage `json:"properties,omitempty"`
}

// SplitCategories returns the labels that are categories only, and those that a program set
// as keywords.
func (c *Content) SplitCategories() (categories, keywords []string) {
	keyword := map[string]bool{}
	for _, k := range c.Keywords {
		keyword[CategoryName(k)] = true
	}
	for _, label := range c.Categories {
		if keyword[CategoryName(label)] {
			keywords = append(keywords, label)
		} else {
			categories = append(categories, label)
		}
	}
	return categories, keywords
}

// Enclosure is a file that belongs to a post.
type Enclosure struct {
	URL      string  `json:"url"` // absolute, or a path of this server ("/alice/media/…")
	Type     string  `json:"type,omitempty"`
	Length   int64   `json:"length,omitempty"` // bytes; 0: not known
	Title    string  `json:"title,omitempty"`
	Alt      string  `json:"alt,omitempty"`      // a picture in words
	Duration float64 `json:"duration,omitempty"` // seconds
}

// Reply is what a post answers.
type Reply struct {
	URL   string `json:"url"`             // of the item's page, or its guid
	GUID  string `json:"guid,omitempty"`  // where the reply was begun from an item of the river
	Feed  string `json:"feed,omitempty"`  // address of the item's feed
	Title string `json:"title,omitempty"` // how people know it
}

// Node is one headline of a hierarchical post, with those under it.
type Node struct {
	Text       string      `json:"text"`                 // Markdown of one paragraph
	HTML       string      `json:"html,omitempty"`       // made of Text by [Posts]
	Title      string      `json:"title,omitempty"`      // of nodes that are whole posts
	Link       string      `json:"link,omitempty"`       // page that it is about
	GUID       string      `json:"guid,omitempty"`       // of its rssCloud:item
	CreatedAt  time.Time   `json:"createdAt,omitzero"`   //
	Categories []string    `json:"categories,omitempty"` //
	Enclosures []Enclosure `json:"enclosures,omitempty"` //
	Folded     bool        `json:"folded,omitempty"`     // how the author left it
	Attrs      []feed.Attr `json:"attrs,omitempty"`      // of an OPML headline, that no field is for
	Nodes      []Node      `json:"nodes,omitempty"`
}

// Writer is what an author says of himself, and how his feed and pages are to be.
type Writer struct {
	User    string
	Version int64 // raised with each change of his published posts or of this; 0: nothing was ever written
	// Written means that his public feed is made of his posts; false: it is a document
	// that he saved, or there is none.
	Written bool
	Posts   int64 // published ones
	LastSeq int64
	Profile
}

// Profile is what a writer may set. Its JSON form is how it is stored and exported.
type Profile struct {
	Name     string `json:"name,omitempty"`     // of the person; "": the user name
	Email    string `json:"email,omitempty"`    // public mail address, which the feeds show
	Title    string `json:"title,omitempty"`    // of feed and page; "": the user's name
	Blurb    string `json:"blurb,omitempty"`    // plain text
	Link     string `json:"link,omitempty"`     // a page of his elsewhere
	Language string `json:"language,omitempty"` // "en", "de-CH"
	Accent   string `json:"accent,omitempty"`   // "#rrggbb"
	Avatar   string `json:"avatar,omitempty"`   // path of a picture of his here, or URL
	Theme    string `json:"theme,omitempty"`    // "", "light", "dark"
	Hints    Hints  `json:"hints,omitzero"`     // when to read the feed again
	// Sinks are told of his changes besides those of the server: "rsscloud URL", …
	PingTargets []string `json:"sinks,omitempty"`
	// Categories are labels that the writer created before any post had them; see
	// [Posts.AddCategory].
	Categories []string `json:"categories,omitempty"`
}

// Count is how many published posts a month or a category has.
type Count struct {
	Name  string // "2026-11", or the category as a path has it
	Label string // the category as it was written last
	Posts int64
}
