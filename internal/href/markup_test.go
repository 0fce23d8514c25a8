package href

import (
	"strings"
	"testing"
)

func TestTextLooksLikeHTMLOnlyWithEndTagOrEntity(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"": false, "plain": false, "1 < 2": false, "a & b": false, "AT&T": false, "<": false, "&": false,
		"<b>bold</b>": true, "<B>bold</B>": true, "a</p>": true, "</p >": false, "<p>": false, "<br/>": false,
		"caf&eacute;": true, "&#233;": true, "&#xE9;": true, "&amp;": true, "it&apos;s": true, "&hellip;": true,
		"&CounterClockwiseContourIntegral;": true,
		"&nosuch;":                          false, "&notit;": false, "&" + strings.Repeat("a", 40) + ";": false, "&;": false,
		"<b>x</b> &nosuch;": false, "&amp; <blink>": false, "<script></script>": false, "<b>x</b><title>y</title>": false,
		"How to use the <title> tag</p>": false, "vector<int> &amp; co": false, "Jane <jane@example.com></b>": false,
		"<h1>x</h1>": true, "<h7>x</h7>": false, "<blockquotes></b>": false, "<é></b>": false, "<“></b>": true,
		"<mark>x</mark>": true, "a<3</b>": false, "x &lt;3": true, "R&D; more": false, "&amp": false,
	} {
		if got := LooksLikeHTML(s); got != want {
			t.Errorf("%q: HTML %v, want %v", s, got, want)
		}
	}
}

func TestRelativeURLsInMarkupBecomeAbsolute(t *testing.T) {
	t.Parallel()
	b := New("http://example.com/a/b?x=1&y=2")
	for s, want := range map[string]string{
		`<a href="c">`:                       `<a href="http://example.com/a/c">`,
		`<a href='c'>`:                       `<a href='http://example.com/a/c'>`,
		`<img data-src="c" DATA-original=c>`: `<img data-src="http://example.com/a/c" DATA-original="http://example.com/a/c">`,
		`<a href=c>`:                         `<a href="http://example.com/a/c">`,
		`<a href=/c/>x`:                      `<a href="http://example.com/c/">x`,
		`<A HREF = "c" >`:                    `<A HREF = "http://example.com/a/c" >`,
		"<a\nhref\n=\n'c'\n>":                "<a\nhref\n=\n'http://example.com/a/c'\n>",
		`<a title="href=c" href="../c">`:     `<a title="href=c" href="http://example.com/c">`,
		`<a title=">" href="c"/>`:            `<a title=">" href="http://example.com/a/c"/>`,
		`<a b=">" c href="c">`:               `<a b=">" c href="http://example.com/a/c">`,
		`<a/href="c">`:                       `<a/href="http://example.com/a/c">`,
		`<a href="">`:                        `<a href="http://example.com/a/b?x=1&amp;y=2">`,
		`<a href="#f">`:                      `<a href="http://example.com/a/b?x=1&amp;y=2#f">`,
		`<a href=" c&amp;d&copy=e ">`:        `<a href="http://example.com/a/c&amp;d&amp;copy=e">`,
		`<a href="&#47;c&quot;">`:            `<a href="http://example.com/c&#34;">`,
		`<a href="c&#1;d&#xFFFE;">`:          `<a href="http://example.com/a/c%01d%EF%BF%BE">`,
		`<a href='c"&#39;'>`:                 `<a href='http://example.com/a/c"&#39;'>`,
		`<a href="//h/c">`:                   `<a href="http://h/c">`,
		`<a href="http:///h/c">`:             `<a href="http://h/c">`,
		`<img src=i.png alt=x>`:              `<img src="http://example.com/a/i.png" alt=x>`,
		`<img usemap="#m" longdesc="d">`:     `<img usemap="http://example.com/a/b?x=1&amp;y=2#m" longdesc="http://example.com/a/d">`,
		`<img srcset="a 1x, b,c 2x, http://h/d (,) 3x,/e">`:   `<img srcset="http://example.com/a/a 1x, http://example.com/a/b,c 2x, http://h/d (,) 3x,http://example.com/e">`,
		`<img srcset=",a,, b,">`:                              `<img srcset=",http://example.com/a/a,, http://example.com/a/b,">`,
		`<video poster=p><source src=s><track src=t></video>`: `<video poster="http://example.com/a/p"><source src="http://example.com/a/s"><track src="http://example.com/a/t"></video>`,
		`<blockquote cite=c>`:                                 `<blockquote cite="http://example.com/a/c">`,
		`<object data=d>`:                                     `<object data="http://example.com/a/d">`,
		`<form action="?q">`:                                  `<form action="http://example.com/a/b?q">`,
		`<input formaction=f>`:                                `<input formaction="http://example.com/a/f">`,
		`<table background=b>`:                                `<table background="http://example.com/a/b">`,
		`<script src="s"></script>`:                           `<script src="http://example.com/a/s"></script>`,
		`<image xlink:href="i"/>`:                             `<image xlink:href="http://example.com/a/i"/>`,
		`<<a href=c>`:                                         `<<a href="http://example.com/a/c">`,
		`</ <a href=c>`:                                       `</ <a href="http://example.com/a/c">`,
		`a < b <a href=c>`:                                    `a < b <a href="http://example.com/a/c">`,
		`<!x><a href=c>`:                                      `<!x><a href="http://example.com/a/c">`,
		`<?x?><a href=c>`:                                     `<?x?><a href="http://example.com/a/c">`,
		`<!-- <a href=c> --><a href=c>`:                       `<!-- <a href=c> --><a href="http://example.com/a/c">`,
		`<!-- <a href=c> --!><a href=c>`:                      `<!-- <a href=c> --!><a href="http://example.com/a/c">`,
		`<!--><a href=c>-->`:                                  `<!--><a href="http://example.com/a/c">-->`,
		`<!---><a href=c>-->`:                                 `<!---><a href="http://example.com/a/c">-->`,
		`<!------><a href=c>`:                                 `<!------><a href="http://example.com/a/c">`,
		`<![CDATA[<a href=c>]]><a href=c>`:                    `<![CDATA[<a href=c>]]><a href="http://example.com/a/c">`,
		`<![CDATA[<b><a href=c>`:                              `<![CDATA[<b><a href="http://example.com/a/c">`,
		`<style>a<a href=c></style ><a href=c>`:               `<style>a<a href=c></style ><a href="http://example.com/a/c">`,
		`<SCRIPT>'</scripts><a href=c>'</Script><a href=c>`:   `<SCRIPT>'</scripts><a href=c>'</Script><a href="http://example.com/a/c">`,
	} {
		if got := HTML(s, b); got != want {
			t.Errorf("%s\n became %s\n want   %s", s, got, want)
		}
	}
}

