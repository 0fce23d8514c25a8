package shell

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/origin"
	documents "cloudburst/internal/serve"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/wirehttp"
)

//go:embed templates
var templateFiles embed.FS

// pages are the templates of a language, one set for each page, by name. A set is parsed on first
// use: all sets together take 12 MB, and most servers show only a few pages.
type pages map[string]func() *template.Template

// parsePages prepares the embedded templates of each language, by its code, once for the process. A
// template that does not parse is a bug; a test parses all of them.
var parsePages = sync.OnceValue(func() map[string]pages {
	all := map[string]pages{}
	for _, l := range locale.All() {
		all[l.Code] = newPages(l)
	}
	return all
})

// parseInto adds the embedded templates with these names to t, translated.
func parseInto(t *template.Template, l *locale.Locale, names ...string) *template.Template {
	for _, name := range names {
		source, _ := templateFiles.ReadFile("templates/" + name + ".html") // cannot fail: the file is embedded
		template.Must(t.New(name + ".html").Parse(l.Translate(name+".html", string(source))))
	}
	return t
}

// untranslated are the pages of the documentation. Their texts are English in every language, and
// the pages declare English as their language.
var untranslated = []string{"docs", "guide"}

func newPages(l *locale.Locale) pages {
	funcs := template.FuncMap{
		"asset":  loadAssets().url,
		"lang":   func() string { return l.Code },
		"script": func() template.HTML { return scriptWords(l) },
		"say":    l.Show,
		"reason": l.Reason,
		"fault":  l.Fault,
		"moment": func(m Moment) string { return m.in(l) },
		"when":   func(m Moment) template.HTML { return m.HTML(l) },
		"exact":  func(m Moment) string { return m.exactIn(l) },
		"count": func(n any) string {
			switch n := n.(type) {
			case int:
				return l.Count(int64(n))
			case int64:
				return l.Count(n)
			}
			return ""
		},
		"paper": func() [2]string {
			return [2]string{loadAssets().light.color["paper"], loadAssets().dark.color["paper"]}
		},
		"short":   ShortURL,
		"lasting": l.Duration,
		"host":    HostOf,
		"clean":   CleanText,
		"once":    func(id, label, text string) CopyText { return CopyText{id, label, text} },
	}
	common := sync.OnceValue(func() *template.Template {
		return parseInto(template.New("base").Funcs(funcs), l,
			"base", "icons", "row", "form", "figure", "change", "message", "sourceparts", "riverparts", "outliner", "postparts", "threadparts", "authorparts", "audience")
	})
	base := func() *template.Template { return template.Must(common().Clone()) }
	all := pages{}
	for _, name := range []string{"front", "hub", "outcome", "log", "changes", "pingsite", "topics", "topic", "status", "docs", "guide", "problem",
		"setup", "login", "signup", "account", "tokens", "move", "moved", "token", "feeds", "private", "secret", "readers", "confirm", "authorize", "author", "posts", "post", "postindex", "authorpage", "authorsearch", "authorformats", "sitedesign", "sitepages", "sitepage", "sitedomain", "river", "riveritem", "riverdisplay", "welcome", "rivers",
		"sources", "sourceadd", "sourcechoice", "source", "sourceimport", "imported", "sourcestart", "categories", "readinglists", "notices", "noticelink", "filters", "filter", "write", "writeposts", "writeversions", "writesettings", "writereplies", "people", "peoplefollow", "profile", "testfeed", "offline"} {
		all[name] = sync.OnceValue(func() *template.Template {
			if slices.Contains(untranslated, name) {
				return parseInto(base(), locale.English(), "docsnav", name)
			}
			return parseInto(base(), l, name)
		})
	}
	for _, name := range adminPages() {
		all[name] = sync.OnceValue(func() *template.Template {
			return parseInto(base(), l, "adminparts", name)
		})
	}
	return all
}

// View is the data of every page; a page embeds it in its own data.
type View struct {
	Title    string
	Heading  string
	Front    bool   // this is the front page
	SignIn   bool   // this is a page to sign in
	Docs     bool   // this is a page of the documentation
	OwnKeys  bool   // the page loads the keyboard shortcuts itself, as a river does
	Script   string // name of the script of this page; "": none
	Sections []section
	Theme    string // path of the style sheet with the user's colours; "": the default colours
	Wide     bool   // the page has tables and charts, and is 64 rem wide
	Bare     bool   // the page belongs to an author: it has no bar of the server
	Version  string
	Feed     string // URL of the feed that this page is about; "": none
	Now      time.Time
	Lang     *locale.Locale // language of the page; nil: English
	Accounts bool           // sign-in is possible
	Hosted   bool           // the server hosts feeds
	Readers  bool           // readers of hosted feeds are counted
	Writes   bool           // users can write posts
	People   bool           // the authors are listed at /people
	User     string         // name of the signed-in user; "": signed out
	// Administrator means that the signed-in user is an administrator, for the entry of the menu.
	Administrator bool
	Rels          [][2]string
}

// HasKeys reports whether the layout loads the keyboard shortcuts: on the pages of the sections, and
// on the documentation.
func (v View) HasKeys() bool { return !v.OwnKeys && (v.Docs || v.currentSection().Path != "") }

// Locale returns the language of the page.
func (v View) Locale() *locale.Locale { return v.Lang }

// Say returns a text in the language of the page; see [locale.Locale.Say].
func (v View) Say(key string, args ...any) string { return v.Lang.Say(key, args...) }

// When returns t for a time element.
func (v View) When(t time.Time) Moment { return NewMoment(v.Now, t) }

