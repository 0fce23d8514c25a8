package authortest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/storetest"
)

func postListTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"PublishedPostsAreListedNewestFirst":    listPublished,
		"OtherStatesAreListedByLastChange":      listOther,
		"AllExceptDeletedAreListedByLastChange": listAll,
		"CategoriesListPublishedPostsOnly":      listCategory,
		"CategoryFollowsChangesOfPosts":         listCategoryChanges,
		"TimesLimitDateOfPosts":                 listBounds,
		"PlacesAreListedAscending":              listPlaces,
		"PagesAreCompleteWithoutDuplicates":     listPages,
		"WordsAreFoundInTitleAndSource":         listMatches,
		"SearchContinuesUntilPageIsFull":        listMatchPages,
		"SkipOmitsFirstPosts":                   listSkip,
		"InvalidQueryIsRejected":                listRefused,
		"MonthsAreCountedNewestFirst":           countMonths,
		"CategoriesAreCountedByNameAndPrefix":   countCategories,
		"CountsFollowPublishedPosts":            countChanges,
		"ScheduledPostsAreDueOldestFirst":       listDue,
		"QueriesMatchModel":                     listLikeAll,
	}
}

// titles returns the titles of the posts that a query lists.
func (e *env) titles(t *testing.T, q author.PostQuery) string {
	t.Helper()
	list, err := e.posts(t).Posts(e.Ctx, q)
	storetest.Must(t, err)
	var all []string
	for _, p := range list {
		all = append(all, p.Title)
	}
	return strings.Join(all, " ")
}

// newPost creates a post in a state.
func (e *env) newPost(t *testing.T, user, title string, state author.State, more ...func(*author.Post)) author.Post {
	t.Helper()
	return e.publish(t, user, title, append([]func(*author.Post){func(p *author.Post) { p.State = state }}, more...)...)
}

func updated(when time.Time) func(*author.Post) {
	return func(p *author.Post) { p.UpdatedAt = when }
}

func listPublished(t *testing.T, e *env) {
	e.publish(t, "alice", "Old", at(e.In(-time.Hour)))
	e.publish(t, "alice", "New", at(e.In(time.Hour)))
	e.publish(t, "alice", "Same1", at(e.Now))
	e.publish(t, "alice", "Same2", at(e.Now))
	e.publish(t, "bob", "Bobs", at(e.Now))
	e.newPost(t, "alice", "Draft", author.Draft)
	for q, want := range map[author.PostQuery]string{
		{User: "alice", State: author.Published}:            "New Same2 Same1 Old",
		{State: author.Published}:                           "New Bobs Same2 Same1 Old",
		{State: author.Published, Limit: 2}:                 "New Bobs",
		{User: "nobody", State: author.Published}:           "",
		{User: "bob", State: author.Published, Limit: 5000}: "Bobs",
	} {
		storetest.Same(t, fmt.Sprint(q), e.titles(t, q), want)
	}
}

func listOther(t *testing.T, e *env) {
	for _, state := range []author.State{author.Draft, author.Scheduled, author.Deleted} {
		s := string(state)
		e.newPost(t, "alice", s+"Old", state, updated(e.In(-time.Hour)), at(e.In(time.Hour)))
		e.newPost(t, "alice", s+"1", state, updated(e.Now))
		e.newPost(t, "alice", s+"2", state, updated(e.Now))
		e.newPost(t, "bob", s+"Bobs", state, updated(e.In(time.Hour)))
		e.publish(t, "alice", s+"Published")
		storetest.Same(t, "alice's", e.titles(t, author.PostQuery{User: "alice", State: state}), s+"2 "+s+"1 "+s+"Old")
		storetest.Same(t, "everyone's", e.titles(t, author.PostQuery{State: state}), s+"Bobs "+s+"2 "+s+"1 "+s+"Old")
	}
}

