package scan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// events returns the events of a document as one line, such as <a>, text, </a>, and the problems of
// the document.
func events(doc string, o Options) (line string, problems []string) {
	var b strings.Builder
	o.Problem = func(kind string, at int, _ string) bool {
		problems = append(problems, fmt.Sprint(kind, "@", at))
		return true
	}
	r := New(doc, o)
	for {
		switch r.Next() {
		case Start:
			b.WriteString("<" + r.Name)
			for i := range r.Attrs {
				b.WriteString(" " + r.Attrs[i].Name + "=" + r.Decode(r.Attrs[i].Raw))
			}
			b.WriteString(">")
		case Text:
			b.WriteString(r.Chars())
		case End:
			b.WriteString("</" + r.Name + ">")
		case EOF:
			return b.String(), problems
		}
	}
}

func TestReaderReturnsBalancedElements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, doc, want string
		problems        []string
	}{
		{"a clean one", `<?xml version="1.0"?><a x="1" y='2'><b/>t</a>`, "<a x=1 y=2><b></b>t</a>", nil},
		{"references", "<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x42;</a>", `<a><>&"'AB</a>`, nil},
		{"numbers that Windows means", "<a>&#150;&#x80;</a>", "<a>–€</a>", nil},
		{"numbers of no character", "<a>&#0;&#xD800;&#x110000;</a>", "<a>\ufffd\ufffd\ufffd</a>", []string{"character@3", "character@3", "character@3"}},
		{"HTML's entities", "<a>&eacute;&nbsp;</a>", "<a>é\u00a0</a>", []string{"entity@3", "entity@3"}},
		{"entities without ; before a space", "<a b='x&copy y'>&copy 2004 &mdash x &amp\ny &quot z</a>", "<a b=x© y>© 2004 — x &\ny \" z</a>", []string{"entity@0", "entity@16", "entity@16", "entity@16", "entity@16"}},
		{"words behind a &", "<a>rock &and roll &copying &copy=2 R&D &c &copy</a>", "<a>rock &and roll &copying &copy=2 R&D &c &copy</a>", []string{"entity@3", "entity@3", "entity@3", "entity@3", "entity@3", "entity@3"}},
		{"an entity that is only known at its beginning", "<a>&notit;</a>", "<a>&notit;</a>", []string{"entity@3"}},
		{"a bare &", "<a>AT&T & x&y; &;</a>", "<a>AT&T & x&y; &;</a>", []string{"entity@3", "entity@3", "entity@3", "entity@3"}},
		{"the document's own entities", `<!DOCTYPE a [<!ENTITY x "y&#33;"><!ENTITY % p "q"> ]><a b="&x;">&x;</a>`, "<a b=y!>y!</a>", nil},
		{"CDATA", "<a><![CDATA[<b>&amp;]]></a>", "<a><b>&amp;</a>", nil},
		{"CDATA without an end", "<r><a><![CDATA[x</a><b>y</b></r>", "<r><a>x</a><b>y</b></r>", []string{"markup@6"}},
		{"comments", "<a>1<!-- <b> -->2</a>", "<a>12</a>", nil},
		{"a comment without an end", "<a>1<!-- x >2</a>", "<a>12</a>", []string{"markup@4"}},
		{"a stray <", "<a>1 < 2 <3</a>", "<a>1 < 2 <3</a>", []string{"markup@5", "markup@9"}},
		{"ends that cross", "<a><b><c>t</b></a>", "<a><b><c>t</c></b></a>", []string{"unclosed@10"}},
		{"an end of nothing", "<a>1</b>2</a>", "<a>12</a>", []string{"stray-end@4"}},
		{"an end in another case", "<a><B>1</b></a>", "<a><B>1</B></a>", []string{"markup@7"}},
		{"the end cut off", "<a><b>t", "<a><b>t</b></a>", []string{"truncated@7"}},
		{"cut off in a name", `<a><b`, `<a></a>`, []string{"truncated@3", "truncated@5"}},
		{"cut off in a tag", `<a><b x="`, "<a><b x=></b></a>", []string{"attribute@6", "truncated@3", "truncated@9"}},
		{"no space before an attribute", `<a xmlns:r="u"><br:c="1">t</b></a>`, "<a xmlns:r=u><b r:c=1>t</b></a>", []string{"markup@17"}},
		{"a name with a colon and a value", `<a><br:c="1">t</br:c></a>`, "<a><br:c 1=>t</br:c></a>", []string{"attribute@8", "attribute@9", "attribute@10", "attribute@11"}},
		{"attributes without quotes", "<a b=c d=e/f g/>", "<a b=c d=e/f g=></a>", []string{"attribute@3", "attribute@7", "attribute@13"}},
		{"an attribute twice", `<a b="1" b="2"/>`, "<a b=1></a>", []string{"attribute@9"}},
		{"a quote without an end before an attribute", `<r><a b="x y c="2" d='3 e='4'/></r>`, "<r><a b=x y c=2 d=3 e=4></a></r>", []string{"attribute@6", "attribute@19"}},
		{"no quote without an end", `<r><a b="x y="c="2"/><i b="?a c=" d="1"/></r>`, "<r><a b=x y= c=2></a><i b=?a c= d=1></i></r>", nil},
		{"a number without its end", `<r>&#65 &#x41;</r>`, "<r>A A</r>", []string{"entity@3"}},
		{"a quote without an end", `<r><a b="x>1</a><c d="2"/></r>`, "<r><a b=x>1</a><c d=2></c></r>", []string{"attribute@6"}},
		{"a tag in a tag", `<a <b>1</b></a>`, "<a><b>1</b></a>", []string{"markup@3"}},
		{"junk around it", "junk <a/> more <b/>", "<a></a><b></b>", []string{"junk@0", "junk@9", "junk@15"}},
		{"nothing", "", "", nil},
		{"its declaration behind something", "\n<?xml version=\"1.0\"?><a/>", "<a></a>", []string{"junk@1"}},
		{"only text", "hello", "", []string{"junk@0"}},
		{"line ends", "<a>1\r\n2\r3<![CDATA[\r\n]]></a>", "<a>1\n2\n3\n</a>", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, problems := events(c.doc, Options{})
			if got != c.want {
				t.Errorf("%s\n got %q\nwant %q", c.doc, got, c.want)
			}
			if d := cmp.Diff(c.problems, problems); d != "" {
				t.Errorf("problems of %s (-want +got):\n%s", c.doc, d)
			}
		})
	}
}

