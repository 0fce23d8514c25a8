package rivertest

import (
	"testing"

	"cloudburst/internal/river"
	"cloudburst/internal/store/storetest"
)

func riverCountTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"RailListsFeedsByTitle": riverTest(railOfFeeds),
	}
}

func railOfFeeds(t *testing.T, s *stream) {
	first := s.followFeed("ann", feedURL(1), "b", "a")
	src := s.take(first.ID)
	src.About = river.About{Title: "beta", Icon: "http://feeds.example/icon.png", Description: `says "icon": nothing`}
	s.save(river.Saved{Source: src, Put: s.items(first.ID, 0, 3)})
	second := s.followFeed("ann", feedURL(2))
	_, err := s.ChangeSubscription(s.Ctx, "ann", second.ID, func(f *river.Subscription) error {
		f.Title = "Alpha"
		return nil
	})
	storetest.Must(t, err)
	never := s.followFeed("ann", feedURL(3))
	s.followFeed("bob", feedURL(4))
	got, err := s.RiverRail(s.Ctx, "ann")
	storetest.Same(t, "rail", []any{got, err}, []any{[]river.RailFeed{
		{ID: second.ID, Title: "Alpha"},
		{ID: first.ID, Title: "beta", Icon: "http://feeds.example/icon.png", Categories: []string{"a", "b"}, Unread: 3},
		{ID: never.ID, Title: feedURL(3)},
	}, error(nil)})
	got, err = s.RiverRail(s.Ctx, "nobody")
	storetest.Same(t, "a user without feeds", []any{len(got), err}, []any{0, error(nil)})
}
