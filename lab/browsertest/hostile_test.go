package browsertest

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"cloudburst/client"
)

// payload is the script that every attack tries to run.
const payload = `window.__pwned=1;alert(document.domain);fetch('CANARY/fetch')`

// attacks returns texts for fields. Each text tries to run a script in the browser, or to load a
// resource from the server CANARY.
func attacks(canary string) []string {
	attr := html.EscapeString(payload)
	list := []string{
		// These elements run scripts.
		`<script>` + payload + `</script>`, `<ScRiPt src=CANARY/x.js></sCrIpT>`, `<script type=module src=CANARY/m.js></script>`, `<script/src='CANARY/s.js'></script>`, `<<script>` + payload + `//<</script>`, `<script>` + payload,
		`</title><script>` + payload + `</script>`, `</textarea><script>` + payload + `</script>`, `--><script>` + payload + `</script>`, `]]><script>` + payload + `</script>`, `</article></div></main></body></html><script>` + payload + `</script>`, `</style></script><script>` + payload + `</script>`,
		`<iframe src="javascript:parent.__pwned=1"></iframe>`, `<iframe srcdoc="&lt;script&gt;parent.__pwned=1&lt;/script&gt;"></iframe>`, `<iframe src="CANARY/frame"></iframe>`, `<frameset onload="` + attr + `"><frame src="CANARY/f"></frameset>`,
		`<object data="javascript:` + attr + `"></object>`, `<object data="CANARY/o" type="text/html"></object>`, `<embed src="CANARY/e" type="text/html">`, `<applet code=x codebase=CANARY/></applet>`, `<portal src="CANARY/p"></portal>`, `<fencedframe></fencedframe>`,
		// These attributes are event handlers.
		`<img src=x onerror="` + attr + `">`, `<img/src='x'/onerror='` + strings.ReplaceAll(attr, "'", "&#39;") + `'>`, `<img src="x" onerror="` + attr + `"`, "<img src=x\tonerror\n=\r\"" + attr + "\">", `<img """><script>` + payload + `</script>">`, `<img src=x:x onerror&#61;"` + attr + `">`, `<image src=x onerror="` + attr + `">`,
		`<body onload="` + attr + `">`, `<svg onload="` + attr + `">`, `<svg/onload="` + attr + `">`, `<details open ontoggle="` + attr + `">x</details>`, `<video src=x onerror="` + attr + `" autoplay></video>`, `<audio src="CANARY/a.mp3" autoplay onplay="` + attr + `"></audio>`, `<video><source onerror="` + attr + `"></video>`,
		`<select autofocus onfocus="` + attr + `"></select>`, `<input autofocus onfocus="` + attr + `">`, `<p tabindex=0 autofocus onfocus="` + attr + `">x</p>`, `<marquee onstart="` + attr + `">x</marquee>`, `<p onmouseover="` + attr + `" onclick="` + attr + `" onpointerdown="` + attr + `">x</p>`, `<a onbeforetoggle="` + attr + `" popover id=zz>x</a><button popovertarget=zz>y</button>`,
		`<style>@keyframes z{}</style><p style="animation-name:z" onanimationstart="` + attr + `">x</p>`, `<xss oncontentvisibilityautostatechange="` + attr + `" style="display:block;content-visibility:auto">`, `<p id=x tabindex=1 onfocusin="` + attr + `">x</p>`, `<form onformdata="` + attr + `"><button>x</button></form>`,
		// These attacks use SVG and MathML.
		`<svg><script>` + payload + `</script></svg>`, `<svg><script href="CANARY/svg.js"/></svg>`, `<svg><animate onbegin="` + attr + `" attributeName=x dur=1s></svg>`, `<svg><a xlink:href="javascript:` + attr + `"><text y=20>x</text></a></svg>`, `<svg><a><animate attributeName=href values="javascript:` + attr + `"/><text y=20>x</text></a></svg>`, `<svg><set attributeName=onmouseover to="` + attr + `"/></svg>`,
		`<svg><use href="data:image/svg+xml,<svg id=x xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>#x"/></svg>`, `<svg><use href="CANARY/u.svg#x"/></svg>`, `<svg><image href="CANARY/i.png"/></svg>`, `<svg><feImage href="CANARY/fe.png"/></svg>`, `<svg><foreignObject><body onload="` + attr + `"></body></foreignObject></svg>`, `<svg><style>@import "CANARY/svg.css";*{fill:red}</style></svg>`,
		`<math><a xlink:href="javascript:` + attr + `">x</a></math>`, `<math href="javascript:` + attr + `">x</math>`, `<math><maction actiontype="statusline#CANARY" xlink:href="javascript:` + attr + `">x</maction></math>`, `<math><annotation-xml encoding="text/html"><script>` + payload + `</script></annotation-xml></math>`,
		// Two HTML parsers can interpret these texts differently.
		`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=` + attr + `&gt;">`, `<form><math><mtext></form><form><mglyph><style></math><img src onerror="` + attr + `">`, `<svg></p><style><a id="</style><img src=1 onerror='` + strings.ReplaceAll(attr, "'", "&#39;") + `'>">`, `<math><mtext><table><mglyph><style><math><img src=x onerror="` + attr + `">`, `<noscript><p title="</noscript><img src=x onerror='` + strings.ReplaceAll(attr, "'", "&#39;") + `'>">`, `<svg><p><style><g title="</style><img src=x onerror=__pwned=1>">`,
		`<template><script>` + payload + `</script></template>`, `<template shadowrootmode=open><script>` + payload + `</script><slot></slot></template>`, `<xmp><img src=x onerror="` + attr + `"></xmp>`, `<noembed><img src=x onerror="` + attr + `"></noembed>`, `<noframes></noframes><img src=x onerror="` + attr + `">`, `<listing>&lt;img src=x onerror=` + attr + `&gt;</listing>`, `<a title="--!&gt;<img src=x onerror=__pwned=1>">x</a>`, `<!--><img src=x onerror="` + attr + `">-->`, `<!--!><img src=x onerror="` + attr + `">`, `<!--<img src="--><img src=x onerror=__pwned=1//">`, `<!-- --!><img src=x onerror="` + attr + `">`,
		`<![CDATA[<script>` + payload + `</script>]]>`, `<svg><![CDATA[><image xlink:href="]]><img src=x onerror=__pwned=1//"></svg>`, `<?xml version="1.0"?><script>` + payload + `</script>`, `<?php echo '<script>'.run; ?><img src=x onerror="` + attr + `">`, "<scr\u0000ipt>" + payload + "</scr\u0000ipt>", `+ADw-script+AD4-` + payload, "\u02bcscript\u02bd" + payload, `<s&#99;ript>` + payload, `&lt;script&gt;` + payload + `&lt;/script&gt;`, `&amp;lt;script&amp;gt;` + payload + `&amp;lt;/script&amp;gt;`,
		// These links contain scripts.
		`<a href="javascript:` + attr + `">x</a>`, `<a href="JaVaScRiPt:` + attr + `">x</a>`, "<a href=\"java\nscript:" + attr + "\">x</a>", "<a href=\"java&Tab;script:" + attr + "\">x</a>", "<a href=\" &#14; javascript:" + attr + "\">x</a>", `<a href="&#106;avascript&colon;` + attr + `">x</a>`, `<a href="javascript&#58;` + attr + `">x</a>`, "<a href=\"\u0001javascript:" + attr + "\">x</a>", `<a href="feed:javascript:` + attr + `">x</a>`, `<a href="view-source:javascript:1">x</a>`, `<a href="data:text/html,<script>` + attr + `</script>">x</a>`, `<a href="data:image/svg+xml;base64,PHN2Zz4=">x</a>`, `<a href="vbscript:msgbox(1)">x</a>`, `<a href="blob:null/1">x</a>`, `<a href="file:///etc/passwd">x</a>`, `<a href="//CANARYHOST/x" target=_top ping="CANARY/ping">x</a>`, `<area href="javascript:` + attr + `">`, `<map name=m><area shape=default href="javascript:` + attr + `"></map><img src="CANARY/m.png" usemap="#m">`,
		`javascript:` + payload, "java\tscript:" + payload, `data:text/html,<script>` + payload + `</script>`, ` javascript:` + payload, "\u0001javascript:" + payload, `javascript://%0a` + payload,
		// These attacks do not use scripts.
		`<base href="CANARY/">`, `<base target="_blank">`, `<meta http-equiv="refresh" content="0;url=CANARY/refresh">`, `<meta http-equiv="Content-Security-Policy" content="script-src 'unsafe-inline'">`, `<meta http-equiv="refresh" content="0;url=javascript:` + attr + `">`, `<link rel=stylesheet href="CANARY/x.css">`, `<link rel="icon" href="CANARY/i.ico">`, `<link rel="prefetch dns-prefetch preload" as=image href="CANARY/pre">`, `<link rel=manifest href="CANARY/manifest">`,
		`<style>@import "CANARY/i.css";*{color:red!important;background:url(CANARY/bg.png)!important}</style>`, `<div style="background:url(CANARY/bg2.png)">x</div>`, `<div style="width:expression(` + attr + `)">x</div>`, `<div style="position:fixed;inset:0;z-index:99999;background:red">x</div>`, `<div style="-moz-binding:url(CANARY/b.xml#x);behavior:url(CANARY/b.htc)">x</div>`, `<table background="CANARY/t.png"><tr><td background="CANARY/td.png">x</table>`, `<body background="CANARY/body.png" bgcolor=red text=red>`, `<input type=image src="CANARY/in.png">`, `<img srcset="CANARY/set.png 1x, CANARY/set2.png 2x">`, `<picture><source srcset="CANARY/pic.webp"><img src=x></picture>`, `<video poster="CANARY/poster.png"></video>`, `<track src="CANARY/t.vtt">`,
		`<form action="CANARY/form" method=post><input name=q><button>Sign in</button></form>`, `<button form="marks" name="star" value="1">x</button>`, `<input form="marks" name="star" value="1">`, `<button formaction="javascript:` + attr + `" form="marks">x</button>`, `<form id="marks"></form>`, `<div id="pill" class="pill">x</div>`, `<div id="days"></div>`, `<div id="river" data-stream="CANARY/stream"></div>`, `<a class="whole" href="CANARY/whole">More</a>`, `<a class="play" data-kind="audio" href="javascript:1">x</a>`, `<p class="skip" id="q">x</p>`, `<img name=body src=x><img name=getElementById src=x>`, `<form name=querySelectorAll></form>`, `<dialog open id=keys>x</dialog>`, `<div popover=manual id=player>x</div>`,
		// This markup breaks the structure of a page.
		`</p></div></section></main></body></html>`, `<plaintext>`, `<!--`, `<title>`, `<textarea>`, `<select><option>`, `<table><tr><td>`, strings.Repeat(`<div>`, 2000), strings.Repeat(`<b><i>`, 500) + "x", strings.Repeat(`<blockquote><ul><li>`, 300) + "x", strings.Repeat(`<dl><dd><ol><li>`, 200) + "x", strings.Repeat(`<table><tr><td>`, 100) + "x", strings.Repeat(`<details open><summary>x`, 100), strings.Repeat(`<big>`, 100) + "BIG", strings.Repeat(`<sup>`, 100) + "x",
		`<table border=9 width=9999><tr>` + strings.Repeat(`<td width=300 nowrap>a wide cell`, 60) + `</table>`, `<pre>` + strings.Repeat("long ", 500) + `</pre>`, `<img width=99999 height=99999 src="CANARY/large.png">`, `<svg width=9999 height=9999><rect width=9999 height=9999 /></svg>`, `<math><mspace width="9999px"/><mo>x</mo></math>`, `<hr width=9999 size=9999>`, `<figure><figcaption>` + strings.Repeat("w", 2000) + `</figcaption></figure>`, `<p dir=rtl align=right>` + strings.Repeat("א", 500) + `</p>`, `<ruby>` + strings.Repeat(`x<rt>yyyyyyyyyyy</rt>`, 200) + `</ruby>`, "\u202e\u2066evil\u202c\u2069\u200f", strings.Repeat("W", 5000), strings.Repeat("Z\u0351\u036b\u0343\u036a\u0302", 300), "\ufffe\uffff\u0008", `{{.}} {{template "nothing" .}} ${run} #{run}`, `<h1>x</h1><h1>y</h1><main>z</main><header>a</header><nav>b</nav>`,
		// These drawings contain titles, descriptions and links.
		`<svg><title><style></title><img src=x onerror="` + attr + `"></style></title></svg>`, `<svg><title><textarea></title><img src=x onerror="` + attr + `"></textarea></svg>`, `<svg><title><!--</title><img src=x onerror="` + attr + `">--></title></svg>`, `<svg><title>&lt;/title&gt;&lt;img src=x onerror=` + attr + `&gt;</title></svg>`, `<svg><title><svg></title><script>` + payload + `</script></svg></title></svg>`,
		`<svg><desc><select><title></select><img src=x onerror="` + attr + `"></title></desc></svg>`, `<svg><a xlink:href="data:text/html,<script>` + attr + `</script>"><text y=20>x</text></a></svg>`, `<svg><a><set attributeName="xlink:href" to="javascript:` + attr + `"/><text y=20>x</text></a></svg>`, `<svg><a href="https://a.example/" xlink:href="javascript:` + attr + `" xlink:show=replace xlink:actuate=onLoad><text y=20>x</text></a></svg>`,
	}
	for i, a := range list {
		a = strings.ReplaceAll(a, "CANARYHOST", strings.TrimPrefix(canary, "http://"))
		list[i] = strings.ReplaceAll(a, "CANARY", canary)
	}
	return list
}

