package docsui

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
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
)

// pageGroup is a group of pages for one audience.
type pageGroup struct {
	Title string
	Pages []*page
}

// page is a file of the folder docs, served at /docs/<Name>.
type page struct {
	Name    string // path in the folder docs without extension: "guides/hub"
	Title   string // its heading as plain text
	Short   string // the first sentence as plain text
	Body    template.HTML
	Heads   []head // headings of the second level
	section []section
}

// head is a heading of a page.
type head struct{ ID, Title string }

// contents lists all pages in the order of the site.
func contents() []struct {
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
		{"Run a hub", []string{"guides/hub", "guides/deploy", "guides/operations", "guides/backup", "guides/nodes", "guides/scale-out", "guides/monitoring"}},
		{"Protocols", []string{"reference/protocols", "reference/rsscloud", "reference/websub", "reference/weblogs", "reference/cnws", "reference/webmention", "reference/hosting-api", "reference/authoring-apis"}},
		{"Reference", []string{"reference/settings", "reference/commands", "reference/formats", "reference/feed-data", "reference/json", "reference/river-json", "reference/doctor", "reference/retention", "reference/routes"}},
		{"About", []string{"guarantees", "limits", "compare", "internals/reliability", "internals/performance", "internals/scale", "internals/simulation", "internals/activitypub"}},
	}
}

// site loads all pages on first use.
type site struct {
	once    sync.Once
	shelves []pageGroup
	err     error
}

func (s *site) load() ([]pageGroup, error) {
	s.once.Do(func() { s.shelves, s.err = loadSite() })
	return s.shelves, s.err
}

// loadSite reads all pages. They are embedded, so an error is a bug of the build.
func loadSite() ([]pageGroup, error) {
	var all []pageGroup
	for _, s := range contents() {
		next := pageGroup{Title: s.title}
		for _, name := range s.names {
			p, err := loadPage(name)
			if err != nil {
				return nil, err
			}
			next.Pages = append(next.Pages, p)
		}
		all = append(all, next)
	}
	return all, nil
}

func loadPage(name string) (*page, error) {
	source, err := fs.ReadFile(docs.Files, name+".md")
	if err != nil {
		return nil, fmt.Errorf("web: read a page of the documentation: %w", err)
	}
	m := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(
		parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(links{folder: path.Dir(name)}, 100))))
	tree := m.Parser().Parse(marktext.NewReader(source))
	p := &page{Name: name, Title: title(source)}
	var body bytes.Buffer
	if err := m.Renderer().Render(&body, source, tree); err != nil {
		return nil, fmt.Errorf("web: write the page %s: %w", name, err)
	}
	p.Body = template.HTML(tables(blocks(body.String()))) //nolint:gosec // the documentation is trusted and part of the program
	p.section = sections(p.Title, body.String())
	for _, s := range p.section {
		if s.level == 2 {
			p.Heads = append(p.Heads, head{s.id, s.title})
		}
	}
	p.Short = firstSentence(body.String())
	return p, nil
}

// firstSentence returns the first sentence of the first paragraph as plain text.
func firstSentence(html string) string {
	_, rest, _ := strings.Cut(html, "<p>")
	text, _, _ := strings.Cut(rest, "</p>")
	text = strings.Join(strings.Fields(sanitize.Text(text)), " ")
	for i := range len(text) {
		if (text[i] == '.' || text[i] == ':') && (i+1 == len(text) || text[i+1] == ' ') {
			return text[:i] + "."
		}
	}
	return text
}

// title returns the first heading of a page.
func title(source []byte) string {
	line, _, _ := strings.Cut(string(source), "\n")
	heading, _ := strings.CutPrefix(line, "# ")
	return strings.ReplaceAll(heading, "`", "")
}

// links rewrites links between files to URLs of pages, and uses the heading as text where the text
// is a file name.
type links struct{ folder string }

// Transform implements parser.ASTTransformer.
func (l links) Transform(doc *ast.Document, r marktext.Reader, _ parser.Context) {
	var found []*ast.Link
	// The walker never fails.
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link:
			if entering {
				found = append(found, n)
			}
		case *ast.Image:
			n.Destination = []byte(l.url(string(n.Destination)))
		}
		return ast.WalkContinue, nil
	})
	for _, link := range found {
		to := string(link.Destination)
		link.Destination = []byte(l.url(to))
		if words, ok := link.FirstChild().(*ast.Text); ok && isFile(string(words.Segment.Value(r.Source())), to) {
			if other, err := fs.ReadFile(docs.Files, path.Join(l.folder, to)); err == nil {
				link.ReplaceChild(link, words, ast.NewString([]byte(title(other))))
			}
		}
	}
}

// isFile reports whether the text of a link is the name of the file that it leads to.
func isFile(text, to string) bool {
	file, _, _ := strings.Cut(to, "#")
	return strings.HasSuffix(text, ".md") && path.Base(text) == path.Base(file)
}

// url returns the URL for the target of a link on a page. A URL that begins with a slash belongs to
// an image and has been rewritten before.
func (l links) url(to string) string {
	file, mark, _ := strings.Cut(to, "#")
	if file == "" || strings.Contains(to, "://") || strings.HasPrefix(to, "/") {
		return to
	}
	if mark != "" {
		mark = "#" + mark
	}
	at := path.Join(l.folder, file)
	if strings.HasPrefix(at, "../") {
		return "/docs" // the target exists only in the source tree
	}
	return "/docs/" + strings.TrimSuffix(at, ".md") + mark
}
