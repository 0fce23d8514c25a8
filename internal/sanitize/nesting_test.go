package sanitize

import "testing"

// nested maps texts to their sanitized forms.
func nested() map[string]string {
	return map[string]string{
		"": "", "plain": "plain", "a > b": "a &gt; b", "1 < 2 & 3": "1 &lt; 2 &amp; 3",
		"caf&eacute; &#8220;x&#x201d; &nosuch; &amp;lt;": "café “x” &amp;nosuch; &amp;lt;",
		"it's \"so\" & <b>it's</b>":                      "it's \"so\" &amp; <b>it's</b>",
		"<p>a<p>b":                                       "<p>a</p><p>b</p>",
		"<p>a<div>b</p>c</div>":                          "<p>a</p><div>bc</div>",
		"<ul><li>a<li>b<ul><li>c</ul>d</ul>":             "<ul><li>a</li><li>b<ul><li>c</li></ul>d</li></ul>",
		"<ul><li>a</ul></li>b":                           "<ul><li>a</li></ul>b",
		"<dl><dt>a<dd>b<dt>c</dl>":                       "<dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>",
		"<b>a<i>b</b>c</i>":                              "<b>a<i>b</i></b><i>c</i>",
		"<p><b>a<p>b</b>c":                               "<p><b>a</b></p><p><b>b</b>c</p>",
		"<b><div>a</b>b</div>c":                          "<b><div>ab</div></b>c",
		"<span><div>a</span>b</div>c":                    "<span><div>ab</div></span>c",
		"<div><b>a</div>b":                               "<div><b>a</b></div><b>b</b>",
		"<h1>a<h2>b</h1>c":                               "<h1>a</h1><h2>b</h2>c",
		"<a href='x'>a<a href='y'>b</a>c":                `<a href="x">a</a><a href="y">b</a>c`,
		"<a href=x><div>a</a>b</div>c":                   `<a href="x"><div>ab</div></a>c`,
		"<ruby>a<rp>(<rt>b<rp>)</ruby>":                  "<ruby>a<rp>(</rp><rt>b</rt><rp>)</rp></ruby>",
		"a</p>b</div>c</b>":                              "abc",
		"a<br>b<br/>c</br>d<BR clear=all>":               `a<br/>b<br/>c<br/>d<br clear="all"/>`,
		"<p>a<hr>b":                                      "<p>a</p><hr/>b",
		"<pre>\n\na</pre><pre>\nb</pre><pre>c</pre>":     "<pre>\n\na</pre><pre>b</pre><pre>c</pre>",
		"<pre>\n<x>\na</pre>":                            "<pre>\n\na</pre>",
		"<pre>\x1b\n0<table>\x01</table>":                "<pre>0<table></table></pre>",
		"a<b":                                            "a&lt;b", "a<b c": "a&lt;b c", "x<y": "x&lt;y",
		"a<b c=d": "a", "a<b \"c": "a", "a</b": "a", "a<!-- <b": "a", "<script>a<b": "",
		// These texts contain tables.
		"<table><tr><td>a<td>b<tr><th>c</table>d":                              "<table><tbody><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></tbody></table>d",
		"<table><td>a</table>":                                                 "<table><tbody><tr><td>a</td></tr></tbody></table>",
		"<table><caption>a<tr><td>b</table>":                                   "<table><caption>a</caption><tbody><tr><td>b</td></tr></tbody></table>",
		"<table><col><tr></table>":                                             "<table><colgroup><col/></colgroup><tbody><tr></tr></tbody></table>",
		"<table>a<tr><td>b</table>":                                            "<table><tbody><tr><td>a</td></tr><tr><td>b</td></tr></tbody></table>",
		"<table><div><tr><td>a</div></table>":                                  "<table><tbody><tr><td>a</td></tr></tbody></table>",
		"<table><tr><td><table><tr><td>a</td></tr></table>b</td></tr></table>": "<table><tbody><tr><td><table><tbody><tr><td>a</td></tr></tbody></table>b</td></tr></tbody></table>",
		"<table><tr><td>a<table><td>b</table></table>c":                        "<table><tbody><tr><td>a<table><tbody><tr><td>b</td></tr></tbody></table></td></tr></tbody></table>c",
		"<table><thead><tr><th>a</thead><tfoot><tr><td>b</table>":              "<table><thead><tr><th>a</th></tr></thead><tfoot><tr><td>b</td></tr></tfoot></table>",
		"<table><table><td>a":                                                  "<table></table><table><tbody><tr><td>a</td></tr></tbody></table>",
		"<b><table><td>a</b>b</table>c":                                        "<b><table><tbody><tr><td>ab</td></tr></tbody></table>c</b>",
		"<td>a</td><tr>b":                                                      "ab",
		"<p>a<table><td>b</table>":                                             "<p>a</p><table><tbody><tr><td>b</td></tr></tbody></table>",
		// These elements are dropped. The content of most of them remains.
		"a<!-- b -->c<!-- d":                                          "ac",
		"a<script>b</script>c<style>d</style>e":                       "ace",
		"a<script>b":                                                  "a",
		"a<script src=x />b":                                          "ab",
		"a<applet>b<br>c</applet>d":                                   "a<br/>d",
		"a<iframe src=x>b<b>c</b></iframe>d":                          "ab<b>c</b>d",
		"<noscript><img src=x></noscript>":                            `<img src="x"/>`,
		"<object data=x><embed src=y>a</object>":                      "a",
		"<form action=x><input name=y>a<button>b</button></form>":     "ab",
		"<html><head><title>a<b></title></head><body>b</body></html>": "a&lt;b&gt;b",
		"<o:p>a</o:p><blink>b</blink><marquee>c":                      "abc",
		"<![CDATA[a]]>b":                                              "&lt;![CDATA[a]]&gt;b",
		"<?xml version='1.0'?><!DOCTYPE html>a":                       "a",
		"a\x00b\x01c\x7fd\xffe\ufffff":                                "abc\x7fd\ufffde\ufffdf",
		// These elements are closed as in XML.
		"<p/>a":                             "<p></p>a",
		"<a name='x'/>a":                    "<a></a>a",
		"<a href=http://example.com/>a</a>": `<a href="http://example.com/">a</a>`,
		"<div class='x' />a":                `<div class="x"></div>a`,
		"<br/ ><img src='a'/>":              `<br/><img src="a"/>`,
		// These texts contain SVG and MathML.
		"<svg width=1 viewBox='0 0 1 1' onload=x><path d=M0/><PATH d='M1'/><title>t</title></svg>a":                `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1" width="1"><path d="M0/"><path d="M1"></path><title>t</title></path></svg>a`,
		"<svg><lineargradient><a href=x><text>a</text></a><p>b":                                                    `<svg xmlns="http://www.w3.org/2000/svg"><linearGradient><a href="x"><text>a</text></a></linearGradient></svg><p>b</p>`,
		"<svg><title>A &amp; b</title><desc>c<br>d</desc><title/><circle r=1 /></svg>":                             `<svg xmlns="http://www.w3.org/2000/svg"><title>A &amp; b</title><desc>cd</desc><title></title><circle r="1"></circle></svg>`,
		"<svg><path/><title>a<b>b</b><script>c</script><style>d</style><i>&lt;/title></title>e":                    `<svg xmlns="http://www.w3.org/2000/svg"><path></path><title>ab&lt;/title&gt;</title>e</svg>`,
		"<svg><path/><title>a<p>b</title>c</svg>d":                                                                 `<svg xmlns="http://www.w3.org/2000/svg"><path></path><title>a</title></svg><p>bcd</p>`,
		"<svg><path/><title>a<svg><title>b</title></svg>c</title></svg>d":                                          `<svg xmlns="http://www.w3.org/2000/svg"><path></path><title>ab</title></svg>cd`,
		"<svg><path/><desc><title>a</desc><textarea>b</textarea></svg>":                                            `<svg xmlns="http://www.w3.org/2000/svg"><path></path><desc>a</desc>b</svg>`,
		"<math><title>a</title><desc>b</desc></math><title>c</title><desc>d</desc>":                                `<math xmlns="http://www.w3.org/1998/Math/MathML">ab</math>cd`,
		"<svg><path/><g><a href='#b'><a xlink:href=c>d</a></a></g></svg>":                                          `<svg xmlns="http://www.w3.org/2000/svg"><path></path><g><a href="#b"><a xlink:href="c" xmlns:xlink="http://www.w3.org/1999/xlink">d</a></a></g></svg>`,
		"<a href=b><svg><a href=c><text>d</text></a></svg>e</a>":                                                   `<a href="b"><svg xmlns="http://www.w3.org/2000/svg"><a href="c"><text>d</text></a></svg>e</a>`,
		"<svg><use href=x/><image href=x/><style>a</style><script>b</script></svg>":                                "",
		"<svg><rect fill='url(#a)' style='fill:red;color:red' /></svg>":                                            `<svg xmlns="http://www.w3.org/2000/svg"><rect style="fill: red; color: red;"></rect></svg>`,
		"<math><mi>x<b>y</b></mi><semantics><annotation-xml encoding='text/html'><p>h</p></annotation-xml></math>": `<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>xy</mi><semantics></semantics></math>`,
		"<math display=block><mfrac><mi>a</mi><mn>2</mn></mfrac></math>":                                           `<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><mfrac><mi>a</mi><mn>2</mn></mfrac></math>`,
	}
}

func TestMarkupIsNestedAsInBrowsers(t *testing.T) {
	t.Parallel()
	for in, want := range nested() {
		got := HTML(in)
		if got != want {
			t.Errorf("%s\n became %s\n want   %s", in, got, want)
		}
		check(t, in, got)
	}
}
