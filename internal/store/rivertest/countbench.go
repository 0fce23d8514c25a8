package rivertest

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/river"
)

// Followers measures storing one item of a source with many followers. All of them have marked
// everything read; a late item lies below their read markers.
func Followers(b *testing.B, st hub.Store, followers int) {
	s := benched(b, st)
	few, many := s.followFeed("", feedURL(1)), s.followFeed("", feedURL(2))
	s.readFeed(many.ID, s.newItem(many.ID, 0, s.In(-2*time.Hour)))
	for i := range followers {
		reader := fmt.Sprint("user", i)
		s.followFeed(reader, feedURL(2))
		s.must(s.MarkAllRead(s.Ctx, reader, 0, "", s.Now, s.Now))
	}
	n := 0
	for _, one := range []struct {
		name   string
		source int64
		at     time.Duration
	}{{"one follower", few.ID, time.Hour}, {fmt.Sprintf("%d followers", followers), many.ID, time.Hour}, {fmt.Sprintf("%d followers, late", followers), many.ID, -time.Hour}} {
		b.Run(one.name, func(b *testing.B) {
			for b.Loop() {
				n++
				src := s.take(one.source)
				s.save(river.Saved{Source: src, Put: []river.Item{s.newItem(src.ID, n, s.In(one.at))}})
			}
		})
	}
}
