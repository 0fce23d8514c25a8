// Package micropub implements Micropub, the interface by which programs create, change and
// delete posts of a site on behalf of its owner.
//
// The package follows the W3C recommendation of 23 May 2017. A program sends a [Request] as
// a form, as a form with files, or as JSON. [ReadRequest] reads all three into the same
// value. A post has [Properties] with the names of microformats. Each property is a list of
// values, even if there is only one.
//
// To write posts, start with [Client]. To accept posts, start with [Handler]:
//
//	c := micropub.Client{Endpoint: "https://example.com/micropub", Token: token}
//	url, err := c.Create(ctx, &micropub.Request{Properties: micropub.Properties{
//		"content":  {micropub.Text("The first post.")},
//		"category": {micropub.Text("news")},
//	}})
//
// The package implements the messages only. An implementation of [Backend] interprets the
// properties and stores the posts; an implementation of [Media] stores the files.
//
// # Interoperability
//
//   - A token is sent in the Authorization header or in the form field access_token, but
//     not in both. A token in the URL is rejected, because URLs are logged.
//   - A request that the token does not permit gets status 401 with insufficient_scope, as
//     in the recommendation. A later text of its editors, and OAuth, require 403.
//   - A value that must be an array is rejected if it is not, because the meaning of an
//     update would be unclear. The exceptions are a type, which may be a string, and
//     numbers and booleans, which are read as text.
//   - Names of form fields may end in [], for one value as well as for many.
//   - Values of content may be text, {"html": …}, or {"markdown": …}, an extension that
//     several servers share. In forms they are the fields content[html] and content[markdown].
//   - The command mp-photo-alt has the descriptions of the photos, because forms cannot contain
//     {"value": …, "alt": …}.
//   - Queries of later extensions are answered: source without a url (a list of posts),
//     category and post-types; at the media endpoint last and source.
//   - Web pages of any origin may call the endpoints, because cookies are ignored.
package micropub

import (
	"strings"

	"cloudburst/internal/text"
)

// Limits of requests. A larger request is rejected as a whole.
const (
	MaxBody    = 2 << 20 // bytes of a request without its files
	MaxFields  = 1000    // values in a request
	MaxDepth   = 20      // levels of nested objects and lists
	MaxFiles   = 20      // files in a request
	MaxToken   = 4096    // bytes of a token
	maxAnswer  = 4 << 20 // bytes of a response that a client reads
	maxListing = 100     // maximum rows of a list
)

// Action is the operation of a request.
type Action string

// Actions. The zero Action means Create.
const (
	Create   Action = "create"
	Update   Action = "update"
	Delete   Action = "delete"
	Undelete Action = "undelete"
)

// Scopes of tokens.
const (
	ScopeCreate = "create"
	ScopeUpdate = "update"
	ScopeDelete = "delete" // not sufficient to undelete a post, which needs ScopeCreate or ScopeUpdate
	ScopeMedia  = "media"
)

// Request is an operation on one post.
type Request struct {
	Action Action
	Type   string // type of the created post; "h-entry" if the request has none
	URL    string // URL of the post to update, delete or undelete

	Properties Properties // properties of the created post
	// Commands are the properties whose names start with mp-. They are instructions for the
	// server and not part of the post. The keys include the mp-.
	Commands Properties

	// Changes of an update: Replace replaces all values of a property, Add adds values,
	// Remove removes values, and RemoveAll removes whole properties.
	Replace, Add, Remove Properties
	RemoveAll            []string
}

// Slug returns the requested end of the post's URL, or "" if none is requested.
func (r *Request) Slug() string { return r.Commands.Text("mp-slug") }

// SyndicateTo returns the UIDs of the targets that the post should also be sent to.
func (r *Request) SyndicateTo() []string { return r.Commands.Texts("mp-syndicate-to") }

// scopes returns the scopes of which a token needs one for the request. Undeleting a post publishes
// it, so the scope delete is not sufficient for that.
func (r *Request) scopes() []string {
	switch r.Action {
	case Update:
		return []string{ScopeUpdate}
	case Delete:
		return []string{ScopeDelete}
	case Undelete:
		return []string{ScopeUpdate, ScopeCreate}
	default:
		return []string{ScopeCreate}
	}
}

// check returns an error if the request is incomplete.
func (r *Request) check() error {
	switch r.Action {
	case Create:
		if len(r.Properties) == 0 {
			return invalid("The request has no properties for a post.")
		}
		return nil
	case Update:
		// spec:micropub-2017#update
		if len(r.Replace) == 0 && len(r.Add) == 0 && len(r.Remove) == 0 && len(r.RemoveAll) == 0 && len(r.Commands) == 0 {
			return invalid("The update has no replace, add or delete, so there is nothing to change.")
		}
	case Delete, Undelete:
	default:
		return invalid("The action %q is unknown; supported are create, update, delete and undelete.", text.Clip(string(r.Action), 40))
	}
	if r.URL == "" {
		return invalid("The url of the post is missing.")
	}
	return nil
}

// commandAlt is the command whose values are the descriptions of the photos, in the same order. Forms
// have no other field for descriptions.
const commandAlt = "mp-photo-alt"

// split moves the commands out of the properties, adds the descriptions of the photos, and removes
// properties that must not be stored.
//
// spec:micropub-2017#reserved
// spec:micropub-2017#token-not-stored
func (r *Request) split() {
	delete(r.Properties, fieldToken)
	for name, values := range r.Properties {
		if strings.HasPrefix(name, "mp-") {
			r.command(name, values)
			delete(r.Properties, name)
		}
	}
	describe(r.Properties["photo"], r.Commands[commandAlt])
	delete(r.Commands, commandAlt)
}

// describe adds the descriptions to the photos that have none.
func describe(photos, alts []Value) {
	for i, alt := range alts {
		if i < len(photos) && photos[i].Text != "" && photos[i].Alt == "" {
			photos[i].Alt = alt.Text
		}
	}
}

func (r *Request) command(name string, values []Value) {
	if len(values) == 0 {
		return
	}
	if r.Commands == nil {
		r.Commands = Properties{}
	}
	r.Commands[name] = append(r.Commands[name], values...)
}
