// Package opml parses and writes OPML, the outline format that feed readers use to exchange
// subscription lists. It supports OPML 1.0, 1.1 and 2.0 (revision of 2007,
// http://opml.org/spec2.opml).
//
// Start with [Parse] and [Document.Feeds]:
//
//	list, err := opml.Parse(file, nil)
//	if err != nil {
//		return err // not OPML: a *NotOPMLError with the detected format
//	}
//	for folders, feed := range list.Feeds() {
//		fmt.Println(folders, feed.Text, feed.FeedURL())
//	}
//
// To create a list, fill a [Document] with [Document.Add] and write it with
// [Document.WriteTo].
//
// # Preserved content
//
// A Document holds the elements of the head, every attribute of every outline in its order,
// elements and attributes of other namespaces (as trees, with their prefixes), and declared
// namespaces. Parsing, writing and parsing again yields an equal Document, except for the list
// of problems. Comments, processing instructions and white space between elements are not
// preserved.
//
// # Interoperability
//
// Many programs and people write these lists, and few lists are flawless. [Parse] repairs what
// it can and lists each repair in [Document.Problems]:
//
//   - attribute names in the wrong case (xmlurl, XMLURL)
//   - a missing text: the title replaces it
//   - a missing type next to an xmlUrl: it becomes "rss"
//   - outlines outside the body, a missing head, body or version
//   - bare ampersands and HTML entities
//   - unclosed tags
//   - bytes before the document
//   - encodings other than UTF-8
//
// Only a document that is not OPML at all is an error.
//
// # Compatibility
//
// Exported names and JSON names keep their meaning. New versions may add fields and kinds of
// problems.
package opml

// Document is an outline with its head. The zero value is an empty list, ready for
// [Document.Add].
type Document struct {
	// Version is "1.0", "1.1" or "2.0", or any other value that the document contains. It is "" if
	// the document has no version. WriteTo writes these three unchanged, and "2.0" for any other
	// value.
	Version  string `json:"version,omitempty"`
	Encoding string `json:"encoding,omitempty"` // encoding of the parsed document, such as "utf-8"
	Head     Head   `json:"head,omitzero"`
	// Outlines are the top-level outlines of the body.
	Outlines []Outline `json:"outlines"`
	// Namespaces are the namespaces that the root element declares with a prefix. The writer
	// declares any others that it needs.
	Namespaces []Namespace `json:"namespaces,omitempty"`
	Attrs      []Attr      `json:"attrs,omitempty"`     // attributes of <opml>, except its version
	BodyAttrs  []Attr      `json:"bodyAttrs,omitempty"` // attributes of <body>
	Unknown    []Node      `json:"unknown,omitempty"`   // elements in <opml> or <body>, except head and outlines

	// Problems lists the repairs and omissions of the parser, in document order. The writer
	// ignores them.
	Problems []Problem `json:"problems,omitempty"`
}

// Head describes the outline and how it was last displayed. All values are as written, without
// surrounding white space.
type Head struct {
	Title           string `json:"title,omitempty"`
	DateCreated     Date   `json:"dateCreated,omitempty"`
	DateModified    Date   `json:"dateModified,omitempty"`
	OwnerName       string `json:"ownerName,omitempty"`
	OwnerEmail      string `json:"ownerEmail,omitempty"`
	OwnerID         string `json:"ownerId,omitempty"` // URL of a page with contact information for the owner
	Docs            string `json:"docs,omitempty"`
	ExpansionState  string `json:"expansionState,omitempty"`  // line numbers: see [Head.Expanded]
	VertScrollState string `json:"vertScrollState,omitempty"` // number of the line that is at the top of the window
	WindowTop       string `json:"windowTop,omitempty"`       // in pixels, like the three fields below
	WindowLeft      string `json:"windowLeft,omitempty"`
	WindowBottom    string `json:"windowBottom,omitempty"`
	WindowRight     string `json:"windowRight,omitempty"`

	Attrs []Attr `json:"attrs,omitempty"`
	// Unknown contains all other elements. It also contains a known element that has attributes or
	// child elements, or that is repeated with a different text.
	Unknown []Node `json:"unknown,omitempty"`
}

// Outline is one line: a subscription, a folder, a link or text. Known attributes have fields;
// all others are in Attrs. A parsed outline remembers the order of its attributes, and the
// writer uses that order. Attributes set later are written last.
type Outline struct {
	Text  string `json:"text"`            // displayed text; may contain HTML
	Title string `json:"title,omitempty"` // title that the feed itself has
	// Type is "rss" for a subscription to a feed of any format. The types "link" and "include" have
	// a URL. "" is a line of text or a folder. Programs may use other values.
	Type        string   `json:"type,omitempty"`
	XMLURL      string   `json:"xmlUrl,omitempty"`  // URL of the feed
	HTMLURL     string   `json:"htmlUrl,omitempty"` // URL of the feed's website
	URL         string   `json:"url,omitempty"`     // URL of a link or an include
	Description string   `json:"description,omitempty"`
	Language    string   `json:"language,omitempty"` // language of the feed
	Version     string   `json:"version,omitempty"`  // feed format: RSS1, RSS, RSS2, scriptingNews, ATOM
	Category    Category `json:"category,omitempty"`
	Created     Date     `json:"created,omitempty"`
	// IsComment marks this outline and all outlines below it as commented out.
	IsComment    bool `json:"isComment,omitempty"`
	IsBreakpoint bool `json:"isBreakpoint,omitempty"`

	Attrs    []Attr    `json:"attrs,omitempty"`   // other attributes, in document order
	Unknown  []Node    `json:"unknown,omitempty"` // text, and elements except outlines
	Outlines []Outline `json:"outlines,omitempty"`

	// order contains one byte for each attribute, in document order. It is empty if that is the
	// default order; see attribute.go.
	order string
}

// Namespace is a namespace prefix and its URI.
type Namespace struct {
	Prefix string `json:"prefix"`
	URI    string `json:"uri"`
}

// Node is an element that this package does not interpret, with its content. A node without a
// name is text between elements.
type Node struct {
	Space    string `json:"space,omitempty"`  // namespace URI; "" if the element has none or its prefix is undeclared
	Prefix   string `json:"prefix,omitempty"` // namespace prefix, as the document writes it
	Name     string `json:"name,omitempty"`   // local name, as the document writes it
	Attrs    []Attr `json:"attrs,omitempty"`
	Text     string `json:"text,omitempty"` // text of a text node, or of an element without child elements
	Children []Node `json:"children,omitempty"`
}

// Attr is an attribute, as written.
type Attr struct {
	Space string `json:"space,omitempty"` // namespace URI of the prefix
	Name  string `json:"name"`            // including the prefix
	Value string `json:"value"`
}
