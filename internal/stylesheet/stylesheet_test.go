package stylesheet

import (
	"strings"
	"testing"
)

func confine(source string) (string, error) {
	return Confine(source, Options{Scope: ".author", Media: "/alice/media/"})
}

func TestCSSSelectorsAreLimitedToTheElementOfTheAuthor(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`a { color: red }`: `.author a{color:red;}`,
		`h1, .post > p:first-child { margin: 0 auto; }`:            `.author h1,.author .post > p:first-child{margin:0 auto;}`,
		`body { background: #fff }`:                                `.author{background:#fff;}`,
		`:root { --ink: #123; color: var(--ink) }`:                 `.author{--ink:#123;color:var(--ink);}`,
		`html body .post { color: red }`:                           `.author .post{color:red;}`,
		`html > body > .post { color: red }`:                       `.author > .post{color:red;}`,
		`body::before { content: "\201C" }`:                        `.author::before{content:"\201C";}`,
		`:is(footer, a):not(.x) { color: red }`:                    `.author :is(footer, a):not(.x){color:red;}`,
		`footer { display: none }`:                                 `.author footer{display:none;}`,
		`@media (max-width: 40em) { p { color: red } }`:            "@media (max-width: 40em){\n.author p{color:red;}\n}",
		`@supports (display: grid) { p { display: grid } }`:        "@supports (display: grid){\n.author p{display:grid;}\n}",
		`@keyframes in { from { opacity: 0 } 50%, to { top: 0 } }`: "@keyframes in{\nfrom{opacity:0;}\n50%, to{top:0;}\n}",
		`a { background: url(/alice/media/ab/x.png) }`:             `.author a{background:url(/alice/media/ab/x.png);}`,
		`a { background: URL("/alice/media/ab/x.png") no-repeat }`: `.author a{background:URL("/alice/media/ab/x.png") no-repeat;}`,
		`a/* } */{ color: red /* ; */ }`:                           `.author a{color:red;}`,
		`a { COLOR: RED; ; }`:                                      `.author a{color:RED;}`,
		`.\31 a { color: red }`:                                    `.author .\31 a{color:red;}`,
		`a[href^="https:"] { color: red !important }`:              `.author a[href^="https:"]{color:red !important;}`,
		``: ``,
	} {
		got, err := confine(source)
		if err != nil || strings.TrimSpace(got) != want {
			t.Errorf("%s\n got %s %v\nwant %s", source, strings.TrimSpace(got), err, want)
		}
	}
}

