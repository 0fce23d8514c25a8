package web

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
)

// Bounds of what a page with several posts shows of one.
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
	site  *site
	ctx   context.Context
	now   time.Time
	all   bool // they are of everyone
	alone bool
	room  int // for nodes
	known map[string]author.Writer
}

func (s *site) entryWriter(ctx context.Context, all, alone bool) *entryWriter {
	return &entryWriter{
		dressing: &dressing{clean: s.clean(), images: s.images(), proxy: s.proxied, size: s.sizes.of, own: true},
		site:     s, ctx: ctx, now: s.now(), all: all, alone: alone, known: map[string]author.Writer{},
	}
}

// entries are posts as a page shows them.
func (s *site) entries(ctx context.Context, posts []author.Post, all bool) ([]postEntry, error) {
	w := s.entryWriter(ctx, all, false)
	entries := make([]postEntry, len(posts))
	for i, p := range posts {
		var err error
		if entries[i], err = w.entry(p); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func (w *entryWriter) entry(p author.Post) (postEntry, error) {
	writer, ok := w.known[p.User]
	if !ok {
		var err error
		if writer, err = w.site.Posts.Writer(w.ctx, p.User); err != nil {
			return postEntry{}, err
		}
		w.known[p.User] = writer
	}
	e := postEntry{
		ID: "p" + strconv.FormatInt(p.ID, 10), Number: p.ID, Title: clean(p.Title, 300), Path: w.site.Posts.Path(p), Address: w.site.Posts.Address(p),
		At: dated(p.PublishedAt), Edited: moment{Zero: true}, Lang: plainLanguage(p.Language), Author: w.site.writerOf(writer), Alone: w.alone, Foreign: w.all,
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

// Links as the sanitizer writes them, none within another.
var (
	anchorTag     = regexp.MustCompile(`</?a(?: [^>]*)?>`)
	anchorElement = regexp.MustCompile(`(?s)<a(?: [^>]*)?>.*?</a>`)
)

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
	if !own || !found || w.site.FileOf == nil {
		return "", ""
	}
	f, err := w.site.FileOf(w.ctx, user, hash)
	if err != nil || f.Width <= 0 || f.Height <= 0 {
		return "", "" // it is shown without
	}
	return strconv.Itoa(f.Width), strconv.Itoa(f.Height)
}

// postPage is the page of one post.
//
// spec:cloudburst#author-pages
func (s *site) postPage(rw http.ResponseWriter, r *http.Request, user, slug string) {
	ctx := r.Context()
	p, err := s.Posts.BySlug(ctx, user, slug)
	switch {
	case fault.CodeOf(err) == fault.NotFound && err != nil:
		s.nothing(rw, r)
		return
	case err != nil:
		s.fail(rw, r, err)
		return
	case p.State == author.Deleted:
		s.problem(rw, r, http.StatusGone, "Taken back", "The post that stood here was taken back by its author.")
		return
	case p.State != author.Published:
		s.nothing(rw, r)
		return
	}
	if to := s.Posts.Path(p); r.URL.EscapedPath() != to { // by another date, or spelt otherwise
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		http.Redirect(rw, r, to, http.StatusMovedPermanently)
		return
	}
	w, err := s.Posts.Writer(ctx, user)
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	e, err := s.entryWriter(ctx, false, true).entry(p)
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	v := s.listView(r, w, postList{User: user, Path: e.Path})
	v.Posts, v.Type = []postEntry{e}, "article"
	words := firstLine(sanitize.Text(p.HTML), 200)
	v.About = words
	v.Title = cmp.Or(e.Title, firstLine(words, 60), e.At.Text) + " · " + v.Writer.Title
	for _, f := range e.Files {
		if f.Kind == "image" {
			v.Image = s.whole(v.Base, f.Href)
			break
		}
	}
	if err := s.neighbours(ctx, &v, p); err != nil {
		s.fail(rw, r, err)
		return
	}
	stamp, err := s.Posts.Stamp(ctx, user, "")
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	s.sendWritten(rw, r, "post", &v, time.UnixMicro(stamp))
}

// firstLine is the beginning of a text, in whole words.
func firstLine(s string, limit int) string {
	s = strings.Join(strings.Fields(clean(s, 4*limit)), " ")
	if len([]rune(s)) <= limit {
		return s
	}
	s = string([]rune(s)[:limit])
	if i := strings.LastIndexByte(s, ' '); i > len(s)/2 {
		s = s[:i]
	}
	return s + "…"
}

// neighbours finds the posts that were published before and after one.
func (s *site) neighbours(ctx context.Context, v *postsView, p author.Post) error {
	words := func(o author.Post) string {
		return cmp.Or(clean(o.Title, 80), firstLine(sanitize.Text(o.HTML), 40), dated(o.PublishedAt).Text)
	}
	next, err := s.Posts.List(ctx, author.PostQuery{User: p.User, State: author.Published, FromSeq: p.Seq + 1, Limit: 1})
	if err != nil {
		return err
	}
	if len(next) > 0 {
		v.Newer, v.NewerWords = s.Posts.Path(next[0]), words(next[0])
	}
	// Places of posts that were taken back are empty: look a little further each time.
	for n, to := int64(10), p.Seq-1; to > 0 && n <= 1000; n, to = n*10, to-n {
		before, err := s.Posts.List(ctx, author.PostQuery{User: p.User, State: author.Published, FromSeq: max(to-n+1, 1), ToSeq: to, Limit: int(n)})
		if err != nil {
			return err
		}
		if len(before) > 0 {
			last := before[len(before)-1]
			v.Older, v.OlderWords = s.Posts.Path(last), words(last)
			return nil
		}
	}
	return nil
}
