package rules_test

import (
	"strings"
	"testing"

	"cloudburst/internal/author/rules"
	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
)

func hashtags() *rules.Hashtags {
	return &rules.Hashtags{Name: strings.ToLower, Href: func(name string) string { return "/c/" + name }}
}

func TestHashtagsBecomeLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ html, want, labels string }{
		"words":               {"<p>On #walks with #Birds.</p>", `<p>On <a href="/c/walks">#walks</a> with <a href="/c/birds">#Birds</a>.</p>`, "walks Birds"},
		"other scripts":       {"#Überraschung #雨 #नमस्ते", `<a href="/c/überraschung">#Überraschung</a> <a href="/c/雨">#雨</a> <a href="/c/नमस्ते">#नमस्ते</a>`, "Überraschung 雨 नमस्ते"},
		"the same tag twice":  {"#a #A", `<a href="/c/a">#a</a> <a href="/c/a">#A</a>`, "a"},
		"numbers":             {"#1 #2026", "#1 #2026", ""},
		"number with letters": {"#2026plan", `<a href="/c/2026plan">#2026plan</a>`, "2026plan"},
		"in a word":           {"a#b C# x", "a#b C# x", ""},
		"in a URL":            {"https://example.com/#part", "https://example.com/#part", ""},
		"two signs":           {"##a", "##a", ""},
		"a reference":         {"It&#39;s R&amp;D", "It&#39;s R&amp;D", ""},
		"in brackets":         {"(#a)", `(<a href="/c/a">#a</a>)`, "a"},
		"in a link":           {`<a href="/x">#a</a> #b`, `<a href="/x">#a</a> <a href="/c/b">#b</a>`, "b"},
		"in code":             {`<code>#a</code><pre>#b</pre> #c`, `<code>#a</code><pre>#b</pre> <a href="/c/c">#c</a>`, "c"},
		"in an attribute":     {`<img alt="a > #b"/> #c`, `<img alt="a > #b"/> <a href="/c/c">#c</a>`, "c"},
		"too long":            {"#" + strings.Repeat("a", 61), "#" + strings.Repeat("a", 61), ""},
	} {
		h := hashtags()
		got := h.Link(c.html)
		if labels, _ := h.Categories(nil, nil, 99); got != c.want || strings.Join(labels, " ") != c.labels {
			t.Errorf("%s: %q with %q, want %q with %q", name, got, labels, c.want, c.labels)
		}
	}
}

// Link leaves the text unchanged, and its result is as safe as the given HTML.
func FuzzHashtags(f *testing.F) {
	f.Add(`<p>#a <code>#b</code> &#39; <a href="#x">#y</a></p>`)
	f.Fuzz(func(t *testing.T, s string) {
		before := sanitize.HTML(s)
		after := hashtags().Link(before)
		if sanitize.Text(before) != sanitize.Text(after) {
			t.Errorf("%q has another text than %q", after, before)
		}
	})
}

func TestURLsCountTowardsTheLengthLimitAsTheAuthorChose(t *testing.T) {
	t.Parallel()
	const text = "Look: https://example.com/a/long/way?x=1, and 👩‍👩‍👧 http://b.example/."
	for _, c := range []struct {
		urls string
		want int
	}{
		{rules.URLsFull, 66},
		{rules.URLsShort, 15 + 2*23},
		{rules.URLsFree, 15},
	} {
		if m := (rules.Rules{URLs: c.urls}).Measure(text, "", 140); m.Characters != c.want || m.Over {
			t.Errorf("%q: %+v, want %d", c.urls, m, c.want)
		}
	}
}

func TestErrorForTooLongPostStatesItsLength(t *testing.T) {
	t.Parallel()
	m := rules.Rules{}.Measure(strings.Repeat("é", 141), "", 140)
	if err := m.Refusal(); fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), "141 characters") || !strings.Contains(m.Warning(), "published anyway") {
		t.Errorf("%v, %q", err, m.Warning())
	}
	for _, limit := range []int{0, 141} {
		if m := (rules.Rules{}).Measure(strings.Repeat("é", 141), "", limit); m.Over || m.Refusal() != nil || m.Warning() != "" {
			t.Errorf("limit %d: %+v", limit, m)
		}
	}
}

func TestUnknownPostRulesAreRejected(t *testing.T) {
	t.Parallel()
	for _, r := range []rules.Rules{{Short: "stop"}, {URLs: "long"}} {
		if err := r.Check(); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for _, short := range []string{"", rules.ShortOff, rules.ShortWarn, rules.ShortEnforce} {
		if err := (rules.Rules{Short: short, URLs: rules.URLsFree}).Check(); err != nil {
			t.Errorf("%q: %v", short, err)
		}
	}
}
