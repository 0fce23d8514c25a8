package docsui

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	marktext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"cloudburst/docs"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/web/shell"
)

// guideShelf is a group of guides with a heading.
type guideShelf struct {
	Title  string
	Guides []guide
}

// guide is a page of the folder docs, served at /docs/<Name>.
type guide struct {
	Name  string // path in the folder docs without extension
	Title string // its heading as plain text
	Body  template.HTML
}

// shelves lists all guides in the order in which users need them.
func shelves() []struct {
	title string
	names []string
} {
	return []struct {
		title string
		names []string
	}{
		{"Get started", []string{"get-started/reader", "get-started/writer", "get-started/operator", "get-started/developer"}},
		{"Read", []string{"guides/river", "guides/apps", "guides/notices"}},
		{"Write", []string{"guides/writing", "guides/replies", "guides/threads", "guides/hosting", "guides/moving", "guides/pinging-out"}},
		{"Run a hub", []string{"guides/hub", "guides/operations"}},
		{"Reference", []string{"reference/settings", "reference/protocol", "reference/authoring-apis", "reference/formats", "reference/feed-data", "reference/json", "reference/river-json", "reference/doctor", "reference/routes", "reference/signals"}},
		{"Internals", []string{"compare", "internals/reliability", "internals/performance", "internals/scale", "internals/simulation", "internals/activitypub"}},
	}
}

// loadGuides reads all guides. They are embedded, so an error is a bug of the build.
func loadGuides() ([]guideShelf, error) {
	var all []guideShelf
	for _, s := range shelves() {
		next := guideShelf{Title: s.title}
		for _, name := range s.names {
			g, err := loadGuide(name)
			if err != nil {
				return nil, err
			}
			next.Guides = append(next.Guides, g)
		}
		all = append(all, next)
	}
	return all, nil
}

func loadGuide(name string) (guide, error) {
	source, err := fs.ReadFile(docs.Files, name+".md")
	if err != nil {
		return guide{}, fmt.Errorf("web: read a guide: %w", err)
	}
	m := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(
		parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(guideLinks{folder: path.Dir(name)}, 100))))
	tree := m.Parser().Parse(marktext.NewReader(source))
	g := guide{Name: name, Title: guideTitle(source)}
	var body bytes.Buffer
	if err := m.Renderer().Render(&body, source, tree); err != nil {
		return guide{}, fmt.Errorf("web: write the guide %s: %w", name, err)
	}
	html := tables(strings.ReplaceAll(body.String(), "<pre>", `<pre tabindex="0">`)) // wide code and tables scroll, also with the keyboard
	g.Body = template.HTML(html)                                                     //nolint:gosec // our own text, without markup of its own
	return g, nil
}

// Headings, tables and column heads of a guide in the output of goldmark.
var (
	headingOrTable = regexp.MustCompile(`<h[1-6][^>]*>.*?</h[1-6]>|<table>`)
	emptyHead      = regexp.MustCompile(`<th(?: [^>]*)?></th>`)
	columnHead     = regexp.MustCompile(`<th( [^>]*)?>`)
)

// tables wraps each table of a guide in a region named after the heading above it.
func tables(html string) string {
	heading, seen := "", map[string]int{}
	html = headingOrTable.ReplaceAllStringFunc(html, func(found string) string {
		if found != "<table>" {
			heading = strings.TrimSpace(sanitize.Text(found))
			return found
		}
		name := "Table: " + heading
		if seen[name]++; seen[name] > 1 {
			name += ", " + shell.FormatCount(seen[name])
		}
		return `<div class="scroll" role="region" aria-label="` + template.HTMLEscapeString(name) + `" tabindex="0"><table>`
	})
	html = emptyHead.ReplaceAllString(strings.ReplaceAll(html, "</table>", "</table></div>"), "<td></td>")
	return columnHead.ReplaceAllString(html, `<th scope="col"$1>`)
}

// guideTitle is the first heading of a guide.
func guideTitle(source []byte) string {
	line, _, _ := strings.Cut(string(source), "\n")
	title, _ := strings.CutPrefix(line, "# ")
	return strings.ReplaceAll(title, "`", "")
}

// guideLinks rewrites links between files to page URLs, and uses the heading as text where the text
// is a file name.
type guideLinks struct{ folder string }

// Transform implements parser.ASTTransformer.
func (g guideLinks) Transform(doc *ast.Document, r marktext.Reader, _ parser.Context) {
	var links []*ast.Link
	// The walker never fails.
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			links = append(links, link)
		}
		return ast.WalkContinue, nil
	})
	for _, link := range links {
		to := string(link.Destination)
		link.Destination = []byte(g.link(to))
		if words, ok := link.FirstChild().(*ast.Text); ok && isFile(string(words.Segment.Value(r.Source())), to) {
			if other, err := fs.ReadFile(docs.Files, path.Join(g.folder, to)); err == nil {
				link.ReplaceChild(link, words, ast.NewString([]byte(guideTitle(other))))
			}
		}
	}
}

// isFile reports whether the text of a link is the name of the file that it leads to.
func isFile(text, to string) bool {
	return strings.HasSuffix(text, ".md") && path.Base(text) == path.Base(to)
}

// link returns the URL for the target of a link on a page.
func (g guideLinks) link(to string) string {
	file, mark, _ := strings.Cut(to, "#")
	if file == "" || strings.Contains(to, "://") {
		return to
	}
	if mark != "" {
		mark = "#" + mark
	}
	at := path.Join(g.folder, file)
	if strings.HasPrefix(at, "../") {
		return "/docs" // files in the source tree only
	}
	return "/docs/" + strings.TrimSuffix(at, ".md") + mark
}

// guides loads all guides on first use.
type guides struct {
	once    sync.Once
	shelves []guideShelf
	err     error
}

func (g *guides) load() ([]guideShelf, error) {
	g.once.Do(func() { g.shelves, g.err = loadGuides() })
	return g.shelves, g.err
}

type guideView struct {
	shell.View
	Guide   guide
	Shelves []guideShelf
}

// guidePage serves one page of the documentation.
func (s *Pages) guidePage(rw http.ResponseWriter, r *http.Request) {
	all, err := s.guides.load()
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	name := r.PathValue("name")
	if to := docs.Moved()[name]; to != "" {
		http.Redirect(rw, r, "/docs/"+to, http.StatusMovedPermanently)
		return
	}
	for _, sh := range all {
		if i := slices.IndexFunc(sh.Guides, func(g guide) bool { return g.Name == name }); i >= 0 {
			v := guideView{View: s.NewView(r, sh.Guides[i].Title), Guide: sh.Guides[i], Shelves: all}
			v.Docs = true
			s.Render(rw, r, http.StatusOK, "guide", v)
			return
		}
	}
	s.NotFound(rw, r)
}
