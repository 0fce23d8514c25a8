package sanitize

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"cloudburst/feed/feedtest"
	"cloudburst/internal/fulltest"
)

// postWriter writes random posts, mostly in the style of common blogging programs.
type postWriter struct {
	*rand.Rand
	b     strings.Builder
	depth int
}

func (w *postWriter) oneOf(s ...string)       { w.b.WriteString(s[w.IntN(len(s))]) }
func (w *postWriter) chance(percent int) bool { return w.IntN(100) < percent }
func (w *postWriter) repeat(limit int, write func()) {
	for range w.IntN(limit + 1) {
		write()
	}
}
func (w *postWriter) around(name string, f func()) { w.tag(name); f(); w.oneOf("</" + name + ">") }

// tag writes a start tag.
func (w *postWriter) tag(name string) {
	w.oneOf("<" + name)
	w.repeat(3, w.attribute)
	w.oneOf(">", ">", ">", ">", " >", "\n>")
}

func (w *postWriter) void(name string) {
	w.oneOf("<" + name)
	w.repeat(4, w.attribute)
	w.oneOf(">", "/>", " />", "\n/>")
}

func (w *postWriter) attribute() {
	w.oneOf(" ", " ", " ", " ", "\n", "  ")
	w.oneOf(`class="a b"`, `title="x &amp; y"`, `title='x "y"'`, `href="https://example.org/a?b=1&amp;c=2"`,
		`href="https://example.org/a?b=1&utm_source=x"`, `src="https://example.org/i.png"`, `src="../i.png"`,
		`alt="Ünï > x"`, `alt=""`, `width="10"`, `width=10`, `height=50%`, `style="font-size: small;"`,
		`style="text-align:center"`, `style="position:fixed"`, `target="_blank"`, `rel="noopener NoFollow"`, `rel="nofollow noopener"`,
		`id="x"`, `data-x="1"`, `loading="lazy"`, `srcset="a.png 1x, b.png 2x"`, `srcset="a.png 1x,b.png 2x"`,
		`sizes="(max-width: 9px) 1px"`, `controls`, `allowfullscreen`, `reversed=""`, `hidden="hidden"`, `lang="de"`,
		`xml:lang="de"`, `dir="rtl"`, `align="left"`, `border=0`, `cite="http://example.org/"`, `colspan="2"`, `datetime="2024-01-01"`,
		`href="mailto:a@example.org"`, `href="#x"`, `href=""`, `href="javascript:x"`, `href=" x"`, `title="&eacute;&#8217;&quot;&lt;&gt;"`,
		`title="a&b"`, `title="a & b"`, `title="&copy=1"`, `title="&copy_1"`, "title=\"a\nb\"", `poster="p"`, `data-Json='{"a":"b"}'`, `srcSet="a 1x"`, `Title="x"`, `onclick="x"`, `class`, `background="b"`, `type="a"`, `media="print"`)
}

func (w *postWriter) words() {
	w.oneOf("words", " ", "\n", "é", "日本。", "a &amp; b", "&nbsp;", "&#8217;", "&#x201D;", "&hellip;", "a > b", "\"q\"", "it's",
		"&lt;b&gt;", "R&D", "a & b", "&eacute;", "\r\n", "\r", "\t", "&#39;", "&quot;", "&notit;", "&amp", "<!-- c -->", "&#160;",
		"\u2028", "\ufeff", "\u0085", "&NotEqualTilde;", "&apos;", "x &x")
}

func (w *postWriter) inline() {
	if w.depth++; w.depth > 7 {
		w.depth--
		w.words()
		return
	}
	defer func() { w.depth-- }()
	names := []string{"a", "b", "em", "strong", "i", "code", "span", "small", "font", "sub", "abbr", "del", "ins", "q", "time", "u", "tt"}
	switch w.IntN(12) {
	case 0, 1, 2:
		w.around(names[w.IntN(len(names))], func() { w.repeat(3, w.inline) })
	case 3:
		w.void([]string{"br", "img", "img", "wbr"}[w.IntN(4)])
	case 4:
		if w.chance(20) {
			w.around("picture", func() { w.repeat(2, func() { w.void("source") }); w.void("img") })
		} else if w.chance(20) {
			w.around([]string{"video", "audio"}[w.IntN(2)], func() { w.void("source"); w.repeat(2, w.words); w.void("track") })
		} else if w.chance(20) {
			w.around([]string{"iframe", "script", "noscript", "form", "button", "nobr"}[w.IntN(6)], func() {
				if w.chance(20) {
					w.inline()
				}
			})
		}
	default:
		w.words()
	}
}

