package web

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"cloudburst/internal/river"
)

func TestProxiedImageHasWidthAndHeightAfterTheFirstRequest(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("bob")
	f := x.fakeRiver.follow("bob", river.Source{URL: "https://images.example/feed"})
	x.fakeRiver.arrive(river.Item{ID: 901, SourceID: f.SourceID, GUID: "a", Content: river.Content{Title: "One", HTML: `<p><img src="https://images.example/hill.png" alt="hill"></p><p><img src="https://images.example/missing.png" alt="missing"></p><p><img src="https://images.example/told.png" alt="sized" width="20" height="10"></p>`}})
	sizes := func() string {
		var all []string
		for _, img := range find(find(check(t, x.open("/river")), "div", "e-content")[0], "img", "") {
			all = append(all, fmt.Sprintf("%s %sx%s", attr(img, "alt"), attr(img, "width"), attr(img, "height")))
		}
		return strings.Join(all, ", ")
	}
	if got, want := sizes(), "hill x, missing x, sized 20x10"; got != want {
		t.Errorf("before any is read: %s, not %s", got, want)
	}
	for _, img := range find(check(t, x.open("/river")), "img", "") {
		x.open(html.UnescapeString(attr(img, "src")))
	}
	if got, want := sizes(), "hill 640x360, missing x, sized 20x10"; got != want {
		t.Errorf("after they were read: %s, not %s", got, want)
	}
}
