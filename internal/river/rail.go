package river

import "context"

// RailFeed is a followed feed, with what a list of feeds on a river page shows of it.
type RailFeed struct {
	ID         int64    // ID of the source
	Title      string   // the user's own title, else the feed's, else its URL
	Icon       string   // URL of an image, as the feed declares it; "": none
	Categories []string // in alphabetical order
	Unread     int64
}

// Rail lists all feeds that a user follows by title, with their unread counts. It reads the
// subscriptions and no items. Error: fault.Unavailable.
func (r *River) Rail(ctx context.Context, user string) ([]RailFeed, error) {
	r.Init()
	return r.Store.RiverRail(ctx, user)
}
