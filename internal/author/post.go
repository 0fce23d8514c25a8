package author

import (
	"encoding/json"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/author/markup"
	"cloudburst/internal/author/rules"
)

// State is the publication state of a post.
type State string

// States of a post.
const (
	Draft     State = "draft"     // visible only to its author
	Scheduled State = "scheduled" // the program publishes the post at DueAt
	Published State = "published" // visible to everyone
	ForGroups State = "private"   // published only for the groups of its Content
	Deleted   State = "deleted"   // removed everywhere; can be restored for thirty days
)

// Format is the format of a post's source.
type Format = markup.Format

// Formats of a source. The zero value is Markdown.
const (
	Markdown = markup.Markdown
	HTML     = markup.HTML
	Plain    = markup.Plain
)

// Post is a post of an author, with its position in the author's feed.
type Post struct {
	User     string
	ID       int64 // number of the post among the user's posts, from 1
	Revision int64 // 1, and increased by one with each change
	State    State

	// GUID is the guid of the feed item. Slug is the last segment of the path of the post's page.
	// Both are "" until the first publication and never change afterwards. A post that was never
	// public has no Slug.
	GUID      string
	PermaLink bool // GUID is the URL of the post's page
	Slug      string
	// SlugWish is the Slug that the author wants, as long as the post has no Slug.
	SlugWish string
	// Seq is the number of the post in the order of publication, from 1. Archive pages are ranges of
	// Seq. 0: never published.
	Seq int64
	// Key is an identifier that the program which created the post chose. A repeated creation with
	// the same Key does not create a second post. "": no key.
	Key string

	CreatedAt   time.Time
	UpdatedAt   time.Time // time of the last public change, or of the last change of a draft
	PublishedAt time.Time // date of the feed item; zero: never published
	DueAt       time.Time // publication time of a Scheduled post
	// UndoUntil is the end of the period in which [Posts.Undo] can revert the last change; zero:
	// Undo has no change to revert.
	UndoUntil time.Time

	Content
}

// Content is the author's content. Its JSON form is stored and exported.
type Content struct {
	Title      string      `json:"title,omitempty"` // plain text, one line, at most 300 characters; "" for short posts
	Source     string      `json:"source,omitempty"`
	Format     Format      `json:"format,omitempty"`
	HTML       string      `json:"html,omitempty"` // sanitized HTML that [Posts] generates from Source; values of callers are overwritten
	Link       string      `json:"link,omitempty"` // URL of the page that the post is about
	Categories []string    `json:"categories,omitempty"`
	Keywords   []string    `json:"keywords,omitempty"` // categories that a program set as keywords
	Hashtags   []string    `json:"hashtags,omitempty"` // categories that are in Categories because of a hashtag in the text
	Enclosures []Enclosure `json:"enclosures,omitempty"`
	Reply      *Reply      `json:"reply,omitempty"`
	Card       *Card       `json:"card,omitempty"`    // preview of a page that the text links to
	Outline    []Node      `json:"outline,omitempty"` // nested posts
	Language   string      `json:"language,omitempty"`
	// Groups are the slugs of the groups that the post is for; empty: everyone. A published post with
	// groups has the state ForGroups.
	Groups []string `json:"groups,omitempty"`
	// Rest holds the data of an imported item that has no field in Content. All feed formats contain
	// it.
	Rest *feed.Item `json:"rest,omitempty"`
	// Properties holds Micropub properties that have no field in Content. Key: property name; value:
	// a JSON list of values. Programs that query the source of the post get the properties back.
	Properties map[string]json.RawMessage `json:"properties,omitempty"`
}

// SplitCategories divides the labels of a content into categories and keywords. Keywords are the
// labels that a program set as keywords.
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
	URL      string  `json:"url"` // absolute URL, or a path on this server ("/alice/media/…")
	Type     string  `json:"type,omitempty"`
	Length   int64   `json:"length,omitempty"` // size in bytes; 0: unknown
	Title    string  `json:"title,omitempty"`
	Alt      string  `json:"alt,omitempty"`      // alternative text of an image
	Duration float64 `json:"duration,omitempty"` // length of a recording in seconds
}

