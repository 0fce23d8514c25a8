package sanitize

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// tagSoup returns a text of n unrelated tags and words.
func tagSoup(r *rand.Rand, names []string, n int) string {
	var out strings.Builder
	words := []string{"a", " ", "\n", "b & c", "&lt;", "x</", "<!-- c -->", "<", "é", "\n\n"}
	attrs := []string{"", "", "", ` href="x"`, " class=c", " style='color:red'", " src=i", " /", " onclick=x", " id=i"}
	for range n {
		name := names[r.IntN(len(names))]
		switch r.IntN(6) {
		case 0, 1, 2:
			out.WriteString("<" + name + attrs[r.IntN(len(attrs))] + ">")
		case 3, 4:
			out.WriteString("</" + name + ">")
		default:
			out.WriteString(words[r.IntN(len(words))])
		}
	}
	return out.String()
}

func TestTagSoupIsBalancedInOneCall(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	all := []string{"script", "style", "form", "select", "option", "textarea", "template", "iframe", "noscript", "object",
		"body", "html", "head", "frameset", "button", "input", "xmp", "plaintext", "image", "nobr", "marquee", "applet",
		"title", "desc", "foreignobject", "annotation-xml", "mglyph", "malignmark", "blink", "isindex"}
	for name := range elements {
		_, short, found := strings.Cut(name, " ")
		if !found {
			short = name
		}
		all = append(all, short)
	}
	slices.Sort(all) // the order of a map is random, but each run must use the same texts
	few := []string{"a", "b", "i", "p", "div", "table", "tr", "td", "caption", "li", "ul", "svg", "math", "mi", "h1", "rt", "ruby", "pre", "col"}
	for i := range soups {
		names := all
		if i%2 == 0 {
			names = few
		}
		s := tagSoup(r, names, 1+r.IntN(60))
		if isPlain(s) {
			continue
		}
		clean := standard().balance(s)
		if again, ok := standard().reread(clean); !ok || again != clean {
			t.Fatalf("%q\n balanced %q\n is read as %q", s, clean, again)
		}
		if twice := standard().balance(clean); twice != clean {
			t.Fatalf("%q\n balanced %q\n twice    %q", s, clean, twice)
		}
	}
}

const soups = 4000
