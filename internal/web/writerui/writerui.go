// Package writerui has the pages for writing: posts with their drafts, files and outlines, the list
// of posts, and the profile of an author. Start with [Pages].
package writerui

import (
	"context"
	"net/http"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/author/version"
	"cloudburst/internal/web/content"
)

// Options configure the pages for writing. Posts and Accounts must be set.
type Options struct {
	Posts    Posts
	Versions version.Versions
	Rules    author.RuleSettings
	Files    Files // files of posts; nil: this server hosts no files
	Accounts Passwords
	Replies  Replies                // replies from other sites; nil: the server receives no replies
	Sent     Sent                   // webmentions of posts; set if Replies is set
	Mentions author.MentionSettings // settings of authors about webmentions; set if Replies is set
	// MentionsOff has the settings that the operator has turned off for all authors.
	MentionsOff author.Mentions
	// Card reads the preview of the page at a URL. The messages of its faults are for users. Nil:
	// no previews.
	Card func(ctx context.Context, user, url string) (author.Card, error)
	// Look shows an unsaved post in the form of its future page. Nil: posts have no pages.
	Look func(rw http.ResponseWriter, r *http.Request, p author.Post)
	// ReplyTo describes an item of the user's river for a reply to it. Nil: no feed reader.
	ReplyTo func(ctx context.Context, user string, id int64) (author.Reply, error)
	// ReplyToURL describes the post at a URL for a reply to it. Nil: the reply has only the URL.
	ReplyToURL func(ctx context.Context, url string) author.Reply
}

// Passwords checks the password of users who sign in again while writing.
type Passwords interface {
	Check(ctx context.Context, name, password string, from account.Caller) (account.User, error)
}

// Pages has the pages for writing.
type Pages struct {
	*content.Renderer
	Options
}

// New builds the pages.
func New(c *content.Renderer, o Options) *Pages { return &Pages{c, o} }
