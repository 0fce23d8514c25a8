// Package metaweblog implements the XML-RPC APIs for editing weblogs: MetaWeblog (2002)
// with the methods of the Blogger API (2001), of Movable Type (mt.*, 2002) and of WordPress
// (wp.*, 2008 and 2012) that its clients also call. It also reads and writes Really Simple
// Discovery documents (RSD, 2002), by which editors find the APIs of a weblog.
//
// A server is a [Server] with a [Backend]. Its Methods are served by an [xmlrpc.Handler]:
//
//	s := &metaweblog.Server{Backend: b}
//	http.Handle("POST /RPC2", &xmlrpc.Handler{Methods: s.Methods()})
//
// An editor uses a [Client]:
//
//	c := &metaweblog.Client{URL: "https://example.com/RPC2", Blog: "alice", Name: "alice", Password: "…"}
//	id, err := c.NewPost(ctx, metaweblog.Edit{Title: new("Hello"), Description: new("<p>Hi there</p>"), Publish: new(true)})
//
// An [Edit] has the values that a client wants to write; nil values stay unchanged. A
// [Post] has the values that a server returns. [RSD.Append] writes an RSD document and
// [ParseRSD] reads one.
//
// The package implements the messages only. An implementation of [Backend] stores the posts
// and checks permissions.
//
// # Interoperability
//
// There is no complete specification. MetaWeblog refers to "the members of an RSS item",
// and every major server has added members. This package reads all of the following and
// writes what most clients expect.
//
//   - postid may be a string or a number. It is written as a string.
//   - publish may be a boolean, 0 or 1 as a number or a string, or missing. Without it the
//     server decides about a new post (it should make a draft), and an edited post stays
//     published or unpublished. post_status ("publish", "draft", "future", "pending",
//     "private") overrides publish, because programs that send it mean it.
//   - The first parameter of the blogger.* methods is an appkey, a string that only one
//     server ever used. Any value is ignored. metaWeblog.deletePost has it too.
//   - The Blogger API has no titles. By convention the text starts with the title as
//     <title>…</title>; [BloggerContent] writes this form. A <category> after the title is
//     ignored, because its content was never standardized.
//   - dateCreated has no zone in XML-RPC. It is UTC, as sent by MarsEdit, ecto and most
//     other editors; a zone, if present, is respected. Editors that send local time also
//     send date_created_gmt (or dateCreated_gmt), which has priority. pubDate is used if
//     both are missing.
//   - Names of members are matched without case, with the spelling of this package first.
//     Values may have any type that can be converted: numbers may be strings, a list may be
//     a single string. A nil member and an empty date count as missing. An invalid member
//     rejects the whole call, and the error names it.
//   - Categories are sent by name, except that mt.setPostCategories has IDs. Some editors
//     leave out the member if they know no categories, which changes nothing. An empty list
//     removes all categories.
//   - The extended entry of MarsEdit is mt_text_more. Tags are mt_keywords (or mt_tags),
//     separated by commas. The text filter is mt_convert_breaks: "markdown", "__default__"
//     or "1" (line ends are breaks), "0" or "" (HTML). Editors that show the final page,
//     such as Open Live Writer, know no filters and leave it out.
//   - The requested slug of a post is wp_slug or mt_basename.
//   - newMediaObject has its bytes as base64; some editors put the base64 into a string.
//     overwrite is ignored. name may be a path of another operating system; [Media].Name is
//     its last part.
//   - metaWeblog.getCategories returns an array of structs. The specification of 2002 has a
//     struct of structs, which the client reads too.
//   - Open Live Writer needs blogid and postid to be strings, and first calls
//     blogger.getUsersBlogs. A blogid that a user typed may be "", "0", "1" or "default"; a
//     server with one weblog per user should accept these.
//   - IDs of categories and tags in the WordPress API are positive integers. They are
//     derived from [Category].ID, and mt.setPostCategories accepts them too. As in
//     WordPress, the line breaks of a text without markup are shown, unless the post is in
//     Markdown. Members without a meaning here (post_format, custom_fields, post_thumbnail,
//     sticky) are ignored.
//   - A failed log-in is fault 403, after which clients prompt for the password. A missing post
//     is fault 404, an invalid parameter −32602.
package metaweblog

import (
	"errors"
	"fmt"
	"time"

	"cloudburst/protocol/xmlrpc"
)

// Fault codes that servers commonly use. The code for an invalid parameter is
// [xmlrpc.CodeParams].
const (
	CodeLogin       = xmlrpc.CodeLogin // wrong name or password
	CodeNotAllowed  = 401              // signed in, but not permitted
	CodeNotFound    = 404              // no such post or weblog
	CodeConflict    = 409              // another program changed the post meanwhile
	CodeTooLarge    = 413
	CodeTooMany     = 429
	CodeUnavailable = 503
)

// ErrInvalidResponse means that a server's response has none of the known forms.
var ErrInvalidResponse = errors.New("metaweblog: the response has none of the known forms")

// FieldError means that a parameter or a member is invalid. Msg is a sentence for the
// sender of the call. It wraps [xmlrpc.ErrParams].
type FieldError struct {
	Field string // "title", "postid"; "": the call as a whole
	Msg   string
}

