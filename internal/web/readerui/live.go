package readerui

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"cloudburst/internal/live"
	"cloudburst/internal/river"
	"cloudburst/internal/web/shell"
)

const (
	riverBuffer          = 256             // arrivals that may wait for the tail
	maxWaitingReaders    = 32              // pieces that may wait for one reader
	MaxMissedItems       = 200             // items that a reader who comes back is given; more, and he is told to load the page again
	riverOverlap         = 5 * time.Second // an item may be committed so much later than its Seq says
	maxConcurrentLookups = 4               // stretches that are read at once
)

// riverTail brings what arrives to all who watch: what many watch is read and written
// once for all of them. It works while somebody watches.
type riverTail = live.Tail[channelKey, []byte]

// channelKey says what is watched. Who watch the same get the same bytes.
type channelKey struct {
	riverScope
	Source int64
}

// riverChannel is what some watch. It is at the Seq up to which it was handed out.
type riverChannel = live.Channel[channelKey, []byte]

// riverReader is one who watches.
type riverReader struct {
	c     <-chan []byte // closed: he was too slow
	leave func()
}

// riverWork is the work from the first reader's coming to the last one's going.
type riverWork struct{ *riverPages }

func newRiverPages(b *base) *riverPages {
	s := &riverPages{base: b}
	s.live = &riverTail{Work: riverWork{s}.run, Done: s.Done, Buffer: maxWaitingReaders}
	return s
}

// watch adds a reader. When it returns nil, everything that arrives from now on comes
// through the reader's channel; what is in the store already may come too.
func (s *riverPages) watch(ctx context.Context, key channelKey) (*riverReader, error) {
	c, leave, err := s.live.Join(ctx, key, s.CurrentTime().Add(-riverOverlap).UnixMicro())
	return &riverReader{c, leave}, err
}

func (s *riverPages) unwatch(r *riverReader) { r.leave() }

func (w riverWork) run(ctx context.Context, ready func()) {
	listener := w.Arrivals(riverBuffer)
	defer func() { listener.Close() }()
	ready()
	for {
		select {
		case <-ctx.Done():
			return
		case a, ok := <-listener.C():
			if ok {
				w.bring(ctx, a)
				continue
			}
			// More came than could be handed out. It is in the store.
			listener.Close()
			select {
			case <-ctx.Done():
				return
			case <-time.After(shell.MinPause):
			}
			listener = w.Arrivals(riverBuffer)
			w.each(ctx, func(*riverChannel) bool { return true }, w.catchUp)
		}
	}
}

// bring hands out what arrived to all who follow its source.
func (w riverWork) bring(ctx context.Context, a river.Arrival) {
	ids := make([]int64, len(a.Items))
	for i, it := range a.Items {
		ids[i] = it.ID
	}
	if len(ids) > MaxMissedItems { // a feed that is read for the first time, or was turned over
		ids = ids[len(ids)-MaxMissedItems:]
	}
	if len(ids) == 0 {
		return
	}
	follows := map[string]bool{}
	wants := func(ch *riverChannel) bool {
		if ch.Key.Source != 0 && ch.Key.Source != a.SourceID {
			return false
		}
		f, known := follows[ch.Key.Reader]
		if !known {
			set, err := w.River.Following(ctx, ch.Key.Reader)
			f = err != nil || set[a.SourceID] // when it cannot be known, the items say it
			follows[ch.Key.Reader] = f
		}
		return f
	}
	w.each(ctx, wants, func(ctx context.Context, ch *riverChannel) {
		piece, last, err := w.piece(ctx, ch.Key, river.ItemQuery{IDs: ids, Limit: len(ids)})
		if err != nil {
			w.Logger().Warn("what arrived could not be read for those who watch; they get it when they come back", "err", err)
			w.live.Drop(ch)
			return
		}
		if len(piece) > 0 {
			w.live.Send(ch, piece, last)
		}
	})
}

// each does something for all channels that are wanted, some at once.
func (w riverWork) each(ctx context.Context, wanted func(*riverChannel) bool, do func(context.Context, *riverChannel)) {
	var group sync.WaitGroup
	slots := make(chan struct{}, maxConcurrentLookups)
	for _, ch := range w.live.Channels() {
		if ctx.Err() != nil || !wanted(ch) {
			continue
		}
		slots <- struct{}{}
		group.Go(func() {
			do(ctx, ch)
			<-slots
		})
	}
	group.Wait()
}

// catchUp hands out what a channel missed.
func (w riverWork) catchUp(ctx context.Context, ch *riverChannel) {
	piece, last, err := w.since(ctx, ch.Key, w.live.At(ch))
	if err != nil {
		w.live.Drop(ch)
		return
	}
	if len(piece) > 0 {
		w.live.Send(ch, piece, last)
	}
}

var resetPiece = []byte("event: reset\ndata: More came than can be caught up with. Load the page again.\n\n")

// since is what came after a Seq, and a little before it, because what is committed at
// the same time does not become visible in the order of its numbers. Of too much that was
// a little before, it is the newest: the page has most of that.
func (s *riverPages) since(ctx context.Context, key channelKey, seq int64) (piece []byte, last int64, err error) {
	q := river.ItemQuery{ChangedIn: max(seq-riverOverlap.Microseconds(), 0), Limit: MaxMissedItems + 1}
	if seq == 0 { // there was nothing
		q.ChangedIn = 0
	}
	list, err := s.heardOf(ctx, key, q)
	if err != nil || len(list) == 0 {
		return nil, 0, err
	}
	last = list[0].Seq
	if len(list) > MaxMissedItems {
		if list[MaxMissedItems].Seq > seq {
			return resetPiece, last, nil
		}
		list = list[:MaxMissedItems]
	}
	piece, err = s.events(key, list)
	return piece, last, err
}

// piece reads items and writes them as events.
func (s *riverPages) piece(ctx context.Context, key channelKey, q river.ItemQuery) (piece []byte, last int64, err error) {
	list, err := s.heardOf(ctx, key, q)
	if err != nil || len(list) == 0 {
		return nil, 0, err
	}
	piece, err = s.events(key, list)
	return piece, list[0].Seq, err
}

// heardOf reads items of what is watched, the last that came first.
func (s *riverPages) heardOf(ctx context.Context, key channelKey, q river.ItemQuery) ([]river.Entry, error) {
	q.Reader, q.Category, q.SourceID, q.BySeq = key.Reader, key.Category, key.Source, true
	return s.River.Items(ctx, q)
}

// events writes items, which stand the other way round, in the order in which they came.
func (s *riverPages) events(key channelKey, list []river.Entry) ([]byte, error) {
	var out []byte
	var one bytes.Buffer
	how := showing{now: s.CurrentTime(), zone: time.UTC, root: key.Root, own: key.May == accessWrite, marks: true, reply: key.May == accessWrite && s.Posts != nil && s.Accounts != nil}
	for _, e := range slices.Backward(s.shownTo(key.riverScope, list)) {
		one.Reset()
		p := s.post(&e, how)
		if err := s.ExecutePart(&one, "river", "item", &p); err != nil {
			return nil, err
		}
		out = live.AppendEvent(out, strconv.FormatInt(e.Seq, 10), "", bytes.TrimSpace(one.Bytes()))
	}
	return out, nil
}