// canary is a server that only the program may send requests to. A request from the browser fails
// the test.
type canary struct {
	*httptest.Server
	mu   sync.Mutex
	sang []string
}

func newCanary(t *testing.T) *canary {
	t.Helper()
	c := &canary{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.UserAgent(), "Cloudburst/") { // the program fetches images on behalf of browsers
			c.mu.Lock()
			c.sang = append(c.sang, r.Method+" "+r.URL.Path)
			c.mu.Unlock()
		}
		w.Header().Set("Content-Type", "image/svg+xml")
		fmt.Fprint(w, `<svg xmlns="http://www.w3.org/2000/svg" onload="parent.__pwned=1"><script>parent.__pwned=1</script></svg>`)
	}))
	t.Cleanup(c.Close)
	return c
}

// hostile returns feeds with every attack in every field: RSS with escaped markup, Atom with
// CDATA, and JSON Feed. It also returns one RSS feed for each attack without escaping.
func hostile(server *feedServer, evil []string) (feeds []string) {
	cdata := func(s string) string {
		return "<![CDATA[" + strings.ReplaceAll(s, "]]>", "]]]]><![CDATA[>") + "]]>"
	}
	legal := func(s string) string { // legal removes characters that XML forbids
		return strings.Map(func(r rune) rune {
			if r < ' ' && r != '\t' && r != '\n' || r >= 0xfffe {
				return -1
			}
			return r
		}, s)
	}
	var rss, atom strings.Builder
	var items []map[string]any
	rss.WriteString(`<rss version="2.0" xmlns:source="http://source.scripting.com/" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>` + html.EscapeString(evil[0]) + `</title><link>` + html.EscapeString(evil[86]) + `</link><description>` + html.EscapeString(evil[22]) + `</description>`)
	atom.WriteString(`<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">` + cdata(evil[22]) + `</title><subtitle type="html">` + cdata(evil[0]) + `</subtitle><id>x</id><icon>javascript:1</icon><logo>` + server.URL + `/x.png"onerror=1</logo>`)
	for i, raw := range evil {
		a, c := html.EscapeString(legal(raw)), cdata(legal(raw))
		fmt.Fprintf(&rss, `<item><guid isPermaLink="false">%d</guid>`, i)
		if i%2 == 0 {
			fmt.Fprintf(&rss, `<title>%s</title>`, a)
		}
		fmt.Fprintf(&rss, `<link>%s</link><description>%s</description><content:encoded>%s</content:encoded><author>%s</author><category domain="%s">%s</category><comments>%s</comments><enclosure url="%s" type="%s" length="1"/><enclosure url="%s/x.mp3?%s" type="audio/%s" length="1"/><media:thumbnail url="%s"/><source url="%s">%s</source><source:outline text="%s"><source:outline text="%s" url="%s"/></source:outline></item>`,
			a, a, a, a, a, a, a, a, a, server.URL, a, a, a, a, a, a, a, a)
		fmt.Fprintf(&atom, `<entry><id>%d</id><title type="html">%s</title><link href="%s"/><link rel="enclosure" href="%s" type="%s" title="%s"/><author><name>%s</name><uri>%s</uri></author><category term="%s" label="%s"/><summary type="html">%s</summary><content type="html" xml:lang="%s">%s</content></entry>`,
			i, c, a, a, a, a, c, c, a, a, c, a, c)
		items = append(items, map[string]any{"id": fmt.Sprint(i), "title": raw, "url": raw, "external_url": raw, "content_html": raw, "content_text": raw, "summary": raw, "image": raw, "banner_image": raw, "tags": []string{raw}, "language": raw,
			"authors": []map[string]string{{"name": raw, "url": raw, "avatar": raw}}, "attachments": []map[string]any{{"url": raw, "mime_type": raw, "title": raw}, {"url": server.URL + "/" + raw, "mime_type": "audio/" + raw, "title": raw}}})
		if i%6 == 0 {
			feeds = append(feeds, server.put(fmt.Sprintf("/raw%d.xml", i), "application/rss+xml", `<rss version="2.0"><channel><title>`+raw+`</title><link>`+raw+`</link><description>`+raw+`</description><item><title>`+raw+`</title><description>`+raw+`</description></item><item><guid>after</guid><title>After</title></item></channel></rss>`))
		}
	}
	doc, _ := json.Marshal(map[string]any{"version": "https://jsonfeed.org/version/1.1", "title": evil[0], "home_page_url": evil[86], "icon": evil[22], "favicon": evil[86], "description": evil[22], "items": items}) // encoding strings does not fail
	return append(feeds, server.put("/rss.xml", "application/rss+xml", rss.String()+"</channel></rss>"),
		server.put("/atom.xml", "application/atom+xml", atom.String()+"</feed>"), server.put("/feed.json", "application/feed+json", string(doc)))
}

