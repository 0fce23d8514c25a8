package sqlstore

import (
	"context"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// Following is hub.Store.Following.
func (s *Store) Following(ctx context.Context, urls []string, now time.Time, limit int) ([]hub.Topic, error) {
	var found []hub.Topic
	for _, u := range urls {
		id := hub.TopicID(u)
		followed, err := s.Followed(ctx, id, now)
		if err != nil {
			return nil, err
		}
		if followed {
			t, err := s.Topic(ctx, id)
			if err != nil {
				return nil, err
			}
			found = append(found, t)
		}
	}
	return found, nil
}

// SetAbout is hub.Store.SetAbout.
func (s *Store) SetAbout(ctx context.Context, topicID int64, about hub.About) error { return nil }

// Content is hub.Store.Content.
func (s *Store) Content(ctx context.Context, topicID int64) (hub.Content, error) {
	return hub.Content{}, fault.New(fault.NotFound, "The content of the topic %d is not kept.", topicID)
}
