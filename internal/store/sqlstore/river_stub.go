package sqlstore

import (
	"context"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

var _ river.Store = (*Store)(nil)

func notYet() error { return fault.New(fault.Unsupported, "Not yet.") }

// ClaimSources is river.Store.ClaimSources.
func (s *Store) ClaimSources(ctx context.Context, now, until time.Time, limit int, claim int64) ([]river.Source, error) {
	return nil, notYet()
}

// ClaimSource is river.Store.ClaimSource.
func (s *Store) ClaimSource(ctx context.Context, id int64, now, until time.Time, claim int64) (river.Source, error) {
	return river.Source{}, notYet()
}

// NextSource is river.Store.NextSource.
func (s *Store) NextSource(ctx context.Context) (time.Time, error) { return time.Time{}, notYet() }

// PutOff is river.Store.PutOff.
func (s *Store) PutOff(ctx context.Context, list []river.PutOff) error { return notYet() }

// ReleaseClaims is river.Store.ReleaseClaims.
func (s *Store) ReleaseClaims(ctx context.Context, now time.Time) error { return notYet() }

// SaveCheck is river.Store.SaveCheck.
func (s *Store) SaveCheck(ctx context.Context, saved river.Saved) (bool, error) {
	return false, notYet()
}

// KnownItems is river.Store.KnownItems.
func (s *Store) KnownItems(ctx context.Context, source int64, ids []int64) (map[int64]river.Item, error) {
	return nil, notYet()
}

// HearSources is river.Store.HearSources.
func (s *Store) HearSources(ctx context.Context, url, door string, now time.Time) ([]int64, error) {
	return nil, notYet()
}

// Source is river.Store.Source.
func (s *Store) Source(ctx context.Context, id int64) (river.Source, error) {
	return river.Source{}, notYet()
}

// SourcesAt is river.Store.SourcesAt.
func (s *Store) SourcesAt(ctx context.Context, url string) ([]river.Source, error) {
	return nil, notYet()
}

// Sources is river.Store.Sources.
func (s *Store) Sources(ctx context.Context, q river.SourceQuery) ([]river.Source, error) {
	return nil, notYet()
}

// ChangeSource is river.Store.ChangeSource.
func (s *Store) ChangeSource(ctx context.Context, id int64, change func(s *river.Source) error) (river.Source, error) {
	return river.Source{}, notYet()
}

// Checks is river.Store.Checks.
func (s *Store) Checks(ctx context.Context, source int64) ([]river.Check, error) {
	return nil, notYet()
}

// Hosts is river.Store.Hosts.
func (s *Store) Hosts(ctx context.Context, hosts []string) (map[string]river.Host, error) {
	return nil, notYet()
}

// CountSources is river.Store.CountSources.
func (s *Store) CountSources(ctx context.Context, now time.Time) (river.SourceCounts, error) {
	return river.SourceCounts{}, notYet()
}

// SweepRiver is river.Store.SweepRiver.
func (s *Store) SweepRiver(ctx context.Context, keep int, before time.Time, some int) (int, error) {
	return 0, notYet()
}

// RiverSubscribe is river.Store.RiverSubscribe.
func (s *Store) RiverSubscribe(ctx context.Context, list []river.Addition, now time.Time, most int) ([]bool, error) {
	return nil, notYet()
}

// RiverUnsubscribe is river.Store.RiverUnsubscribe.
func (s *Store) RiverUnsubscribe(ctx context.Context, reader string, sources []int64) (orphans []river.Source, err error) {
	return nil, notYet()
}

// ChangeSubscription is river.Store.ChangeSubscription.
func (s *Store) ChangeSubscription(ctx context.Context, reader string, source int64, change func(*river.Subscription) error) (river.Followed, error) {
	return river.Followed{}, notYet()
}

// RiverSubscriptions is river.Store.RiverSubscriptions.
func (s *Store) RiverSubscriptions(ctx context.Context, q river.SubscriptionQuery) ([]river.Followed, error) {
	return nil, notYet()
}

// RiverFollowing is river.Store.RiverFollowing.
func (s *Store) RiverFollowing(ctx context.Context, reader string) (map[int64]bool, error) {
	return nil, notYet()
}

// Categories is river.Store.Categories.
func (s *Store) Categories(ctx context.Context, reader string, unread bool) ([]river.Category, error) {
	return nil, notYet()
}

// PutCategory is river.Store.PutCategory.
func (s *Store) PutCategory(ctx context.Context, reader, name string, public bool) error {
	return notYet()
}

// RenameCategory is river.Store.RenameCategory.
func (s *Store) RenameCategory(ctx context.Context, reader, from, to string) error { return notYet() }

// DropCategory is river.Store.DropCategory.
func (s *Store) DropCategory(ctx context.Context, reader, name string) error { return notYet() }

// Items is river.Store.Items.
func (s *Store) Items(ctx context.Context, q river.ItemQuery) ([]river.Entry, error) {
	return nil, notYet()
}

// MarkItems is river.Store.MarkItems.
func (s *Store) MarkItems(ctx context.Context, reader string, ids []int64, read, starred *bool, now time.Time) error {
	return notYet()
}

// MarkAllRead is river.Store.MarkAllRead.
func (s *Store) MarkAllRead(ctx context.Context, reader string, source int64, category string, to time.Time) error {
	return notYet()
}

// CountUnread is river.Store.CountUnread.
func (s *Store) CountUnread(ctx context.Context, reader string) (map[int64]river.Unread, error) {
	return nil, notYet()
}

// NewestSeq is river.Store.NewestSeq.
func (s *Store) NewestSeq(ctx context.Context) (int64, error) { return 0, notYet() }

// Changed is river.Store.Changed.
func (s *Store) Changed(ctx context.Context, seq int64, limit int) ([]river.Item, error) {
	return nil, notYet()
}

// IndexItems is river.Store.IndexItems.
func (s *Store) IndexItems(ctx context.Context, n int) (int, error) { return 0, notYet() }

// AddReadingList is river.Store.AddReadingList.
func (s *Store) AddReadingList(ctx context.Context, l river.ReadingList) error { return notYet() }

// ReadingLists is river.Store.ReadingLists.
func (s *Store) ReadingLists(ctx context.Context, reader string) ([]river.ReadingList, error) {
	return nil, notYet()
}

// DropReadingList is river.Store.DropReadingList.
func (s *Store) DropReadingList(ctx context.Context, reader string, id int64) error { return notYet() }

// ClaimReadingLists is river.Store.ClaimReadingLists.
func (s *Store) ClaimReadingLists(ctx context.Context, now, until time.Time, limit int, claim int64) ([]river.ReadingList, error) {
	return nil, notYet()
}

// SaveReadingList is river.Store.SaveReadingList.
func (s *Store) SaveReadingList(ctx context.Context, l river.ReadingList) (bool, error) {
	return false, notYet()
}

// PutNotice is river.Store.PutNotice.
func (s *Store) PutNotice(ctx context.Context, n river.Notice, most int) (river.Notice, error) {
	return river.Notice{}, notYet()
}

// Notices is river.Store.Notices.
func (s *Store) Notices(ctx context.Context, reader string) ([]river.Notice, error) {
	return nil, notYet()
}

// DropNotice is river.Store.DropNotice.
func (s *Store) DropNotice(ctx context.Context, reader string, id int64) error { return notYet() }

// ClaimNotices is river.Store.ClaimNotices.
func (s *Store) ClaimNotices(ctx context.Context, now, until time.Time, limit int, claim int64) ([]river.Notice, error) {
	return nil, notYet()
}

// NoticeItems is river.Store.NoticeItems.
func (s *Store) NoticeItems(ctx context.Context, id int64, limit int) ([]river.Entry, error) {
	return nil, notYet()
}

// SaveNotice is river.Store.SaveNotice.
func (s *Store) SaveNotice(ctx context.Context, n river.Notice, told []int64) (bool, error) {
	return false, notYet()
}

// NextWork is river.Store.NextWork.
func (s *Store) NextWork(ctx context.Context) (time.Time, error) { return time.Time{}, notYet() }
