package author_test

import (
	"fmt"
	"slices"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

func TestCategoryCanExistWithoutPosts(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		labels := func() (all []string) {
			list, err := d.Categories(d.ctx, "alice")
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range list {
				all = append(all, fmt.Sprint(c.Name, " ", c.Label, " ", c.Posts))
			}
			return all
		}
		want := func(what string, want ...string) {
			t.Helper()
			if got := labels(); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		add := func(label string) {
			t.Helper()
			if err := d.AddCategory(d.ctx, "alice", label); err != nil {
				t.Errorf("%q: %v", label, err)
			}
		}
		refused := func(label string, code fault.Code) {
			t.Helper()
			if err := d.AddCategory(d.ctx, "alice", label); err == nil || fault.CodeOf(err) != code {
				t.Errorf("%q: %v", label, err)
			}
		}
		add("Sea")
		add("#Boats  and more")
		add("sea")
		refused("!!", fault.Invalid)
		refused("", fault.Invalid)
		want("created", "boats-and-more Boats and more 0", "sea Sea 0")
		if _, err := d.SetProfile(d.ctx, "alice", func(p *author.Profile) error { *p = author.Profile{Title: "New"}; return nil }, "test"); err != nil {
			t.Fatal(err)
		}
		want("after another profile", "boats-and-more Boats and more 0", "sea Sea 0")
		if _, err := d.Save(d.ctx, author.Edit{User: "alice", To: author.Published, Change: func(c *author.Content) error {
			c.Source, c.Categories = "x", []string{"SEA"}
			return nil
		}}); err != nil {
			t.Fatal(err)
		}
		want("used", "boats-and-more Boats and more 0", "sea SEA 1")
		for i := range 199 {
			add(fmt.Sprint("n", i))
		}
		refused("one more", fault.Conflict)
	})
}
