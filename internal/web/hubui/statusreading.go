package hubui

import (
	"context"

	"cloudburst/internal/river"
	"cloudburst/internal/web/locale"
)

// readingNow is the state of the feed reader for the status page.
type readingNow struct {
	river.SourceCounts
	river.Live
	Lead string
}

// readingNow returns nil if there is no feed reader or its state is unknown.
func (s *Pages) readingNow(ctx context.Context, l *locale.Locale) *readingNow {
	if s.Reading == nil {
		return nil
	}
	counts, err := s.Reading.Counts(ctx)
	if err != nil {
		s.Logger().Warn("count the feeds for the status page", "err", err)
		return nil
	}
	n := &readingNow{SourceCounts: counts, Live: s.Reading.Live()}
	switch trouble := counts.Failing + counts.Gone; {
	case counts.Followed == 0:
		n.Lead = "No feeds are followed here yet."
	case trouble == 0:
		n.Lead = l.Say("%s followed here, and all of them answer.", locale.Quantity(counts.Followed, "feed is", "feeds are"))
	default:
		n.Lead = l.Say("%s followed here; %d %s failing, %d %s gone.", locale.Quantity(counts.Followed, "feed is", "feeds are"),
			counts.Failing, l.Words(isAre(counts.Failing)), counts.Gone, l.Words(isAre(counts.Gone)))
	}
	return n
}
