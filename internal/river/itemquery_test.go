package river

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fault"
)

// userStore is a store that contains only the subscriptions of one user.
type userStore struct {
	Store
	subs       []Followed
	categories []Category
	asked      []ItemQuery
	added      []Addition
	limit      int
	counts     int // number of times that the subscriptions were counted
	lists      []ReadingList
}

func (s *userStore) RiverSubscriptions(_ context.Context, q SubscriptionQuery) ([]Followed, error) {
	var out []Followed
	for _, f := range s.subs {
		if strings.Contains(strings.ToLower(f.Name()+" "+f.Source.URL), strings.ToLower(q.Match)) {
			out = append(out, f)
		}
	}
	return out, nil
}

func (s *userStore) Categories(context.Context, string, bool) ([]Category, error) {
	return s.categories, nil
}

func (s *userStore) Items(_ context.Context, q ItemQuery) ([]Entry, error) {
	s.asked = append(s.asked, q)
	return nil, nil
}

func (s *userStore) KnownSources(context.Context, string, []string) (map[string]KnownSource, error) {
	return nil, nil
}

func (s *userStore) RiverFollowing(context.Context, string) (map[int64]bool, error) {
	mine := map[int64]bool{}
	for _, a := range s.added {
		mine[a.SourceID] = true
	}
	return mine, nil
}

func (s *userStore) SourcesAt(context.Context, string) ([]Source, error) { return nil, nil }

func (s *userStore) ReadingLists(context.Context, string) ([]ReadingList, error) {
	return s.lists, nil
}

func (s *userStore) AddReadingList(_ context.Context, l ReadingList) error {
	s.lists = append(s.lists, l)
	return nil
}

func (s *userStore) RiverSubscribe(_ context.Context, list []Addition, _ time.Time, limit int) ([]bool, error) {
	fresh := make([]bool, len(list))
	var added []Addition
	for i, a := range list {
		if fresh[i] = !slices.ContainsFunc(s.added, func(b Addition) bool { return a.SourceID == b.SourceID }); fresh[i] {
			added = append(added, a)
		}
	}
	if limit > 0 {
		s.counts++
	}
	if limit > 0 && len(s.added)+len(added) > limit && len(added) > 0 {
		return nil, fault.New(fault.TooMany, "too many")
	}
	s.added, s.limit = append(s.added, added...), limit
	return fresh, nil
}

func TestSearchTermsMatchFeedsAndItems(t *testing.T) {
	t.Parallel()
	feed := func(id int64, title, url string) Followed {
		return Followed{Subscription: Subscription{SourceID: id}, Source: Source{ID: id, URL: url, About: About{Title: title}}}
	}
	store := &userStore{
		subs:       []Followed{feed(1, "The chalk log", "http://a.example/"), feed(2, "Pencils", "http://chalk.example/"), feed(3, "Ink", "http://c.example/")},
		categories: []Category{{Name: "News"}, {Name: "Two words"}},
	}
	r := &River{Store: store}
	for _, c := range []struct {
		q    ItemQuery
		want *ItemQuery // query that the store receives; nil: the store is not queried
	}{
		{ItemQuery{Match: "blue feed:CHALK"}, &ItemQuery{Match: "blue", Sources: []int64{1, 2}}},
		{ItemQuery{Match: "feed:chalk feed:ink", Sources: []int64{2, 3}}, &ItemQuery{Sources: []int64{2, 3}}},
		{ItemQuery{Match: "feed:nothing"}, nil},
		{ItemQuery{Match: `category:news category:"two words"`}, &ItemQuery{Categories: []string{"News", "Two words"}}},
		{ItemQuery{Match: "category:news", Categories: []string{"Two words"}}, nil},
		{ItemQuery{Match: "category:none"}, nil},
		{ItemQuery{Match: "is:starred x", Category: "News"}, &ItemQuery{Match: "x", Starred: true, Category: "News"}},
		{ItemQuery{Match: "is:read is:unread"}, nil},
	} {
		store.asked = nil
		if _, err := r.Items(t.Context(), c.q); err != nil {
			t.Errorf("%q: %v", c.q.Match, err)
		}
		var want []ItemQuery
		if c.want != nil {
			want = []ItemQuery{*c.want}
		}
		if d := cmp.Diff(want, store.asked); d != "" {
			t.Errorf("%q:\n%s", c.q.Match, d)
		}
	}
	for _, q := range []ItemQuery{{Limit: 1001}, {Limit: -1}, {Limit: 10_001, Bare: true}, {IDs: make([]int64, 1001)}, {Match: "is:x"}} {
		if _, err := r.Items(t.Context(), q); fault.CodeOf(err) != fault.Invalid || err == nil {
			t.Errorf("%+v: %v", q, err)
		}
	}
}
