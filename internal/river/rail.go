package river

import "context"

// RailFeed is a followed feed, with the data that the list of feeds on a river page displays.
type RailFeed struct {
	ID         int64    // ID of the feed's source
	Title      string   // title that the user chose, else the title of the feed, else its URL
	Icon       string   // URL of an image that the feed declares; "": none
	Categories []string // categories that the user gave the feed, in alphabetical order
	Unread     int64
}

// Rail lists the feeds that a user follows by title, with their unread counts. To stay fast, it
// reads the subscriptions and no items. fault.Unavailable: the database is down.
func (r *River) Rail(ctx context.Context, user string) ([]RailFeed, error) {
	r.Init()
	return r.Store.RiverRail(ctx, user)
}

// CountUnread counts the unread items of a user. The key of the result is the ID of the source.
func (r *River) CountUnread(ctx context.Context, user string) (map[int64]Unread, error) {
	r.Init()
	return r.Store.CountUnread(ctx, user)
}
