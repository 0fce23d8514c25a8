package docsui

import (
	"html/template"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"cloudburst/docs"
)

func TestEveryDocumentationPageIsInTheTableOfContents(t *testing.T) {
	t.Parallel()
	all, err := loadSite()
	if err != nil {
		t.Fatal(err)
	}
	var on []string
	for _, p := range inOrder(all) {
		if on = append(on, p.Name); p.Title == "" || p.Short == "" {
			t.Errorf("%s has no heading or no first sentence", p.Name)
		}
	}
	err = fs.WalkDir(docs.Files, ".", func(name string, _ fs.DirEntry, err error) error {
		if p, ok := strings.CutSuffix(name, ".md"); ok && !slices.Contains(on, p) {
			t.Errorf("%s is not in the contents of the documentation: add it to contents in site.go", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range docs.Moved() {
		if !slices.Contains(on, to) || slices.Contains(on, from) {
			t.Errorf("%s leads to %s", from, to)
		}
	}
}

func TestTablesOfAPageHaveUniqueNamesAndNoEmptyHeaders(t *testing.T) {
	t.Parallel()
	all, err := loadSite()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, g := range inOrder(all) {
		tree, err := html.Parse(strings.NewReader(string(g.Body)))
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, n := range find(tree, "div", "scroll") {
			name := attr(n, "aria-label")
			if found++; names[name] || strings.TrimPrefix(name, "Table: ") == "" || attr(n, "role") != "region" {
				t.Errorf("%s: a table is called %q", g.Name, name)
			}
			names[name] = true
		}
		for _, n := range find(tree, "th", "") {
			if strings.TrimSpace(text(n)) == "" || attr(n, "scope") != "col" {
				t.Errorf("%s: a table has the head %q of scope %q", g.Name, text(n), attr(n, "scope"))
			}
		}
		for _, n := range find(tree, "img", "") {
			name, _ := strings.CutPrefix(attr(n, "src"), "/docs/")
			if _, err := fs.Stat(docs.Files, name); err != nil || len(attr(n, "alt")) < 20 {
				t.Errorf("%s: image %s (%v) with the alternative text %q", g.Name, attr(n, "src"), err, attr(n, "alt"))
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d tables were found", found)
	}
}

func TestDocumentationSearchFindsSectionsWithAllWords(t *testing.T) {
	t.Parallel()
	all, err := loadSite()
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"restore backup": "guides/backup#restore", "hub.expiry": "reference/settings", "haproxy": "guides/nodes#balancer",
		"X-Hub-Signature": "reference/websub#delivery", "OPML import": "", "lets encrypt": "",
	} {
		found := search(all, query)
		if want == "" {
			continue
		}
		at := slices.IndexFunc(found, func(r result) bool { return strings.HasPrefix(r.Page.Name+"#"+r.ID, want) })
		if at < 0 || at > 4 {
			t.Errorf("%q: %s is at %d of %d results", query, want, at, len(found))
		}
	}
	if found := search(all, "zeppelin xylophone"); found != nil {
		t.Errorf("%v", found)
	}
	if found := search(all, "  "); found != nil {
		t.Errorf("%v", found)
	}
}

func TestSearchSnippetsAreEscapedAndHighlighted(t *testing.T) {
	t.Parallel()
	if got := mark("a <b> Cloud & c", "a <b> cloud & c", []string{"cloud"}); got != "a &lt;b&gt; <mark>Cloud</mark> &amp; c" {
		t.Error(got)
	}
}

func TestDocumentationExamplesContainTheURLOfThisServer(t *testing.T) {
	t.Parallel()
	got := ownURL(template.HTML(exampleCloud+" http://127.0.0.1:5337/ Host: hub.example:5337 http://hub.example:5337/x"), "https://own.example", `<cloud domain="own.example"/>`)
	if want := "&lt;cloud domain=&#34;own.example&#34;/&gt; https://own.example/ Host: own.example https://own.example/x"; string(got) != want {
		t.Errorf("%s\n%s", got, want)
	}
	all, err := loadSite()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range inOrder(all) {
		if p.Name == "reference/protocols" && !strings.Contains(string(p.Body), exampleCloud) {
			t.Error("the page of the protocols has no <cloud> element to replace")
		}
	}
}

// find returns the elements with a name and a class. An empty name or class matches all elements.
func find(n *html.Node, name, class string) (all []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && (name == "" || d.Data == name) && (class == "" || strings.Contains(" "+attr(d, "class")+" ", " "+class+" ")) {
			all = append(all, d)
		}
	}
	return all
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
