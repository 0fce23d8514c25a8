package feed

import "testing"

func TestParserRemovesEnclosingDiv(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"<div>a</div>":                        "a",
		"<div> <p>a</p> </div>":               "<p>a</p>",
		`<div class="a>b"><p>a</p></div> `:    "<p>a</p>",
		"<div>a</div><div>b</div>":            "<div>a</div><div>b</div>",
		"<div><div>a</div><div>b</div></div>": "<div>a</div><div>b</div>",
		"<div><div>a</div></div>":             "<div>a</div>",
		"<DIV><Div>a</Div></DIV>":             "<Div>a</Div>",
		"<DIV>a</DIV>":                        "a",
		"<div>a</div>b":                       "<div>a</div>b",
		"<div/>":                              "",
		"<div/><p>a</p></div>":                "<div/><p>a</p></div>",
		"<div>a":                              "a",
		"<divan>a</divan>":                    "<divan>a</divan>",
		`<div><p title="</div>">a</p></div>`:  `<p title="</div>">a</p>`,
		"<div>the word div</div>":             "the word div",
		"a":                                   "a",
		"":                                    "",
	} {
		if got := unwrap(s); got != want {
			t.Errorf("unwrap(%s) = %s, want %s", s, got, want)
		}
	}
}
