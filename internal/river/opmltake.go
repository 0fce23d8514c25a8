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

// MostOfOperator is how many feeds a reader may follow when the operator of the server
// adds them: [Options.Most] is for everybody else.
const MaxOfOperator = 250_000

// most is how many feeds a reader may follow.
func (r *River) most(operator bool) int {
	if o := r.options(); !operator || o.Max > MaxOfOperator {
		return o.Max
	}
	return MaxOfOperator
}

// overLimit is for people who want to follow more feeds than they may.
func overLimit(most int) error {
	return fault.New(fault.TooMany, "You follow as many feeds as this server allows: %d (the setting river.max-feeds). Unfollow some first, or ask the operator to raise the limit.", most)
}

// arrive notes that an import of a reader has begun; done ends it.
func (r importing) arrive(reader string) (done func(), err error) {
	r.listing.mu.Lock()
	defer r.listing.mu.Unlock()
	switch {
	case r.listing.importing[reader]:
		f := fault.New(fault.Conflict, "Another list of yours is still being imported. Wait until that import is done, then import this one.")
		f.RetryAfter = 10 * time.Second
		return nil, f
	case len(r.listing.importing) >= importsComing:
		return nil, importsBusy(nil)
	case r.listing.importing == nil:
		r.listing.importing = map[string]bool{}
	}
	r.listing.importing[reader] = true
	return func() {
		r.listing.mu.Lock()
		defer r.listing.mu.Unlock()
		delete(r.listing.importing, reader)
	}, nil
}

func importsBusy(err error) error {
	return &fault.Error{Code: fault.Unavailable, Err: err, Msg: "Several lists are being imported at this moment. Nothing was imported; try again in a while.", RetryAfter: 10 * time.Second}
}

// importSlot waits until fewer than importsAtOnce imports are written.
func (r importing) importSlot(ctx context.Context) (free func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, importPatience)
	defer cancel()
	select {
	case r.listing.importSlots <- struct{}{}:
		return func() { <-r.listing.importSlots }, nil
	case <-ctx.Done():
		return nil, importsBusy(ctx.Err())
	}
}

// inMemory is how long a document may be that does not go to a file while it is read.
const inMemory = 1 << 20

// spool takes a document that arrives. drop removes what was kept of it.
func spool(doc io.Reader) (file io.ReadSeeker, drop func(), err error) {
	doc = io.LimitReader(doc, maxOPML+1)
	head, err := io.ReadAll(io.LimitReader(doc, inMemory))
	if err != nil {
		return nil, nil, brokeOff(err)
	}
	if len(head) < inMemory {
		return bytes.NewReader(head), func() {}, nil
	}
	f, err := os.CreateTemp("", "cloudburst-opml-*")
	if err != nil {
		return nil, nil, fault.Wrap(fault.Unavailable, err, "The list cannot be kept while it is read.")
	}
	drop = func() {
		_ = f.Close()
		_ = os.Remove(f.Name()) // what is left of it, the system removes
	}
	n, err := io.Copy(f, io.MultiReader(bytes.NewReader(head), doc))
	switch {
	case err == nil && n > maxOPML:
		err = fault.New(fault.Invalid, "The list has more than %d MiB.", maxOPML>>20)
	case err != nil && !errors.As(err, new(*os.PathError)):
		err = brokeOff(err)
	case err != nil:
		err = fault.Wrap(fault.Unavailable, err, "The list cannot be kept while it is read.")
	}
	if err != nil {
		drop()
		return nil, nil, err
	}
	return f, drop, nil
}

func brokeOff(err error) error {
	return fault.Wrap(fault.Unreadable, err, "The list could not be read to its end.")
}

// taking follows the feeds of a list, a batch at a time and up to the limit.
type taking struct {
	*River
	ctx    context.Context // of the one import
	reader string
	most   int
	mine   map[int64]bool // the sources that the reader follows, without added; false: the list had it already
	added  ids            // the sources that the reader follows because of the list
	over   ids            // those that are left out because of the limit
	had    int

	uncounted int // feeds that were written since the reader's feeds were counted
}

// countEvery is how many feeds are written before the reader's feeds are counted again, as
// long as the limit is farther away than that. Counting takes longer the more there are, and
// only another interface or node can have added some meanwhile.
const countEvery = 1000

func (r importing) taking(ctx context.Context, reader string, operator bool) (*taking, error) {
	mine, err := r.Store.RiverFollowing(ctx, reader)
	return &taking{River: r.River, ctx: ctx, reader: reader, most: r.most(operator), mine: mine}, err
}

// follows reports whether the reader follows a source by now.
func (t *taking) follows(id int64) bool {
	_, yes := t.mine[id]
	return yes || t.added.has(id)
}

// batch follows some feeds in one transaction.
func (t *taking) batch(list []Addition) error {
	err := t.put(list)
	if fault.CodeOf(err) == fault.TooMany && err != nil { // the reader follows more by now, from elsewhere
		var now map[int64]bool
		if now, err = t.Store.RiverFollowing(t.ctx, t.reader); err != nil {
			return err
		}
		for id := range now {
			if !t.follows(id) {
				t.mine[id] = true
			}
		}
		err = t.put(list)
	}
	t.forget(t.reader)
	return err
}

// put writes what of a batch fits below the limit.
func (t *taking) put(list []Addition) error {
	var add []Addition
	var over []int64
	room := t.most - len(t.mine) - t.added.len()
	for _, a := range list {
		switch {
		case t.follows(a.SourceID):
			if len(a.Categories) > 0 {
				add = append(add, a)
			}
		case room > 0:
			room--
			add = append(add, a)
		default:
			over = append(over, a.SourceID)
		}
	}
	var fresh []bool
	if len(add) > 0 {
		most := 0
		if t.uncounted += len(add); room <= countEvery || t.uncounted >= countEvery {
			most, t.uncounted = t.most, 0
		}
		var err error
		if fresh, err = t.Store.RiverSubscribe(t.ctx, add, t.now(), most); err != nil {
			return err
		}
	}
	for i, isNew := range fresh {
		if id := add[i].SourceID; isNew {
			t.added.add(id)
			delete(t.mine, id)
		} else if !t.follows(id) { // since a moment, from elsewhere
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

// result is what came of it.
func (t *taking) result(out Imported) Imported {
	out.Added, out.Had, out.Over, out.Limit = t.added.len(), t.had, t.over.len(), t.most
	if t.over.len() > 0 {
		out.Problems = slices.Insert(out.Problems, 0, t.overText())
		out.Problems = out.Problems[:min(len(out.Problems), maxProblems)]
	}
	return out
}

// overText says how many feeds the limit kept out.
func (t *taking) overText() string {
	if t.most >= MaxOfOperator {
		return fmt.Sprintf("%s not added: a reader may follow %d feeds at most.", wereNot(t.over.len()), t.most)
	}
	return fmt.Sprintf("%s not added: river.max-feeds allows each user %d feeds.", wereNot(t.over.len()), t.most)
}

func wereNot(n int) string {
	if n == 1 {
		return "1 feed was"
	}
	return fmt.Sprintf("%d feeds were", n)
}
