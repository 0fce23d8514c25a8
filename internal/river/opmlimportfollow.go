package river

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"cloudburst/internal/fault"
)

// beginImport records that an import of a user starts; done records its end. fault.Conflict:
// another import of the user is in progress; TooMany: too many imports are in progress.
func (r importer) beginImport(user string) (done func(), err error) {
	r.listState.mu.Lock()
	defer r.listState.mu.Unlock()
	switch {
	case r.listState.importing[user]:
		f := fault.New(fault.Conflict, "Another list of yours is still being imported. Wait until that import is done, then import this one.")
		f.RetryAfter = 10 * time.Second
		return nil, f
	case len(r.listState.importing) >= maxPendingImports:
		return nil, importsBusy(nil)
	case r.listState.importing == nil:
		r.listState.importing = map[string]bool{}
	}
	r.listState.importing[user] = true
	return func() {
		r.listState.mu.Lock()
		defer r.listState.mu.Unlock()
		delete(r.listState.importing, user)
	}, nil
}

func importsBusy(err error) error {
	return &fault.Error{Code: fault.Unavailable, Err: err, Msg: "Several lists are being imported at this moment. Nothing was imported; try again in a while.", RetryAfter: 10 * time.Second}
}

// importSlot waits for one of the maxActiveImports slots for imports that write. free releases
// the slot.
func (r importer) importSlot(ctx context.Context) (free func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, importSlotWait)
	defer cancel()
	select {
	case r.listState.importSlots <- struct{}{}:
		return func() { <-r.listState.importSlots }, nil
	case <-ctx.Done():
		return nil, importsBusy(ctx.Err())
	}
}

// maxInMemory is the size in bytes above which an OPML document is written to a temporary file.
const maxInMemory = 1 << 20

// spool reads an OPML document into memory or into a temporary file. drop removes the file.
func spool(doc io.Reader) (file io.ReadSeeker, drop func(), err error) {
	doc = io.LimitReader(doc, MaxOPML+1)
	head, err := io.ReadAll(io.LimitReader(doc, maxInMemory))
	if err != nil {
		return nil, nil, truncatedError(err)
	}
	if len(head) < maxInMemory {
		return bytes.NewReader(head), func() {}, nil
	}
	f, err := os.CreateTemp("", "cloudburst-opml-*")
	if err != nil {
		return nil, nil, fault.Unstored(err, "The list cannot be stored while it is read.")
	}
	drop = func() {
		_ = f.Close()
		_ = os.Remove(f.Name()) // if this fails, the operating system removes the temporary file later
	}
	n, err := io.Copy(f, io.MultiReader(bytes.NewReader(head), doc))
	switch {
	case err == nil && n > MaxOPML:
		err = fault.New(fault.Invalid, "The list has more than %d MiB.", MaxOPML>>20)
	case err != nil && !errors.As(err, new(*os.PathError)):
		err = truncatedError(err)
	case err != nil:
		err = fault.Unstored(err, "The list cannot be stored while it is read.")
	}
	if err != nil {
		drop()
		return nil, nil, err
	}
	return f, drop, nil
}

func truncatedError(err error) error {
	return fault.Wrap(fault.Unreadable, err, "The list could not be read to its end.")
}

// batchFollower makes a user follow the feeds of a list in batches, up to the user's limit.
type batchFollower struct {
	*River
	ctx   context.Context // context of the import; each import has its own batchFollower
	user  string
	limit int
	mine  map[int64]bool // followed sources that are not in added; the value is false for a source that had already counts
	added ids            // IDs of sources that the user follows because of the list
	over  ids            // IDs of sources that are left out because of the limit
	had   int

	uncounted int // number of feeds that were written since the user's feeds were last counted
}

// countEvery is the number of feeds that are written between two counts of the user's feeds if
// the limit is not near. A count takes longer for more feeds. It is rarely needed, because only
// another client or node can add feeds during the import.
const countEvery = 1000

func (r importer) newBatchFollower(ctx context.Context, user string, operator bool) (*batchFollower, error) {
	mine, err := r.Store.RiverFollowing(ctx, user)
	return &batchFollower{River: r.River, ctx: ctx, user: user, limit: maxFeeds(r.River, operator), mine: mine}, err
}

// follows reports whether the user follows a source, including sources that this import added.
func (t *batchFollower) follows(id int64) bool {
	_, yes := t.mine[id]
	return yes || t.added.has(id)
}

// batch follows the feeds of one batch in one transaction. If another client added feeds, batch
// reads the user's feeds again and retries.
func (t *batchFollower) batch(list []Addition) error {
	err := t.put(list)
	if fault.CodeOf(err) == fault.TooMany && err != nil { // another client added feeds, so the limit was reached earlier
		var now map[int64]bool
		if now, err = t.Store.RiverFollowing(t.ctx, t.user); err != nil {
			return err
		}
		for id := range now {
			if !t.follows(id) {
				t.mine[id] = true
			}
		}
		err = t.put(list)
	}
	t.forget(t.user)
	return err
}

// put writes those feeds of a batch that fit below the limit.
func (t *batchFollower) put(list []Addition) error {
	var add []Addition
	var over []int64
	free := t.limit - len(t.mine) - t.added.len()
	for _, a := range list {
		switch {
		case t.follows(a.SourceID):
			if len(a.Categories) > 0 {
				add = append(add, a)
			}
		case free > 0:
			free--
			add = append(add, a)
		default:
			over = append(over, a.SourceID)
		}
	}
	var fresh []bool
	if len(add) > 0 {
		limit := 0
		if t.uncounted += len(add); free <= countEvery || t.uncounted >= countEvery {
			limit, t.uncounted = t.limit, 0
		}
		var err error
		if fresh, err = t.Store.RiverSubscribe(t.ctx, add, t.now(), limit); err != nil {
			return err
		}
	}
	for i, isNew := range fresh {
		if id := add[i].SourceID; isNew {
			t.added.add(id)
			delete(t.mine, id)
		} else if !t.follows(id) { // another client added the subscription during the import
			t.mine[id] = true
		}
	}
	for _, id := range over {
		t.over.add(id)
	}
	for i := range list {
		if id := list[i].SourceID; t.mine[id] {
			t.had++
			t.mine[id] = false
		}
	}
	return nil
}

// result adds the totals of the import to out.
func (t *batchFollower) result(out Imported) Imported {
	out.Added, out.Had, out.Over, out.Limit = t.added.len(), t.had, t.over.len(), t.limit
	if t.over.len() > 0 {
		out.Problems = slices.Insert(out.Problems, 0, t.overText())
		out.Problems = out.Problems[:min(len(out.Problems), maxProblems)]
	}
	return out
}

// overText returns a sentence with the number of feeds that the limit excluded.
func (t *batchFollower) overText() string {
	if t.limit >= MaxOfOperator {
		return fmt.Sprintf("%s not added: a user may follow at most %d feeds.", wereNot(t.over.len()), t.limit)
	}
	return fmt.Sprintf("%s not added: river.max-feeds allows each user %d feeds.", wereNot(t.over.len()), t.limit)
}

func wereNot(n int) string {
	if n == 1 {
		return "1 feed was"
	}
	return fmt.Sprintf("%d feeds were", n)
}
