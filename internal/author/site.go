package author

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/internal/author/markup"
	"cloudburst/internal/author/rules"
	"cloudburst/internal/fault"
	"cloudburst/internal/stylesheet"
)

// Limits of an author's page.
const (
	MaxPages      = 50
	MaxPageSource = 256 << 10 // maximum bytes of the Markdown of a page
	maxLinks      = 20
	maxLinkTitle  = 60 // maximum characters of a link's title
)

// PageScope is the selector of the element that an author's style sheet applies to.
const PageScope = ".author"

// Design is a theme of an author's page. The zero value is the default theme.
type Design string

// Designs lists the themes of authors' pages. The default theme is first.
func Designs() []Design { return []Design{"", "journal", "plain", "gazette", "terminal", "garden"} }

// Link is a link on an author's page to another website of the author.
type Link struct {
	Title string `json:"title,omitempty"` // "": the page shows the host of the URL
	URL   string `json:"url"`
}

// PageSettings are the settings of an author's page. The profile contains their JSON form.
type PageSettings struct {
	Design Design `json:"design,omitempty"`
	Style  string `json:"style,omitempty"`  // hash of the style sheet; "": no style sheet
	Header string `json:"header,omitempty"` // path of an uploaded image, or URL
	Links  []Link `json:"links,omitempty"`
	Pinned int64  `json:"pinned,omitempty"` // ID of the post at the top of the page; 0: no post is pinned
	Draft  *Look  `json:"draft,omitempty"`  // look that the author previews but did not publish; nil: no draft
}

// Look is the visual design of an author's page.
type Look struct {
	Design Design `json:"design,omitempty"`
	Accent string `json:"accent,omitempty"`
	Theme  string `json:"theme,omitempty"`
	Style  string `json:"style,omitempty"`
}

// Look returns the published look of the page of a profile.
func (p *Profile) Look() Look { return Look{p.Page.Design, p.Accent, p.Theme, p.Page.Style} }

// setLook sets the published look of the page.
func (p *Profile) setLook(l Look) {
	p.Page.Design, p.Accent, p.Theme, p.Page.Style = l.Design, l.Accent, l.Theme, l.Style
}

// Page is a page of an author that is not a post, such as "About".
type Page struct {
	User      string
	Slug      string // last segment of the page's path, /<user>/<slug>
	Title     string
	Source    string // text of the page in Markdown
	HTML      string // HTML that is generated from Source
	Place     int64  // position in the navigation, ascending
	InMenu    bool   // the navigation contains the page
	UpdatedAt time.Time
}

// Style is a style sheet of an author.
type Style struct {
	User   string
	Hash   string // hash of Source; part of the URL of the style sheet
	Source string // style sheet as the author wrote it
	CSS    string // style sheet that applies only to the content of the author's page
}

// SiteStore is the database interface of [Site]. The rules of [Store] apply.
type SiteStore interface {
	// AuthorPages lists the pages of a user by Place, without Source.
	AuthorPages(ctx context.Context, user string) ([]Page, error)
	// AuthorPage returns a page. fault.NotFound: the page does not exist.
	AuthorPage(ctx context.Context, user, slug string) (Page, error)
	// PutAuthorPage stores a page. If was is "", the page is new; otherwise it replaces the page
	// whose slug is was. fault.Conflict: another page has the slug; fault.NotFound: the page to
	// replace does not exist; fault.TooMany: the user already has limit pages.
	PutAuthorPage(ctx context.Context, p Page, was string, limit int) error
	// DeleteAuthorPage deletes a page. fault.NotFound: the page does not exist.
	DeleteAuthorPage(ctx context.Context, user, slug string) error
	// AuthorStyle returns a style sheet. fault.NotFound: the style sheet does not exist.
	AuthorStyle(ctx context.Context, user, hash string) (Style, error)
	// PutAuthorStyle stores a style sheet.
	PutAuthorStyle(ctx context.Context, s Style) error
	// KeepAuthorStyles deletes the style sheets of a user whose hashes are not in hashes.
	KeepAuthorStyles(ctx context.Context, user string, hashes []string) error
	// IndexPosts updates the search index for up to limit posts that have changed. It returns the
	// number of updated posts.
	IndexPosts(ctx context.Context, limit int) (int, error)
	// SearchPosts returns up to limit published posts of a user, newest first, that contain all of
	// the first eight words of a text. It reads a limited number of rows.
	SearchPosts(ctx context.Context, user, text string, limit int) ([]Post, error)
}

// Site manages the parts of an author's page other than posts: further pages, a theme with a
// style sheet, and the search. Store, Posts and Now are required. Do not copy it.
type Site struct {
	Store SiteStore
	Posts *Posts
	Now   func() time.Time
	// Changed is called after each change that visitors can see; nil: not called.
	Changed func()

	index indexing
}

