package docsui

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"cloudburst/docs"
)

func TestEveryGuideIsOnAShelf(t *testing.T) {
	t.Parallel()
	all, err := loadGuides()
	if err != nil {
		t.Fatal(err)
	}
	var on []string
	for _, s := range all {
		for _, g := range s.Guides {
			on = append(on, g.Name)
			if g.Title == "" {
				t.Errorf("%s has no heading", g.Name)
			}
		}
	}
	files, err := pageFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !slices.Contains(on, strings.TrimSuffix(f, ".md")) {
			t.Errorf("%s is on no shelf", f)
		}
	}
}

// pageFiles returns the names of all pages.
func pageFiles() (files []string, err error) {
	err = fs.WalkDir(docs.Files, ".", func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".md") {
			files = append(files, name)
		}
		return err
	})
	return files, err
}

func TestTablesOfAGuideHaveUniqueNamesAndNoEmptyHeads(t *testing.T) {
	t.Parallel()
	all, err := loadGuides()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range all {
		for _, g := range s.Guides {
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
		}
	}
	if found < 20 {
		t.Errorf("only %d tables were found", found)
	}
}

// find returns the elements with a name and a class; "": any.
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
	return strings.Join(strings.Fields(b.String()), " ")
}
