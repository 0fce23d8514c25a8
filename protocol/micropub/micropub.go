// Package micropub speaks Micropub on the wire: the interface by which programs create,
// change and delete the posts of a site in their owner's name.
//
// It follows the W3C recommendation of 23 May 2017. A program sends a [Request], as a
// form, as a form with files in it, or as JSON; all three are read by [ReadRequest] into
// the same value. What a post is made of are [Properties], as microformats name them:
// lists of values by name, also where there is only one.
//
// Start with [Client] to write somewhere, with [Handler] to be written to:
//
//	c := micropub.Client{Endpoint: "https://example.com/micropub", Token: token}
//	at, err := c.Create(ctx, &micropub.Request{Properties: micropub.Properties{
//		"content":  {micropub.Text("The first post.")},
//		"category": {micropub.Text("news")},
//	}})
//
// The package knows bytes and nothing else: which properties mean what, and where posts
// are kept, is the business of whoever implements [Backend], and [Media] for files.
//
// # Interoperability
//
//   - A token comes in the Authorization header or in the form field access_token, never
//     in both and never in the address, where it would be written down on its way.
//   - A token that may not do what is asked is answered 401 with insufficient_scope, as the
//     recommendation says; a later text of its editors, and OAuth, say 403 for it.
//   - A value that the recommendation wants in an array is refused where it is none,
//     because whoever changes a post would not know what was meant; but a type may be one
//     string, and numbers and booleans are taken as the words they are written with.
//   - Names of form fields may end in [] whether they have one value or many.
//   - Values of content have a third form besides text and {"html": …}, which several
//     servers share: {"markdown": …}.
//   - Queries of what later extensions of the interface name are answered: source without
//     a url (a list of posts), category, post-types; at the media endpoint last and source.
//   - Browsers may call from any page, because a cookie is never looked at.
package micropub

import (
	"slices"
	"strings"

	"cloudburst/internal/text"
)

// Limits of what is read. Larger requests are refused whole.
const (
	MaxBody    = 2 << 20 // bytes of a request, without the files in it
	MaxFields  = 1000    // values in a request
	MaxDepth   = 20      // objects and lists within each other
	MaxFiles   = 20      // files in a request
	MaxToken   = 4096    // bytes of a token
	maxAnswer  = 4 << 20 // bytes of an answer that a client reads
	maxListing = 100     // rows of a list that is asked for
)

// Action is what a request wants done.
type Action string

// Actions. The zero Action is Create.
const (
	Create   Action = "create"
	Update   Action = "update"
	Delete   Action = "delete"
	Undelete Action = "undelete"
)

// Scopes of tokens, as programs ask for them.
const (
	ScopeCreate = "create"
	ScopeUpdate = "update"
	ScopeDelete = "delete" // to take a deletion back needs one of the two above
	ScopeMedia  = "media"
)

// Request is one thing that a program wants done.
type Request struct {
	Action Action
	Type   string // of what is created: "h-entry", also where a request did not say
	URL    string // of what is changed, deleted or brought back

	Properties Properties // of what is created
	// Commands are the properties that begin with mp-: they are for the server and no part
	// of the post. Their names have the mp-.
	Commands Properties

	// Of an update: what takes the place of all values, what is added to them, which values
	// go, and which properties go whole.
	Replace, Add, Remove Properties
	RemoveAll            []string
}

// Slug is the end of the address that the program would like; "": it has no wish.
func (r *Request) Slug() string { return r.Commands.Text("mp-slug") }

// SyndicateTo are the UIDs of places to which the post shall be sent as well.
func (r *Request) SyndicateTo() []string { return r.Commands.Texts("mp-syndicate-to") }

// scopes are those of which a token needs one for the request. Whoever brings a post back
// publishes it, so a token that only deletes cannot.
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

// check says what is missing in a request.
func (r *Request) check() error {
	switch r.Action {
	case Create:
		if len(r.Properties) == 0 {
			return invalid("The request has no properties, of which a post could be made.")
		}
		return nil
	case Update:
		// spec:micropub-2017#update
		if len(r.Replace) == 0 && len(r.Add) == 0 && len(r.Remove) == 0 && len(r.RemoveAll) == 0 && len(r.Commands) == 0 {
			return invalid("The update has no replace, add or delete, so there is nothing to change.")
		}
	case Delete, Undelete:
	default:
		return invalid("The action %q is not known; there are create, update, delete and undelete.", text.Clip(string(r.Action), 40))
	}
	if r.URL == "" {
		return invalid("The url is missing: it says which post is meant.")
	}
	return nil
}

// split moves the commands out of the properties, and drops what must not be kept.
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

// Properties are the values of each property, by its name.
type Properties map[string][]Value

// First is the first value of a property; the zero Value where there is none.
func (p Properties) First(name string) Value {
	if v := p[name]; len(v) > 0 {
		return v[0]
	}
	return Value{}
}

// Text is the first value of a property as text; "" where there is none.
func (p Properties) Text(name string) string { return p.First(name).String() }

// Texts are the values of a property as text, without those that are empty.
func (p Properties) Texts(name string) []string {
	var list []string
	for _, v := range p[name] {
		if s := v.String(); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// Has reports that there is at least one value.
func (p Properties) Has(name string) bool { return len(p[name]) > 0 }

// Only are those of the properties that are named; all where none is.
func (p Properties) Only(names ...string) Properties {
	if len(names) == 0 {
		return p
	}
	out := Properties{}
	for name, values := range p {
		if slices.Contains(names, name) {
			out[name] = values
		}
	}
	return out
}

// Apply is what an update makes of properties: a copy, with what it replaces, adds and
// removes. Values are removed that are [Value.Equal]. What has no value any more is gone.
//
// spec:micropub-2017#update-replace
// spec:micropub-2017#update-add
// spec:micropub-2017#update-remove
func (r *Request) Apply(p Properties) Properties {
	out := Properties{}
	for name, values := range p {
		out[name] = slices.Clone(values)
	}
	for name, values := range r.Replace {
		out[name] = slices.Clone(values)
	}
	for name, values := range r.Remove {
		out[name] = slices.DeleteFunc(out[name], func(v Value) bool { return slices.ContainsFunc(values, v.Equal) })
	}
	for name, values := range r.Add {
		out[name] = append(out[name], values...)
	}
	for _, name := range r.RemoveAll {
		delete(out, name)
	}
	for name, values := range out {
		if len(values) == 0 {
			delete(out, name)
		}
	}
	return out
}

// Touches reports that an update says something of a property.
func (r *Request) Touches(name string) bool {
	_, a := r.Replace[name]
	_, b := r.Add[name]
	_, c := r.Remove[name]
	return a || b || c || slices.Contains(r.RemoveAll, name)
}
