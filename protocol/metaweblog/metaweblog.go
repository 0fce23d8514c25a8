// Package metaweblog speaks the API by which programs write weblogs: MetaWeblog (2002),
// with the calls of the Blogger API (2001), of Movable Type (mt.*, 2002) and of WordPress
// (wp.*, 2008 and 2012) that its clients make too, and Really Simple Discovery (RSD, 2002), the document by which they
// find it. All of it is XML-RPC.
//
// A server is a [Server] with a [Backend]; its Methods go into an [xmlrpc.Handler]:
//
//	s := &metaweblog.Server{Backend: b}
//	http.Handle("POST /RPC2", &xmlrpc.Handler{Methods: s.Methods()})
//
// A program that writes is a [Client]:
//
//	c := &metaweblog.Client{URL: "https://example.com/RPC2", Blog: "alice", Name: "alice", Password: "…"}
//	id, err := c.NewPost(ctx, metaweblog.Edit{Title: new("Hello"), Description: new("<p>World</p>"), Publish: new(true)})
//
// What a client wants to be written is an [Edit], in which what is nil was not said and
// stays as it is; what a server tells of a post is a [Post]. [RSD] is written with
// Append and read by [ParseRSD].
//
// The package knows bytes and nothing else: what a post is, and who may write it, is the
// business of whoever implements [Backend].
//
// # Interoperability
//
// There is no one text that all programs follow: MetaWeblog says "the members of an RSS
// item", and every server of weight added some. This package reads all of the following
// and writes what most clients expect.
//
//   - postid comes as string or as number, whatever it was given as. It is written as a
//     string.
//   - publish comes as boolean, as 0 or 1 in a number or a string, or not at all. Not
//     said, a new post is left to the server (which should make a draft), and a change
//     leaves a post where it is. post_status ("publish", "draft", "future", "pending",
//     "private") rules over it, because the programs that send it mean it.
//   - The blogger.* methods begin with an appkey, a string that meant something to one
//     server once. It is passed over, whatever it is. metaWeblog.deletePost has it too.
//   - The Blogger API has no titles. By custom the title stands in front of the text, as
//     <title>…</title>; so it is written and read here ([BloggerContent]). Its
//     <category> is read past: nobody agreed on what stands in it.
//   - dateCreated has no zone in XML-RPC. Here it is UTC, as MarsEdit, ecto and most
//     others send it; a zone that is there counts. Programs that send local time also
//     send date_created_gmt (or dateCreated_gmt), which wins. pubDate is read where
//     there is neither.
//   - Names of members are found in any case, and the spelling of this package comes
//     first. Values are read from any type that can mean them: numbers from strings, a
//     list from a single string. A member that is nil or an empty date is not said. One
//     that cannot be read refuses the whole call, and says which it was.
//   - Categories are sent by their names; mt.setPostCategories has identifiers. Some
//     programs leave the member out when they know of none, which changes nothing; an
//     empty list removes all.
//   - What MarsEdit calls extended entry is mt_text_more, tags are mt_keywords (mt_tags,
//     with commas between them), the text filter is mt_convert_breaks: "markdown",
//     "__default__" or "1" (line ends are breaks), "0" or "" (HTML as it is). Programs
//     that show what the reader will see, such as Open Live Writer, know no filters and
//     leave it out.
//   - The address that somebody wishes for a post is wp_slug, or mt_basename.
//   - newMediaObject has its bytes as base64, and some programs put the base64 into a
//     string. overwrite is read past. name may be a path of another system; [Media].Name
//     is its last part.
//   - metaWeblog.getCategories answers an array of structs; the text of 2002 has a
//     struct of structs, which the client reads as well.
//   - Open Live Writer needs blogid and postid to be strings, and asks for blogs by
//     blogger.getUsersBlogs before anything else. A blogid that was typed in by hand may
//     be "", "0", "1" or "default": servers with one weblog for each person let it pass.
//   - The WordPress API has IDs of categories and tags that are positive integers. They are
//     made of [Category].ID, and mt.setPostCategories accepts them too. A text without markup
//     has its line breaks shown, as in WordPress, unless the post is in Markdown. What a post
//     here has no use for (post_format, custom_fields, post_thumbnail, sticky) is ignored.
//   - A log-in that fails is fault 403, which clients ask for the password upon; a post
//     that is not there is 404; what cannot be read is −32602.
package metaweblog

import (
	"errors"
	"fmt"
	"time"

	"cloudburst/protocol/xmlrpc"
)

// Codes of faults, by the customs of servers. What is wrong with parameters is
// [xmlrpc.CodeParams].
const (
	CodeLogin       = xmlrpc.CodeLogin // wrong name or password
	CodeNotAllowed  = 401              // let in, but not for this
	CodeNotFound    = 404              // no such post or weblog
	CodeConflict    = 409              // somebody else changed it
	CodeTooLarge    = 413
	CodeTooMany     = 429
	CodeUnavailable = 503
)