// Reply identifies the item that a post replies to.
type Reply struct {
	URL   string `json:"url"`             // URL of the item's page, or its guid
	GUID  string `json:"guid,omitempty"`  // guid of the item, if the reply was started in the river
	Feed  string `json:"feed,omitempty"`  // URL of the item's feed
	Title string `json:"title,omitempty"` // title of the item, for display
}

// Card describes a page that a post links to. It is displayed below the text of the post.
type Card struct {
	URL         string `json:"url"`
	Title       string `json:"title,omitempty"`       // title, at most 300 characters
	Description string `json:"description,omitempty"` // plain text, at most 1,000 characters
	Image       string `json:"image,omitempty"`       // URL of an image
}

// Node is a headline of a hierarchical post, with its children.
type Node struct {
	Text       string      `json:"text"`                 // text of the headline, one paragraph of Markdown
	HTML       string      `json:"html,omitempty"`       // HTML that [Posts] generates from Text
	Title      string      `json:"title,omitempty"`      // title of a node that is a complete post
	Link       string      `json:"link,omitempty"`       // URL of the page that the headline is about
	GUID       string      `json:"guid,omitempty"`       // guid of the rssCloud:item of the node
	CreatedAt  time.Time   `json:"createdAt,omitzero"`   //
	Categories []string    `json:"categories,omitempty"` //
	Enclosures []Enclosure `json:"enclosures,omitempty"` //
	Folded     bool        `json:"folded,omitempty"`     // outliners show the headline closed
	Attrs      []feed.Attr `json:"attrs,omitempty"`      // attributes of an OPML headline that have no field in Node
	Nodes      []Node      `json:"nodes,omitempty"`
}

// Writer is the profile of an author and the state of the author's feed.
type Writer struct {
	User    string
	Version int64 // increases with each change of the published posts or the profile; 0: the user has no posts yet
	// Written means that the public feed is made of posts. false: the public feed is a saved
	// document, or does not exist.
	Written bool
	Posts   int64 // number of published posts
	LastSeq int64
	Profile
}

// Profile is the part of a Writer that the user can edit. Its JSON form is stored and exported.
type Profile struct {
	Name     string `json:"name,omitempty"`     // name of the person; "": the user name
	Email    string `json:"email,omitempty"`    // e-mail address that feeds show to everyone
	Title    string `json:"title,omitempty"`    // title of the feed and of the page; "": the user name
	Blurb    string `json:"blurb,omitempty"`    // description of the feed, plain text
	Link     string `json:"link,omitempty"`     // URL of the user's page on another server
	Language string `json:"language,omitempty"` // language tag, such as "en" or "de-CH"
	Accent   string `json:"accent,omitempty"`   // color of the author's page, "#rrggbb"
	Avatar   string `json:"avatar,omitempty"`   // path of an uploaded image, or URL
	Theme    string `json:"theme,omitempty"`    // color scheme of the author's page: "" (the reader's choice), "light" or "dark"
	// Page has the settings of the author's page.
	Page  PageSettings `json:"page,omitzero"`
	Hints Hints        `json:"hints,omitzero"` // when feed readers should poll the feed
	Rules rules.Rules  `json:"rules,omitzero"` // rules for the texts of posts; see [RuleSettings]
	// PingTargets are ping targets in addition to those of the server. Each ping target is a
	// protocol and a URL: "rsscloud https://…".
	PingTargets []string `json:"sinks,omitempty"`
	// Mentions are the choices about webmentions; see [MentionSettings].
	Mentions Mentions `json:"mentions,omitzero"`
	// Categories are labels without posts that the writer created; see [Posts.AddCategory].
	Categories []string `json:"categories,omitempty"`
	// Groups change only through the methods of [Groups]; [Profile.AllGroups] lists them.
	Groups []Group `json:"groups,omitempty"`
}

// Mentions are an author's choices about webmentions. The zero value has the defaults.
type Mentions struct {
	NoReceive bool `json:"noReceive,omitempty"` // other servers cannot report links to the posts
	NoSend    bool `json:"noSend,omitempty"`    // pages that the posts link to are not notified
}

// Count is the number of published posts of a month or a category.
type Count struct {
	Name  string // month ("2026-11"), or the category's name in paths
	Label string // most recent spelling of the category; "" for a month
	Posts int64
}
