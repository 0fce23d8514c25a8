package webmention

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"cloudburst/internal/charset"
	"cloudburst/internal/href"
	"cloudburst/internal/text"
)

// Kinds of an [Entry]: what the source is to the target.
const (
	KindReply    = "reply"
	KindLike     = "like"
	KindRepost   = "repost"
	KindBookmark = "bookmark"
	KindMention  = "mention" // any other link
)

// Limits of an [Entry], in characters.
const (
	MaxName = 100
	MaxText = 2000
)

// Entry is the description of a source in its own microformats. Texts are plain text in one line.
type Entry struct {
	Kind       string // what the entry is to the target: KindReply and so on
	AuthorName string // at most MaxName characters; "": unknown
	AuthorURL  string // http or https URL; "": unknown
	Title      string // at most MaxName characters; "": the entry has no title of its own
	Text       string // at most MaxText characters
	Published  time.Time
}

// ReadEntry reads the first h-entry of an HTML document that names the target in a property, or
// else the first h-entry. at is the URL of the document. A document without an h-entry, of another
// type, or nested deeper than the parser allows, is a plain mention with the title of its page.
//
// spec:hfeed-2014#entry-of-a-mention
func ReadEntry(doc []byte, contentType, at, target string) Entry {
	e := Entry{Kind: KindMention}
	if kindOf(contentType, doc) != markup {
		return e
	}
	root, err := html.Parse(strings.NewReader(charset.Decode(doc, contentType).Text))
	if err != nil {
		return e
	}
	r := entryReader{base: href.New(at), target: target}
	var entries []*html.Node
	for n := range root.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case n.Data == "base" && attrOf(n, "href") != "":
			r.base = r.base.Child(attrOf(n, "href"))
		case n.Data == "title" && e.Title == "":
			e.Title = textOf(n, MaxName)
		case hasClass(n, "h-entry"):
			entries = append(entries, n)
		}
	}
	if len(entries) == 0 {
		return e
	}
	found := r.entry(entries[0])
	for _, n := range entries[1:min(len(entries), 50)] {
		if found.Kind != KindMention {
			break
		}
		if next := r.entry(n); next.Kind != KindMention {
			found = next
		}
	}
	return found
}

// entryReader reads the entries of one document.
type entryReader struct {
	base   *href.Base
	target string
}

// relations lists the properties that make an entry more than a mention, the strongest first.
func relations() [][2]string {
	return [][2]string{{"u-in-reply-to", KindReply}, {"u-like-of", KindLike}, {"u-repost-of", KindRepost}, {"u-bookmark-of", KindBookmark}}
}

func (r entryReader) entry(root *html.Node) Entry {
	e := Entry{Kind: KindMention}
	rank := len(relations())
	name, summary := "", ""
	for n := range properties(root) {
		for i, rel := range relations() {
			if i < rank && hasClass(n, rel[0]) && SameURL(r.url(n), r.target) {
				rank, e.Kind = i, rel[1]
			}
		}
		switch {
		case hasClass(n, "p-author") && e.AuthorName == "":
			e.AuthorName, e.AuthorURL = r.author(n)
		case hasClass(n, "e-content") && e.Text == "", hasClass(n, "p-content") && e.Text == "":
			e.Text = textOf(n, MaxText)
		case hasClass(n, "p-summary") && summary == "":
			summary = textOf(n, MaxText)
		case hasClass(n, "dt-published") && e.Published.IsZero():
			e.Published = dateOf(n)
		}
		if hasClass(n, "p-name") && name == "" {
			name = textOf(n, MaxText)
		}
	}
	e.Text = cmp.Or(e.Text, summary)
	switch {
	case e.Text == "":
		e.Text = name
	case !strings.HasPrefix(e.Text, strings.TrimSuffix(name, "…")): // without a real title, a parser derives the name from the text: then it is no title
		e.Title = text.ClipRunes(name, MaxName)
	}
	return e
}

// author reads an h-card, or the text and the link of any other element.
func (r entryReader) author(n *html.Node) (name, link string) {
	for c := range properties(n) {
		if hasClass(c, "p-name") && name == "" {
			name = textOf(c, MaxName)
		}
		if hasClass(c, "u-url") && link == "" {
			link = r.url(c)
		}
	}
	if name == "" {
		name = textOf(n, MaxName)
	}
	if link == "" && attrOf(n, "href") != "" {
		link = r.url(n)
	}
	if CheckURL("author", link) != nil {
		link = ""
	}
	return name, link
}

// url returns the URL of a property: the URL of the element or, if the element is an item, the URL
// of the item.
func (r entryReader) url(n *html.Node) string {
	for _, name := range [...]string{"href", "src", "value"} {
		if v := attrOf(n, name); v != "" {
			return r.base.Resolve(v)
		}
	}
	if isItem(n) {
		for c := range properties(n) {
			if hasClass(c, "u-url") && attrOf(c, "href") != "" {
				return r.base.Resolve(attrOf(c, "href"))
			}
		}
	}
	return r.base.Resolve(textOf(n, MaxURL))
}

// properties yields the descendants of an item that may be its properties: it does not enter nested
// items. The parser limits the depth of the document.
func properties(item *html.Node) func(yield func(*html.Node) bool) {
	var walk func(n *html.Node, yield func(*html.Node) bool) bool
	walk = func(n *html.Node, yield func(*html.Node) bool) bool {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type != html.ElementNode {
				continue
			}
			if !yield(c) || !isItem(c) && c.Data != "template" && !walk(c, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func(*html.Node) bool) { walk(item, yield) }
}

func isItem(n *html.Node) bool {
	return slices.ContainsFunc(strings.Fields(attrOf(n, "class")), func(c string) bool { return strings.HasPrefix(c, "h-") })
}

func hasClass(n *html.Node, class string) bool {
	return strings.Contains(attrOf(n, "class"), class) && slices.Contains(strings.Fields(attrOf(n, "class")), class)
}

func attrOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// textOf returns the visible text of an element in one line, cut after limit characters.
func textOf(n *html.Node, limit int) string {
	if v := attrOf(n, "alt"); n.Data == "img" {
		return text.ClipRunes(strings.Join(strings.Fields(v), " "), limit)
	}
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case b.Len() > 8*limit:
		case d.Type == html.TextNode && !slices.Contains([]string{"script", "style", "template", "noscript"}, d.Parent.Data):
			b.WriteString(d.Data)
		case d.Type == html.ElementNode && slices.Contains([]string{"br", "p", "div", "li", "blockquote"}, d.Data):
			b.WriteByte(' ')
		}
	}
	return text.ClipRunes(strings.Join(strings.Fields(b.String()), " "), limit)
}

// dateOf returns the date of a property in UTC, or the zero time if it is missing or invalid.
func dateOf(n *html.Node) time.Time {
	value := strings.TrimSpace(attrOf(n, "datetime"))
	if value == "" {
		value = textOf(n, 40)
	}
	for _, form := range [...]string{time.RFC3339, "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05-07:00", "2006-01-02T15:04-07:00", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.Parse(form, value); err == nil && t.Year() >= 1990 && t.Year() <= 9999 {
			return t.UTC()
		}
	}
	return time.Time{}
}
