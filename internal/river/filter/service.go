package filter

import (
	"context"
	"slices"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/item"
)

const (
	applyBatch   = 200 // number of existing items that one step compares or shows again
	previewItems = 200
	shownHidden  = 100 // maximum number of items that Hidden lists
	maxShown     = 1000
)

// Store stores the filters of users. The transaction that stores a check of a feed also applies
// the filters to the new items: it marks items as read or starred, hides them, and queues them
// for forwardings. A hidden item counts as read, and queries leave it out unless they ask for it.
type Store interface {
	// Filters lists the filters of a user in their order.
	Filters(ctx context.Context, user string) ([]Rule, error)
	// PutFilter creates a filter (ID 0) after the user's other filters, or changes an existing
	// filter. With Applying, the filter is applied to existing items too, and the items that it
	// has hidden so far are shown again first. Errors: fault.TooMany: the user would have more
	// than limit filters; NotFound: the filter does not exist.
	PutFilter(ctx context.Context, r Rule, limit int) (Rule, error)
	// DropFilter removes a filter; RestoreFilter can undo this. fault.NotFound: the filter does
	// not exist.
	DropFilter(ctx context.Context, user string, id int64, now time.Time) error
	// RestoreFilter restores a filter that was removed at since or later. fault.NotFound: there
	// is no such filter.
	RestoreFilter(ctx context.Context, user string, id int64, since time.Time) error
	// MoveFilter swaps a filter with the next one (down) or the previous one. fault.NotFound: the
	// filter does not exist.
	MoveFilter(ctx context.Context, user string, id int64, down bool) error
	// ShowHidden shows hidden items again. The items stay read.
	ShowHidden(ctx context.Context, user string, ids []int64) error
	// ApplyFilters does the next step of pending work on existing items. It either applies a
	// filter to the next limit items, or shows up to limit items again that a removed filter hid.
	// A filter counts as removed if it was dropped at before or earlier. The result is false if
	// no work is pending.
	ApplyFilters(ctx context.Context, now, before time.Time, limit int) (bool, error)
}

// Query selects the newest items of a user.
type Query struct {
	User     string
	SourceID int64
	Category string
	HiddenBy int64 // ID of the filter that hides the items; 0: all items, including hidden ones
	Limit    int
}

// Filters manages the filters of users. All fields must be set.
type Filters struct {
	Store Store
	Now   func() time.Time // current time in UTC, with millisecond precision
	Items func(ctx context.Context, q Query) ([]item.Entry, error)
	// Subject returns an error if a source or category of the user does not exist.
	Subject func(ctx context.Context, user string, source int64, category string) error
	// Forwards reports whether a user has a forwarding with this ID.
	Forwards   func(ctx context.Context, user string, id int64) (bool, error)
	Wake       func()        // wakes the loop that calls Apply: work is pending now, or is pending after UndoWithin
	UndoWithin time.Duration // time in which a user can undo Drop
}

// Preview contains the existing items that a filter matches.
type Preview struct {
	Compared int          // number of the newest items that were compared with the filter
	Matched  []item.Entry // compared items that match, newest first
}

// List lists the filters of a user in the order in which they run.
func (f *Filters) List(ctx context.Context, user string) ([]Rule, error) {
	return f.Store.Filters(ctx, user)
}

// Put creates a filter (ID 0) after the user's other filters, or changes an existing filter. The
// filter applies to items that arrive from now on; with Applying, it is also applied to existing
// items, in the background. A fault names the invalid field as Rule.Check does, or "source",
// "category" or "forward". Errors: fault.Invalid: a field is not valid; NotFound: the filter,
// feed, category or forwarding does not exist; TooMany: the user has too many filters.
func (f *Filters) Put(ctx context.Context, r Rule) (Rule, error) {
	if err := f.check(ctx, &r); err != nil {
		return Rule{}, err
	}
	all, err := f.Store.Filters(ctx, r.Reader)
	if err != nil {
		return Rule{}, err
	}
	is := func(o Rule) bool { return o.ID == r.ID }
	if r.ID == 0 {
		r.CreatedAt = f.Now()
	} else if !slices.ContainsFunc(all, is) {
		return Rule{}, fault.New(fault.NotFound, "There is no filter with the number %d.", r.ID)
	}
	if err := CheckAll(append(slices.DeleteFunc(all, is), r)); err != nil {
		return Rule{}, err
	}
	r, err = f.Store.PutFilter(ctx, r, MaxRules)
	if err == nil && r.Applying {
		f.Wake()
	}
	return r, err
}

