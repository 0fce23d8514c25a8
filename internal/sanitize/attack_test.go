package sanitize

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// attacks returns the lines of testdata/attacks.txt.
func attacks(tb testing.TB) (all []string) {
	tb.Helper()
	raw, err := os.ReadFile("testdata/attacks.txt")
	if err != nil {
		tb.Fatal(err)
	}
	chars := strings.NewReplacer("{NUL}", "\x00", "{SOH}", "\x01", "{TAB}", "\t", "{LF}", "\n", "{CR}", "\r", "{FF}", "\f",
		"{NBSP}", "\u00a0", "{ZWSP}", "\u200b", "{BOM}", "\ufeff", "{BAD}", "\xc3", "{OVERLONG}", "\xc0\xbc")
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "#") {
			all = append(all, chars.Replace(line))
		}
	}
	if len(all) < 200 {
		tb.Fatalf("only %d attacks in the file", len(all))
	}
	return all
}

func TestUnsafeMarkupIsRemoved(t *testing.T) {
	t.Parallel()
	page := New(Options{LinkRel: "nofollow noopener", NoClasses: true, NoStyles: true})
	for _, s := range attacks(t) {
		got := HTML(s)
		check(t, s, got)
		checkAllowed(t, s, got)
		checkAllowed(t, s, page.HTML(s))
		for _, around := range []string{"<p>%", "<table>%", "<a title='%'>", "<svg>%", "<math><mi>%", "<!--%", "<b><i>%", "<select>%", "<script>%", "<p title=%>"} {
			in := strings.Replace(around, "%", s, 1)
			out := HTML(in)
			check(t, in, out)
			checkAllowed(t, in, out)
		}
	}
}

// checkAllowed checks that got, parsed as the body of a page, has only allowed elements and
// attributes. s is the source of got.
func checkAllowed(t *testing.T, s, got string) {
	t.Helper()
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader(got), body)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		body.AppendChild(n)
	}
	for n := range body.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		e := elementOf(n)
		if e == nil {
			t.Errorf("%q\n became %q\n with element %s", s, got, n.Data)
			continue
		}
		for _, a := range n.Attr {
			key := strings.ToLower(a.Key)
			if a.Namespace != "" {
				key = a.Namespace + ":" + key
			}
			if attributes.forElement(e).get(key) == nil && key != "xmlns" && key != "xmlns:xmlns" && key != xlinkDeclaration {
				t.Errorf("%q\n became %q\n with attribute %s", s, got, a.Key)
			}
		}
	}
}

// This test verifies that inPlace detects unsafe markup. The other tests use inPlace, and would
// pass for unsafe output if it found nothing.
func TestSafetyCheckDetectsUnsafeMarkup(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"<script>x</script>", "<p onclick=x>", "<a href='java\tscript:x'>", "<a href=data:text/html,x>", "<!-- x -->",
		"<p id=x>", "<iframe>", "<p style='background:url(x)'>", "<p style='position:fixed'>", "<a target=x>",
		"<svg><a xlink:href=javascript:x></svg>", "<svg><text xlink:href=x></svg>", "<svg><a xlink:show=x></svg>", "<a xlink:href=x>",
		"<title>x</title>", "<svg><desc><title>x</title></svg>", "<svg><script></svg>", "<math><annotation-xml>", "<form action=x>",
	} {
		if inPlace(t, "%", s) == nil {
			t.Errorf("the check accepts %s", s)
		}
	}
}

func TestSafeMarkupIsPreserved(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`<a href="https://example.com/?a=1&amp;b=2#c" title="A &quot;b&quot;" rel="Tag NoFollow" target="_BLANK" hreflang=de>a</a>`: `<a href="https://example.com/?a=1&amp;b=2#c" hreflang="de" rel="tag nofollow" target="_blank" title="A &#34;b&#34;">a</a>`,
		`<a href="mailto:a@example.com">a</a><a href="tel:+1">b</a><a href="/x?y:z">c</a><a href="">d</a>`:                          `<a href="mailto:a@example.com">a</a><a href="tel:+1">b</a><a href="/x?y:z">c</a><a>d</a>`,
		`<a href=" http://example.com/a b ">a</a>`:                                                                        `<a href="http://example.com/a b">a</a>`,
		`<img src="//example.com/a.png" alt="a<b" width=1 height=2 class="c d">`:                                          `<img alt="a&lt;b" class="c d" height="2" src="//example.com/a.png" width="1"/>`,
		`<img src="data:image/png;base64,iVBORw0KGgo=">`:                                                                  `<img src="data:image/png;base64,iVBORw0KGgo="/>`,
		`<img srcset="a.png, b.png 2x,c,d.png 3x" sizes="100vw">`:                                                         `<img sizes="100vw" srcset="a.png, b.png 2x, c,d.png 3x"/>`,
		`<picture><source srcset="a.webp" type="image/webp" media="(min-width:1px)"><img src=b></picture>`:                `<picture><source media="(min-width:1px)" srcset="a.webp" type="image/webp"/><img src="b"/></picture>`,
		`<video controls poster=p><source src=v type=video/mp4><track src=t kind=captions srclang=en></video>`:            `<video controls="controls" poster="p"><source src="v" type="video/mp4"/><track kind="captions" src="t" srclang="en"/></video>`,
		`<p style="color: red; TEXT-ALIGN:center;position:fixed;margin:0 auto;font-family:'Times New Roman',serif">a</p>`: `<p style="color: red; text-align: center; margin: 0 auto; font-family: &#39;Times New Roman&#39;,serif;">a</p>`,
		`<p style="background:url(x) #fff;padding:1.5em 10px">a</p>`:                                                      `<p style="background: #fff; padding: 1.5em 10px;">a</p>`,
		`<p style="padding:10000px;border:1px solid rgb(1,2,3)">a</p>`:                                                    `<p style="border: 1px solid rgb(1,2,3);">a</p>`,
		`<p dir=rtl lang=ar xml:lang=ar align=center>a</p>`:                                                               `<p align="center" dir="rtl" lang="ar" xml:lang="ar">a</p>`,
		`<ol start=3 reversed type=a><li value=9>a</ol>`:                                                                  `<ol reversed="reversed" start="3" type="a"><li value="9">a</li></ol>`,
		`<blockquote cite="http://example.com/">a</blockquote>`:                                                           `<blockquote cite="http://example.com/">a</blockquote>`,
		`<td colspan=2>a</td><table summary=s><tr><td colspan=2 background="b.png">a</table>`:                             `a<table summary="s"><tbody><tr><td background="b.png" colspan="2">a</td></tr></tbody></table>`,
		`<p class=a class=b title="x&#13;y&#10;z">a</p>`:                                                                  "<p class=\"a\" title=\"x&#13;y\nz\">a</p>",
		`<time datetime="2024-01-01">a</time><mark>b</mark><kbd>c</kbd><abbr title=d>e</abbr>`:                            `<time datetime="2024-01-01">a</time><mark>b</mark><kbd>c</kbd><abbr title="d">e</abbr>`,
	} {
		want = strings.ReplaceAll(want, "&#39;", "'")
		if got := HTML(in); got != want {
			t.Errorf("%s\n became %s\n want   %s", in, got, want)
		}
	}
}