func (s *Site) changed() {
	if s.Changed != nil {
		s.Changed()
	}
}

// Pages lists the pages of a user in the order of the navigation, without Source and HTML.
func (s *Site) Pages(ctx context.Context, user string) ([]Page, error) {
	return s.Store.AuthorPages(ctx, user)
}

// Page returns a page with its HTML. fault.NotFound: the page does not exist.
func (s *Site) Page(ctx context.Context, user, slug string) (Page, error) {
	p, err := s.Store.AuthorPage(ctx, user, slug)
	if err == nil {
		p.HTML, err = markup.Render(p.Source, Markdown)
	}
	return p, err
}

// PreviewPage checks a page and returns it with its HTML. fault.Invalid: the page is invalid.
func (s *Site) PreviewPage(p Page) (Page, error) {
	err := checkPage(&p)
	if err == nil {
		p.HTML, err = markup.Render(p.Source, Markdown)
	}
	return p, err
}

// SavePage stores a page. If was is "", the page is new; otherwise it replaces the page whose slug
// is was. The faults are those of SiteStore.PutAuthorPage and fault.Invalid.
func (s *Site) SavePage(ctx context.Context, p Page, was string) (Page, error) {
	if err := s.Posts.checkEdit(ctx, Edit{User: p.User}); err != nil {
		return p, err
	}
	p, err := s.PreviewPage(p)
	if err != nil {
		return p, err
	}
	p.UpdatedAt = s.Now().UTC()
	err = s.Store.PutAuthorPage(ctx, p, was, MaxPages)
	if fault.CodeOf(err) == fault.Conflict {
		err = fault.In(err, "slug")
	}
	s.changed()
	return p, err
}

// DeletePage deletes a page. fault.NotFound: the page does not exist.
func (s *Site) DeletePage(ctx context.Context, user, slug string) error {
	err := s.Store.DeleteAuthorPage(ctx, user, slug)
	s.changed()
	return err
}