func (w *postWriter) block() {
	if w.depth++; w.depth > 6 {
		w.depth--
		w.words()
		return
	}
	defer func() { w.depth-- }()
	line := func() { w.oneOf("", "\n", "\n", "\n  ") }
	switch w.IntN(14) {
	case 0, 1, 2:
		w.around([]string{"p", "p", "h1", "h2", "h3", "pre", "summary"}[w.IntN(7)], func() { w.repeat(5, w.inline) })
	case 3, 4:
		w.around([]string{"div", "blockquote", "figure", "section", "figcaption", "center", "details"}[w.IntN(7)], func() { w.repeat(4, w.block) })
	case 5, 6:
		w.around([]string{"ul", "ol"}[w.IntN(2)], func() {
			w.repeat(3, func() { line(); w.around("li", func() { w.repeat(3, w.block) }) })
			line()
		})
	case 7:
		w.around("dl", func() {
			w.repeat(3, func() { line(); w.around([]string{"dt", "dd"}[w.IntN(2)], func() { w.repeat(3, w.block) }) })
		})
	case 8:
		w.table(line)
	case 9:
		w.void("hr")
	case 10:
		w.around([]string{"a", "b", "span", "font", "strong", "em", "del"}[w.IntN(7)], func() { w.repeat(3, w.block) })
	default:
		w.inline()
	}
	line()
}

func (w *postWriter) table(line func()) {
	row := func() {
		line()
		w.around("tr", func() {
			w.repeat(3, func() { line(); w.around([]string{"td", "th"}[w.IntN(2)], func() { w.repeat(2, w.block) }) })
			line()
		})
	}
	w.around("table", func() {
		line()
		if w.chance(20) {
			w.around("caption", func() { w.repeat(2, w.inline) })
		}
		if w.chance(50) {
			w.repeat(3, row)
		} else {
			w.repeat(3, func() {
				line()
				w.around([]string{"thead", "tbody", "tfoot"}[w.IntN(3)], func() { w.repeat(2, row); line() })
			})
		}
		line()
	})
}

// post returns a text of a few blocks.
func post(r *rand.Rand) string {
	w := postWriter{Rand: r}
	for range 1 + w.IntN(4) {
		w.block()
	}
	return w.b.String()
}

// mutated returns s with a random mistake or attack.
func mutated(r *rand.Rand, s string) string {
	bits := []string{"<", ">", "/", "\"", "'", "&", "=", " ", "\n", "<p>", "</p>", "<b>", "</b>", "</a>", "<a href=x>", "<li>", "<table>",
		"<td>", "<tr>", "<!--", "-->", "<![CDATA[", "]]>", "<script>", "</script>", "<svg>", "<br/>", "</br>", "\x00", "\xff", "\uffff", "\r", ";",
		"<pre>", "<ul>", "</ul>", "<P>", " onclick=x", "javascript:", "<div/>", "<select>", "<title>", "</table>", "<tbody>", "<col>", "<caption>",
		"</>", "</ >", "<>", "</form>", "<noscript>", "<script/>", "<iframe>", "&#", "--", "\u2028"}
	for range 1 + r.IntN(3) {
		i := r.IntN(len(s) + 1)
		j := min(len(s), i+r.IntN(12))
		switch r.IntN(4) {
		case 0:
			s = s[:i] + s[j:]
		case 1:
			s = s[:j] + s[i:]
		case 2:
			s = s[:i] + bits[r.IntN(len(bits))] + s[i:]
		default:
			s = s[:i] + bits[r.IntN(len(bits))] + s[j:]
		}
	}
	return s
}

// pair compares the fast path of a sanitizer with its builder.
type pair struct{ *Sanitizer }

func pairs() []pair {
	return []pair{{New(Options{})}, {New(Options{LinkRel: "nofollow noopener", NoClasses: true, NoStyles: true})}}
}