func TestHostileStyleSheetErrorNamesLineAndProperty(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, want string }{
		{"a{}\n@import 'https://evil.example/x.css';", "Line 2: @import"},
		{`@\69mport "x";`, "Line 1:"},
		{`@charset "utf-8";`, "Line 1: @charset"},
		{`@namespace url(https://evil.example/);`, "Line 1: @namespace"},
		{`@font-face { font-family: x; src: url(https://evil.example/f) }`, "Line 1: @font-face"},
		{`@page { margin: 0 }`, "Line 1: @page"},
		{`@layer x { a { color: red } }`, "@layer"},
		{`@scope (html) { footer { color: red } }`, "@scope"},
		{"a {\n  background: url(https://evil.example/x.png);\n}", "Line 2: background: url()"},
		{`a { background: url("//evil.example/x") }`, "background: url()"},
		{`a { background: url(javascript:alert(1)) }`, "Line 1: background"},
		{`a { background: url( "javascript:alert(1)" ) }`, "background: url()"},
		{`a { background: url(data:image/svg+xml,x) }`, "background: url()"},
		{`a { background: \75rl(https://evil.example/) }`, "background"},
		{`a { background: u\72l("https://evil.example/") }`, "background"},
		{`a { background: url(/alice/media/../../bob) }`, "background: url()"},
		{`a { background: url(/alice/media/%2e%2e/x) }`, "background: url()"},
		{`a { background: url(/bob/media/ab/x.png) }`, "background: url()"},
		{`a { background: url("/alice/media/x\22 )") }`, "background: url()"},
		{`a { background: image-set("https://evil.example/x" 1x) }`, "background: the function image-set()"},
		{`a { background: -webkit-image-set("x" 1x) }`, "image-set"},
		{`a { background: image("x") }`, "image()"},
		{`a { background: src("https://evil.example/") }`, "src()"},
		{`a { background: cross-fade(red, blue) }`, "cross-fade"},
		{`a { background: element(#x) }`, "element()"},
		{`a { --x: url(https://evil.example/) }`, "--x: url()"},
		{`a { width: expression(alert(1)) }`, "width: the function expression()"},
		{`a { width: exp/**/ression(alert(1)) }`, "ression()"},
		{`a { behavior: url(/alice/media/ab/x.htc) }`, "behavior: this property"},
		{`a { -moz-binding: none }`, "-moz-binding"},
		{`a { contain: none }`, "contain: this property"},
		{"p{color:red}\na{\nposition: fixed }", "Line 3: position: fixed is not allowed"},
		{`a { position: FIXED !important }`, "position"},
		{`a { position: var(--p) }`, "position"},
		{`a { \70osition: fixed }`, "backslash"},
		{`a { position: \66ixed }`, "position"},
		{`a { position: -webkit-fixed }`, "position"},
		{`a { color: red </style><script> }`, "Line 1: color"},
		{`a { content: "</style><script>alert(1)</script>" }`, "content: a string cannot contain </style"},
		{`</style><script>alert(1)</script>`, "Line 1:"},
		{`<!-- a { color: red } -->`, "Line 1:"},
		{"a { color: red", "is not closed"},
		{"a {\n\n  color", "a colon is missing"},
		{"@media print { a { color: red }", "not closed"},
		{"a { color: red }\n}", "Line 2: this } closes no block"},
		{`a { content: "x`, "not closed"},
		{"a { content: \"x\n\" }", "not closed"},
		{`a /* { color: red }`, "not closed"},
		{`a { color: rgb(1, 2, 3 }`, "color"},
		{`a { color: red) }`, "color"},
		{`a { color: [red) }`, "color"},
		{`a { b { color: red } }`, "Line 1:"},
		{`a { & b { color: red } }`, "rules inside rules"},
		{`a { color: {red} }`, "color"},
		{`body + footer { display: none }`, "cannot follow"},
		{`body ~ footer { display: none }`, "cannot follow"},
		{`:root:root ~ footer { display: none }`, "cannot follow"},
		{`html > body ~ * { display: none }`, "cannot follow"},
		{`body:not(.x) ~ footer { display: none }`, "pseudo element only at the end"},
		{`body:hover+footer { display: none }`, "pseudo element only at the end"},
		{`+ footer { display: none }`, "cannot begin"},
		{`~ footer { display: none }`, "cannot begin"},
		{`a, + footer { display: none }`, "cannot begin"},
		{`a, { color: red }`, "a selector is empty"},
		{`{ color: red }`, "a selector is empty"},
		{`:host(x) { color: red }`, "the selector host()"},
		{`::part(x) { color: red }`, "part()"},
		{strings.Repeat("a", maxSelector+1) + "{color:red}", "a selector has more than"},
		{strings.Repeat("a,", maxSelectors+1) + "a{color:red}", "at most 100 selectors"},
		{strings.Repeat("a{}", maxRules+1), "at most 3000 rules"},
		{strings.Repeat("@media print{", maxDepth+1), "nested more than"},
		{"a{color:" + strings.Repeat("x ", maxValue) + "}", "the value has more than"},
		{strings.Repeat(" ", MaxBytes+1), "has 65537 bytes"},
		{"a{color:red\x00}", "byte 0"},
		{`@keyframes x { from { position: fixed } }`, "position"},
		{`@keyframes x { footer { color: red } }`, "not a position"},
		{`@keyframes x { from { opacity: 0 }`, "not closed"},
	} {
		got, err := confine(tt.source)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.80q: %v, want %q; wrote %.100q", tt.source, err, tt.want, got)
		}
	}
}

// FuzzConfine checks that Confine accepts its own output, that the output contains neither @import
// nor </style, and that each rule is limited to the element of Options.Scope.
func FuzzConfine(f *testing.F) {
	for _, seed := range []string{"a{color:red}", "@media print{b::before{content:'x'}}", `\62 ody{--x:1}`, "a{b:url(/alice/media/x)}", "html:hover{}", "a/**/b{c:d/**/e}", "a{--b:;}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		out, err := Confine(source, Options{Scope: ".author", Media: "/alice/media/"})
		if err != nil {
			return
		}
		again, err := Confine(strings.ReplaceAll(out, "\n", " "), Options{Scope: ".author", Media: "/alice/media/"})
		if len(out) > MaxBytes {
			return
		}
		if err != nil {
			t.Fatalf("%q became %q: %v", source, out, err)
		}
		if lower := strings.ToLower(again); strings.Contains(lower, "@import") && !strings.Contains(lower, `"`) && !strings.Contains(lower, `'`) || strings.Contains(lower, "</style") {
			t.Fatalf("%q became %q", source, out)
		}
		for line := range strings.SplitSeq(strings.TrimSpace(out), "\n") {
			if line != "" && !strings.HasPrefix(line, ".author") && !strings.HasPrefix(line, "@") && line != "}" && !strings.Contains(out, "@keyframes") {
				t.Fatalf("%q became %q", source, out)
			}
		}
	})
}
