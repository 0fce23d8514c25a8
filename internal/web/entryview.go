package web

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
)

// file is an enclosure.
type file struct {
	Name, Href, Type, Size string
	Player                 string // "audio" or "video" when it is of this server
}

const (
	wholePost  = 24 << 10 // bytes of HTML; of a longer one, the beginning
	nodesShown = 300      // posts within a post
	nodesOpen  = 60       // of them, before the others are folded
	nodesOfOne = 20_000   // on the post's own page
)

// postEntry is a post as pages show it.
type postEntry struct {
	ID      string // of its element
	Number  int64
	Title   string
	Path    string // of its page
	Address string // the same, whole
	At      moment
	Edited  moment
	HTML    template.HTML // made safe
	Cut     bool          // there is more on its page
	Lang    string
	Nodes   []nodeEntry
	Link    string // page that it is about
	Reply   *replyEntry
	Tags    []tagView
	Files   []postFile
	Author  writerView
	Alone   bool // on its own page
	Foreign bool // among posts of others
}

// nodeEntry is one of the posts within a post.
type nodeEntry struct {
	Title  string
	HTML   template.HTML
	Inline bool          // HTML is one paragraph, without its element
	Head   template.HTML // HTML without its links, where what is below it folds: nothing else can be pressed there
	Links  template.HTML // those links
	Link   string
	Files  []postFile
	Tags   []tagView
	Folded bool
	Nodes  []nodeEntry
}

type replyEntry struct{ Href, Words string }

// tagView is a category with its page.
type tagView struct {
	Label, Href string
	Posts       int64
}

// postFile is an enclosure.
type postFile struct {
	file
	Kind    string // "image", "audio", "video" or ""
	Picture template.HTML
	Note    string // type and size
}

// entryWriter makes entries of posts.
type entryWriter struct {
	*dressing
	pages *Renderer
	ctx   context.Context
	now   time.Time
	all   bool // they are of everyone
	alone bool
	room  int // for nodes
	known map[string]author.Writer
}

func (s *Renderer) entryWriter(ctx context.Context, all, alone bool) *entryWriter {
	return &entryWriter{
		dressing: s.dressing(true),
		pages:    s, ctx: ctx, now: s.now(), all: all, alone: alone, known: map[string]author.Writer{},
	}
}

func (w *entryWriter) entry(p author.Post) (postEntry, error) {
	writer, ok := w.known[p.User]
	if !ok {
		var err error
		if writer, err = w.pages.Posts.Writer(w.ctx, p.User); err != nil {
			return postEntry{}, err
		}
		w.known[p.User] = writer
	}
	e := postEntry{
		ID: "p" + strconv.FormatInt(p.ID, 10), Number: p.ID, Title: clean(p.Title, 300), Path: w.pages.Posts.Path(p), Address: w.pages.Posts.Address(p),
		At: dated(p.PublishedAt), Edited: moment{Zero: true}, Lang: plainLanguage(p.Language), Author: w.pages.writerOf(writer), Alone: w.alone, Foreign: w.all,
	}
	if w.all {
		e.ID = p.User + "-" + e.ID
	}
	begun := p.PublishedAt // one that was given an older date is not edited for that
	if p.CreatedAt.After(begun) {
		begun = p.CreatedAt
	}
	if p.UpdatedAt.Sub(begun) >= time.Minute {
		e.Edited = dated(p.UpdatedAt)
	}
	b := w.dress(p.HTML, w.alone || len(p.HTML) <= wholePost)
	e.HTML, e.Cut = b.HTML, b.Cut
	w.room = nodesShown
	if w.alone {
		w.room = nodesOfOne
	}
	e.Nodes = w.nodes(p.User, p.Outline)
	e.Cut = e.Cut || w.room < 0
	if webAddress(p.Link) {
		e.Link = p.Link
	}
	if r := p.Reply; r != nil && webAddress(r.URL) {
		e.Reply = &replyEntry{r.URL, cmp.Or(clean(r.Title, 200), short(r.URL))}
	}
	e.Tags = w.tags(p.User, p.Categories)
	e.Files = w.files(p.User, p.Enclosures)
	return e, nil
}

