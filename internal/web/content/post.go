package content

import (
	"cmp"
	"context"
	"html/template"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/web/shell"
)

// File is an enclosure of a post.
type File struct {
	Name, Href, Type, Size string
	Player                 string // "audio" or "video" for a file of this server
}

const (
	maxPostHTML     = 24 << 10 // maximum size of a post's HTML in bytes; a longer post is shortened
	maxNodes        = 300      // maximum number of posts within a post
	maxOpenNodes    = 60       // number of nodes after which further nodes are folded
	maxOwnPageNodes = 20_000   // maximum number of posts within a post on the post's own page
)

// PostView is a post for a page.
type PostView struct {
	ID      string // ID of the post's HTML element
	Number  int64
	Title   string
	Path    string // path of the page of the post
	Address string // absolute URL of the page of the post
	At      shell.Moment
	Edited  shell.Moment
	HTML    template.HTML // sanitized text
	Cut     bool          // the text was shortened; its page shows all of it
	Lang    string
	Nodes   []NodeView
	Link    string // URL of the page that the post is about; "": none
	Reply   *ReplyView
	Tags    []TagView
	Files   []FileView
	Card    *CardView
	Author  WriterView
	Alone   bool // the post is on its own page
	Foreign bool // the page has posts of several authors
}

// NodeView is one of the posts within a post.
type NodeView struct {
	Title  string
	HTML   template.HTML
	Inline bool          // HTML is the content of one paragraph, without its element
	Head   template.HTML // HTML for the <summary> element, without links: a control must not contain links
	Links  template.HTML // the links removed from Head
	Link   string
	Files  []FileView
	Tags   []TagView
	Folded bool
	Nodes  []NodeView
}

// CardView is the preview of a page that a post links to.
type CardView struct {
	Href, Title, Description, Host string
	Image                          template.HTML // image of the card; "": none
}

type ReplyView struct{ Href, Words string }

// TagView is a category with its page.
type TagView struct {
	Label, Href string
	Posts       int64
}

// FileView is an enclosure for a page.
type FileView struct {
	File
	Kind  string // "image", "audio", "video" or ""
	Image template.HTML
	Note  string // type and size
}

// PostRenderer renders posts for pages.
type PostRenderer struct {
	*BodyRenderer
	pages    *Renderer
	ctx      context.Context
	now      time.Time
	all      bool // the page has posts of all authors
	alone    bool
	capacity int // number of further nodes that the list may have
	known    map[string]author.Writer
}

func (s *Renderer) NewPostRenderer(ctx context.Context, all, alone bool) *PostRenderer {
	return &PostRenderer{
		BodyRenderer: s.NewBodyRenderer(true),
		pages:        s, ctx: ctx, now: s.CurrentTime(), all: all, alone: alone, known: map[string]author.Writer{},
	}
}

func (w *PostRenderer) RenderPost(p author.Post) (PostView, error) {
	writer, ok := w.known[p.User]
	if !ok {
		var err error
		if writer, err = w.pages.Posts.Writer(w.ctx, p.User); err != nil {
			return PostView{}, err
		}
		w.known[p.User] = writer
	}
	e := PostView{
		ID: "p" + strconv.FormatInt(p.ID, 10), Number: p.ID, Title: shell.CleanText(p.Title, 300), Path: w.pages.Posts.Path(p), Address: w.pages.Posts.Address(p),
		At: DateMoment(p.PublishedAt), Edited: shell.Moment{Zero: true}, Lang: shell.PlainLanguage(p.Language), Author: w.pages.NewWriterView(writer), Alone: w.alone, Foreign: w.all,
	}
	if w.all {
		e.ID = p.User + "-" + e.ID
	}
	begun := p.PublishedAt // a post that is published with an older date does not count as edited
	if p.CreatedAt.After(begun) {
		begun = p.CreatedAt
	}
	if p.UpdatedAt.Sub(begun) >= time.Minute {
		e.Edited = DateMoment(p.UpdatedAt)
	}
	b := w.Render(p.HTML, w.alone || len(p.HTML) <= maxPostHTML)
	e.HTML, e.Cut = b.HTML, b.Cut
	w.capacity = maxNodes
	if w.alone {
		w.capacity = maxOwnPageNodes
	}
	e.Nodes = w.nodes(p.User, p.Outline)
	e.Cut = e.Cut || w.capacity < 0
	if shell.IsWebURL(p.Link) {
		e.Link = p.Link
	}
	if r := p.Reply; r != nil && shell.IsWebURL(r.URL) {
		e.Reply = &ReplyView{r.URL, cmp.Or(shell.CleanText(r.Title, 200), shell.ShortURL(r.URL))}
	}
	e.Tags = w.tags(p.User, p.Categories)
	e.Files = w.files(p.User, p.Enclosures)
	e.Card = w.Card(p.Card)
	return e, nil
}

// DateMoment returns a moment whose text is the date, not a relative time, so that the page stays
// cacheable.
func DateMoment(t time.Time) shell.Moment {
	m := shell.NewMoment(t, t)
	m.Text = t.UTC().Format("2 January 2006, 15:04")
	return m
}

func (w *PostRenderer) tags(user string, labels []string) (all []TagView) {
	for _, l := range labels {
		if name := author.CategoryName(l); name != "" {
			all = append(all, TagView{Label: shell.CleanText(l, 100), Href: author.View{User: user, Category: name}.Base()})
		}
	}
	return all
}