// check validates and normalizes a filter, and verifies that its feed, category and forwarding
// exist.
func (f *Filters) check(ctx context.Context, r *Rule) error {
	if err := r.Check(); err != nil {
		return err
	}
	if err := f.Subject(ctx, r.Reader, r.SourceID, r.Category); err != nil {
		if r.SourceID != 0 {
			return fault.In(err, "source")
		}
		return fault.In(err, "category")
	}
	if r.Forward == 0 {
		return nil
	}
	exists, err := f.Forwards(ctx, r.Reader, r.Forward)
	if err == nil && !exists {
		err = fault.In(fault.New(fault.NotFound, "There is no forwarding with the number %d.", r.Forward), "forward")
	}
	return err
}

// Preview compares a filter, stored or not, with the newest items of its feeds. It changes
// nothing. Errors: see Put.
func (f *Filters) Preview(ctx context.Context, r Rule) (Preview, error) {
	if err := f.check(ctx, &r); err != nil {
		return Preview{}, err
	}
	compiled, err := Compile(&r)
	if err != nil {
		return Preview{}, err
	}
	list, err := f.Items(ctx, Query{User: r.Reader, SourceID: r.SourceID, Category: r.Category, Limit: previewItems})
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Compared: len(list)}
	for i := range list {
		if compiled.Match(NewSubject(ItemOf(&list[i].Content)), nil) {
			p.Matched = append(p.Matched, list[i])
		}
	}
	return p, nil
}

// ItemOf returns the fields of an item's content that rules compare.
func ItemOf(c *item.Content) Item {
	return Item{Title: c.Title, Text: c.Text, Link: c.Link, Authors: c.Authors, Categories: c.Categories}
}

// Drop removes a filter. Restore can undo this for UndoWithin; after that time, the items that
// the filter hid are shown again. fault.NotFound: the filter does not exist.
func (f *Filters) Drop(ctx context.Context, user string, id int64) error {
	err := f.Store.DropFilter(ctx, user, id, f.Now())
	if err == nil {
		f.Wake()
	}
	return err
}

// Restore undoes Drop. fault.NotFound: there is nothing to undo, or UndoWithin is over.
func (f *Filters) Restore(ctx context.Context, user string, id int64) error {
	return f.Store.RestoreFilter(ctx, user, id, f.Now().Add(-f.UndoWithin))
}

// Move moves a filter one position later (down) or earlier. fault.NotFound: the filter does not
// exist.
func (f *Filters) Move(ctx context.Context, user string, id int64, down bool) error {
	return f.Store.MoveFilter(ctx, user, id, down)
}

// Hidden lists the newest items that a filter hides, at most shownHidden.
func (f *Filters) Hidden(ctx context.Context, user string, id int64) ([]item.Entry, error) {
	if id == 0 {
		return nil, nil
	}
	return f.Items(ctx, Query{User: user, HiddenBy: id, Limit: shownHidden})
}

// Show shows hidden items again. The items stay read, and stay visible until a filter is applied
// to existing items.
func (f *Filters) Show(ctx context.Context, user string, ids []int64) error {
	if len(ids) > maxShown {
		return fault.New(fault.Invalid, "At most %d items can be shown at once, not %d.", maxShown, len(ids))
	}
	return f.Store.ShowHidden(ctx, user, ids)
}

// Apply does the next step of pending work on existing items, and returns false if no work is
// pending. Each step is one transaction, so a crash repeats at most one step.
func (f *Filters) Apply(ctx context.Context) (bool, error) {
	now := f.Now()
	return f.Store.ApplyFilters(ctx, now, now.Add(-f.UndoWithin), applyBatch)
}
