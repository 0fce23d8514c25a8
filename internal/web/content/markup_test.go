package content

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"cloudburst/internal/sanitize"
)

func TestWithoutMediaRemovesMediaAndKeepsTheText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain & simple":            "plain & simple",
		`<p>a <em>b</em><br/>c</p>`: `<p>a <em>b</em><br/>c</p>`,
		`<img alt="A &#34;b&#34;" src="https://a.example/x.png?a=1&amp;b=2"/>`:                                `<a class="pic" href="https://a.example/x.png?a=1&amp;b=2" rel="nofollow noopener noreferrer ugc">Image: A &#34;b&#34;</a>`,
		`<img src="https://a.example/x.png?a=1&amp;b=2"/>`:                                                    `<a class="pic" href="https://a.example/x.png?a=1&amp;b=2" rel="nofollow noopener noreferrer ugc">Image: x.png</a>`,
		`<a href="/y"><img src="x.png"/></a>`:                                                                 `<a href="/y"><span>Image: x.png</span></a>`,
		`<img alt="dot" src="data:image/png;base64,iVBORw0KGgo="/>`:                                           `<img src="data:image/png;base64,iVBORw0KGgo=" alt="dot"/>`,
		`<picture><source srcset="a.webp"/><img src="b.png"/></picture>`:                                      `<a class="pic" href="b.png" rel="nofollow noopener noreferrer ugc">Image: b.png</a>`,
		`<video controls="controls" poster="p.png"><source src="v.mp4"/>no film</video>`:                      `<a class="pic" href="v.mp4" rel="nofollow noopener noreferrer ugc">File: v.mp4</a>no film`,
		`<audio src="s.mp3"></audio>`:                                                                         `<a class="pic" href="s.mp3" rel="nofollow noopener noreferrer ugc">Sound: s.mp3</a>`,
		`<h1>a</h1><h2>b</h2><h6>c</h6>`:                                                                      `<h3>a</h3><h4>b</h4><h6>c</h6>`,
		`<main><nav>a</nav></main>`:                                                                           `<div><div>a</div></div>`,
		`<table background="x.png"><tbody><tr><td background="y.png" colspan="2">a</td></tr></tbody></table>`: `<table><tbody><tr><td colspan="2">a</td></tr></tbody></table>`,
		`<a href="" rel="x">a</a>`:                                                                            `<a rel="x">a</a>`,
		`<time datetime="2020-01-01">then</time>`:                                                             `<time>then</time>`,
		`<svg viewBox="0 0 1 1"><path d="M0 0"></path></svg>`:                                                 `<svg viewBox="0 0 1 1"><path d="M0 0"></path></svg>`,
		"a < b <":                "a &lt; b &lt;",
		`<p title="never closed`: `&lt;p title="never closed`,
	} {
		if got := WithoutMedia(in); got != want {
			t.Errorf("%s\n became %s\n want   %s", in, got, want)
		}
	}
}

// FuzzRemoveMedia checks that the result of WithoutMedia for sanitized markup contains only elements,
// attributes and URLs that are allowed in a page.
func FuzzRemoveMedia(f *testing.F) {
	for _, s := range []string{`<img src="x" alt="y">`, `<a href=x><img src=y>`, `<picture><source srcset=a><img src=b>`, `<video src=a><source src=b></video>`, `<h1 id=a>b`,
		`<svg><image href=x></svg>`, `<math><mi>x</mi></math>`, `<td background=x>`, `<p title='">'>x`, `<main><p>x`} {
		f.Add(s)
	}
	clean := sanitize.New(sanitize.Options{LinkRel: "nofollow", NoClasses: true, NoStyles: true})
	f.Fuzz(func(t *testing.T, s string) {
		safe := clean.HTML(s)
		got := WithoutMedia(safe)
		if again := clean.HTML(got); sanitize.Text(again) != sanitize.Text(got) {
			t.Errorf("%q became %q, which has more in it than is safe: %q", s, got, again)
		}
		nodes, err := html.ParseFragment(strings.NewReader(got), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
		if err != nil {
			t.Fatal(err)
		}
		root := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
		for _, n := range nodes {
			root.AppendChild(n)
		}
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if slices.Contains([]string{"h1", "h2", "main", "nav", "header", "footer", "script", "style", "iframe", "audio", "video", "source", "picture"}, n.Data) {
				t.Errorf("%q became %q with <%s>", s, got, n.Data)
			}
			for _, a := range n.Attr {
				switch {
				case strings.HasPrefix(a.Key, "on"), slices.Contains([]string{"style", "id", "srcset", "background", "poster"}, a.Key),
					a.Key == "src" && !strings.HasPrefix(strings.ToLower(a.Val), "data:"), a.Key == "class" && a.Val != "pic":
					t.Errorf("%q became %q with %s=%q", s, got, a.Key, a.Val)
				case a.Key == "href" && strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:"):
					t.Errorf("%q leads to %q", s, a.Val)
				}
			}
		}
	})
}