// nodes renders the posts within a post. If capacity falls below zero, the list is incomplete.
func (w *PostRenderer) nodes(user string, list []author.Node) (all []NodeView) {
	for _, n := range list {
		if w.capacity--; w.capacity < 0 {
			return all
		}
		e := NodeView{Title: shell.CleanText(n.Title, 300), Folded: n.Folded, Tags: w.tags(user, n.Categories), Files: w.files(user, n.Enclosures)}
		text := strings.TrimSpace(n.HTML)
		if inner, ok := strings.CutPrefix(text, "<p>"); ok && strings.Count(text, "<p>") == 1 && strings.HasSuffix(inner, "</p>") {
			text, e.Inline = strings.TrimSuffix(inner, "</p>"), true
		}
		e.HTML = w.Render(text, true).HTML
		e.Inline = e.Inline || IsInline(string(e.HTML))
		e.Folded = e.Folded || !w.alone && w.capacity < maxNodes-maxOpenNodes // a long outline is unfolded on its own page only
		if shell.IsWebURL(n.Link) {
			e.Link = n.Link
		}
		if e.Nodes = w.nodes(user, n.Nodes); e.Inline {
			e.Head = template.HTML(anchorTag.ReplaceAllString(string(e.HTML), ""))
			e.Links = template.HTML(strings.Join(anchorElement.FindAllString(string(e.HTML), -1), " · "))
		}
		all = append(all, e)
	}
	return all
}

var anchorTag = regexp.MustCompile(`</?a(?: [^>]*)?>`)

var anchorElement = regexp.MustCompile(`(?s)<a(?: [^>]*)?>.*?</a>`)

// files renders the enclosures of a post; audio and video files of this server play on the
// page.
func (w *PostRenderer) files(user string, list []author.Enclosure) (all []FileView) {
	for _, e := range list {
		own := strings.HasPrefix(e.URL, "/") && !strings.HasPrefix(e.URL, "//")
		if !own && !shell.IsSafeURL(e.URL) {
			continue
		}
		f := FileView{File: File{Name: shell.CleanText(e.Title, 200), Href: e.URL, Type: shell.CleanText(e.Type, 80)}}
		f.Kind, _, _ = strings.Cut(f.Type, "/")
		f.Name = cmp.Or(f.Name, shell.CleanText(LastPathPart(path.Base(e.URL)), 100), shell.ShortURL(e.URL))
		if e.Length > 0 {
			f.Size = shell.FormatBytes(e.Length)
		}
		f.Note = strings.Trim(f.Type+", "+f.Size, ", ")
		switch f.Kind {
		case "image":
			width, height := w.size(user, e.URL, own)
			f.Image = template.HTML(w.Image(e.URL, cmp.Or(e.Alt, e.Title), width, height, true))
			if !strings.HasPrefix(string(f.Image), "<img") {
				f.Image = ""
			}
		case "audio", "video":
			f.Player = f.Kind
		default:
			f.Kind = ""
		}
		all = append(all, f)
	}
	return all
}

// Card renders the preview of a page that a post links to. It returns nil if c is nil or has no
// valid URL.
func (w *PostRenderer) Card(c *author.Card) *CardView {
	if c == nil || !shell.IsWebURL(c.URL) {
		return nil
	}
	v := &CardView{Href: c.URL, Title: cmp.Or(shell.CleanText(c.Title, 300), shell.ShortURL(c.URL)), Description: shell.CleanText(c.Description, 300)}
	v.Host, _, _ = strings.Cut(shell.ShortURL(c.URL), "/")
	if shell.IsWebURL(c.Image) {
		if v.Image = template.HTML(w.Image(c.Image, "", "", "", true)); !strings.HasPrefix(string(v.Image), "<img") {
			v.Image = ""
		}
	}
	return v
}

// size returns the dimensions in pixels of an image hosted on this server.
func (w *PostRenderer) size(user, address string, own bool) (width, height string) {
	hash, found := strings.CutPrefix(address, "/"+user+"/media/")
	hash, _, _ = strings.Cut(hash, "/")
	if !own || !found || w.pages.FileOf == nil {
		return "", ""
	}
	f, err := w.pages.FileOf(w.ctx, user, hash)
	if err != nil || f.Width <= 0 || f.Height <= 0 {
		return "", "" // the image is shown without a size
	}
	return strconv.Itoa(f.Width), strconv.Itoa(f.Height)
}

// WriterView is an author for a page.
type WriterView struct {
	Name     string // name of the user
	Person   string // display name
	Title    string
	Blurb    []string
	Link     string
	Avatar   string // URL of the avatar that this page may load; "": none
	Photo    string // original URL of the avatar; "": none
	Path     string
	Language string
}

func (s *Renderer) NewWriterView(w author.Writer) WriterView {
	v := WriterView{Name: w.User, Person: cmp.Or(shell.CleanText(w.Profile.Name, 300), w.User), Title: cmp.Or(shell.CleanText(w.Title, 300), w.User), Path: "/" + w.User + "/", Language: shell.PlainLanguage(w.Language)}
	v.Blurb, _ = shell.Paragraphs(w.Blurb, 4000)
	if shell.IsWebURL(w.Link) {
		v.Link = w.Link
	}
	v.Avatar = s.OwnImage(w.Avatar)
	if v.Photo = w.Avatar; !isPath(w.Avatar) && !shell.IsSafeURL(w.Avatar) {
		v.Photo = ""
	}
	return v
}

// OwnImage returns the URL by which a page may load an image of a profile; "": none.
func (s *Renderer) OwnImage(address string) string {
	switch {
	case isPath(address):
		return address
	case !shell.IsSafeURL(address):
		return ""
	case s.ImageMode() == ImagesProxy:
		return s.ProxyURL(address)
	case s.ImageMode() == ImagesDirect:
		return address
	}
	return ""
}

// isPath reports whether an address is a path of this server.
func isPath(address string) bool {
	return strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//")
}
