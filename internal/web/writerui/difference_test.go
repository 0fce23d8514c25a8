package writerui

import (
	"fmt"
	"strings"
	"testing"
)

func TestDifferencesAreComparedByWord(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 200)
	for _, c := range []struct{ from, to, want string }{
		{"same", "same", ""},
		{"the old lamp", "the lamp", "same:the |removed:old |same:lamp"},
		{"one two three", "four five three", "removed:one two|added:four five|same: three"},
		{"a\nb", "a\nc", "same:a\n|removed:b|added:c"},
		{"", "new", "added:new"},
	} {
		var got []string
		for _, p := range differenceOf(c.from, c.to) {
			got = append(got, p.Kind+":"+p.Text)
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("from %q to %q: %q, want %q", c.from, c.to, s, c.want)
		}
	}
	cut := differenceOf(long+"old", long+"new")
	if len(cut) != 4 || cut[0].Kind != "cut" || len(cut[1].Text) > maxShown {
		t.Errorf("a long text is shown as %v", cut)
	}
	if got := differenceOf(many(0), many(1)); len(got) == 0 { // there are more words than code points below the surrogates
		t.Error("no difference")
	}
}

// many returns a text of 60,000 different numbers.
func many(from int) string {
	var b strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&b, "%d ", from+i)
	}
	return b.String()
}

func TestMergedTextContainsCommonLinesOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mine, other, want string }{
		{"a\nmine\nb", "a\nother\nb", "a\nother\nmine\nb"},
		{"a", "a", "a"},
		{"", "a", "a"},
		{"a\nb", "", "a\nb"},
	} {
		if got := merged(c.mine, c.other); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.mine, c.other, got, c.want)
		}
	}
}
