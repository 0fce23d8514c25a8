package sanitize

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// findUnsafe lists the unsafe parts of a parsed tree. It searches for harmful markup instead of
// comparing with the allow list.
func TestPageTextsHaveNoColours(t *testing.T) {
	t.Parallel()
	const in = `<table bgcolor="#fff" bordercolor="red" border="1"><tbody><tr><td bgcolor="white">a</td></tr></tbody></table><font color="#000" size="2">b</font><math mathcolor="black" display="block"><mi mathbackground="#fff">x</mi></math>`
	want := `<table border="1"><tbody><tr><td>a</td></tr></tbody></table><font size="2">b</font><math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><mi>x</mi></math>`
	if got := New(Options{NoStyles: true}).HTML(in); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := HTML(in); !strings.Contains(got, `bgcolor="#fff"`) || !strings.Contains(got, `mathcolor="black"`) {
		t.Errorf("other texts lose their colours: %s", got)
	}
}

func findUnsafe(n *html.Node) (wrong []string) {
	for d := range n.Descendants() {
		switch d.Type {
		case html.TextNode, html.DocumentNode:
			continue
		case html.ElementNode:
		default:
			wrong = append(wrong, "a comment or declaration: "+d.Data)
			continue
		}
		if !isListed(strings.ToLower(d.Data)) {
			wrong = append(wrong, "element "+d.Data)
		}
		if d.Namespace == "" && strings.EqualFold(d.Data, "title") {
			wrong = append(wrong, "element title") // title is safe only in SVG
		}
		for _, a := range d.Attr {
			key := strings.ToLower(a.Key)
			squeezed := strings.Map(func(r rune) rune {
				if r <= ' ' || r == 0x7f {
					return -1
				}
				return r
			}, strings.ToLower(a.Val))
			switch {
			case strings.HasPrefix(key, "on"), key == "id", key == "name", key == "srcdoc", key == "action",
				key == "formaction", key == "http-equiv", key == "xlink:href", key == "is", key == "slot", key == "ping":
				wrong = append(wrong, "attribute "+key)
			case key == "href" || key == "src" || key == "poster" || key == "background" || key == "cite":
				if isActive(squeezed) {
					wrong = append(wrong, key+"="+a.Val)
				}
			case key == "srcset":
				for _, u := range strings.FieldsFunc(a.Val, func(r rune) bool { return r == ',' || r == ' ' }) {
					if isActive(strings.ToLower(u)) {
						wrong = append(wrong, key+"="+a.Val)
					}
				}
			case key == "style":
				for _, bad := range []string{"url(", "expression", "@", "\\", "behavior", "-moz-binding", "position", "javascript"} {
					if strings.Contains(squeezed, bad) {
						wrong = append(wrong, "style="+a.Val)
					}
				}
			case key == "target" && a.Val != "_blank":
				wrong = append(wrong, "target="+a.Val)
			}
			xlink := a.Namespace == "xlink" && a.Key == "href" && d.Data == "a" || a.Namespace == "xmlns" && a.Key == "xlink"
			if a.Namespace != "" && a.Key != "xmlns" && !xlink {
				wrong = append(wrong, "attribute "+a.Namespace+":"+a.Key)
			}
		}
	}
	return wrong
}

// isActive reports whether a URL, without characters that browsers ignore, runs code in the page.
func isActive(u string) bool {
	u = strings.TrimPrefix(u, "feed:")
	for _, bad := range []string{"javascript:", "vbscript:", "livescript:", "mocha:", "data:text", "data:image/svg", "blob:", "filesystem:"} {
		if strings.HasPrefix(u, bad) {
			return true
		}
	}
	return false
}

// isListed reports whether an element of this name is allowed in any namespace, because the
// surrounding markup can change the namespace.
func isListed(name string) bool {
	for _, space := range []string{"", "svg ", "math "} {
		if e := elements[space+name]; e != nil && !e.is(hidden) {
			return true
		}
	}
	return false
}

