package readerui

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"cloudburst/internal/river"
)

// One check can bring many items that are not news: the first check of a feed without dates, or a
// feed that lists its archive again. The river lists all these items at the time of the check. A page
// of several feeds shows the newest of these items and folds the others into one line.
const (
	floodShown    = 3    // number of old items of one check that are not folded
	maxFolded     = 50   // maximum number of folded items of one check on a page; a link leads to the others
	maxPageRounds = 6    // maximum number of queries for one page
	floodSkip     = 1000 // maximum number of folded items that a query skips
)

// isOld reports whether an item was no news at the check that brought it: the item has no date, or
// was more than a day old. It is false for an item that the river lists at its own date.
func isOld(e *river.Entry) bool {
	if e.ReadAt.IsZero() || e.ReadAt.Sub(e.At) > time.Minute { // the river lists the item at its own date
		return false
	}
	at := e.Published
	if at.IsZero() {
		at = e.Updated
	}
	return at.IsZero() || at.Before(e.ReadAt.Add(-24*time.Hour))
}

// sameCheck reports whether one check brought both items.
func sameCheck(a, b *river.Entry) bool { return a.SourceID == b.SourceID && a.ReadAt.Equal(b.ReadAt) }

// pageItems is the content of a page of the river.
type pageItems struct {
	list  []river.Entry
	older river.Place          // where the next page starts; zero: there is none
	rest  map[int64]foldedRest // key: ID of the last item of a check that the page contains
}

// foldedRest describes the folded items of a check that the page does not contain.
type foldedRest struct {
	count int
	last  river.Place // position of the last of these items in the river
}

// pageOf reads the items of one page. A page has itemsPerPage lines: an item is a line, and the
// folded items of one check are one line, which does not continue on the next page. If skip is set,
// the page omits folded items beyond maxFolded and links to them.
func (s *riverPages) pageOf(ctx context.Context, want river.ItemQuery, fold, skip bool) (p pageItems, err error) {
	p.rest = map[int64]foldedRest{}
	for range maxPageRounds {
		got, err := s.River.Items(ctx, want)
		if err != nil {
			return p, err
		}
		more := len(got) > itemsPerPage
		p.list = append(p.list, got[:min(len(got), itemsPerPage)]...)
		n, full := p.cut(fold)
		switch {
		case !more:
			p.older = river.Place{}
			if n < len(p.list) { // the last query brought more than the page needs
				p.end(n)
			}
			return p, nil
		case full:
			p.end(n)
			return p, nil
		}
		if want.Before, err = s.skip(ctx, &p, want, fold && skip); err != nil {
			return p, err
		}
		p.older = want.Before
	}
	return p, nil
}

// end ends the page before item n of the list and sets the start of the next page.
func (p *pageItems) end(n int) {
	p.list = p.list[:n]
	last := &p.list[n-1]
	p.older = last.Place()
	if r, ok := p.rest[last.ID]; ok {
		p.older = r.last
	}
}

// cut returns the number of items that fill a page. full is false if the page has space for further items.
func (p *pageItems) cut(fold bool) (n int, full bool) {
	lines := 0
	for n < len(p.list) && lines < itemsPerPage {
		to, old := n, 0
		for to < len(p.list) && sameCheck(&p.list[n], &p.list[to]) {
			if isOld(&p.list[to]) {
				old++
			}
			to++
		}
		switch {
		case fold && old > floodShown:
			lines += to - n - old + floodShown + 1
			n = to
		default:
			take := min(to-n, itemsPerPage-lines)
			lines += take
			n += take
		}
	}
	open := fold && n == len(p.list) && n > 0 && isOld(&p.list[n-1]) // a later query may bring more of the folded items
	return n, lines >= itemsPerPage && !open
}

// skip returns where the next query for the page starts. It skips the folded items
// beyond maxFolded and stores their number in p.rest.
func (s *riverPages) skip(ctx context.Context, p *pageItems, want river.ItemQuery, may bool) (river.Place, error) {
	last := &p.list[len(p.list)-1]
	old := 0
	for i := len(p.list) - 1; may && i >= 0 && sameCheck(&p.list[i], last) && isOld(&p.list[i]); i-- {
		old++
	}
	if old < maxFolded/2 {
		return last.Place(), nil
	}
	want.Before, want.Bare, want.Limit = last.Place(), true, floodSkip
	list, err := s.River.Items(ctx, want)
	if err != nil {
		return river.Place{}, err
	}
	r := foldedRest{last: last.Place()}
	for i := range list {
		if !sameCheck(&list[i], last) {
			break
		}
		r.count, r.last = i+1, list[i].Place()
	}
	if r.count > 0 {
		p.rest[last.ID] = r
	}
	return r.last, nil
}

// itemFold is the line that opens the folded items of one check.
type itemFold struct {
	Count int64
	Feed  string
	Rest  string // URL of the folded items that the page omits; "": the page has all
	Held  int    // number of folded items on the page
}

// More returns the number of items that the page does not contain.
func (f *itemFold) More() int64 { return f.Count - int64(f.Held) }

// foldOld folds the old items of each group on a day. The folded items move to the end of their group.
func (how showing) foldOld(posts []riverPost) {
	for from := 0; from < len(posts); {
		to, old := from, 0
		var shown, folded []riverPost
		for ; to < len(posts) && posts[to].Group == posts[from].Group; to++ {
			if posts[to].Old {
				old++
			}
			if posts[to].Old && old > floodShown {
				folded = append(folded, posts[to])
			} else {
				shown = append(shown, posts[to])
			}
		}
		if len(folded) > 0 {
			f := &itemFold{Count: int64(len(folded)), Feed: folded[0].Feed, Held: len(folded)}
			for i := range folded {
				if r, ok := how.rest[folded[i].ID]; ok && how.own {
					f.Count += int64(r.count)
					f.Rest = withQuery(how.root, url.Values{"source": {strconv.FormatInt(folded[i].SourceID, 10)}, "before": {riverPlace(river.Place{At: folded[i].At, ID: folded[i].ID})}})
				}
			}
			folded[0].Folds, folded[len(folded)-1].FoldEnd = f, f
			copy(posts[from:], append(shown, folded...))
			for i := from; i < to; i++ {
				posts[i].First = i == from
			}
		}
		from = to
	}
}