func TestElementsBeyondTheDepthLimitAreFlattened(t *testing.T) {
	t.Parallel()
	got, problems := events("<a><b><c>1<d>2</d>3</c>4</b>5</a>", Options{Depth: 2})
	if want := "<a><b>1234</b>5</a>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(problems) != 1 || !strings.HasPrefix(problems[0], Limit) {
		t.Errorf("problems %q, want one of the limit", problems)
	}
}

func TestAttributesBeyondTheLimitAreIgnored(t *testing.T) {
	t.Parallel()
	got, problems := events(`<a b="1" c="2" d="3" e="4"/>`, Options{Attributes: 2})
	if want := "<a b=1 c=2></a>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(problems) != 1 || !strings.HasPrefix(problems[0], Limit) {
		t.Errorf("problems %q, want one of the limit", problems)
	}
}

func TestEntityExpansionIsLimited(t *testing.T) {
	t.Parallel()
	doc := `<!DOCTYPE a [<!ENTITY x "` + strings.Repeat("x", 4000) + `">]><a>` + strings.Repeat("&x;", 2000) + "</a>"
	got, problems := events(doc, Options{})
	if len(got) > 2*maxExpanded {
		t.Errorf("%d bytes came out of %d", len(got), len(doc))
	}
	if len(problems) == 0 {
		t.Error("no problem is reported")
	}
}