// places returns contexts for a safe text. The text replaces the % in a context.
func places() []string {
	return []string{
		"%", "<div>%</div>", "<p>%</p>", "<table>%</table>", "<table><tr>%</table>", "<table><tr><td>%</table>",
		"<select>%</select>", "<svg>%</svg>", "<svg><desc>%</desc></svg>", "<svg><title>%</title></svg>", "<svg><a>%</a></svg>", "<math>%</math>",
		"<math><mtext>%</mtext></math>", "<b><a>%</a></b>", "<ul><li>%</ul>", "<pre>%</pre>", "<ruby>%</ruby>",
		"<h1>%</h1>", "<picture>%</picture>", "<textarea>%</textarea>", "<title>%</title>", "<noscript>%</noscript>",
		"<iframe>%</iframe>", "<noembed>%</noembed>", "<xmp>%</xmp>", "<style>%</style>", "<script>%</script>",
	}
}

// inPlace parses s in a context and returns the unsafe parts that findUnsafe finds, except the
// parts of the context itself.
func inPlace(t *testing.T, place, s string) (wrong []string) {
	t.Helper()
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader(strings.Replace(place, "%", s, 1)), body)
	if err != nil {
		t.Fatalf("in %s: %v\n%s", place, err, s)
	}
	for _, n := range nodes {
		root := &html.Node{Type: html.DocumentNode}
		root.AppendChild(n)
		for _, w := range findUnsafe(root) {
			if name, ok := strings.CutPrefix(w, "element "); ok && strings.Contains(place, "<"+name+">") {
				continue
			}
			wrong = append(wrong, w)
		}
	}
	return wrong
}

// check checks that got, the safe form of s, has every documented property.
func check(t *testing.T, s, got string) {
	t.Helper()
	if again := HTML(got); again != got {
		t.Fatalf("%q\n once  %q\n twice %q", s, got, again)
	}
	for _, place := range places() {
		if wrong := inPlace(t, place, got); wrong != nil {
			t.Fatalf("%q\n became %q\n in %s: %s", s, got, place, wrong)
		}
	}
	if strings.IndexByte(got, '<') < 0 && got == s {
		return
	}
	d := xml.NewDecoder(strings.NewReader("<div>" + got + "</div>"))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%q\n became %q\n which is not XML: %v", s, got, err)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, s := range attacks(f) {
		f.Add(s)
	}
	for in := range nested() {
		f.Add(in)
	}
	page := New(Options{LinkRel: "nofollow noopener", NoClasses: true, NoStyles: true})
	f.Fuzz(func(t *testing.T, s string) {
		got := HTML(s)
		check(t, s, got)
		if clean := standard().balance(s); !isPlain(s) {
			// The parser must have nothing to repair.
			if again, ok := standard().reread(clean); !ok || again != clean {
				t.Fatalf("%q\n balanced %q\n is read as %q", s, clean, again)
			}
		}
		if len(got) > 12*len(s)+8192 {
			t.Fatalf("%d bytes became %d", len(s), len(got))
		}
		on := page.HTML(s)
		if again := page.HTML(on); again != on {
			t.Fatalf("%q\n on a page, once  %q\n twice %q", s, on, again)
		}
		Text(s)
	})
}

func TestImagesThatScriptsLoadLateKeepTheirSource(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`<p><img src="data:image/gif;base64,R0lGOD" data-src="https://a.example/1.jpg" alt="a"></p>`: `<p><img alt="a" src="https://a.example/1.jpg"/></p>`,
		`<img alt="a" data-lazy-src="https://a.example/1.jpg">`:                                      `<img alt="a" src="https://a.example/1.jpg"/>`,
		`<img src="/blank.gif" data-original=" https://a.example/1.jpg ">`:                           `<img src="https://a.example/1.jpg"/>`,
		`<img src="/1.jpg" data-src="">`:                                                             `<img src="/1.jpg"/>`,
		`<img src="/1.jpg" data-src="javascript:steal()">`:                                           `<img src="/1.jpg"/>`,
		`<img src="data:image/gif;base64,R0lGOD" data-src="/2.jpg" data-original="/3.jpg">`:          `<img src="/2.jpg"/>`,
		`<img src="https://a.example/1.jpg" data-src="/2.jpg">`:                                      `<img src="https://a.example/1.jpg"/>`,
		`<video src="/1.mp4" data-src="/2.mp4"></video>`:                                             `<video src="/1.mp4"></video>`,
	} {
		got := HTML(in)
		if got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", in, got, want)
		}
		if again := HTML(got); again != got {
			t.Errorf("%s\nis not stable: %s", got, again)
		}
	}
}
