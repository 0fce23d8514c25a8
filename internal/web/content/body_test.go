package content

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"cloudburst/internal/sanitize"
)

func rendered(images string) *BodyRenderer {
	return &BodyRenderer{clean: sanitize.New(sanitize.Options{LinkRel: "nofollow noopener noreferrer ugc", NoClasses: true, NoStyles: true}), images: images, proxy: func(u string) string { return "/river/image?u=" + u },
		size: func(u string) (width, height string) {
			switch u {
			case "https://a.example/known.png":
				return "40", "30"
			case "https://a.example/dot.png":
				return "1", "1"
			}
			return "", ""
		}}
}

func TestItemBodiesAreRenderedForTheRiver(t *testing.T) {
	t.Parallel()
	const rel = ` rel="nofollow noopener noreferrer ugc"`
	const img = ` loading="lazy" decoding="async" referrerpolicy="no-referrer"/>`
	for _, c := range []struct{ images, in, want string }{
		{ImagesProxy, "<p>One</p>", "<p>One</p>"},
		{ImagesProxy, `<h1 id="main" class="bar">Big</h1><main>x</main>`, "<h3>Big</h3><div>x</div>"},
		{ImagesProxy, `<h2>a</h2><h5>b</h5><h6>c</h6><h1>d</h1><h4>e</h4>`, "<h3>a</h3><h4>b</h4><h5>c</h5><h3>d</h3><h4>e</h4>"},
		{ImagesProxy, `<h6>a</h6><h1>b</h1>`, "<h3>a</h3><h3>b</h3>"},
		{ImagesProxy, `<img src="https://a.example/x.png?a=1&amp;b=2" alt="A &quot;cat&quot;" width="10" height="20" srcset="https://a.example/y.png 2x">`, `<img src="/river/image?u=https://a.example/x.png?a=1&amp;b=2" alt="A &#34;cat&#34;" width="10" height="20"` + img},
		{ImagesDirect, `<img src="https://a.example/x.png" width="100%">`, `<img src="https://a.example/x.png" alt="" class="unsized"` + img},
		{ImagesProxy, `<img src="https://a.example/known.png" width="7">`, `<img src="/river/image?u=https://a.example/known.png" alt="" width="40" height="30"` + img},
		{ImagesProxy, `<img src="https://a.example/dot.png">`, ""},
		{ImagesProxy, `<img src="https://a.example/smile.png" alt="😀">`, `<img src="/river/image?u=https://a.example/smile.png" alt="😀" class="emoji"` + img},
		{ImagesProxy, `<img src="data:image/gif;base64,R0lGODlhCgAUAIAAAAAAAP///ywAAAAACgAUAAACCoSPqcvtD6OcTQoAOw==">`, `<img src="data:image/gif;base64,R0lGODlhCgAUAIAAAAAAAP///ywAAAAACgAUAAACCoSPqcvtD6OcTQoAOw==" alt="" width="10" height="20"` + img},
		{ImagesOff, `<img src="https://a.example/cat.png" alt="A cat">`, `<a class="pic" href="https://a.example/cat.png"` + rel + `>Image: A cat</a>`},
		{ImagesOff, `<a href="https://b.example/"><img src="https://a.example/cat.png"></a>`, `<a href="https://b.example/"` + rel + `><span>Image: cat.png</span></a>`},
		{ImagesProxy, `<img src="https://count.example/p.gif" width="1" height="1">`, ""},
		{ImagesProxy, `<img src="/relative.png"><img src="cid:x">`, ""},
		{ImagesProxy, `<picture><source srcset="https://a.example/x.avif"><img src="https://a.example/x.png"></picture>`, `<img src="/river/image?u=https://a.example/x.png" alt="" class="unsized"` + img},
		{ImagesProxy, `<video src="https://a.example/film.mp4" poster="https://a.example/p.jpg" autoplay controls>No film?</video>`, `<a class="play" data-kind="video" href="https://a.example/film.mp4"` + rel + `>Film: film.mp4</a> `},
		{ImagesProxy, `<audio controls><source src="https://a.example/a.ogg"><source src="https://a.example/a.mp3">Nothing plays.</audio>`, `<a class="play" data-kind="audio" href="https://a.example/a.ogg"` + rel + `>Sound: a.ogg</a> `},
	} {
		if got := string(rendered(c.images).Render(c.in, false).HTML); got != c.want {
			t.Errorf("%s of %s\n got %s\nwant %s", c.images, c.in, got, c.want)
		}
	}
}

func TestLongItemTextsAreTruncatedAfterAParagraph(t *testing.T) {
	t.Parallel()
	d := rendered(ImagesOff)
	words := strings.Repeat("some words of an ordinary text ", 12) // words has 372 characters
	three := "<p>" + words + "</p>"
	for _, c := range []struct {
		name, in string
		cut      bool
		ends     string
	}{
		{"short", three + three + three, false, "</p>"},
		{"four", three + three + three + three, true, "</p>"},
		{"in a list", "<ul><li>" + words + "</li><li>" + words + "</li><li>" + words + "</li><li>" + words + "</li></ul>", true, "</li></ul>"},
		{"one paragraph", "<blockquote><p>" + strings.Repeat(words, 6) + "</p></blockquote>", true, "…</p></blockquote>"},
		{"many images", strings.Repeat(`<p><img src="https://a.example/x.png"></p>`, 20), true, "</p>"},
		{"no markup", strings.Repeat(words, 6), true, "…"},
		{"much markup", strings.Repeat("<p><b></b></p>", 4000), true, "</p>"},
	} {
		got := d.Render(c.in, false)
		if got.Cut != c.cut || !strings.HasSuffix(string(got.HTML), c.ends) {
			t.Errorf("%s: cut %v, ends %q", c.name, got.Cut, lastOf(string(got.HTML), 40))
		}
		if whole := d.Render(c.in, true); whole.Cut || len(whole.HTML) < len(got.HTML) {
			t.Errorf("%s: the whole is cut", c.name)
		}
	}
	if huge := d.Render(strings.Repeat("<p>"+words+"</p>", 5000), true); !strings.HasPrefix(string(huge.HTML), "<p>some words") || huge.Cut {
		t.Error("of what is too long, the words are shown")
	}
}