func TestUnclosedElementEndsAtItsSibling(t *testing.T) {
	t.Parallel()
	r := New("<c><item><title>1<item><title>2</title></item></c>", Options{})
	var b strings.Builder
	for k := r.Next(); k != EOF; k = r.Next() {
		switch k {
		case Start:
			if r.Name == "c" {
				r.Siblings("item", r.Depth())
			}
			b.WriteString("<" + r.Name + ">")
		case Text:
			b.WriteString(r.Chars())
		case End:
			b.WriteString("</" + r.Name + ">")
		}
	}
	if got, want := b.String(), "<c><item><title>1</title></item><item><title>2</title></item></c>"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNamespacesAreScopedToTheirElement(t *testing.T) {
	t.Parallel()
	number := map[string]int{"u:one": 1, "u:two": 2}
	r := New(`<a xmlns="u:one" xmlns:p="u:two"><p:b/><c xmlns="u:two" xmlns:p="u:one"><p:d/></c><e/><q:f/></a>`, Options{
		Space: func(prefix, uri string, _ int) int {
			if uri == "" && prefix == "q" {
				return 9
			}
			return number[uri]
		},
	})
	var got []string
	for k := r.Next(); k != EOF; k = r.Next() {
		if k == Start {
			got = append(got, fmt.Sprint(r.Local, r.Space, r.URI(Prefix(r.Name))))
		}
	}
	want := []string{"a1u:one", "b2u:two", "c2u:two", "d1u:one", "e1u:one", "f9"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestElementsInheritTheLanguageOfTheirParent(t *testing.T) {
	t.Parallel()
	r := New(`<a xml:lang="en"><b/><c xml:lang="de"><d/></c><e xml:lang=""/><f/></a>`, Options{})
	r.SetDefaultLang("fr")
	var got []string
	for k := r.Next(); k != EOF; k = r.Next() {
		if k == Start {
			got = append(got, r.Local+":"+r.Lang())
		}
	}
	if d := cmp.Diff([]string{"a:en", "b:en", "c:de", "d:de", "e:", "f:en"}, got); d != "" {
		t.Error(d)
	}
}

// seekTo moves to the start of the element with this name.
func seekTo(t *testing.T, r *Reader, name string) {
	t.Helper()
	for k := r.Next(); k != EOF; k = r.Next() {
		if k == Start && r.Name == name {
			return
		}
	}
	t.Fatalf("there is no <%s>", name)
}

func TestTextOfAnElementIsTrimmedAndEndsAtMarkup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		doc, text string
		markup    bool
	}{
		{"<r><a> x </a><z/></r>", "x", false},
		{"<r><a/><z/></r>", "", false},
		{"<r><a></a><z/></r>", "", false},
		{"<r><a> <![CDATA[ <x> ]]> </a><z/></r>", "<x>", false},
		{"<r><a>1<![CDATA[2]]>3&amp;<!-- -->4</a><z/></r>", "123&4", false},
		{"<r><a>&#32;x&#32;</a><z/></r>", "x", false},
		{"<r><a>1<b>2</b></a><z/></r>", "", true},
	} {
		r := New(c.doc, Options{})
		seekTo(t, r, "a")
		text, markup := r.Leaf()
		if text != c.text || markup != c.markup {
			t.Errorf("%s: %q, %v", c.doc, text, markup)
		}
		if markup {
			r.Skip()
		}
		if r.Next() != Start || r.Name != "z" {
			t.Errorf("%s: the reader is at %s and not after the leaf", c.doc, r.Name)
		}
	}
}

func TestInnerMarkupIsReturnedUnchangedOrEquivalent(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`<r><a> <b c="1">x&amp;y</b><br/> </a><z/></r>`:                 `<b c="1">x&amp;y</b><br/>`,
		`<r><a><h:b xmlns:h="u" c="&lt;">x</h:b></a><z/></r>`:           `<b c="&lt;">x</b>`,
		`<r><a><b>1<!-- no -->2</b><i/></a><z/></r>`:                    `<b>12</b><i />`,
		`<r><a><![CDATA[<b>]]><i>&amp;</i></a><z/></r>`:                 `&lt;b&gt;<i>&amp;</i>`,
		`<r><a><p>1<br>2</a><z/></r>`:                                   `<p>1<br />2</p>`,
		`<!DOCTYPE r [<!ENTITY e "E">]><r><a><b>&e;</b></a><z/></r>`:    `<b>E</b>`,
		`<r><a></a><z/></r>`:                                            ``,
		`<r><a/><z/></r>`:                                               ``,
		"<r><a><b>1\r\n2</b></a><z/></r>":                               "<b>1\n2</b>",
		`<r><a><h:p>1<h:br/>2<h:img src="x"></h:img></h:p></a><z/></r>`: `<p>1<br />2<img src="x" /></p>`,
		`<r><a><b>1</b></a><z/><a><![CDATA[y]]></a></r>`:                `<b>1</b>`,
		`<r xmlns:s="urn:s"><a><s:t xmlns="urn:q" q="1"/></a><z/></r>`:  `<t q="1" />`,
	} {
		r := New(doc, Options{})
		seekTo(t, r, "a")
		if got := r.Inner(); got != want {
			t.Errorf("%s\n got %s\nwant %s", doc, got, want)
		}
		if r.Next() != Start || r.Name != "z" {
			t.Errorf("%s: the reader is at %s and not after the element", doc, r.Name)
		}
	}
}