func listAll(t *testing.T, e *env) {
	for i, state := range []author.State{author.Published, author.Draft, author.Deleted, author.Scheduled, author.Published} {
		e.newPost(t, "alice", fmt.Sprint(state, i), state, updated(e.In(time.Duration(i)*time.Second)), at(e.In(time.Duration(-i)*time.Second)))
	}
	e.newPost(t, "bob", "bobs", author.Draft)
	storetest.Same(t, "alice's", e.titles(t, author.PostQuery{User: "alice"}), "published4 scheduled3 draft1 published0")
	storetest.Same(t, "everyone's", e.titles(t, author.PostQuery{}), "published4 scheduled3 draft1 bobs published0")
	storetest.Same(t, "with a time", e.titles(t, author.PostQuery{User: "alice", Since: e.In(-time.Hour)}), "published0 published4")
}

func listCategory(t *testing.T, e *env) {
	e.publish(t, "alice", "One", in("Travel Notes", "x", "travel notes"), at(e.Now))
	e.publish(t, "alice", "Two", in("TRAVEL   notes"), at(e.In(time.Hour)))
	e.publish(t, "alice", "Three", in("travel"), at(e.In(2*time.Hour)))
	e.publish(t, "bob", "Bobs", in("Travel notes"), at(e.Now))
	e.newPost(t, "alice", "Draft", author.Draft, in("travel notes"))
	name := author.CategoryName("Travel Notes")
	for q, want := range map[author.PostQuery]string{
		{User: "alice", State: author.Published, Category: name}:                      "Two One",
		{User: "alice", Category: name}:                                               "Two One",
		{Category: name}:                                                              "Two Bobs One",
		{Category: name, Since: e.Now, Before: e.In(time.Hour)}:                       "Bobs One",
		{User: "alice", Category: "x"}:                                                "One",
		{User: "alice", Category: "none"}:                                             "",
		{Category: name, After: &author.Post{User: "bob", ID: 1, PublishedAt: e.Now}}: "One",
		{User: "alice", Category: name, After: &author.Post{User: "alice", ID: 2, PublishedAt: e.In(time.Hour)}}: "One",
	} {
		storetest.Same(t, fmt.Sprint(q), e.titles(t, q), want)
	}
}

func listCategoryChanges(t *testing.T, e *env) {
	e.publish(t, "alice", "One", in("x"), at(e.Now))
	e.publish(t, "alice", "Two", in("x"), at(e.In(time.Second)))
	now := func() string {
		return e.titles(t, author.PostQuery{Category: "x"}) + "|" + e.titles(t, author.PostQuery{User: "alice", Category: "y"}) + "|" +
			strings.Join(e.counts(t, "alice", author.ByCategory, ""), ",")
	}
	for _, step := range []struct {
		what   string
		change func(*author.Post)
		want   string
	}{
		{"nothing", func(*author.Post) {}, "Two One||x x 2"},
		{"a later date", at(e.In(time.Hour)), "One Two||x x 2"},
		{"another label", in("X"), "One Two||x X 2"},
		{"one more", in("X", "y"), "One Two|One|x X 2,y y 1"},
		{"another", in("y"), "Two|One|x X 1,y y 1"},
		{"a draft", func(p *author.Post) { p.State = author.Draft }, "Two||x X 1"},
		{"of another category", in("x"), "Two||x X 1"},
		{"due", func(p *author.Post) { p.State, p.DueAt = author.Scheduled, e.Now }, "Two||x X 1"},
		{"published", func(p *author.Post) { p.State = author.Published }, "One Two||x x 2"},
		{"deleted", func(p *author.Post) { p.State = author.Deleted }, "Two||x x 1"},
		{"back, with another date", func(p *author.Post) { p.State, p.PublishedAt = author.Published, e.Now }, "Two One||x x 2"},
		{"none", in(), "Two||x x 1"},
	} {
		e.wrote(t, e.writing("alice", 1, step.change))
		storetest.Same(t, step.what, now(), step.want)
	}
}

