package web

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"cloudburst/internal/river"
	"cloudburst/internal/web/content"
)

// attacks lists hostile values for fields with and without markup.
func attacks() []string {
	const run = "alert(document.domain)"
	return []string{
		"<script>" + run + "</script>", "<ScRiPt src=//evil.example/x.js></sCrIpT>", `"><script>` + run + "</script>", `'><script>` + run + "</script>", "</title><script>" + run + "</script>",
		"</textarea><script>" + run + "</script>", "--><script>" + run + "</script>", "]]><script>" + run + "</script>", "</article></div></main><script>" + run + "</script>",
		"<img src=x onerror=" + run + ">", "<img/src='x'/onerror=" + run + ">", `<img src="x" onerror="` + run + `"`, "<svg onload=" + run + ">", "<svg/onload=" + run + ">", "<svg><script>" + run + "</script></svg>",
		"<svg><animate onbegin=" + run + " attributeName=x dur=1s>", `<svg><a xlink:href="javascript:` + run + `"><text x=1 y=1>x</text></a></svg>`, `<svg><use href="data:image/svg+xml,<svg id=x onload=1>#x"/></svg>`,
		`<svg><foreignObject><body onload=` + run + `></foreignObject></svg>`, `<math><mtext><table><mglyph><style><img src=x onerror=` + run + `>`, `<math><a xlink:href="javascript:` + run + `">x</a></math>`,
		`<a href="javascript:` + run + `">x</a>`, `<a href="JaVaScRiPt:` + run + `">x</a>`, "<a href=\"java\nscript:" + run + "\">x</a>", "<a href=\" &#14; javascript:" + run + "\">x</a>", `<a href="&#106;avascript:` + run + `">x</a>`,
		`<a href="data:text/html,<script>` + run + `</script>">x</a>`, `<a href="vbscript:msgbox(1)">x</a>`, `<a href="blob:https://x/y">x</a>`, "javascript:" + run, "java\tscript:" + run, "data:text/html;base64,PHNjcmlwdD4=",
		`<iframe src="javascript:` + run + `"></iframe>`, `<iframe srcdoc="<script>` + run + `</script>"></iframe>`, `<object data="javascript:` + run + `"></object>`, `<embed src="javascript:` + run + `">`,
		`<form action="javascript:` + run + `"><button>x</button></form>`, `<button form="marks" name="star" value="1">x</button>`, `<input form="marks" name="star" value="1">`, `<isindex action=javascript:` + run + `>`,
		`<base href="https://evil.example/">`, `<meta http-equiv="refresh" content="0;url=javascript:` + run + `">`, `<link rel=stylesheet href=//evil.example/x.css>`, `<style>@import "//evil.example/x.css";*{color:red}</style>`,
		`<div style="background:url(javascript:` + run + `)">x</div>`, `<div style="position:fixed;inset:0;z-index:99">x</div>`, `<p id="marks" class="skip" onclick="` + run + `">x</p>`, `<p id="pill">x</p>`,
		`<video src=x onerror=` + run + ` autoplay></video>`, `<audio src="javascript:` + run + `" autoplay></audio>`, `<video><source onerror=` + run + `></video>`, `<details open ontoggle=` + run + `>x</details>`, `<marquee onstart=` + run + `>x</marquee>`,
		`<body onload=` + run + `>`, `<select autofocus onfocus=` + run + `>`, `<template><script>` + run + `</script></template>`, `<noscript><p title="</noscript><img src=x onerror=` + run + `>">`, `<xmp><img src=x onerror=` + run + `></xmp>`,
		`<plaintext>`, `<!--`, `<![CDATA[<script>` + run + `</script>]]>`, `<?xml version="1.0"?><script>` + run + `</script>`, "<scr\x00ipt>" + run + "</scr\x00ipt>", "\u003cscript\u003e" + run, "+ADw-script+AD4-" + run,
		`{{.}}`, "{{template \"nothing\" .}}", "\u202e\u2066evil\u202c", strings.Repeat("<div>", 3000), strings.Repeat("<b><i>", 2000) + "x", "x\xff\xfe\x00y", "<a href='//evil.example' target=_top ping=//evil.example>x</a>",
		`<portal src="https://evil.example"></portal>`, `<dialog open>x</dialog>`, `<image src=x onerror=` + run + `>`, `<table background="javascript:` + run + `"><tr><td background="javascript:` + run + `">x</table>`, `<img src="https://a.example/x.png" usemap="#m"><map name=m><area href="javascript:` + run + `" shape=default></map>`,
	}
}

