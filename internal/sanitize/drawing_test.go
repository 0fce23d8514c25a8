package sanitize

import (
	"strings"
	"testing"
)

// The sizes of most icons are in style sheets, which readers do not have.
func TestDrawingsWithoutWidthHaveTheSizeOfTheirViewBox(t *testing.T) {
	t.Parallel()
	page := New(Options{LinkRel: "nofollow", NoClasses: true, NoStyles: true})
	for in, want := range map[string]string{
		`viewBox="0 0 24 24"`:                            `height="24" viewBox="0 0 24 24" width="24"`,
		`viewBox="0,0 , 800.5 450"`:                      `height="450" viewBox="0,0 , 800.5 450" width="800.5"`,
		`viewBox="-5 -5 0.004 1e3"`:                      `height="1000" viewBox="-5 -5 0.004 1e3" width="0.01"`,
		`viewBox="0 0 512 256" aria-hidden="true"`:       `height="12" viewBox="0 0 512 256" width="24"`,
		`viewBox="0 0 16 16" aria-hidden="true"`:         `height="16" viewBox="0 0 16 16" width="16"`,
		`viewBox="0 0 640 512" height="1em"`:             `height="1em" viewBox="0 0 640 512" width="1.25em"`,
		`viewBox="0 0 24 24" height="100%"`:              `height="100%" viewBox="0 0 24 24" width="24"`,
		`viewBox="0 0 24 24" width="3"`:                  `viewBox="0 0 24 24" width="3"`,
		`viewBox="0 0 24 24" width="100%" height="auto"`: `height="auto" viewBox="0 0 24 24" width="100%"`,
		`viewBox="0 0 24 24" width="url(a)" height=""`:   `height="24" viewBox="0 0 24 24" width="24"`,
		"viewBox=\"0 0 24 2\x014\"":                      `height="24" viewBox="0 0 24 24" width="24"`,
		`viewBox="0 0 24"`:                               `viewBox="0 0 24"`,
		`viewBox="0 0 0 24"`:                             `viewBox="0 0 0 24"`,
		`viewBox="0 0 NaN Inf"`:                          `viewBox="0 0 NaN Inf"`,
		`viewBox="0 0 1e-300 24" height="1"`:             `height="1" viewBox="0 0 1e-300 24"`,
		`viewBox="0 0 a b"`:                              `viewBox="0 0 a b"`,
		`fill="red"`:                                     `fill="red"`,
	} {
		in = "<p>a <svg " + in + `><svg viewBox="0 0 2 2"><path d="M0"></path></svg></svg> b</p>`
		want = `<p>a <svg xmlns="http://www.w3.org/2000/svg" ` + want + `><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0"></path></svg></svg> b</p>`
		got := HTML(in)
		if got != want || page.HTML(in) != want || page.HTML(got) != want {
			t.Errorf("%s\n became %s\n want   %s", in, got, want)
		}
		check(t, in, got)
	}
}

// Browsers give a drawing without a shape the size of a large image.
func TestDrawingsWithoutShapesAreRemoved(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`a<svg viewBox="0 0 24 24"></svg>b`: "ab",
		`a<svg/>b`:                          "ab",
		`<a href="x"><svg class="icon"><title>t</title><use href="#x"></use></svg> b</a>`: `<a href="x"> b</a>`,
		`<svg><svg> <g></g></svg></svg>`:                            "",
		`<svg><defs><linearGradient></linearGradient></defs></svg>`: "",
		`<svg><p>b</p>`:                                "<p>b</p>",
		"<pre><svg></svg>\nb</pre>":                    "<pre>\n\nb</pre>",
		`<table><tr><td><svg></svg></td></tr></table>`: `<table><tbody><tr><td></td></tr></tbody></table>`,
		`<b>a<svg></b>c</svg>d`:                        `<b>a</b>cd`,
		`<svg><path/></svg><svg></svg>`:                `<svg xmlns="http://www.w3.org/2000/svg"><path></path></svg>`,
		`<svg><text>b</text></svg>`:                    `<svg xmlns="http://www.w3.org/2000/svg"><text>b</text></svg>`,
	} {
		for _, around := range []string{"", strings.Repeat("<p>ordinary</p>", 3)} {
			got := HTML(around + in + around)
			if got != around+want+around {
				t.Errorf("%s\n became %s\n want   %s", in, got, around+want+around)
			}
			check(t, in, got)
		}
	}
}