func listBounds(t *testing.T, e *env) {
	for i := range 4 {
		e.publish(t, "alice", fmt.Sprint(i), at(e.In(time.Duration(i)*time.Hour)))
	}
	e.newPost(t, "alice", "draft", author.Draft, at(e.In(time.Hour)))
	for q, want := range map[author.PostQuery]string{
		{User: "alice", State: author.Published, Since: e.In(time.Hour)}:                                      "3 2 1",
		{User: "alice", State: author.Published, Before: e.In(time.Hour)}:                                     "0",
		{User: "alice", State: author.Published, Since: e.In(time.Hour), Before: e.In(3 * time.Hour)}:         "2 1",
		{State: author.Published, Since: e.In(time.Hour), Before: e.In(3 * time.Hour)}:                        "2 1",
		{User: "alice", State: author.Draft, Since: e.In(time.Hour)}:                                          "draft",
		{User: "alice", State: author.Draft, Before: e.In(time.Hour)}:                                         "",
		{User: "alice", Since: e.In(time.Hour), After: &author.Post{ID: 3, PublishedAt: e.In(2 * time.Hour)}}: "1",
	} {
		storetest.Same(t, fmt.Sprint(q), e.titles(t, q), want)
	}
}

func listPlaces(t *testing.T, e *env) {
	for i := range 7 {
		e.publish(t, "alice", fmt.Sprint(i+1), at(e.In(time.Duration(-i)*time.Hour)))
	}
	e.publish(t, "bob", "Bobs")
	e.wrote(t, e.writing("alice", 4, func(p *author.Post) { p.State = author.Deleted }))
	for q, want := range map[author.PostQuery]string{
		{User: "alice", State: author.Published, FromSeq: 2, ToSeq: 5}: "2 3 5",
		{User: "alice", FromSeq: 6}:                                    "6 7",
		{User: "alice", ToSeq: 2}:                                      "1 2",
		{User: "alice", FromSeq: 1, Limit: 2}:                          "1 2",
		{User: "alice", FromSeq: 8}:                                    "",
		{User: "alice", FromSeq: 1, After: &author.Post{Seq: 5}}:       "6 7",
	} {
		storetest.Same(t, fmt.Sprint(q), e.titles(t, q), want)
	}
}

// listPages pages through posts, many of which have the same time.
func listPages(t *testing.T, e *env) {
	for i := range 40 {
		user := []string{"alice", "Bob", "carol"}[i%3]
		when := e.In(time.Duration(i/9) * time.Second)
		e.newPost(t, user, fmt.Sprint("P", i), []author.State{author.Published, author.Draft}[i%4/3], at(when), updated(when), in("x"))
	}
	for _, q := range []author.PostQuery{
		{State: author.Published}, {User: "alice", State: author.Published}, {State: author.Draft}, {User: "Bob", State: author.Draft},
		{}, {User: "carol"}, {Category: "x"}, {User: "alice", Category: "x"}, {Match: "p"}, {User: "alice", Match: "p"},
	} {
		whole, err := e.posts(t).Posts(e.Ctx, q)
		storetest.Must(t, err)
		q.Limit = 3
		var paged []author.Post
		for {
			page, err := e.posts(t).Posts(e.Ctx, q)
			storetest.Must(t, err)
			if len(page) == 0 {
				break
			}
			paged = append(paged, page...)
			q.After = &author.Post{User: page[len(page)-1].User, ID: page[len(page)-1].ID, PublishedAt: page[len(page)-1].PublishedAt, UpdatedAt: page[len(page)-1].UpdatedAt}
		}
		if len(whole) < 3 {
			t.Errorf("only %d posts", len(whole))
		}
		q.After = nil
		storetest.Same(t, fmt.Sprintf("%+v", q), paged, whole)
	}
}

