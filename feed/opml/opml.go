// Package opml reads and writes OPML, the outlines in which readers of feeds
// exchange their lists of subscriptions: OPML 1.0, 1.1 and 2.0 (the last of 2007,
// http://opml.org/spec2.opml).
//
// Start with [Parse] and [Document.Feeds]:
//
//	list, err := opml.Parse(file, nil)
//	if err != nil {
//		return err // it is no OPML; a *NotOPMLError says what it looks like
//	}
//	for folders, feed := range list.Feeds() {
//		fmt.Println(folders, feed.Text, feed.FeedURL())
//	}
//
// A list of one's own is a [Document] that [Document.Add] fills and
// [Document.WriteTo] writes.
//
// # What is kept
//
// Everything a document says: the elements of the head, every attribute of every
// outline in its order, elements and attributes of other namespaces (as trees, with
// their prefixes), and namespaces that are declared. What is parsed, written and
// parsed again is equal, but for the list of problems. Comments, processing
// instructions and white space between elements are not part of it.
//
// # Interoperability
//
// Lists are written by many programs and by hand. Whatever can be read is read,
// and [Document.Problems] tells what had to be repaired: names of attributes in
// other letters (xmlurl, XMLURL), a missing text (the title is taken), a missing
// type beside an xmlUrl ("rss" is filled in), outlines outside of the body, no head
// or body, no version, bare ampersands and entities of HTML, tags that are never
// closed, bytes before the document, other encodings than UTF-8. Only a document
// that is no OPML at all is an error.
//
// # Compatibility
//
// Exported names and the names in JSON keep their meaning; fields and kinds of
// problems may be added.
package opml

// Document is one outline with its head. The zero value is an empty list, ready
// for [Document.Add].
type Document struct {
	// Version is "1.0", "1.1" or "2.0", or whatever else the document says; "" when
	// it does not say. WriteTo writes these three, and "2.0" for all else.
	Version  string `json:"version,omitempty"`
	Encoding string `json:"encoding,omitempty"` // that the document was read with: "utf-8"
	Head     Head   `json:"head,omitzero"`
	// Outlines are the body, at its top level.
	Outlines []Outline `json:"outlines"`
	// Namespaces are those that the root element declares with a prefix. The writer
	// declares what else it needs by itself.
	Namespaces []Namespace `json:"namespaces,omitempty"`
	Attrs      []Attr      `json:"attrs,omitempty"`     // of <opml>, besides its version
	BodyAttrs  []Attr      `json:"bodyAttrs,omitempty"` // of <body>
	Unknown    []Node      `json:"unknown,omitempty"`   // in <opml> or <body>, neither head nor outline

	// Problems are what had to be repaired or left out, in the order of the document.
	// They are not written.
	Problems []Problem `json:"problems,omitempty"`
}

// Head says what the outline is and how it was last shown. All values are as
// written, without white space around them.
type Head struct {
	Title           string `json:"title,omitempty"`
	DateCreated     Date   `json:"dateCreated,omitempty"`
	DateModified    Date   `json:"dateModified,omitempty"`
	OwnerName       string `json:"ownerName,omitempty"`
	OwnerEmail      string `json:"ownerEmail,omitempty"`
	OwnerID         string `json:"ownerId,omitempty"` // a page that says how to reach the owner
	Docs            string `json:"docs,omitempty"`
	ExpansionState  string `json:"expansionState,omitempty"`  // numbers of lines: see [Head.Expanded]
	VertScrollState string `json:"vertScrollState,omitempty"` // number of the line at the top of the window
	WindowTop       string `json:"windowTop,omitempty"`       // pixels, as the other three
	WindowLeft      string `json:"windowLeft,omitempty"`
	WindowBottom    string `json:"windowBottom,omitempty"`
	WindowRight     string `json:"windowRight,omitempty"`

	Attrs []Attr `json:"attrs,omitempty"`
	// Unknown are all other elements, and those above once more when they have
	// attributes, have elements in them, or are repeated with another text.
	Unknown []Node `json:"unknown,omitempty"`
}

// Outline is one line: a subscription, a folder, a link or words. Its known
// attributes are fields; all others are in Attrs. An outline that was read
// remembers the order of its attributes and is written in it; what was set since
// then follows.
type Outline struct {
	Text  string `json:"text"`            // what is shown; may hold HTML
	Title string `json:"title,omitempty"` // of a feed: its own title
	// Type is "rss" for a subscription, whatever the format of the feed; "link" and
	// "include" have a URL; "" is a line of words or a folder. Others are free.
	Type        string   `json:"type,omitempty"`
	XMLURL      string   `json:"xmlUrl,omitempty"`  // of the feed
	HTMLURL     string   `json:"htmlUrl,omitempty"` // of the page that the feed belongs to
	URL         string   `json:"url,omitempty"`     // of a link or an include
	Description string   `json:"description,omitempty"`
	Language    string   `json:"language,omitempty"` // of the feed
	Version     string   `json:"version,omitempty"`  // of the feed's format: RSS1, RSS, RSS2, scriptingNews, ATOM
	Category    Category `json:"category,omitempty"`
	Created     Date     `json:"created,omitempty"`
	// IsComment says that the line, and all below it, count for nothing.
	IsComment    bool `json:"isComment,omitempty"`
	IsBreakpoint bool `json:"isBreakpoint,omitempty"`

	Attrs    []Attr    `json:"attrs,omitempty"`   // all others, in their order
	Unknown  []Node    `json:"unknown,omitempty"` // elements that are no outlines, and text
	Outlines []Outline `json:"outlines,omitempty"`

	// order has a byte for each attribute as it was written, when that differs from
	// how it would be written otherwise: see attribute.go.
	order string
}

// Namespace is a prefix and what it stands for.
type Namespace struct {
	Prefix string `json:"prefix"`
	URI    string `json:"uri"`
}

// Node is an element that nothing else here is for, whole. A node without a name
// is text between elements.
type Node struct {
	Space    string `json:"space,omitempty"`  // namespace URI; "" when there is none, or none declared
	Prefix   string `json:"prefix,omitempty"` // as written
	Name     string `json:"name,omitempty"`   // local name, as written
	Attrs    []Attr `json:"attrs,omitempty"`
	Text     string `json:"text,omitempty"` // of an element without elements in it, or of a text node
	Children []Node `json:"children,omitempty"`
}

// Attr is an attribute, as written.
type Attr struct {
	Space string `json:"space,omitempty"` // namespace URI of its prefix
	Name  string `json:"name"`            // with its prefix
	Value string `json:"value"`
}