// dated is a moment whose words do not change as time goes by, so that the page does not.
func dated(t time.Time) moment {
	m := when(t, t)
	m.Text = t.UTC().Format("2 January 2006, 15:04")
	return m
}

func (w *entryWriter) tags(user string, labels []string) (all []tagView) {
	for _, l := range labels {
		if name := author.CategoryName(l); name != "" {
			all = append(all, tagView{Label: clean(l, 100), Href: author.View{User: user, Category: name}.Base()})
		}
	}
	return all
}

// nodes are the posts within a post; room below nothing says that there are more.
func (w *entryWriter) nodes(user string, list []author.Node) (all []nodeEntry) {
	for _, n := range list {
		if w.room--; w.room < 0 {
			return all
		}
		e := nodeEntry{Title: clean(n.Title, 300), Folded: n.Folded, Tags: w.tags(user, n.Categories), Files: w.files(user, n.Enclosures)}
		text := strings.TrimSpace(n.HTML)
		if inner, ok := strings.CutPrefix(text, "<p>"); ok && strings.Count(text, "<p>") == 1 && strings.HasSuffix(inner, "</p>") {
			text, e.Inline = strings.TrimSuffix(inner, "</p>"), true
		}
		e.HTML = w.dress(text, true).HTML
		e.Inline = e.Inline || inline(string(e.HTML))
		e.Folded = e.Folded || !w.alone && w.room < nodesShown-nodesOpen // a long one is for its own page
		if webAddress(n.Link) {
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
func (w *entryWriter) files(user string, list []author.Enclosure) (all []postFile) {
	for _, e := range list {
		own := strings.HasPrefix(e.URL, "/") && !strings.HasPrefix(e.URL, "//")
		if !own && !address(e.URL) {
			continue
		}
		f := postFile{file: file{Name: clean(e.Title, 200), Href: e.URL, Type: clean(e.Type, 80)}}
		f.Kind, _, _ = strings.Cut(f.Type, "/")
		f.Name = cmp.Or(f.Name, clean(lastPart(path.Base(e.URL)), 100), short(e.URL))
		if e.Length > 0 {
			f.Size = bytesWords(e.Length)
		}
		f.Note = strings.Trim(f.Type+", "+f.Size, ", ")
		switch f.Kind {
		case "image":
			width, height := w.size(user, e.URL, own)
			f.Picture = template.HTML(w.picture(e.URL, cmp.Or(e.Alt, e.Title), width, height, true))
			if !strings.HasPrefix(string(f.Picture), "<img") {
				f.Picture = ""
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
func (w *entryWriter) size(user, address string, own bool) (width, height string) {
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

// writerView is a writer as his pages show him.
type writerView struct {
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

func (s *Renderer) writerOf(w author.Writer) writerView {
	v := writerView{Name: w.User, Person: cmp.Or(clean(w.Profile.Name, 300), w.User), Title: cmp.Or(clean(w.Title, 300), w.User), Path: "/" + w.User + "/", Language: plainLanguage(w.Language)}
	v.Blurb, _ = paragraphs(w.Blurb, 4000)
	if webAddress(w.Link) {
		v.Link = w.Link
	}
	v.Photo = w.Avatar
	switch {
	case strings.HasPrefix(w.Avatar, "/") && !strings.HasPrefix(w.Avatar, "//"):
		v.Avatar = w.Avatar
	case !address(w.Avatar):
		v.Photo = ""
	case s.images() == ImagesProxy:
		v.Avatar = s.proxied(w.Avatar)
	case s.images() == ImagesDirect:
		v.Avatar = w.Avatar
	}
	return v
}