func listMatches(t *testing.T, e *env) {
	said := func(title, source string) {
		e.publish(t, "alice", "slug", func(p *author.Post) {
			p.Title, p.Source, p.HTML, p.Link = title, source, "<p>markup hidden", "https://example.com/hidden"
		})
	}
	said("First", "The quick \"brown\" fox\nsecond\\line")
	said("Zweiter Äpfel", "100% under_score")
	said("Third", "quick Ärger \u2028 ends")
	for match, want := range map[string]string{
		"quick": "Third First", "QUICK": "Third First", "quick fox": "First", "fox  first": "First", "uic": "Third First", `"brown"`: "First",
		"fox\nsecond": "First", `d\l`: "First", "äpfel": "Zweiter Äpfel", "ÄPFEL": "Zweiter Äpfel", "ärger": "Third", "100%": "Zweiter Äpfel", "0%_": "",
		"r_s": "Zweiter Äpfel", "hidden": "", "markup": "", "source": "", "title": "", "%": "Zweiter Äpfel", `\`: "First", " ": "Third Zweiter Äpfel First",
		"a b c d e f g h i j": "", "\u2028": "Third Zweiter Äpfel First", "x\x00": "", "i r s t f i r s t x": "First",
	} {
		storetest.Same(t, fmt.Sprintf("%q", match), e.titles(t, author.PostQuery{User: "alice", State: author.Published, Match: match}), want)
	}
	_, err := e.posts(t).Posts(e.Ctx, author.PostQuery{Match: strings.Repeat("a", 2001)})
	storetest.WantFault(t, err, fault.Invalid)
}

func listMatchPages(t *testing.T, e *env) {
	var list []author.Post
	for i := range 500 {
		p := e.elsewhere(fmt.Sprint("P", i), 0)
		p.PublishedAt = e.In(time.Duration(-i) * time.Second)
		if i%100 == 99 {
			p.Source = "needle"
		} else {
			p.HTML = "needle" // not searched
		}
		list = append(list, p)
	}
	_, err := e.posts(t).AddPosts(e.Ctx, "alice", e.Now, list)
	storetest.Must(t, err)
	storetest.Same(t, "a page", e.titles(t, author.PostQuery{User: "alice", State: author.Published, Match: "Needle", Limit: 2}), "P99 P199")
	storetest.Same(t, "the next", e.titles(t, author.PostQuery{User: "alice", State: author.Published, Match: "Needle", Limit: 2, After: &list[199]}), "P299 P399")
	storetest.Same(t, "all", e.titles(t, author.PostQuery{User: "alice", State: author.Published, Match: "Needle"}), "P99 P199 P299 P399 P499")
	storetest.Same(t, "but for some", e.titles(t, author.PostQuery{User: "alice", State: author.Published, Match: "Needle", Skip: 3}), "P399 P499")
}

func listSkip(t *testing.T, e *env) {
	for i := range 5 {
		e.publish(t, "alice", fmt.Sprint(i), at(e.In(time.Duration(i)*time.Hour)), in("x"))
	}
	for q, want := range map[author.PostQuery]string{
		{State: author.Published, Skip: 2}:                          "2 1 0",
		{User: "alice", State: author.Published, Skip: 1, Limit: 2}: "3 2",
		{Category: "x", Skip: 4}:                                    "0",
		{Category: "x", Skip: 5}:                                    "",
		{Category: "x", Skip: -1, Limit: 1}:                         "4",
	} {
		storetest.Same(t, fmt.Sprint(q), e.titles(t, q), want)
	}
}

func listRefused(t *testing.T, e *env) {
	for _, q := range []author.PostQuery{
		{State: "other"}, {User: "alice", State: author.Draft, Category: "x"}, {FromSeq: 1}, {User: "alice", State: author.Draft, FromSeq: 1},
		{User: "alice", Category: "x", ToSeq: 1},
	} {
		_, err := e.posts(t).Posts(e.Ctx, q)
		storetest.WantFault(t, err, fault.Invalid)
	}
	_, err := e.posts(t).PostCounts(e.Ctx, "alice", "colour", "", 0)
	storetest.WantFault(t, err, fault.Invalid)
}

// counts returns the counts in the form "name label n".
func (e *env) counts(t *testing.T, user string, what author.CountOf, prefix string) []string {
	t.Helper()
	list, err := e.posts(t).PostCounts(e.Ctx, user, what, prefix, 0)
	storetest.Must(t, err)
	var all []string
	for _, n := range list {
		all = append(all, strings.Join(strings.Fields(fmt.Sprint(n.Name, " ", n.Label, " ", n.Posts)), " "))
	}
	return all
}

func countMonths(t *testing.T, e *env) {
	for _, when := range []string{"2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00Z", "2025-12-31T23:00:00Z", "2026-01-01T00:30:00+01:00", "0099-05-01T00:00:00Z"} {
		moment, err := time.Parse(time.RFC3339Nano, when)
		storetest.Must(t, err)
		e.publish(t, "alice", "P", at(moment))
	}
	storetest.Same(t, "months", e.counts(t, "alice", author.ByMonth, ""), []string{"2026-02 1", "2026-01 1", "2025-12 2", "0099-05 1"})
	list, err := e.posts(t).PostCounts(e.Ctx, "alice", author.ByMonth, "", 1)
	storetest.Must(t, err)
	storetest.Same(t, "the newest", list, []author.Count{{Name: "2026-02", Posts: 1}})
	storetest.Same(t, "of another user", e.counts(t, "bob", author.ByMonth, ""), []string(nil))
	storetest.Same(t, "of all users", len(e.counts(t, "", author.ByMonth, "")), 4)
}

func countCategories(t *testing.T, e *env) {
	e.publish(t, "alice", "1", in("Travel", "travel notes", "Ünder", "b", "!!!"))
	e.publish(t, "alice", "2", in("TRAVEL", "travel", "b"))
	e.Now = e.In(time.Second) // for all users, the label that was written last wins
	e.publish(t, "bob", "1", in("B", "c"))
	storetest.Same(t, "all", e.counts(t, "alice", author.ByCategory, ""), []string{"b b 2", "travel travel 2", author.CategoryName("travel notes") + " travel notes 1", author.CategoryName("Ünder") + " Ünder 1"})
	storetest.Same(t, "with a prefix", e.counts(t, "alice", author.ByCategory, "travel"), []string{"travel travel 2", author.CategoryName("travel notes") + " travel notes 1"})
	storetest.Same(t, "with a whole name", e.counts(t, "alice", author.ByCategory, author.CategoryName("ünd")), []string{author.CategoryName("Ünder") + " Ünder 1"})
	storetest.Same(t, "with none", e.counts(t, "alice", author.ByCategory, "trw"), []string(nil))
	storetest.Same(t, "of all users", e.counts(t, "", author.ByCategory, "b"), []string{"b B 3"})
	list, err := e.posts(t).PostCounts(e.Ctx, "alice", author.ByCategory, "", 2)
	storetest.Must(t, err)
	storetest.Same(t, "the first", len(list), 2)
}

func countChanges(t *testing.T, e *env) {
	e.publish(t, "alice", "1", at(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)))
	for _, step := range []struct {
		change func(*author.Post)
		posts  int64
		months []string
	}{
		{func(p *author.Post) { p.Title = "2" }, 1, []string{"2026-03 1"}},
		{at(time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)), 1, []string{"2026-04 1"}},
		{func(p *author.Post) { p.State = author.Deleted }, 0, nil},
		{func(p *author.Post) { p.State = author.Draft }, 0, nil},
		{func(p *author.Post) { p.State = author.Published }, 1, []string{"2026-04 1"}},
	} {
		storetest.Same(t, "posts", e.wrote(t, e.writing("alice", 1, step.change)).Writer.Posts, step.posts)
		storetest.Same(t, "posts as stored", e.writer(t, "alice").Posts, step.posts)
		storetest.Same(t, "months", e.counts(t, "alice", author.ByMonth, ""), step.months)
	}
}

func listDue(t *testing.T, e *env) {
	next := func() time.Time {
		when, err := e.posts(t).NextDuePost(e.Ctx)
		storetest.Must(t, err)
		return when
	}
	storetest.Same(t, "next", next(), time.Time{})
	due := func(user, title string, when time.Time) {
		e.newPost(t, user, title, author.Scheduled, func(p *author.Post) { p.DueAt = when })
	}
	due("alice", "later", e.In(time.Hour))
	due("bob", "soon", e.In(time.Minute))
	due("alice", "now", e.Now)
	due("bob", "past", e.In(-time.Hour))
	e.newPost(t, "alice", "draft", author.Draft, func(p *author.Post) { p.DueAt = e.In(-2 * time.Hour) })
	e.publish(t, "alice", "published", func(p *author.Post) { p.DueAt = e.In(-2 * time.Hour) })
	storetest.Same(t, "next", next(), e.In(-time.Hour))
	list := func(n int) (all []string) {
		posts, err := e.posts(t).DuePosts(e.Ctx, e.Now, n)
		storetest.Must(t, err)
		for _, p := range posts {
			all = append(all, p.User+" "+p.Title)
		}
		return all
	}
	storetest.Same(t, "due", list(0), []string{"bob past", "alice now"})
	storetest.Same(t, "the first that is due", list(1), []string{"bob past"})
	e.wrote(t, e.writing("bob", 2, func(p *author.Post) { p.State = author.Published }))
	e.wrote(t, e.writing("alice", 2, func(p *author.Post) { p.State = author.Draft }))
	storetest.Same(t, "due afterwards", list(0), []string(nil))
	storetest.Same(t, "next afterwards", next(), e.In(time.Minute))
}

// listLikeAll changes posts at random and compares every result with a model.
func listLikeAll(t *testing.T, e *env) {
	rng := rand.New(rand.NewPCG(7, 7))
	states := []author.State{author.Published, author.Published, author.Draft, author.Scheduled, author.Deleted}
	users := []string{"alice", "bob"}
	all := map[string]author.Post{}
	ids := map[string]int64{}
	for range 300 {
		user := users[rng.IntN(2)]
		id := int64(0)
		if ids[user] > 0 && rng.IntN(2) == 0 {
			id = 1 + rng.Int64N(ids[user])
		}
		done := e.wrote(t, e.writing(user, id, func(p *author.Post) {
			p.Title, p.State = fmt.Sprint("t", rng.IntN(50)), states[rng.IntN(len(states))]
			p.PublishedAt, p.UpdatedAt = e.In(time.Duration(rng.IntN(20)*100)*time.Hour), e.In(time.Duration(rng.IntN(20))*time.Hour)
			p.Categories = []string{"x", "y", "z"}[:rng.IntN(4)]
		}))
		ids[user] = max(ids[user], done.Post.ID)
		all[fmt.Sprint(user, done.Post.ID)] = done.Post
	}
	for range 300 {
		q := author.PostQuery{Limit: 1000}
		if rng.IntN(3) > 0 {
			q.User = users[rng.IntN(2)]
		}
		if q.State = states[rng.IntN(len(states))]; rng.IntN(4) == 0 {
			q.State = ""
		}
		if q.State == author.Published {
			q.Category = []string{"", "x", "z"}[rng.IntN(3)]
			q.Since = e.In(time.Duration(rng.IntN(15)*100) * time.Hour)
		}
		got, err := e.posts(t).Posts(e.Ctx, q)
		storetest.Must(t, err)
		storetest.Same(t, fmt.Sprintf("%+v", q), got, likeAll(all, q))
	}
	for _, user := range users {
		months, names, posts := map[string]int64{}, map[string]int64{}, int64(0)
		for _, p := range all {
			if p.User == user && p.State == author.Published {
				posts++
				months[p.PublishedAt.Format("2006-01")]++
				for _, c := range p.Categories {
					names[c]++
				}
			}
		}
		storetest.Same(t, "posts", e.writer(t, user).Posts, posts)
		for what, want := range map[author.CountOf]map[string]int64{author.ByMonth: months, author.ByCategory: names} {
			list, err := e.posts(t).PostCounts(e.Ctx, user, what, "", 0)
			storetest.Must(t, err)
			got := map[string]int64{}
			for _, n := range list {
				got[n.Name] = n.Posts
			}
			storetest.Same(t, string(what), got, want)
		}
	}
}

func likeAll(all map[string]author.Post, q author.PostQuery) (want []author.Post) {
	key := func(p author.Post) time.Time {
		if q.State == author.Published {
			return p.PublishedAt
		}
		return p.UpdatedAt
	}
	for _, p := range all {
		if (q.User == "" || q.User == p.User) && (q.State == p.State || q.State == "" && p.State != author.Deleted) &&
			(q.Category == "" || slices.Contains(p.Categories, q.Category)) && !p.PublishedAt.Before(q.Since) {
			want = append(want, p)
		}
	}
	slices.SortFunc(want, func(a, b author.Post) int {
		if c := key(b).Compare(key(a)); c != 0 {
			return c
		}
		if c := strings.Compare(b.User, a.User); c != 0 {
			return c
		}
		return int(b.ID - a.ID)
	})
	return want
}
