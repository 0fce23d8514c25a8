package shell

import (
	"regexp"
	"strings"
	"testing"
)

func TestAccentColorIsReadableInLightAndDarkTheme(t *testing.T) {
	t.Parallel()
	light, dark := palettes("base.css")
	if light.color["paper"] == "" || dark.color["paper"] == "" || light.color["paper"] == dark.color["paper"] {
		t.Fatalf("the colours are %v and %v", light, dark)
	}
	sky := regexp.MustCompile(`--sky:(#[0-9a-f]{6});--on-sky:(#[0-9a-f]{6});`)
	for _, p := range []palette{light, dark} {
		for r := 0; r < 256; r += 51 {
			for g := 0; g < 256; g += 51 {
				for b := 0; b < 256; b += 51 {
					accent := rgb{float64(r), float64(g), float64(b)}
					m := sky.FindStringSubmatch(p.tint(accent.String()))
					if m == nil {
						t.Fatalf("%s makes %q", accent, p.tint(accent.String()))
					}
					c, _ := rgbOf(m[1])
					on, _ := rgbOf(m[2])
					for _, name := range []string{"paper", "sheet", "tint"} {
						ground, _ := rgbOf(p.color[name])
						if got := contrast(c, ground); got < minContrast {
							t.Errorf("%s becomes %s, of contrast %.2f on %s", accent, c, got, name)
						}
					}
					if got := contrast(c, on); got < minContrast {
						t.Errorf("%s: words on %s have contrast %.2f", accent, c, got)
					}
				}
			}
		}
	}
	if got := light.tint("#0a6496"); !strings.Contains(got, "--sky:#0a6496;") {
		t.Errorf("a good colour is changed: %s", got)
	}
}
