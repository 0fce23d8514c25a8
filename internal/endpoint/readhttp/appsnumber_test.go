package readhttp

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/river"
)

func TestFeverIDsAreSmallAndStable(t *testing.T) {
	t.Parallel()
	var list []river.Followed
	var categories []river.Category
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 3000 {
		id := river.SourceID(fmt.Sprintf("http://feeds.test/%d", i))
		list = append(list, river.Followed{Subscription: river.Subscription{SourceID: id, AddedAt: at.Add(time.Duration(i%7) * time.Hour)}})
		categories = append(categories, river.Category{Name: fmt.Sprint("Category ", i)})
	}
	n := number(list, categories)
	if len(n.source) != 3000 || len(n.name) != 3000 {
		t.Fatalf("%d and %d numbers", len(n.source), len(n.name))
	}
	for small := range n.source {
		if small <= 0 {
			t.Fatal(small)
		}
	}
	slices.Reverse(list)
	again := number(list[1000:], categories[:10]) // the lists have another order and fewer entries
	for source, small := range again.feeds {
		if n.feeds[source] != small {
			t.Errorf("%d was %d and is %d", source, n.feeds[source], small)
		}
	}
	for name, small := range again.groups {
		if n.groups[name] != small {
			t.Errorf("%s was %d and is %d", name, n.groups[name], small)
		}
	}
}

func TestFeverIDCollisionKeepsTheIDOfTheOlderFeed(t *testing.T) {
	t.Parallel()
	taken := map[int32]string{}
	first := free(taken, "x")
	taken[first] = "x"
	second := free(taken, "x") // simulates another name with the same hash
	if second == first || second <= 0 {
		t.Error(first, second)
	}
	delete(taken, first)
	if free(taken, "x") != first {
		t.Error("it does not stay")
	}
}

func TestTitlesAreSafeAndReadableAsTextAndAsHTML(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"": "", "plain": "plain", "AT&T": "AT&T", "a & b; c": "a & b; c", "&": "&", "x<y>z": "x＜y＞z", "&lt;b&gt;": "＆lt;b＆gt;", "&#60;": "＆#60;",
		"&;": "&;", "ü < é": "ü ＜ é", "<script>": "＜script＞",
	} {
		if got := appText(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestItemTextContainsNestedItems(t *testing.T) {
	t.Parallel()
	c := river.Content{HTML: "<p>a</p>", Image: `http://x.test/"1"`, Nested: []river.Content{{Title: "<b>", HTML: "<p>c</p>"}}}
	want := `<p><img src="http://x.test/&#34;1&#34;" alt=""></p><p>a</p><blockquote><p><strong>&lt;b&gt;</strong></p><p>c</p></blockquote>`
	if got := appHTML(&c); got != want {
		t.Errorf("%s", got)
	}
}
