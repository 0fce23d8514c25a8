package readerui

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"cloudburst/internal/live"
	"cloudburst/internal/river"
	"cloudburst/internal/river/item"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

const (
	riverBuffer          = 256             // maximum number of arrivals of new items that wait for riverWork
	maxPendingPieces     = 32              // maximum number of events that wait for one client
	MaxMissedItems       = 200             // maximum number of stored items for a client that reconnects; a client that missed more reloads the page
	riverOverlap         = 5 * time.Second // maximum delay between the Seq of an item and its commit
	maxConcurrentLookups = 4               // maximum number of channels whose items are read at the same time
)

// riverTail sends new items to all clients. Clients with the same scope share one read and one
// rendering. It runs only while there are clients.
type riverTail = live.Tail[channelKey, []byte]

// channelKey is the scope of a stream. Clients with the same key receive the same bytes.
type channelKey struct {
	riverScope
	Source int64
	Lang   string // code of the language; "": English
}

// riverChannel is a stream with clients. Its position is the last Seq sent.
type riverChannel = live.Channel[channelKey, []byte]

// riverReader is the subscription of one client to a stream.
type riverReader struct {
	c     <-chan []byte // closed if the client is too slow
	leave func()
}

// riverWork receives new items and delivers them to the streams. It runs while there is at least
// one client.
type riverWork struct{ *riverPages }

func newRiverPages(b *base) *riverPages {
	s := &riverPages{base: b}
	s.contents.MaxSize, s.items.MaxSize, s.feeds.MaxSize = maxCachedContents, maxCachedItems, maxCachedFeeds
	s.live = &riverTail{Work: riverWork{s}.run, Done: s.Done, Buffer: maxPendingPieces}
	return s
}

// watch adds a client. After it returns nil, every new item arrives on the client's channel; items
// that are stored already can arrive too.
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
			switch {
			case ok && a.Marks != nil:
				w.deliverMarks(a.Marks)
				continue
			case ok:
				w.deliver(ctx, a)
				continue
			}
			// The buffer overflowed. The missed items are in the store.
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

// deliver sends new items to all clients whose users follow the feed of the items.
func (w riverWork) deliver(ctx context.Context, a river.Arrival) {
	ids := make([]int64, len(a.Items))
	for i, it := range a.Items {
		ids[i] = it.ID
	}
	if len(ids) > MaxMissedItems { // the check was the first of a feed, or the feed has replaced all its items
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
			f = err != nil || set[a.SourceID] // if the subscriptions cannot be read, the query for the items decides
			follows[ch.Key.Reader] = f
		}
		return f
	}
	w.each(ctx, wants, func(ctx context.Context, ch *riverChannel) {
		piece, last, err := w.piece(ctx, ch.Key, river.ItemQuery{IDs: ids, Limit: len(ids)})
		if err != nil {
			w.Logger().Warn("read new items for live pages; clients receive them when they reconnect", "err", err)
			w.live.Drop(ch)
			return
		}
		if len(piece) > 0 {
			w.live.Send(ch, piece, last)
		}
	})
}

// deliverMarks sends the marks of a user to their own open pages.
func (w riverWork) deliverMarks(m *item.Marks) {
	var ids []string // strings, because JavaScript numbers are exact only up to 2⁵³
	for _, id := range m.IDs {
		ids = append(ids, strconv.FormatInt(id, 10))
	}
	data, err := json.Marshal(map[string]any{"ids": ids, "read": m.Read, "starred": m.Starred})
	if err != nil {
		w.Logger().Error("encode marks for live pages", "err", err)
		return
	}
	for _, ch := range w.live.Channels() {
		if ch.Key.Reader == m.User && ch.Key.May == accessWrite && ch.Key.Public == "" {
			w.live.Send(ch, live.AppendEvent(nil, "", "marks", data), w.live.At(ch))
		}
	}
}

// each calls do for all wanted channels, several at once.
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

// catchUp sends the items that a channel missed.
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

var resetPiece = []byte("event: reset\ndata: Too many items were missed. Reload the page.\n\n")

// since returns the items after seq, and the items up to riverOverlap before seq, because
// concurrent commits do not become visible in the order of their numbers. If more than
// MaxMissedItems items are after seq, it returns resetPiece, which makes the page reload. Otherwise
// it returns at most the newest MaxMissedItems items.
func (s *riverPages) since(ctx context.Context, key channelKey, seq int64) (piece []byte, last int64, err error) {
	q := river.ItemQuery{ChangedIn: max(seq-riverOverlap.Microseconds(), 0), Limit: MaxMissedItems + 1}
	if seq == 0 { // the client has received no item yet
		q.ChangedIn = 0
	}
	list, err := s.itemsOf(ctx, key, q)
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

// piece reads items and renders them as events.
func (s *riverPages) piece(ctx context.Context, key channelKey, q river.ItemQuery) (piece []byte, last int64, err error) {
	list, err := s.itemsOf(ctx, key, q)
	if err != nil || len(list) == 0 {
		return nil, 0, err
	}
	piece, err = s.events(key, list)
	return piece, list[0].Seq, err
}

// itemsOf reads the items in the scope of a channel, latest Seq first.
func (s *riverPages) itemsOf(ctx context.Context, key channelKey, q river.ItemQuery) ([]river.Entry, error) {
	q.Reader, q.Category, q.SourceID, q.BySeq = key.Reader, key.Category, key.Source, true
	q.Public = key.visitors()
	return s.River.Items(ctx, q)
}

// events renders items as server-sent events. The list begins with the latest item; the events are
// in the order of arrival.
func (s *riverPages) events(key channelKey, list []river.Entry) ([]byte, error) {
	var out []byte
	from := riverQuery{Category: key.Category, Source: key.Source}.scopeValues(key.riverScope)
	l := locale.Find(key.Lang)
	how := showing{lang: l, now: s.CurrentTime(), zone: time.UTC, root: key.Root, from: from, own: key.May == accessWrite, marks: true, reply: key.May == accessWrite && s.Posts != nil && s.Accounts != nil}
	for _, e := range slices.Backward(list) {
		p := s.post(&e, how)
		if err := s.writeItem(&p, how); err != nil {
			return nil, err
		}
		out = live.AppendEvent(out, strconv.FormatInt(e.Seq, 10), "", []byte(p.HTML))
	}
	return out, nil
}