// NewView returns the data of a page with a title. The path of the request decides its section.
func (s *Shell) NewView(r *http.Request, title string) View {
	visitor, l := s.Visitor(r), s.Locale(r)
	title = l.Words(title)
	if _, own := origin.SiteOf(r.Context()); own { // sessions do not apply at the domain of an author
		return View{Lang: l, Title: title, Heading: title, Bare: true, Now: s.CurrentTime(), Accounts: s.Sessions != nil, Hosted: s.Hosts, People: s.People, Rels: s.Rels}
	}
	return View{Lang: l, Title: title, Heading: title, Sections: s.sections(r.URL.Path, visitor.Administrator), Theme: s.themeSheet(r), Version: s.Version, Now: s.CurrentTime(),
		Accounts: s.Sessions != nil, Hosted: s.Hosts, Readers: s.CountsReaders, Writes: s.Writes, People: s.People, User: visitor.User, Administrator: visitor.Administrator, Rels: s.Rels}
}

// Render writes the whole page, or an error page. It always returns nil.
func (s *Shell) Render(rw http.ResponseWriter, r *http.Request, status int, name string, data any) error {
	if body, ok := s.Execute(rw, name, data); ok {
		s.Send(rw, r, status, body)
	}
	return nil
}

// Execute renders a page. If that fails, it has sent an error page and ok is false.
func (s *Shell) Execute(rw http.ResponseWriter, name string, data any) (page []byte, ok bool) {
	var body bytes.Buffer
	if err := s.ExecutePart(&body, name, "page", data); err != nil {
		s.Logger().Error("render a page", "page", name, "err", err)
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		rw.WriteHeader(http.StatusInternalServerError)
		_, _ = rw.Write([]byte(fault.Neutral + "\n"))
		return nil, false
	}
	return body.Bytes(), true
}

// Send writes a rendered page.
func (s *Shell) Send(rw http.ResponseWriter, r *http.Request, status int, out []byte) {
	if at, ok := origin.SiteOf(r.Context()); ok {
		out = at.Rewrite(out)
	}
	s.SetPageHeaders(rw, r)
	if len(out) >= documents.MinGzipSize && acceptsGzip(r) {
		out = s.pack(out)
		rw.Header().Set("Content-Encoding", "gzip")
	}
	rw.Header().Set("Content-Length", strconv.Itoa(len(out)))
	rw.WriteHeader(status)
	_, _ = rw.Write(out)
}

// problemView is the error page.
type problemView struct {
	View
	Text string
}

// Problem sends an error page. It always returns nil.
func (s *Shell) Problem(rw http.ResponseWriter, r *http.Request, status int, heading, text string) error {
	v := s.NewView(r, heading)
	return s.Render(rw, r, status, "problem", problemView{View: v, Text: v.Say(text)})
}

// Fail sends the error page for err. All pages use it.
func (s *Shell) Fail(rw http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return // the client has disconnected
	}
	_, heading := StatusOf(err)
	_ = s.Problem(rw, r, s.Refused(rw, r, err), heading, s.Locale(r).Fault(Sentence(fault.Message(err))))
}

// Refused returns the status of a page that shows err next to its form. It logs err like
// [Shell.LogFailure] and sets Retry-After.
func (s *Shell) Refused(rw http.ResponseWriter, r *http.Request, err error) int {
	status, _ := StatusOf(err)
	s.LogFailure(r, err, status)
	SetRetryAfter(rw, err)
	return status
}

// LogFailure logs an error with a status of at least 500. The client sees other errors on the page.
func (s *Shell) LogFailure(r *http.Request, err error, status int) {
	if status >= 500 {
		s.Logger().Error("cannot show the page", "path", r.URL.Path, "err", err)
	}
}

func SetRetryAfter(rw http.ResponseWriter, err error) {
	wirehttp.SetRetryAfter(rw.Header(), fault.RetryAfter(err))
}

func StatusOf(err error) (status int, heading string) {
	switch fault.CodeOf(err) {
	case fault.Invalid:
		return http.StatusBadRequest, "Bad request"
	case fault.NotFound:
		return http.StatusNotFound, "Page not found"
	case fault.Refused:
		return http.StatusForbidden, "Not allowed"
	case fault.Conflict:
		return http.StatusConflict, "Conflict"
	case fault.TooMany:
		return http.StatusTooManyRequests, "Too many requests"
	case fault.Unreadable:
		return http.StatusUnprocessableEntity, "The address could not be read"
	case fault.Gone:
		return http.StatusGone, "Gone"
	case fault.Unavailable:
		return http.StatusServiceUnavailable, "Not available at the moment"
	case fault.Unsupported:
		return http.StatusNotImplemented, "Not supported by this server"
	}
	return http.StatusInternalServerError, "Something went wrong here"
}

// Sentence adds a capital letter and a full stop to a message.
func Sentence(s string) string {
	s = CleanText(strings.TrimSpace(s), 600)
	if s == "" {
		return ""
	}
	word, _, _ := strings.Cut(s, " ")
	if c := s[0]; c >= 'a' && c <= 'z' && !strings.ContainsAny(strings.TrimRight(word, ".:,"), ".:/-") { // keep the case of a name or URL
		s = string(c-'a'+'A') + s[1:]
	}
	if !strings.ContainsAny(s[len(s)-1:], ".!?") && !strings.HasSuffix(s, "…") {
		s += "."
	}
	return s
}

// NotFound sends the 404 page. It always returns nil.
func (s *Shell) NotFound(rw http.ResponseWriter, r *http.Request) error {
	return s.Problem(rw, r, http.StatusNotFound, "Page not found", "Check the address, or the page may be gone.")
}

// MethodNotAllowed sends the 405 page.
func (s *Shell) MethodNotAllowed(rw http.ResponseWriter, r *http.Request, allow, hint string) {
	rw.Header().Set("Allow", allow)
	_ = s.Problem(rw, r, http.StatusMethodNotAllowed, "Method not allowed", hint)
}