// touched simulates the actions of a user: it points at, clicks, opens and leaves every element.
// During this time, links and forms are disabled.
const touched = `(() => {
	const stay = (e) => e.preventDefault();
	for (const name of ["click", "submit"]) addEventListener(name, stay, true);
	for (const d of document.querySelectorAll("main details")) d.open = true;
	for (const el of document.querySelectorAll("main *")) {
		for (const name of ["mouseover", "mouseenter", "mousemove", "mousedown", "mouseup", "pointerover", "pointerdown", "focus", "focusin", "animationstart", "toggle", "beforetoggle", "load", "error", "begin", "wheel", "contextmenu", "keydown"])
			el.dispatchEvent(new Event(name, { cancelable: true }));
		el.dispatchEvent(new MouseEvent("click", { cancelable: true, ctrlKey: true }));
	}
	for (const name of ["click", "submit"]) removeEventListener(name, stay, true);
})()`

// harm lists the dangerous content on a page.
const harm = `(() => {
	const wrong = [];
	const report = (what, el) => { if (wrong.length < 10) wrong.push(what + (el ? ": " + el.outerHTML.slice(0, 300) : "")); };
	if (window.__pwned !== undefined) report("a foreign script ran");
	for (const el of document.querySelectorAll("*")) {
		for (const a of el.attributes) {
			if (/^on/i.test(a.name) || a.name === "style" || a.name === "srcdoc" || a.name === "ping" || a.name === "formaction" || a.name === "autofocus" || a.name.startsWith("popover") && !el.matches("#feedlist, [popovertarget=feedlist].quiet")) report("it has " + a.name, el);
			if (/^(href|src|action|xlink:href|data|poster|srcset|background)$/.test(a.name) && !el.matches(".drag") && !/^(https?:\/\/|\/|#|mailto:|data:image\/(png|jpe?g|gif|webp|avif|bmp)|\?)/i.test(a.value)) report("a forbidden URL", el);
		}
		if (/^(iframe|frame|frameset|object|embed|applet|base|style|template|noscript|xmp|plaintext|portal|fencedframe|marquee|audio|video|source|track|area|map|link|meta|script|input|button|select|textarea|form|dialog|title|foreignobject|animate|animatetransform|animatemotion|set|use|feimage|maction|annotation-xml|semantics)$/i.test(el.localName) && el.closest(".e-content, .inside, h3, .about, bdi") && !el.matches(".about .marks button, .held") && !(el instanceof SVGTitleElement && !el.firstElementChild)) report("a foreign element", el);
	}
	for (const img of document.images) if (new URL(img.src).origin !== location.origin && !img.src.startsWith("data:image/")) report("an image of another server", img);
	for (const s of document.scripts) if (!s.src.startsWith(location.origin + "/static/")) report("a foreign script", s);
	for (const id of ["marks", "days", "river", "q", "pill", "keys", "player", "news", "main"]) if (document.querySelectorAll("#" + id).length > 1) report("two with the id " + id);
	const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
	if (new Set(ids).size !== ids.length) report("duplicate ids: " + ids.filter((id, i) => ids.indexOf(id) !== i).slice(0, 5));
	if (document.querySelectorAll("main").length !== 1 || document.querySelectorAll("h1").length !== 1) report("more than one main or h1");
	if (!document.querySelector("body > footer")) report("the footer has moved");
	const bar = document.querySelector(".bar nav a"), box = bar.getBoundingClientRect();
	scrollTo(0, 0);
	const hit = document.elementFromPoint(bar.getBoundingClientRect().x + 5, bar.getBoundingClientRect().y + 5);
	if (!bar.contains(hit)) report("the bar is covered", hit);
	const q = document.querySelector(".find #q");
	if (document.getElementById("river") && !document.querySelector(".alone")) {
		if (!q) report("there is no search");
		else { const b = q.getBoundingClientRect(); if (document.elementFromPoint(b.x + 5, b.y + 5) !== q) report("the search is covered", document.elementFromPoint(b.x + 5, b.y + 5)); }
	}
	for (const i of document.querySelectorAll("#days > *")) if (!i.matches("section.day")) report("not a day", i);
	for (const i of document.querySelectorAll(".entries > *")) if (!i.matches("article.item, details.flood")) report("not an item", i);
	for (const i of document.querySelectorAll(".flood > *")) if (!i.matches("article.item, summary:not(:has(*)), .rest")) report("not an item", i);
	return wrong;
})()`