func TestMarkupWithoutRelativeURLsIsUnchanged(t *testing.T) {
	t.Parallel()
	b := New("http://example.com/a/b")
	for _, s := range []string{
		"", "text", "a = b", `<a href="http://h/x y">`, `<a href='https://h/?a=1&b=2'>`, `<a href="HTTP://h">`,
		`<a href="mailto:a@b">`, `<a href="javascript:x">`, `<a href="&#106;avascript:x">`, `<img src="data:image/png;base64,AA==">`,
		`<a name="c">`, `<p href="c">`, `<b src=c>`, `<div title="<a href='c'>">`, `<use href="#g"/>`, `<image xlink:href="#g"/>`,
		`<a href="c`, `<a href='c">`, `<a href=c`, `<a href=`, `<a href`, `<a `, `<a`, `<`, `<!`, `<!--`, `<!-- <a href=c>`, `<?`,
		`<script><a href=c>`, `<textarea><a href="c"></textarea>`, `<title><a href="c"></title>`, `<a href>`, `<img srcset="http://h/a 2x, https://h/b">`,
		`&lt;a href="c"&gt;`, `<object classid="clsid:1">`, `<a data-href="c">`, "<img srcset='c,\x13 2x'>", `<superlongelementname href="c">`, `</a href="c">`,
	} {
		if got := HTML(s, b); got != s {
			t.Errorf("%s\n became %s", s, got)
		}
		if got := HTML(s, nil); got != s {
			t.Errorf("without a base, %s\n became %s", s, got)
		}
	}
	if got := HTML(`<a href="c">`, New("/a/")); got != `<a href="c">` {
		t.Errorf("on a base that is not a complete URL: %s", got)
	}
}