// ErrInvalidResponse means that a server's answer is in none of the known forms.
var ErrInvalidResponse = errors.New("metaweblog: the answer is not one that a weblog server gives")

// FieldError says which parameter or member cannot be read. Msg is a sentence for
// whoever sent it. It wraps [xmlrpc.ErrParams].
type FieldError struct {
	Field string // "title", "postid"; "": the call as a whole
	Msg   string
}

func (e *FieldError) Error() string { return "metaweblog: " + e.Msg }

// Unwrap gives [xmlrpc.ErrParams].
func (e *FieldError) Unwrap() error { return xmlrpc.ErrParams }

func fieldErr(field, format string, args ...any) error {
	return &FieldError{Field: field, Msg: fmt.Sprintf(format, args...)}
}

// Values of post_status.
const (
	StatusPublish = "publish"
	StatusDraft   = "draft"
	StatusFuture  = "future" // publishes itself at its date
)

// Values of mt_convert_breaks, the filter of a text.
const (
	FilterNone     = "0"           // the text is HTML
	FilterBreaks   = "__default__" // HTML in which an empty line ends a paragraph and a line end is a break
	FilterMarkdown = "markdown"
)

// Enclosure is the file of a post.
type Enclosure struct {
	URL    string
	Type   string // media type; "": not told
	Length int64  // bytes; 0: not told
}

// Edit is what somebody wants of a post. What is nil was not said, and stays as it is.
type Edit struct {
	Title       *string
	Description *string // the text
	More        *string // mt_text_more: the part of the text that is behind a link
	Excerpt     *string // mt_excerpt
	Link        *string // page that the post is about
	Slug        *string // wp_slug, mt_basename: the wished end of its address
	Filter      *string // mt_convert_breaks
	// Categories and Keywords (mt_keywords) have no empty and no double entries. nil: not
	// said; empty: there shall be none.
	Categories []string
	Keywords   []string
	Enclosure  *Enclosure // one without URL: there shall be none
	// AllowComments and AllowPings are 0 (none), 1 (open) or 2 (closed).
	AllowComments *int
	AllowPings    *int
	Created       time.Time // UTC, whole seconds; zero: not said
	Status        string    // post_status; "": not said
	Publish       *bool     // the parameter of this name
}

// Public reports whether the post shall be seen by readers, now or at its date; nil: it
// was not said.
func (e Edit) Public() *bool {
	switch e.Status {
	case "":
		return e.Publish
	case StatusPublish, StatusFuture:
		return new(true)
	}
	return new(false)
}

// Post is what a server tells of a post.
type Post struct {
	ID            string
	UserID        string
	Created       time.Time // UTC; zero: not told
	Modified      time.Time // UTC; zero: not told
	Title         string
	Description   string // the text, to be edited
	More          string // mt_text_more
	Excerpt       string // mt_excerpt
	Link          string // page that it is about, or its own
	PermaLink     string // its own page; "": it has none yet
	Slug          string
	Filter        string // mt_convert_breaks
	Status        string // post_status
	Categories    []string
	Keywords      []string
	Enclosure     *Enclosure // nil: none
	AllowComments int
	AllowPings    int
	// CategoryIDs and KeywordIDs are the IDs of Categories and Keywords, in their order, as in
	// [Category].ID; nil: the labels are the IDs.
	CategoryIDs, KeywordIDs []string
}

// Edit is what makes a post p, or leaves it as it is.
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

// Category is one under which posts stand.
type Category struct {
	ID      string // as mt.setPostCategories wants it
	Name    string
	HTMLURL string // its page; "": not told
	RSSURL  string // its feed; "": not told
	Primary bool   // of a post: the first one
	Posts   int64  // published posts that have it
}

// Blog is a weblog that somebody may write.
type Blog struct {
	ID     string
	Name   string
	URL    string // of its page
	RPCURL string // of its XML-RPC door; "": not told
	// Tagline describes the weblog; "": nothing does.
	Tagline string
}

// User is who somebody is.
type User struct {
	ID        string
	Nickname  string
	FirstName string
	LastName  string
	Email     string // "": not told
	URL       string
}

// Media is a file to be kept.
type Media struct {
	Name string // without folders; "": none was sent
	Type string // media type; "": not told
	Bits []byte
}

// File is a file that is kept.
type File struct {
	ID   string // "": not told
	Name string
	Type string
	URL  string // absolute
	// Added is the time of the upload; zero: unknown.
	Added time.Time
}

// Filter is a way in which a text may be written; Key is its mt_convert_breaks.
type Filter struct{ Key, Label string }