func TestProblemIsReportedOncePerPlace(t *testing.T) {
	t.Parallel()
	n := 0
	r := New(`<r><a><b c=1/><!-- --></a><z/></r>`, Options{Problem: func(string, int, string) bool { n++; return true }})
	seekTo(t, r, "a")
	if _, markup := r.Leaf(); !markup {
		t.Fatal("there is markup")
	}
	r.Inner()
	if r.Skip(); n != 1 {
		t.Errorf("reported %d times", n)
	}
}

func TestReaderCountsLines(t *testing.T) {
	t.Parallel()
	r := New("<a>\n\n<b/>\n</a>", Options{})
	for _, c := range []struct{ offset, line int }{{0, 1}, {5, 3}, {4, 2}, {12, 4}, {-1, 1}, {99, 4}} {
		if got := r.Line(c.offset); got != c.line {
			t.Errorf("offset %d is in line %d, not %d", c.offset, c.line, got)
		}
	}
}

// checkBalanced checks that the events of doc are balanced.
func checkBalanced(t *testing.T, doc string) {
	t.Helper()
	r := New(doc, Options{Depth: 20, Attributes: 8})
	var open []string
	for steps := 0; ; steps++ {
		if steps > 4*len(doc)+10 {
			t.Fatal("it does not end")
		}
		switch r.Next() {
		case Start:
			if len(r.Attrs) > 8 {
				t.Fatalf("%d attributes", len(r.Attrs))
			}
			if open = append(open, r.Name); len(open) != r.Depth() || len(open) > 20 {
				t.Fatalf("depth %d at %q", r.Depth(), open)
			}
		case End:
			if len(open) == 0 || open[len(open)-1] != r.Name {
				t.Fatalf("</%s> at %q", r.Name, open)
			}
			open = open[:len(open)-1]
		case Text:
			r.Chars()
		case EOF:
			if len(open) > 0 {
				t.Fatalf("%q are open at the end", open)
			}
			return
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"<a><b/>t</a>", "<a b='1' c=2><![CDATA[x]]></a>", "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;&#65;&eacute;</a>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		checkBalanced(t, doc)
		r := New(doc, Options{})
		for k := 0; r.Next() != EOF; k++ { // read elements alternately with Leaf, Inner and other methods
			if r.Depth() < 2 || r.Kind() != Start {
				continue
			}
			depth := r.Depth()
			switch k % 4 {
			case 0:
				if _, markup := r.Leaf(); markup {
					r.Inner()
				}
			case 1:
				r.Inner()
			case 2:
				r.InnerText()
			case 3:
				r.Skip()
			}
			if r.Depth() >= depth {
				t.Fatalf("an element was not read to its end: depth %d after %d", r.Depth(), depth)
			}
		}
	})
}
