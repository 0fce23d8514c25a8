package author_test

import (
	"strings"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/internal/author/rules"
	"cloudburst/internal/fault"
)

func TestLengthLimitCountsVisibleCharacters(t *testing.T) {
	t.Parallel()
	const link = "http://example.com/a-page-with-a-long-address?of=1&and=more"
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		source, link string
		want         int
	}{
		"140 letters":                       {x(140), "", 140},
		"141 letters":                       {x(141), "", 141},
		"140 emoji":                         {strings.Repeat("\U0001F327", 140), "", 140},
		"140 letters with combining accent": {strings.Repeat("e\u0301", 140), "", 140},
		"70 families":                       {strings.Repeat("\U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466", 70), "", 70},
		"140 flags":                         {strings.Repeat("\U0001F1E9\U0001F1EA", 140), "", 140},
		"141 emoji with skin tone":          {strings.Repeat("\U0001F44D\U0001F3FD", 141), "", 141},
		"the URL of the link":               {x(140) + " " + link, link, 140},
		"the URL of the link in front":      {link + " " + x(140), link, 140},
		"the URL of the link, twice":        {link + " " + x(10) + "\n\n" + link, link, 10},
		"the URL of the link in brackets":   {x(10) + " (" + link + ").", link, 14},
		"only the URL of the link":          {link, link, 0},
		"a URL that is not the link":        {"x " + link, "http://example.com/", 2 + len(link)},
		"a longer URL":                      {"x " + link + "&x", link, 2 + len(link) + 2},
		"a URL without a link":              {"x " + link, "", 2 + len(link)},
		"a URL in a link text":              {"[words](" + link + ")", "", 5},
	} {
		for _, f := range []author.Format{author.Markdown, author.Plain} {
			if f == author.Plain && strings.Contains(c.source, "](") {
				continue
			}
			_, m, err := (&author.Posts{}).Preview(author.Content{Source: c.source, Link: c.link, Format: f})
			if err != nil {
				t.Errorf("%s (%s): %v", name, f, err)
				continue
			}
			if m.Characters != c.want || m.Limit != 140 || m.Over != (c.want > 140) {
				t.Errorf("%s (%s): %+v, want %d characters", name, f, m, c.want)
			}
		}
	}
}

func TestPostRulesOfAnAuthorAreEnforced(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		save := func(user string) (author.Post, error) {
			return d.Save(d.ctx, author.Edit{User: user, To: author.Published, Change: func(c *author.Content) error { c.Source = strings.Repeat("ä", 141); return nil }})
		}
		set := author.RuleSettings{Posts: d.Posts}
		if err := set.SetRules(d.ctx, "alice", rules.Rules{Short: rules.ShortEnforce}); err != nil {
			t.Fatal(err)
		}
		_, err := save("alice")
		d.wantRefusal(err, fault.Invalid, "141 characters")
		if post := d.must(save("bob")); !strings.Contains(d.Warning(d.ctx, post), "141 characters") {
			t.Errorf("the warning is %q", d.Warning(d.ctx, post))
		}
		if err := set.SetRules(d.ctx, "alice", rules.Rules{Short: rules.ShortOff}); err != nil {
			t.Fatal(err)
		}
		// The rule of the author takes precedence over the setting of the server.
		d.LimitMode = author.LimitStop
		if post := d.must(save("alice")); d.Warning(d.ctx, post) != "" {
			t.Errorf("the warning is %q", d.Warning(d.ctx, post))
		}
		_, err = save("bob")
		d.wantRefusal(err, fault.Invalid, "141 characters")
		d.wantRefusal(set.SetRules(d.ctx, "alice", rules.Rules{Short: "maybe"}), fault.Invalid, "off, warn or enforce")
		// Callers replace the whole profile, but SetProfile keeps the rules.
		w, err := d.SetProfile(d.ctx, "alice", func(p *author.Profile) error { *p = author.Profile{Name: "Alice"}; return nil }, "test")
		if err != nil || w.Rules.Short != rules.ShortOff || w.Name != "Alice" {
			t.Errorf("%+v, %v", w.Profile, err)
		}
	})
}

func TestCategoryOfAHashtagIsRemovedWithTheHashtag(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		edit := func(id int64, change func(c *author.Content)) author.Post {
			return d.must(d.Save(d.ctx, author.Edit{User: "alice", ID: id, To: author.Published, Change: func(c *author.Content) error { change(c); return nil }}))
		}
		post := edit(0, func(c *author.Content) {
			c.Source, c.Categories = "In the #Rain with #birds", []string{"Walks", "Birds"}
		})
		if got := strings.Join(post.Categories, " "); got != "Walks Birds Rain" || !strings.Contains(post.HTML, `<a href="/alice/category/rain/">#Rain</a>`) {
			t.Errorf("%s, %s", got, post.HTML)
		}
		post = edit(post.ID, func(c *author.Content) { c.Source = "In the #snow" })
		if got := strings.Join(post.Categories, " "); got != "Walks Birds snow" {
			t.Errorf("after the change: %s", got)
		}
		it := d.feed().Items[0]
		if len(it.Categories) != 3 || it.Categories[2].Term != "snow" || !strings.Contains(it.Summary.Value, `<a href="`+origin+`/alice/category/snow/">#snow</a>`) {
			t.Errorf("the feed has %+v, %s", it.Categories, it.Summary.Value)
		}
		if err := (author.RuleSettings{Posts: d.Posts}).SetRules(d.ctx, "alice", rules.Rules{PlainTags: true}); err != nil {
			t.Fatal(err)
		}
		post = edit(post.ID, func(c *author.Content) { c.Source = "In the #snow again" })
		if got := strings.Join(post.Categories, " "); got != "Walks Birds" || strings.Contains(post.HTML, "<a") {
			t.Errorf("plain: %s, %s", got, post.HTML)
		}
	})
}