func lastOf(s string, n int) string { return s[max(0, len(s)-n):] }

// tame fails the test if s contains markup that could load a resource, run a script, or imitate a part of
// the page around s.
func tame(t *testing.T, s string) {
	t.Helper()
	nodes, err := html.ParseFragment(strings.NewReader(s), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		for d := range n.Descendants() {
			tameNode(t, d)
		}
		tameNode(t, n)
	}
}

func tameNode(t *testing.T, n *html.Node) {
	t.Helper()
	if n.Type != html.ElementNode {
		return
	}
	switch n.Data {
	case "script", "style", "iframe", "object", "embed", "form", "input", "button", "link", "meta", "base", "audio", "video", "source", "article", "main", "dialog", "template", "textarea", "select", "frame", "applet", "portal", "noscript":
		if n.Data != "article" || n.Parent == nil {
			t.Errorf("<%s> is in the text of an item", n.Data)
		}
	}
	for _, a := range n.Attr {
		value := strings.ToLower(strings.TrimLeft(a.Val, " \t\n\x00"))
		switch {
		case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcset", a.Key == "formaction", a.Key == "id", a.Key == "ping":
			t.Errorf("<%s> has %s=%q", n.Data, a.Key, a.Val)
		case a.Key == "src" && !strings.HasPrefix(value, "/river/image?") && !strings.HasPrefix(value, "data:image/"):
			t.Errorf("<%s> loads %q", n.Data, a.Val)
		case strings.Contains(value, "javascript:") && a.Key != "alt" && a.Key != "title", a.Key != "src" && strings.HasPrefix(value, "data:"), strings.HasPrefix(value, "vbscript:"):
			t.Errorf("<%s> has %s=%q", n.Data, a.Key, a.Val)
		case a.Key == "class" && a.Val == "sr" && n.Data == "span" && n.Parent != nil && n.Parent.Data == "a": // the URL of a link without text
		case a.Key == "class" && a.Val != "pic" && a.Val != "play":
			t.Errorf("<%s> has class %q", n.Data, a.Val)
		}
	}
}

func FuzzRenderBody(f *testing.F) {
	for _, s := range []string{"<p>One</p>", longPost, "<table><tr><td>x", `<svg><a xlink:href="javascript:1"><text>x</text></a></svg>`, "<math><mi>x</mi></math>", "&lt;script&gt;", "<a href=0>", `<video><source src="https://a/b"></video>`, "<ul><li>" + strings.Repeat("x ", 900)} {
		for _, whole := range []bool{false, true} {
			f.Add(s, whole)
		}
	}
	d := rendered(ImagesProxy)
	f.Fuzz(func(t *testing.T, s string, whole bool) {
		got := string(d.Render(s, whole).HTML)
		if !utf8.ValidString(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		tame(t, got)
		// The output must be balanced, so that it cannot close the elements around it.
		doc, err := html.Parse(strings.NewReader(`<div id="around">` + got + `</div><p id="after">`))
		if err != nil {
			t.Fatal(err)
		}
		for n := range doc.Descendants() {
			if n.Type == html.ElementNode && attr(n, "id") == "after" && n.Parent.Data != "body" {
				t.Errorf("it breaks out: %s", got)
			}
		}
		if !whole && weight(got) > maxExcerpt+maxWholeItem+2*imageWeight+20 {
			t.Errorf("%d characters are left of a long text", weight(got))
		}
	})
}

func BenchmarkRenderBody(b *testing.B) {
	d := rendered(ImagesProxy)
	for _, n := range []int{1, 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := sanitize.HTML(strings.Repeat(longPost, n))
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				_ = d.Render(s, false)
			}
		})
	}
}

const longPost = `<p>A hub is a small thing. Whoever writes a feed tells it that something changed, it looks, and if something did change it tells everybody who asked. Nobody polls, or almost nobody; and news is there when it happens, not when somebody next thought of asking for it.</p>
<p>We had this in 2001. It worked then, over modems, with a few hundred lines of code, and it works now. What was missing was not a better protocol but patience: somebody had to keep such a server running, renew what had to be renewed, and not give up when half of the callbacks were dead on a Monday morning.</p>
<blockquote><p>The best way to make something that lasts is to make something so simple that there is nothing in it to replace.</p></blockquote>
<p>So here is the plan for this winter. First the feeds: every format there ever was, read as kindly as we can. Then the river: the newest on top, whole texts where they are short, and nothing that moves while you read it.</p>
<h2>What it is not</h2><p>It is not a machine that decides what is good for you. What arrives is shown in the order in which it arrives. If that is too much, follow fewer feeds; that was always the answer, and it still is.</p>
<ul><li>No algorithm.</li><li>No counts, unless you want them.</li><li>No picture is loaded from anywhere but here.</li></ul><p>More when there is more to say. There is a <a href="https://example.org/plan">longer plan</a>, with numbers, for those who like numbers.</p>`

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
