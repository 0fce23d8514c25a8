package readerui

import (
	"html"
	"html/template"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/conversation"
	"cloudburst/internal/river"
	"cloudburst/internal/river/search"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// Limits of an item on a page.
const (
	maxItemFiles      = 20
	maxItemTags       = 8
	maxNestedPosts    = 200 // maximum number of nested items on a page in total
	maxNestingDepth   = 5
	maxCachedContents = 16 << 20 // maximum size of the cached contents in bytes
	maxCachedItems    = 16 << 20 // maximum size of the cached rendered items in bytes
)

// itemContent is the content of an item as HTML for a river page: the same for all readers.
type itemContent struct {
	Title, Href string
	Cut         bool   // the text was shortened
	Summary     string // host that has the full text; "": the feed has the full text

	// The rendered parts: the title, the text above the link to the full text, the files and nested
	// items below the link, the first author, and the other details.
	Headline, Shown, Below, Facts, More template.HTML

	// The parts before rendering.
	Authors  []string
	Tags     []string
	Comments string // URL of the comments; "": none
	Via      string // title of the feed from which the item was taken
	Language string
	Body     template.HTML
	Image    template.HTML
	Files    []riverFile
	Inside   []itemContent

	unsized []string // images without known dimensions at the time of rendering
}

// Folds reports whether a nested item is displayed as a line that opens. It has nested items, or a
// title with content.
func (c *itemContent) Folds() bool {
	return len(c.Inside) > 0 || c.Title != "" && (c.Body != "" || c.Image != "" || len(c.Files) > 0)
}

// Line returns the text of an item without a title, for the line that opens its nested items. "":
// the text is not inline HTML.
func (c *itemContent) Line() template.HTML {
	text := strings.TrimSpace(string(c.Body))
	if c.Title != "" {
		return ""
	}
	if in, ok := strings.CutPrefix(text, "<p>"); ok && strings.HasSuffix(in, "</p>") {
		text = strings.TrimSuffix(in, "</p>")
	}
	if !content.IsInline(text) {
		return ""
	}
	return template.HTML(text) // part of sanitized HTML, with balanced tags
}

// Details returns the number of details that the meta line does not contain: further authors, tags,
// the original feed and the comments.
func (c *itemContent) Details() int {
	n := max(len(c.Authors)-1, 0) + len(c.Tags)
	for _, s := range []string{c.Via, c.Comments} {
		if s != "" {
			n++
		}
	}
	return n
}

// Empty reports whether the item has nothing to show, except perhaps a link.
func (c *itemContent) Empty() bool {
	return c.Title == "" && c.Body == "" && c.Image == "" && len(c.Files) == 0 && len(c.Inside) == 0
}

// riverFile is an enclosure.
type riverFile struct {
	Name, Href string
	Note       string        // duration and size
	Kind       string        // "audio", "video" or ""
	Image      template.HTML // image as HTML; "": the file is not an image
}

// riverPost is an item for one reader. It holds everything that its HTML depends on, and is the key of
// the cache of rendered items: two items that look different are never equal.
type riverPost struct {
	*itemContent
	ID, Seq   int64
	At        int64  // position of the item in the river, in Unix milliseconds
	Published int64  // time of the publication, in Unix milliseconds
	Group     string // key of the group: the same for all items that one check of a feed brought
	First     bool   // the item is the first of its group on the page
	Own       bool   // the user may mark the item
	Marks     bool   // read marks are shown
	Read      bool
	Starred   bool
	Old       bool // the item was not news at its check; see isOld
	Alone     bool // the item is on its own page
	Feed      string
	FeedHref  string
	Icon      string             // URL of the feed's icon; "": none
	Letter    string             // letter in place of a missing icon
	Self      string             // path of the item's own page
	Reply     string             // path to write a reply; "": not possible
	To        conversation.Brief // the post that the item replies to; Href is "" for none
	When      shell.Moment
	Edited    shell.Moment
	Taken     shell.Moment // when the item was removed from its feed
	ReadAt    clock
	SourceID  int64
	Full      bool      // the text was read from the page of the item
	Folds     *itemFold // the line before the item that opens folded items; nil: the item is not the first of folded items
	FoldEnd   *itemFold // the fold that ends after the item; nil: the item is not the last of folded items

	HTML template.HTML // the rendered item; writeItem sets it after all other fields
}

// Linked returns the target of the item's time. The time of an item without a title links to the
// item on the web; other times link to the item's page on this server.
func (p riverPost) Linked() string {
	if p.Href != "" && p.Title == "" {
		return p.Href
	}
	return p.Self
}

// showing contains the options that the rendering of items depends on.
type showing struct {
	now   time.Time
	zone  *time.Location
	root  string     // path of the river that the page shows
	from  url.Values // parameters of the page, for the links to the pages of its items
	own   bool
	marks bool
	whole bool
	reply bool // replies are possible
	fold  bool // fold old items; see foldOld
	rest  map[int64]foldedRest
	found []search.Term // terms of the search, whose words are marked in the items

	oldest bool // the page begins with the oldest item
	lang   *locale.Locale
}

// post converts an entry for the reader of a page.
func (s *riverPages) post(e *river.Entry, how showing) riverPost {
	if how.own {
		e.ShowFull()
	} else {
		e.Full = river.Full{}
	}
	p := riverPost{itemContent: s.content(&e.Item, e.Full.At, how.whole, how.lang), ID: e.ID, Seq: e.Seq, At: e.At.UnixMilli(), First: true, Alone: how.whole,
		Group: strconv.FormatInt(e.SourceID, 36) + "." + strconv.FormatInt(e.ReadAt.UnixMilli(), 36),
		Own:   how.own, Marks: how.own && how.marks, Read: how.own && e.Mark.Read, Starred: how.own && e.Starred, Full: e.Full.HTML != "", Old: isOld(e), SourceID: e.SourceID}
	if how.whole { // writeItem marks the words of other items
		p.itemContent = p.marked(how.found)
	}
	p.Feed = shell.CleanText(e.Source.Title, 120)
	if strings.TrimSpace(p.Feed) == "" {
		p.Feed = shell.ShortURL(e.Source.URL)
	}
	p.Self = withQuery(how.path(e.ID), how.from)
	if how.reply {
		p.Reply = "/write?reply=" + strconv.FormatInt(e.ID, 10)
	}
	switch {
	case how.own:
		p.FeedHref = how.root + "?source=" + strconv.FormatInt(e.SourceID, 10)
	case shell.IsSafeURL(e.Source.Home):
		p.FeedHref = e.Source.Home
	}
	p.To = s.repliesTo(e.InReplyTo)
	p.Icon, p.Letter = s.icon(e.Source.Icon), initial(p.Feed)
	at := e.Published
	if at.IsZero() {
		at = e.At
	}
	p.When, p.Published = shell.NewMoment(how.now, at), at.UnixMilli()
	p.ReadAt = clockOf(e.ReadAt, e.At, how.zone, how.lang)
	p.Edited, p.Taken = shell.NewMoment(how.now, e.EditedAt), shell.NewMoment(how.now, e.WithdrawnAt)
	return p
}

// marked returns a copy of c with the found words marked.
func (c *itemContent) marked(found []search.Term) *itemContent {
	out := *c
	for _, part := range []*template.HTML{&out.Headline, &out.Shown, &out.Below} {
		*part = highlight(*part, found)
	}
	return &out
}

// highlight marks the found words in safe markup. It adds only <mark>.
func highlight(markup template.HTML, found []search.Term) template.HTML {
	return template.HTML(content.Highlight(string(markup), found))
}

// content returns the content of an item, from the cache if possible. full is the time at
// which the full text was read; zero selects the text of the feed.
func (s *riverPages) content(it *river.Item, full time.Time, whole bool, l *locale.Locale) *itemContent {
	key := contentKey{it.ID, it.Seq, full.UnixMilli(), whole, locale.Of(l).Code}
	write := func() *itemContent {
		w := contentWriter{BodyRenderer: s.NewBodyRenderer(false), lang: l, whole: whole, capacity: maxNestedPosts}
		c := w.content(&it.Content, 1)
		return &itemContent{Title: c.Title, Href: c.Href, Cut: c.Cut, Summary: c.Summary,
			Headline: s.written(l, "itemtitle", &c), Shown: s.written(l, "itemtext", &c), Below: s.written(l, "itembelow", &c), Facts: s.written(l, "itemfacts", &c), More: s.written(l, "itemmore", &c), unsized: w.Unsized}
	}
	c, found := s.contents.Get(key)
	if !found {
		c = write()
		s.contents.Put(key, c, c.size())
	}
	for _, image := range c.unsized {
		if width, _ := s.ImageSize(image); width != "" { // the proxy has read the image since the last rendering, so its size is known now
			c = write()
			s.contents.Put(key, c, c.size())
			break
		}
	}
	return c
}

// written renders a part of an item in a language.
func (s *riverPages) written(l *locale.Locale, name string, c *itemContent) template.HTML {
	var out strings.Builder
	if err := s.ExecutePartIn(l, &out, "river", name, c); err != nil {
		s.Logger().Error("render a part of an item", "part", name, "err", err)
		return ""
	}
	return template.HTML(out.String())
}

// contentWriter renders one item.
type contentWriter struct {
	*content.BodyRenderer
	lang     *locale.Locale
	whole    bool
	capacity int // number of further nested items that the page may have
}

func (w *contentWriter) content(from *river.Content, depth int) itemContent {
	c := itemContent{Title: strings.TrimSpace(shell.CleanText(from.Title, 300)), Language: shell.PlainLanguage(from.Language), Via: strings.TrimSpace(shell.CleanText(from.Via, 100))}
	if depth == 1 && !w.whole && c.Title != "" {
		w.Heading = 4
	}
	b := w.Render(from.HTML, w.whole)
	c.Body, c.Cut = b.HTML, b.Cut
	if strings.TrimSpace(string(c.Body)) == "" {
		c.Body = ""
	}
	for to, link := range map[*string]string{&c.Href: from.Link, &c.Comments: from.Comments} {
		if shell.IsSafeURL(link) {
			*to = link
		}
	}
	if from.More && c.Href != "" {
		c.Summary = strings.TrimPrefix(shell.HostOf(c.Href), "www.")
	}
	for _, name := range from.Authors[:min(len(from.Authors), 5)] {
		if name = strings.TrimSpace(shell.CleanText(name, 80)); name != "" {
			c.Authors = append(c.Authors, name)
		}
	}
	for _, tag := range from.Categories[:min(len(from.Categories), maxItemTags)] {
		if tag = strings.TrimSpace(shell.CleanText(tag, 40)); tag != "" {
			c.Tags = append(c.Tags, tag)
		}
	}
	w.files(&c, from)
	for i := range from.Nested {
		if depth == maxNestingDepth || w.capacity == 0 {
			break
		}
		w.capacity--
		c.Inside = append(c.Inside, w.content(&from.Nested[i], depth+1))
	}
	return c
}

// files adds the item's enclosures and image, without those that the text shows.
func (w *contentWriter) files(c *itemContent, from *river.Content) {
	if from.Image != "" && !strings.Contains(string(c.Body), "<img") {
		c.Image = template.HTML(w.Image(from.Image, "", "", "", false))
	}
	for _, e := range from.Enclosures[:min(len(from.Enclosures), maxItemFiles)] {
		if !shell.IsSafeURL(e.URL) {
			continue
		}
		f := riverFile{Href: e.URL, Name: fileName(e), Kind: mediaKind(e.Type, e.URL), Note: fileNote(e, w.lang)}
		if f.Kind == "image" {
			if f.Kind = ""; e.URL == from.Image || strings.Contains(from.HTML, html.EscapeString(e.URL)) {
				continue
			}
			f.Image = template.HTML(w.Image(e.URL, shell.CleanText(e.Title, 300), "", "", false))
		}
		c.Files = append(c.Files, f)
	}
}

func fileName(e river.Enclosure) string {
	name := strings.TrimSpace(shell.CleanText(e.Title, 100))
	if name == "" {
		if u, err := url.Parse(e.URL); err == nil {
			name = shell.CleanText(path.Base(u.Path), 100)
		}
	}
	if name == "" || name == "." || name == "/" {
		name = shell.ShortURL(e.URL)
	}
	return name
}

// fileNote describes the duration and size of a file.
func fileNote(e river.Enclosure, l *locale.Locale) string {
	var parts []string
	if e.Duration >= 1 && e.Duration < 1e7 {
		d := time.Duration(e.Duration) * time.Second
		if d < time.Hour {
			parts = append(parts, strconv.Itoa(max(1, int(d.Round(time.Minute).Minutes())))+" "+l.Words("min"))
		} else {
			parts = append(parts, strconv.Itoa(int(d.Hours()))+" "+l.Words("h")+" "+strconv.Itoa(int(d.Minutes())%60)+" "+l.Words("min"))
		}
	}
	if e.Length > 0 {
		parts = append(parts, l.Bytes(e.Length))
	}
	return strings.Join(parts, ", ")
}

// mediaKind returns "audio", "video" or "image" for a file, or "" for other files.
func mediaKind(mediaType, address string) string {
	kind, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(mediaType)), "/")
	if kind == "audio" || kind == "video" || kind == "image" {
		return kind
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	switch strings.ToLower(path.Ext(u.Path)) {
	case ".mp3", ".m4a", ".m4b", ".ogg", ".oga", ".opus", ".aac", ".flac", ".wav":
		return "audio"
	case ".mp4", ".m4v", ".webm", ".mov", ".ogv":
		return "video"
	case ".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif":
		return "image"
	}
	return ""
}