func TestSVGLinksAreCheckedLikeHTMLLinks(t *testing.T) {
	t.Parallel()
	const open, end = `<svg xmlns="http://www.w3.org/2000/svg"><path></path>`, `</svg>`
	for in, want := range map[string]string{
		`<a xlink:href="https://a.example/?b&amp;c" onclick=d xlink:show=new>e</a>`: `<a xlink:href="https://a.example/?b&amp;c" xmlns:xlink="http://www.w3.org/1999/xlink">e</a>`,
		`<a href="https://a.example/" target=_blank rel="opener me">e</a>`:          `<a href="https://a.example/" rel="me" target="_blank">e</a>`,
		`<a href="b" xlink:href="javascript:c">e</a>`:                               `<a href="b">e</a>`,
		`<a href="javascript:b" xlink:href="c">e</a>`:                               `<a xlink:href="c" xmlns:xlink="http://www.w3.org/1999/xlink">e</a>`,
		`<a xlink:href="">e</a><a href="">f</a>`:                                    `<a>e</a><a>f</a>`,
		"<a xlink:href='java\tscript:b'>e</a>":                                      `<a>e</a>`,
		`<a xlink:href="data:image/svg+xml,b">e</a>`:                                `<a>e</a>`,
		`<a xmlns:xlink="javascript:b" xmlns:x="c" x:href="d">e</a>`:                `<a>e</a>`,
		`<text xlink:href="b" href="c">e</text>`:                                    `<text>e</text>`,
	} {
		if got := HTML("<svg><path/>" + in + "</svg>"); got != open+want+end {
			t.Errorf("%s\n became %s\n want   %s", in, got, open+want+end)
		}
	}
	z := New(Options{LinkRel: "nofollow"})
	const in, want = `<svg><path/><a xlink:href=b rel=me target=_blank>c</a></svg>`, open + `<a rel="nofollow" xlink:href="b" xmlns:xlink="http://www.w3.org/1999/xlink">c</a>` + end
	if got := z.HTML(in); got != want || z.HTML(got) != got {
		t.Errorf("%s\n became %s\n want   %s", in, got, want)
	}
}

func TestUnsafeLinksLoseTheirURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`<a href="javascript:x">a</a>`:                  `<a>a</a>`,
		`<a href="feed:vbscript:x">a</a>`:               `<a>a</a>`,
		`<a href="feed://example.com/">a</a>`:           `<a href="feed://example.com/">a</a>`,
		`<img src="javascript:x">`:                      `<img/>`,
		`<img srcset="a 1x, javascript:x 2x">`:          `<img/>`,
		"<img srcset='a 1x, b\tjavascript:x 2x, c 3y'>": `<img srcset="a 1x"/>`,
		`<q cite="data:text/html,x">a</q>`:              `<q>a</q>`,
	} {
		if got := HTML(in); got != want {
			t.Errorf("%s\n became %s\n want   %s", in, got, want)
		}
	}
}

func TestLinksHaveTheConfiguredRelAttribute(t *testing.T) {
	t.Parallel()
	z := New(Options{LinkRel: "nofollow noopener", NoClasses: true, NoStyles: true})
	for in, want := range map[string]string{
		`<a href=x target=_blank rel=opener>a</a>`:              `<a href="x" rel="nofollow noopener">a</a>`,
		`<a rel=me class=c style="color:red">a</a>`:             `<a>a</a>`,
		`<a href=javascript:x title=" href=">a</a>`:             `<a title=" href=">a</a>`,
		`<svg class=c><path d=M0 style="fill:red" /></svg><p>b`: `<svg xmlns="http://www.w3.org/2000/svg"><path d="M0"></path></svg><p>b</p>`,
	} {
		got := z.HTML(in)
		if got != want || z.HTML(got) != got {
			t.Errorf("%s\n became %s\n want   %s", in, got, want)
		}
	}
}
