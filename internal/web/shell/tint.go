package shell

import (
	"compress/gzip"
	"encoding/hex"
	"math"
	"net/http"
	"regexp"
	"strings"

	"cloudburst/internal/author"
)

// palette has the colours of the style sheet for light or dark.
type palette struct {
	text  string            // declarations of the colours
	color map[string]string // key: name of a colour, such as "paper"; value: colour, such as "#fbf9f4"
}

// palettes reads the colours of both modes from a style sheet, the only place that defines them.
func palettes(file string) (light, dark palette) {
	rootRule, variable := regexp.MustCompile(`(?s):root \{(.*?)\}`), regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{3,6});`)
	css, _ := staticFiles.ReadFile("static/" + file) // cannot fail: the file is embedded
	read := func(rule []byte) palette {
		p := palette{color: map[string]string{}}
		for _, m := range variable.FindAllSubmatch(rule, -1) {
			p.text += "--" + string(m[1]) + ":" + string(m[2]) + ";"
			p.color[string(m[1])] = string(m[2])
		}
		return p
	}
	rules := rootRule.FindAllSubmatch(css, 2)
	if len(rules) == 2 {
		light, dark = read(rules[0][1]), read(rules[1][1])
	}
	return light, dark
}

// tintNamePattern matches the name of the colours of an author's page: a theme, an accent colour, and
// light or dark if it is fixed.
var tintNamePattern = regexp.MustCompile(`^(?:([a-z]+)\.)?([0-9a-f]{6})?(-light|-dark)?\.css$`)

// StyleSheetOf returns the path of the colours of an author's page; "": the page has the colours of
// its theme.
func StyleSheetOf(l author.Look) string {
	name := strings.TrimPrefix(l.Accent, "#")
	if l.Theme != "" {
		name += "-" + l.Theme
	}
	if name == "" {
		return ""
	}
	if l.Design != "" {
		name = string(l.Design) + "." + name
	}
	if name += ".css"; !tintNamePattern.MatchString(name) {
		return ""
	}
	return "/static/tint/" + name
}

// DesignPath returns the path of the style sheet of a theme of author's pages; "": the default theme.
func DesignPath(d author.Design) string { return loadAssets().url(designFile(d)) }

func designFile(d author.Design) string { return "design-" + string(d) + ".css" }

// serveTint serves an author's style sheet. The name of the file contains all parameters.
func (s *Shell) serveTint(rw http.ResponseWriter, r *http.Request) {
	m := tintNamePattern.FindStringSubmatch(r.PathValue("file"))
	if m == nil {
		_ = s.NotFound(rw, r)
		return
	}
	accent, light, dark := "#"+m[2], s.assets.light, s.assets.dark
	if m[1] != "" {
		if s.assets.urls[designFile(author.Design(m[1]))] == "" {
			_ = s.NotFound(rw, r)
			return
		}
		light, dark = palettes(designFile(author.Design(m[1])))
	}
	css := "html:root{" + light.tint(accent) + "}@media(prefers-color-scheme:dark){html:root{" + dark.tint(accent) + "}}"
	switch m[3] { // a fixed mode applies to the screen only; a printed page is always light
	case "-light":
		css = "@media screen{html:root{color-scheme:light;" + light.text + light.tint(accent) + "}}"
	case "-dark":
		css = "@media screen{html:root{color-scheme:dark;" + dark.text + dark.tint(accent) + "}}"
	}
	serve(rw, r, newAsset(".css", []byte(css), gzip.BestSpeed), "public, max-age=86400")
}

// minContrast is the lowest contrast of text and background.
const minContrast = 4.5

// tint returns the accent for links: the nearest colour to the author's choice that is readable on every
// background of this mode.
func (p palette) tint(accent string) string {
	c, ok := rgbOf(accent)
	if !ok {
		return ""
	}
	ink, _ := rgbOf(p.color["ink"])
	worst := func(c rgb) float64 {
		lowest := math.Inf(1)
		for _, name := range []string{"paper", "sheet", "tint"} {
			ground, _ := rgbOf(p.color[name])
			lowest = min(lowest, contrast(c, ground))
		}
		return lowest
	}
	for step := range 21 {
		if mixed := c.mix(ink, float64(step)/20); worst(mixed) >= minContrast {
			on, _ := rgbOf(p.color["on-sky"])
			if contrast(mixed, on) < minContrast { // the text of a button has the colour on-sky; paper replaces it if it is not readable
				on, _ = rgbOf(p.color["paper"])
			}
			return "--sky:" + mixed.String() + ";--on-sky:" + on.String() + ";"
		}
	}
	return ""
}

type rgb [3]float64

// rgbOf parses "#rrggbb" and "#rgb".
func rgbOf(s string) (c rgb, ok bool) {
	if len(s) == 4 {
		s = "#" + strings.Repeat(s[1:2], 2) + strings.Repeat(s[2:3], 2) + strings.Repeat(s[3:4], 2)
	}
	b, err := hex.DecodeString(strings.TrimPrefix(s, "#"))
	if err != nil || len(s) != 7 || s[0] != '#' {
		return c, false
	}
	return rgb{float64(b[0]), float64(b[1]), float64(b[2])}, true
}

func (c rgb) mix(o rgb, part float64) rgb {
	for i := range c {
		c[i] = math.Round(c[i]*(1-part) + o[i]*part)
	}
	return c
}

func (c rgb) String() string {
	return "#" + hex.EncodeToString([]byte{byte(c[0]), byte(c[1]), byte(c[2])})
}

// contrast returns the contrast ratio of two colours according to WCAG 2.2, from 1 to 21.
func contrast(a, b rgb) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + .05) / (min(la, lb) + .05)
}

func (c rgb) luminance() float64 {
	linear := func(v float64) float64 {
		if v /= 255; v <= .04045 {
			return v / 12.92
		}
		return math.Pow((v+.055)/1.055, 2.4)
	}
	return .2126*linear(c[0]) + .7152*linear(c[1]) + .0722*linear(c[2])
}
