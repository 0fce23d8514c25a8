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

// File is an enclosure.
type File struct {
	Name, Href, Type, Size string
	Player                 string // "audio" or "video" when it is of this server
}

const (
	maxPostHTML     = 24 << 10 // bytes of HTML; of a longer one, the beginning
	maxNodes        = 300      // posts within a post
	maxOpenNodes    = 60       // of them, before the others are folded
	maxOwnPageNodes = 20_000   // on the post's own page
)

// PostView is a post as pages show it.
type PostView struct {
	ID      string // of its element
	Number  int64
	Title   string
	Path    string // of its page
	Address string // the same, whole
	At      shell.Moment
	Edited  shell.Moment
	HTML    template.HTML // made safe
	Cut     bool          // there is more on its page
	Lang    string
	Nodes   []NodeView
	Link    string // page that it is about
	Reply   *ReplyView
	Tags    []TagView
	Files   []FileView
	Author  WriterView
	Alone   bool // on its own page
	Foreign bool // among posts of others
}

// NodeView is one of the posts within a post.
type NodeView struct {
	Title  string
	HTML   template.HTML
	Inline bool          // HTML is one paragraph, without its element
	Head   template.HTML // HTML without its links, where what is below it folds: nothing else can be pressed there
	Links  template.HTML // those links
	Link   string
	Files  []FileView
	Tags   []TagView
	Folded bool
	Nodes  []NodeView
}

type ReplyView struct{ Href, Words string }

// TagView is a category with its page.
type TagView struct {
	Label, Href string
	Posts       int64
}

// FileView is an enclosure.
type FileView struct {
	File
	Kind  string // "image", "audio", "video" or ""
	Image template.HTML
	Note  string // type and size
}

// PostRenderer makes entries of posts.
type PostRenderer struct {
	*BodyRenderer
	pages    *Renderer
	ctx      context.Context
	now      time.Time
	all      bool // they are of everyone
	alone    bool
	capacity int // for nodes
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
	begun := p.PublishedAt // one that was given an older date is not edited for that
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
	return e, nil
}

// DateMoment is a moment whose words do not change as time goes by, so that the page does not.
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

// nodes are the posts within a post; room below nothing says that there are more.
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
		e.Folded = e.Folded || !w.alone && w.capacity < maxNodes-maxOpenNodes // a long one is for its own page
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

// files are the enclosures of a post, to be seen and heard where they stand.
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

// size is that of a picture which is kept here, in pixels.
func (w *PostRenderer) size(user, address string, own bool) (width, height string) {
	hash, found := strings.CutPrefix(address, "/"+user+"/media/")
	hash, _, _ = strings.Cut(hash, "/")
	if !own || !found || w.pages.FileOf == nil {
		return "", ""
	}
	f, err := w.pages.FileOf(w.ctx, user, hash)
	if err != nil || f.Width <= 0 || f.Height <= 0 {
		return "", "" // it is shown without
	}
	return strconv.Itoa(f.Width), strconv.Itoa(f.Height)
}

// WriterView is a writer as his pages show him.
type WriterView struct {
	Name     string // of the user
	Person   string // display name
	Title    string
	Blurb    []string
	Link     string
	Avatar   string // where a browser of this page may load it; "": nowhere
	Photo    string // where it is
	Path     string
	Language string
}

func (s *Renderer) NewWriterView(w author.Writer) WriterView {
	v := WriterView{Name: w.User, Person: cmp.Or(shell.CleanText(w.Profile.Name, 300), w.User), Title: cmp.Or(shell.CleanText(w.Title, 300), w.User), Path: "/" + w.User + "/", Language: shell.PlainLanguage(w.Language)}
	v.Blurb, _ = shell.Paragraphs(w.Blurb, 4000)
	if shell.IsWebURL(w.Link) {
		v.Link = w.Link
	}
	v.Photo = w.Avatar
	switch {
	case strings.HasPrefix(w.Avatar, "/") && !strings.HasPrefix(w.Avatar, "//"):
		v.Avatar = w.Avatar
	case !shell.IsSafeURL(w.Avatar):
		v.Photo = ""
	case s.ImageMode() == ImagesProxy:
		v.Avatar = s.ProxyURL(w.Avatar)
	case s.ImageMode() == ImagesDirect:
		v.Avatar = w.Avatar
	}
	return v
}