// agree checks that the fast path and the builder return the same output for s, that the fast path
// returns its own output unchanged, and that a parser does not change this output. taken reports
// whether s is ordinary.
func (p pair) agree(t *testing.T, s string) (taken bool) {
	t.Helper()
	want := p.slowHTML(s)
	if got := p.HTML(s); got != want {
		t.Fatalf("%q\n fast %q\n slow %q", s, got, want)
	}
	got, taken := p.fastHTML(s)
	if !taken {
		return false
	}
	if got != want {
		t.Fatalf("%q\n fast %q\n slow %q", s, got, want)
	}
	if again, ok := p.fastHTML(got); !ok || again != got {
		t.Fatalf("%q\n fast %q\n which the fast path rejects", s, got)
	}
	if again, ok := p.reread(got); !ok || again != got {
		t.Fatalf("%q\n fast %q\n is parsed as %q", s, got, again)
	}
	return true
}

func TestFastPathMatchesSlowPath(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	posts := fulltest.Size(4000, 400)
	both := pairs()
	for _, s := range []string{"<", "</", "</>", "<>", "<!", "<!-->", "<!--->", "<p", "<p ", "<p a", "<p a=", "<p a=\"", "<br", "<br/", "</p>", "&", "&#", "&#x"} {
		both[0].agree(t, s)
		both[0].agree(t, "<div>"+s)
		both[0].agree(t, "<table><tr>"+s)
		both[0].agree(t, s+"</div>")
	}
	taken, odd := 0, 0
	for range posts {
		s := post(r)
		if both[0].agree(t, s) {
			taken++
		}
		both[1].agree(t, s)
		if both[0].agree(t, mutated(r, s)) {
			odd++
		}
	}
	t.Logf("of %d posts the fast path accepted %d, and %d after they were changed", posts, taken, odd)
	if taken < posts/4 || odd < posts/20 {
		t.Errorf("the fast path accepted only %d of %d posts and %d mutated ones", taken, posts, odd)
	}
}

func FuzzFastPath(f *testing.F) {
	for _, s := range attacks(f) {
		f.Add(s)
	}
	for in, out := range nested() {
		f.Add(in)
		f.Add(out)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		f.Add(post(r))
	}
	both := pairs()
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range both {
			p.agree(t, s)
		}
	})
}

// texts returns the texts of a document that contain HTML. It returns none for documents in Latin-1
// or with XHTML.
func texts(t testing.TB, d feedtest.Document) (all []string) {
	t.Helper()
	if d.Latin1 || d.Kind == feedtest.AtomXHTML {
		return nil
	}
	if d.Kind == feedtest.JSON {
		var doc struct {
			Items []struct {
				HTML string `json:"content_html"`
			}
		}
		if err := json.Unmarshal(d.Body, &doc); err != nil {
			t.Fatal(err)
		}
		for _, item := range doc.Items {
			all = append(all, item.HTML)
		}
		return all
	}
	for dec := xml.NewDecoder(strings.NewReader(string(d.Body))); ; {
		token, err := dec.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok && strings.Contains(string(text), "</p>") {
			all = append(all, string(text))
		}
	}
}

func TestFastPathCoversMostFeedMarkup(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	whole, taken := 0, 0
	both := pairs()[0]
	for _, kind := range feedtest.Kinds() {
		for seed := range uint64(6) {
			for _, s := range texts(t, feedtest.Make(kind, 40e3, seed)) {
				whole += len(s)
				if both.agree(t, s) {
					taken += len(s)
				} else if testing.Verbose() {
					t.Logf("%.300q", s)
				}
			}
		}
	}
	if whole < 500e3 || taken < whole/10*9 {
		t.Errorf("the fast path accepts %d of %d bytes", taken, whole)
	}
}

func TestIsTextAcceptsExactlyXMLCharacters(t *testing.T) {
	t.Parallel()
	careful := func(s string) bool {
		return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 && !isXML(r) })
	}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		for _, s := range []string{string(r), string(r) + "abcdefgh"} {
			if got, want := isText(s), careful(s); got != want {
				t.Fatalf("%q: %v, want %v", s, got, want)
			}
		}
	}
	r := rand.New(rand.NewPCG(11, 12))
	bytes := []byte("a\x7f\x80\x8f\x90\x9f\xa0\xbe\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff")
	for range 300000 {
		b := make([]byte, r.IntN(20))
		for i := range b {
			b[i] = bytes[r.IntN(len(bytes))]
		}
		if got, want := isText(string(b)), careful(string(b)); got != want {
			t.Fatalf("%q: %v, want %v", b, got, want)
		}
	}
}