// harmless checks a page before and after simulated actions on all its elements.
func (b *tab) harmless(path string) {
	b.t.Helper()
	b.open(path)
	eval[bool](b, touched+", true")
	wrong := append(eval[[]string](b, harm), eval[[]string](b, tooWide)...)
	b.size(phoneWidth, phoneHeight)
	wrong = append(wrong, eval[[]string](b, tooWide)...)
	b.size(wideWidth, wideHeight)
	for _, w := range wrong {
		b.t.Errorf("%s: %s", path, w)
	}
}

func TestHostileFeedContentNeitherRunsScriptsNorBreaksPages(t *testing.T) {
	t.Parallel()
	p, server, bird := start(t, conf(t)), newFeedServer(t), newCanary(t)
	evil := attacks(bird.URL)
	t.Logf("%d attacks", len(evil))
	b := newTab(t, p.base)
	b.expect("/river/image?") // the feeds contain invalid images
	var ids []int64
	followed := 0
	for i, feed := range hostile(server, evil) {
		got, err := p.river("").AddSource(t.Context(), client.SourceRequest{URL: feed, Categories: []string{"Bad"}})
		if err != nil {
			t.Logf("%s: %v", feed, err)
			continue
		}
		if got.Source != nil {
			followed++
			if i%15 == 0 || !strings.Contains(feed, "/raw") {
				ids = append(ids, got.Source.ID)
			}
		}
	}
	if followed < 4 {
		t.Fatalf("only %d feeds are followed", followed)
	}
	yes := true
	if err := p.river("").PutCategory(t.Context(), "Bad", client.CategoryChange{Public: &yes}); err != nil {
		t.Fatal(err)
	}
	b.open("/river?category=Bad")
	b.until("the page is live", `document.getElementById("live-text").textContent === "Live"`)
	b.holds("it does not ask to be loaded again, new as it is", `!pill.dataset.reload`)
	album := newAlbum(t)
	pages, seen := 0, 0
	for path := "/river?category=Bad"; path != ""; pages++ {
		b.harmless(path)
		album.take(b, fmt.Sprint("hostile-", pages))
		seen += eval[int](b, `[...document.querySelectorAll(".flood")].reduce((n, f) => n + +(f.dataset.more ?? 0), document.querySelectorAll(".item").length)`)
		path = eval[string](b, `document.querySelector("#older a")?.getAttribute("href") ?? ""`)
	}
	t.Logf("%d items of %d feeds on %d pages", seen, followed, pages)
	if seen < 3*len(evil)*9/10 {
		t.Errorf("only %d items are shown", seen)
	}
	n := 0
	for it, err := range p.river("").Items(t.Context(), client.ItemQuery{Category: "Bad"}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%30 == 0 {
			b.harmless(fmt.Sprint("/river/item/", it.ID))
		}
	}
	for _, path := range []string{"/feeds", "/rivers/server/Bad", "/rivers/server", "/feeds/categories", "/feeds/notices"} {
		b.harmless(path)
	}
	for _, id := range ids {
		for _, part := range []string{"", "/settings", "/diagnosis"} {
			b.harmless(fmt.Sprint("/feeds/", id, part))
		}
		b.harmless(fmt.Sprint("/river?source=", id))
	}

	// The script of the page inserts live items.
	b.open(fmt.Sprint("/river?source=", ids[len(ids)-1]))
	b.until("the page is live", `document.getElementById("live-text").textContent === "Live"`)
	var items []map[string]any
	for i, a := range evil {
		items = append(items, map[string]any{"id": fmt.Sprint("live", i), "title": a, "url": a, "content_html": a})
	}
	doc, _ := json.Marshal(map[string]any{"version": "https://jsonfeed.org/version/1.1", "title": "Live", "items": items}) // encoding strings does not fail
	server.put("/feed.json", "application/feed+json", string(doc))
	p.ping(server.URL + "/feed.json")
	b.until("they are shown", `document.querySelectorAll(".item.fresh").length >= 100`)
	eval[bool](b, touched+", true")
	for _, w := range eval[[]string](b, harm) {
		t.Errorf("live: %s", w)
	}
	bird.mu.Lock()
	defer bird.mu.Unlock()
	for _, s := range bird.sang {
		t.Errorf("the browser sent requests to foreign hosts: %s", s)
	}
}