func TestHostileItemsAreEscapedOnEveryPage(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	b := newFakeRiver(func() time.Time { return x.fake.now })
	x.River, x.Arrivals, x.Images, x.Remote, x.ImageKey = b, b.Listen, content.ImagesProxy, &fakeImages{}, []byte("0123456789abcdef0123456789abcdef")
	x.pages = x.Routes()
	x.as("alice")
	evil := attacks()
	if len(evil) < 60 {
		t.Fatalf("only %d attacks", len(evil))
	}
	for i, s := range evil {
		src := b.follow("alice", river.Source{URL: fmt.Sprintf("https://evil.example/%d", i), About: river.About{Title: s, Description: s, Home: s, Icon: s}}, s)
		_ = b.PutCategory(t.Context(), "alice", s, true)
		c := river.Content{Title: s, Link: s, HTML: s, Text: s, Language: s, Authors: []string{s}, Categories: []string{s}, Image: s, Comments: s, InReplyTo: s, Via: s, More: true,
			Enclosures: []river.Enclosure{{URL: s, Type: s, Title: s}, {URL: "https://evil.example/" + s, Type: "audio/" + s, Title: s}, {URL: "https://evil.example/x.mp3?" + s, Type: "image/png", Title: s}}}
		c.Nested = []river.Content{c, {Title: s}, {HTML: s}}
		untitled := c
		untitled.Title, untitled.Nested = "", nil
		b.arrive(river.Item{SourceID: src.SourceID, GUID: s, Content: c}, river.Item{SourceID: src.SourceID, GUID: s + "2", Content: untitled, EditedAt: b.now(), WithdrawnAt: b.now()})
	}
	seen := 0
	for path := "/river"; path != ""; {
		doc := harmless(t, x.open(path))
		path = ""
		for _, a := range find(doc, "a", "") {
			if attr(a, "rel") == "next" {
				path = attr(a, "href")
			}
		}
		seen += len(find(doc, "article", "item"))
	}
	if seen != 2*len(evil) {
		t.Errorf("%d items are shown, not %d", seen, 2*len(evil))
	}
	for _, it := range b.items[:20] {
		harmless(t, x.open(fmt.Sprintf("/river/item/%d", it.ID)))
	}
	for _, s := range evil[:20] {
		harmless(t, x.open("/river?category="+url.QueryEscape(s)+"&q="+url.QueryEscape(s)))
	}
	harmless(t, x.open("/rivers/alice"))
}

// harmless runs check. It also fails the test if the page contains markup of a feed that could run a
// script, load a resource, or imitate a part of the page.
func harmless(t *testing.T, rec *httptest.ResponseRecorder) *html.Node {
	t.Helper()
	doc := check(t, rec)
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script":
			if !strings.HasPrefix(attr(n, "src"), "/static/") {
				t.Errorf("<script src=%q>", attr(n, "src"))
			}
		case "link":
			if !strings.HasPrefix(attr(n, "href"), "/") {
				t.Errorf("<link href=%q>", attr(n, "href"))
			}
		case "iframe", "object", "embed", "base", "style", "audio", "video", "source", "frame", "applet", "template", "plaintext", "xmp":
			t.Errorf("<%s> is on the page", n.Data)
		case "form", "button", "input", "dialog":
			for p := n.Parent; p != nil; p = p.Parent {
				if p.Type == html.ElementNode && strings.Contains(attr(p, "class"), "e-content") {
					t.Errorf("<%s> is in the text of an item", n.Data)
				}
			}
		case "img":
			if src := attr(n, "src"); !strings.HasPrefix(src, "/river/image?") && !strings.HasPrefix(src, "data:image/") {
				t.Errorf("<img src=%q>", src)
			}
		}
		if href := strings.ToLower(attr(n, "href")); href != "" && n.Data != "link" && !strings.HasPrefix(href, "/") && !strings.HasPrefix(href, "#") && !strings.HasPrefix(href, "http://") && !strings.HasPrefix(href, "https://") && !strings.HasPrefix(href, "mailto:") {
			t.Errorf("<%s href=%q>", n.Data, attr(n, "href"))
		}
	}
	return doc
}
