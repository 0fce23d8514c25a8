package render

import "testing"

func TestInternationalHostsBecomeASCII(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"bücher.example":        "xn--bcher-kva.example",
		"Bücher.example:8080":   "xn--bcher-kva.example:8080",
		"me@münchen.example":    "me@xn--mnchen-3ya.example",
		"例え.テスト":                "xn--r8jz45g.xn--zckzah",
		"президент.рф":          "xn--d1abbgf6aiiy.xn--p1ai",
		"한국.example":            "xn--3e0b707e.example",
		"مثال.إختبار":           "xn--mgbh0fb.xn--kgbechtv",
		"plain.example":         "plain.example",
		"a.日本語":                 "a.xn--wgv71a119e",
		"faß.example":           "xn--fa-hia.example",
		"उदाहरण.example":        "xn--p1b6ci4b4b3a.example",
		"xn--bcher-kva.example": "xn--bcher-kva.example",
		"bu\u0308cher.example":  "xn--bcher-kva.example", // the letter ü consists of two characters here
		"ｆｕｌｌ.example":          "full.example",
		"-ü.example":            "",
		"ü ü.example":           "",
		"mé@plain.example":      "",
	} {
		got, ok := asciiAuthority(host)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: got %q, %v; want %q", host, got, ok, want)
		}
	}
}
