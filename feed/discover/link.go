package discover

import (
	"net/url"
	"strings"
)

// Link is one feed.
type Link struct {
	URL      string `json:"url"` // absolute, without a fragment; unchanged if the URL of the page is unknown
	Kind     Kind   `json:"kind"`
	Format   Format `json:"format,omitempty"`
	Type     string `json:"type,omitempty"` // media type, in lowercase and without parameters
	Title    string `json:"title,omitempty"`
	Language string `json:"language,omitempty"` // hreflang
	From     From   `json:"from"`
	// Guess is true if the link is not declared as a feed, but its URL or text looks like one.
	Guess bool `json:"guess,omitempty"`
}

// classify sets the kind of a link, and the format of a link without a type if its URL
// ends in a known extension.
func (f *found) classify() {
	u, err := url.Parse(f.URL)
	if err != nil {
		return
	}
	if f.Format == "" {
		f.Format = formatOf(u)
	}
	switch {
	case f.Kind != "":
	case f.Format == OPML:
		f.Kind = Outline
	case isComments(u, f.Title):
		f.Kind = Comments
	default:
		f.Kind = Main
	}
}

// merge adds the details of another link with the same URL.
func (l *Link) merge(more Link) {
	if l.Title == "" || l.Guess && !more.Guess && more.Title != "" {
		l.Title = more.Title
	}
	if l.Type == "" {
		l.Type = more.Type
	}
	if l.Format == "" {
		l.Format = more.Format
	}
	if l.Language == "" {
		l.Language = more.Language
	}
	if l.Guess && !more.Guess {
		l.Guess, l.From = false, more.From
	}
	if l.Kind == Main && more.Kind == Comments && !more.Guess {
		l.Kind = Comments
	}
}

// rank returns the sort key of a link in the result. Links of equal rank stay in document order,
// with links in headers first.
func (l Link) rank() int {
	switch {
	case l.From == FromDocument:
		return 0
	case l.From == FromWellKnown:
		return 10
	}
	rank := 1
	switch l.Kind {
	case Comments:
		rank = 2
	case Outline:
		rank = 3
	}
	if l.Guess {
		rank += 3
	}
	if l.Guess && l.From == FromAnchor {
		rank += 3
	}
	return rank
}

// isComments reports whether a feed contains comments of visitors. The words are those of
// weblog programs in their most common languages.
func isComments(u *url.URL, title string) bool {
	for seg := range strings.SplitSeq(strings.ToLower(u.Path), "/") {
		if seg == "comments" || seg == "comment" || strings.HasPrefix(seg, "comments.") || strings.HasPrefix(seg, "comments-") || strings.HasSuffix(seg, "-comments.xml") {
			return true
		}
	}
	if hasWord(strings.ToLower(u.RawQuery), "comments") {
		return true
	}
	title = strings.ToLower(title)
	for _, word := range []string{"comments", "comment feed", "kommentar", "kommentit", "kommentti", "commentaires", "comentarios", "comentaris", "comentários",
		"commenti", "reacties", "komentarz", "komentáře", "коммент", "комента", "yorum", "σχόλια", "コメント", "评论", "評論", "迴響", "댓글", "تعليقات", "תגובות"} {
		if strings.Contains(title, word) {
			return true
		}
	}
	return false
}

// declared classifies a link of a header or an element by its relations and its type.
func declared(rels []string, typ string) (f found, ok bool) {
	var alternate, feed, outline bool
	for _, rel := range rels {
		switch rel {
		case "alternate":
			alternate = true
		case "feed", "rss", "atom", "service.feed":
			feed = true
		case "outline", "blogroll", "subscriptions":
			outline = true
		case "stylesheet", "hub", "self", "icon", "shortcut", "meta", "edit", "license", "replies":
			return f, false // an alternate stylesheet is not a feed
		}
	}
	if !alternate && !feed && !outline {
		return f, false
	}
	name, format, class := classOf(typ)
	f.Type, f.Format = name, format
	switch {
	case class == noFeed:
		return f, false // some pages use rel=feed for a link to a page of entries
	case outline && !feed && !alternate:
		f.Kind, f.Format = Outline, OPML
		return f, class != maybeFeed
	case class == surelyFeed, feed:
		return f, true
	case class == someXML:
		f.xml = true
	default:
		f.weak, f.Guess = true, true
	}
	return f, true
}