func (e *FieldError) Error() string { return "metaweblog: " + e.Msg }

// Unwrap returns [xmlrpc.ErrParams].
func (e *FieldError) Unwrap() error { return xmlrpc.ErrParams }

func fieldErr(field, format string, args ...any) error {
	return &FieldError{Field: field, Msg: fmt.Sprintf(format, args...)}
}

// Values of post_status.
const (
	StatusPublish = "publish"
	StatusDraft   = "draft"
	StatusFuture  = "future"  // will be published at its date
	StatusPrivate = "private" // published for some readers
)

// Values of mt_convert_breaks, the text filter of a post.
const (
	FilterNone     = "0"           // the text is HTML
	FilterBreaks   = "__default__" // HTML in which an empty line ends a paragraph and a line end is a break
	FilterMarkdown = "markdown"
)

// Enclosure is the attached file of a post.
type Enclosure struct {
	URL    string
	Type   string // media type; "": unknown
	Length int64  // bytes; 0: unknown
}

// Edit has the values of a new or changed post. Nil values were not specified and stay
// unchanged.
type Edit struct {
	Title       *string
	Description *string // the text
	More        *string // mt_text_more: the text after the "read more" link
	Excerpt     *string // mt_excerpt
	Link        *string // URL of the page that the post is about
	Slug        *string // wp_slug or mt_basename: the requested end of the post's URL
	Filter      *string // mt_convert_breaks
	// Categories and Keywords (mt_keywords) have no empty strings and no duplicates. nil:
	// not specified; empty: remove all.
	Categories []string
	Keywords   []string
	Enclosure  *Enclosure // without URL: remove the enclosure
	// AllowComments and AllowPings are 0 (none), 1 (open) or 2 (closed).
	AllowComments *int
	AllowPings    *int
	Created       time.Time // UTC, whole seconds; zero: not specified
	Status        string    // post_status; "": not specified
	Publish       *bool     // the parameter publish
}

// Public reports whether the post should be published, now or at its date. nil: not
// specified.
func (e Edit) Public() *bool {
	switch e.Status {
	case "":
		return e.Publish
	case StatusPublish, StatusFuture, StatusPrivate:
		return new(true)
	}
	return new(false)
}

// Post has the values of a post on a server.
type Post struct {
	ID            string
	UserID        string
	Created       time.Time // UTC; zero: unknown
	Modified      time.Time // UTC; zero: unknown
	Title         string
	Description   string // the text in its editable form
	More          string // mt_text_more
	Excerpt       string // mt_excerpt
	Link          string // URL of the page that the post is about, or else of the post's own page
	PermaLink     string // URL of the post's own page; "": none yet
	Slug          string
	Filter        string // mt_convert_breaks
	Status        string // post_status
	Categories    []string
	Keywords      []string
	Enclosure     *Enclosure // nil: none
	AllowComments int
	AllowPings    int
	// CategoryIDs and KeywordIDs are the IDs of Categories and Keywords, in the same order,
	// as in [Category].ID. If they are nil, the labels are the IDs.
	CategoryIDs, KeywordIDs []string
}

// Edit returns the edit that creates a copy of p, or leaves p unchanged.
func (p Post) Edit() Edit {
	e := Edit{
		Title: &p.Title, Description: &p.Description, More: &p.More, Excerpt: &p.Excerpt, Link: &p.Link, Slug: &p.Slug, Filter: &p.Filter,
		Categories: p.Categories, Keywords: p.Keywords, Enclosure: p.Enclosure,
		AllowComments: &p.AllowComments, AllowPings: &p.AllowPings, Created: p.Created, Status: p.Status,
	}
	if e.Categories == nil {
		e.Categories = []string{}
	}
	if e.Keywords == nil {
		e.Keywords = []string{}
	}
	return e
}

// Category is a category of posts.
type Category struct {
	ID      string // ID for mt.setPostCategories
	Name    string
	HTMLURL string // URL of its page; "": unknown
	RSSURL  string // URL of its feed; "": unknown
	Primary bool   // for a category of a post: it is the primary category
	Posts   int64  // number of published posts in the category
}

// Blog is a weblog that the user may write.
type Blog struct {
	ID     string
	Name   string
	URL    string // URL of its page
	RPCURL string // URL of its XML-RPC endpoint; "": unknown
	// Tagline describes the weblog; "": none.
	Tagline string
}

// User is the profile of a user.
type User struct {
	ID        string
	Nickname  string
	FirstName string
	LastName  string
	Email     string // "": unknown
	URL       string
}

// Media is a file to upload.
type Media struct {
	Name string // without folders; "": not specified
	Type string // media type; "": unknown
	Bits []byte
}

// File is a stored file.
type File struct {
	ID   string // "": unknown
	Name string
	Type string
	URL  string // absolute URL
	// Added is the time of the upload; zero: unknown.
	Added time.Time
}

// Filter is a text filter. Key is the value of mt_convert_breaks, Label is for people.
type Filter struct{ Key, Label string }