func TestMarkupWithoutRelativeURLsIsNotCopied(t *testing.T) {
	b := New("http://example.com/a/b")
	s := ordinaryHTML(1 << 14)
	if n := testing.AllocsPerRun(10, func() { HTML(s, b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSizeOfResolvedMarkupIsBounded(t *testing.T) {
	t.Parallel()
	b := New("http://example.com/" + strings.Repeat("x", maxBase-20) + "/")
	for name, s := range map[string]string{
		"many links":    strings.Repeat("<a href=c>", 1<<14),
		"a long srcset": `<img srcset="` + strings.Repeat("a,b ", 1<<14) + `">`,
		"many commas":   `<img srcset="` + strings.Repeat("a, ", 1<<14) + `">`,
	} {
		if got := HTML(s, b); len(got) > 10*len(s)+1<<17 {
			t.Errorf("%s: %d bytes became %d", name, len(s), len(got))
		}
	}
}

// ordinaryHTML returns at least n bytes of typical post markup with absolute links.
func ordinaryHTML(n int) string {
	const post = `<p>The bridge over the <a href="https://example.org/rivers/ems?lang=en&amp;map=1" title="A river">Ems</a> ` +
		`is closed until the end of the week, says the <em>council</em>, and nobody knows for certain what comes after that.</p>
<p class="photo"><img src="https://img.example.org/2024/05/bridge-1024.jpg" alt="The bridge" width="1024" height="683" /></p>
<ul><li>By car: take the road along the dyke.</li><li>On foot: wait for the ferry, which goes every half hour.</li></ul>
<blockquote>&#8220;We had hoped for an earlier date&#8221;, said the engineer in charge.</blockquote>
`
	return strings.Repeat(post, n/len(post)+1)
}

func BenchmarkResolveHTML(b *testing.B) {
	on := New("https://example.com/a/b")
	abs := ordinaryHTML(1 << 16)
	for name, s := range map[string]string{
		"absolute": abs,
		"relative": strings.NewReplacer("https://example.org", "", "https://img.example.org/", "").Replace(abs),
		"text":     strings.Repeat("Words without any markup, and that for long. ", 1500),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				HTML(s, on)
			}
		})
	}
}

func FuzzHTML(f *testing.F) {
	f.Add("http://example.com/a/b", `<a href="c"><img srcset="a 1x, b"><!-- x --><script>x</script>`)
	f.Add("http://example.com/a, b/?\"'<&", `<img srcset=a,b><a href='"&amp;'>`)
	f.Fuzz(func(t *testing.T, on, s string) {
		b := New(on)
		LooksLikeHTML(s)
		got := HTML(s, b)
		if len(got) > 5*(9*len(s)+1<<16+maxBase) {
			t.Fatalf("%d bytes became %d", len(s), len(got))
		}
		if again := HTML(got, b); again != got {
			t.Fatalf("%q on %q\n once  %q\n twice %q", s, on, got, again)
		}
		other := New("https://other.example/x/y")
		if from := FirstRelative(s, b); from >= 0 {
			resolved, differs := HTMLFrom(s, from, b, other)
			if resolved != got {
				t.Fatalf("%q on %q\n resolved            %q\n from the first tag  %q", s, on, got, resolved)
			}
			if differs < 0 && got != s && HTML(s, other) != got {
				t.Fatalf("%q on %q: no reference is said to differ on %s", s, on, other)
			}
		} else if got != s {
			t.Fatalf("%q on %q has a relative reference", s, on)
		}
	})
}

func TestFirstReferenceThatDiffersIsFound(t *testing.T) {
	page, feed := New("https://example.com/posts/1/"), New("https://example.com/feed")
	for _, c := range []struct{ s, rest string }{
		{`<p>text</p>`, ""},
		{`<a href="/tag/x">same</a>`, ""},
		{`<a href="https://example.com/z">absolute</a>`, ""},
		{`<a href="/tag/x">same</a><img src="i.png">`, `https://example.com/posts/1/i.png">`},
		{`<a href=/tag/x>same</a><img src=i.png>`, `https://example.com/posts/1/i.png">`},
		{`<img srcset="/a 1x, b 2x">`, `https://example.com/a 1x, https://example.com/posts/1/b 2x">`},
	} {
		from := max(0, FirstRelative(c.s, feed))
		resolved, differs := HTMLFrom(c.s, from, page, feed)
		if resolved != HTML(c.s, page) {
			t.Errorf("%s becomes %s", c.s, resolved)
		}
		if c.rest == "" && differs >= 0 || c.rest != "" && (differs < 0 || resolved[differs:] != c.rest) {
			t.Errorf("%s: a difference at %d of %s, want %s", c.s, differs, resolved, c.rest)
		}
	}
}