var pageSlug = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$`)

// takenSlugs are the first segments of paths below /<user>/ that are not pages of the author.
var takenSlugs = []string{"archive", "category", "feed", "formats", "media", "opml", "private", "new", "search", "stats", "followers", "following", "inbox", "outbox", "groups", "page", "rss", "style"}

// IsPageSlug reports whether a page can have this slug.
func IsPageSlug(slug string) bool {
	return pageSlug.MatchString(slug) && !slices.Contains(takenSlugs, slug) && (len(slug) != 4 || strings.Trim(slug, "0123456789") != "")
}

func checkPage(p *Page) error {
	p.Title = strings.Join(strings.Fields(markup.CleanText(p.Title)), " ")
	p.Source = strings.TrimSpace(markup.CleanText(strings.ReplaceAll(p.Source, "\r\n", "\n")))
	p.Slug = strings.ToLower(strings.TrimSpace(p.Slug))
	if p.Slug == "" {
		p.Slug = rules.PageAddress(p.Title)
	}
	switch {
	case p.Title == "":
		return fault.In(fault.New(fault.Invalid, "The page has no title."), "title")
	case utf8.RuneCountInString(p.Title) > MaxTitle:
		return fault.In(fault.New(fault.Invalid, "The title has more than %d characters.", MaxTitle), "title")
	case !pageSlug.MatchString(p.Slug):
		return fault.In(fault.New(fault.Invalid, "%q cannot be the address of a page: use up to 60 lowercase letters, digits and hyphens.", clip(p.Slug)), "slug")
	case !IsPageSlug(p.Slug):
		return fault.In(fault.New(fault.Invalid, "%q is the address of another page of this server; choose a different one.", p.Slug), "slug")
	case len(p.Source) > MaxPageSource:
		return fault.In(fault.New(fault.Invalid, "The text has %d bytes; at most %d are accepted.", len(p.Source), MaxPageSource), "source")
	}
	return nil
}

// Style returns a style sheet by its hash. fault.NotFound: the style sheet does not exist.
func (s *Site) Style(ctx context.Context, user, hash string) (Style, error) {
	return s.Store.AuthorStyle(ctx, user, hash)
}

// StyleSource returns the style sheet of a look as its author wrote it; "": the look has no
// style sheet.
func (s *Site) StyleSource(ctx context.Context, user string, l Look) (string, error) {
	if l.Style == "" {
		return "", nil
	}
	style, err := s.Store.AuthorStyle(ctx, user, l.Style)
	if fault.CodeOf(err) == fault.NotFound {
		return "", nil
	}
	return style.Source, err
}

// SetLook sets the look of a user's page to l and the style sheet to source; it ignores l.Style. If
// draft is set, SetLook stores the look and the style sheet as a draft for the preview. The
// fault.Invalid names the invalid field: design, accent, theme or css.
func (s *Site) SetLook(ctx context.Context, user string, l Look, source string, draft bool, via string) (Writer, error) {
	source = strings.TrimSpace(strings.ReplaceAll(source, "\r\n", "\n"))
	l.Style = ""
	if source != "" {
		style, err := s.confine(user, source)
		if err != nil {
			return Writer{}, fault.In(err, "css")
		}
		if err := s.Store.PutAuthorStyle(ctx, style); err != nil { // the style sheet must exist before the profile refers to it
			return Writer{}, err
		}
		l.Style = style.Hash
	}
	w, err := s.Posts.SetProfile(ctx, user, func(p *Profile) error {
		if draft {
			with := *p
			with.setLook(l)
			p.Page.Draft = &l
			return checkProfile(&with)
		}
		p.setLook(l)
		p.Page.Draft = nil
		return nil
	}, via)
	if err != nil {
		return w, err
	}
	s.changed()
	used := []string{w.Page.Style}
	if w.Page.Draft != nil {
		used = append(used, w.Page.Draft.Style)
	}
	return w, s.Store.KeepAuthorStyles(ctx, user, used)
}

// confine checks a style sheet and restricts its rules to the content of the user's page.
func (s *Site) confine(user, source string) (Style, error) {
	css, err := stylesheet.Confine(source, stylesheet.Options{Scope: PageScope, Media: "/" + user + "/media/"})
	sum := sha256.Sum256([]byte(css))
	return Style{User: user, Hash: hex.EncodeToString(sum[:8]), Source: source, CSS: css}, err
}

// Pin sets the post at the top of the user's page; ID 0: no post. fault.Invalid: the post is not
// published.
func (s *Site) Pin(ctx context.Context, user string, id int64, via string) error {
	if id != 0 {
		p, err := s.Posts.Get(ctx, user, id)
		if err != nil {
			return err
		}
		if p.State != Published {
			return fault.New(fault.Invalid, "Only a published post can be pinned.")
		}
	}
	_, err := s.Posts.SetProfile(ctx, user, func(p *Profile) error { p.Page.Pinned = id; return nil }, via)
	s.changed()
	return err
}

func checkPageSettings(s *PageSettings) (err error) {
	if !slices.Contains(Designs(), s.Design) {
		return fault.In(fault.New(fault.Invalid, "%q is not a theme of pages; use journal, plain, gazette, terminal, garden, or nothing for the default.", clip(string(s.Design))), "design")
	}
	if len(s.Links) > maxLinks {
		return fault.In(fault.New(fault.Invalid, "There are %d links; at most %d are accepted.", len(s.Links), maxLinks), "links")
	}
	for i := range s.Links {
		l := &s.Links[i]
		l.Title = strings.Join(strings.Fields(markup.CleanText(l.Title)), " ")
		if utf8.RuneCountInString(l.Title) > maxLinkTitle {
			return fault.In(fault.New(fault.Invalid, "The title %q has more than %d characters.", clip(l.Title), maxLinkTitle), "links")
		}
		if l.URL, err = CheckURL("link", l.URL, false); err != nil {
			return fault.In(err, "links")
		}
		if l.URL == "" {
			return fault.In(fault.New(fault.Invalid, "The link %q has no address.", clip(l.Title)), "links")
		}
	}
	if s.Pinned < 0 {
		return fault.In(fault.New(fault.Invalid, "%d is not the number of a post.", s.Pinned), "pinned")
	}
	s.Header, err = checkFileURL("header image", s.Header)
	return fault.In(err, "header")
}

func notifyChanged(ctx context.Context, changed func(context.Context)) {
	if changed != nil {
		changed(ctx)
	}
}

// With returns a copy of the settings with the values of in, except the style sheet and the draft.
// in is a pointer to a type with the same JSON form; a nil pointer changes nothing.
func (s PageSettings) With(in any) PageSettings {
	b, err := json.Marshal(in)
	if err != nil || string(b) == "null" {
		return s
	}
	next := PageSettings{}
	CopySettings(in, &next)
	next.Style, next.Draft = s.Style, s.Draft
	return next
}

// CopySettings copies settings between two types that have the same JSON form. to is a pointer to
// the copy.
func CopySettings(from, to any) {
	b, err := json.Marshal(from)
	if err == nil {
		_ = json.Unmarshal(b, to) // cannot fail, because both types have the same JSON form
	}
}
