package conversation

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/lease"
)

const (
	threadAtOnce = 4
	walkTimeout  = 20 * time.Second
	maxWorkTries = 4
)

// Wake makes Run check for due work.
func (t *Threads) Wake() {
	t.init()
	lease.Wake(t.wakeups)
}

// Run adds replies from the river to their threads, and reads the feeds of comments of opened
// threads, until ctx ends.
func (t *Threads) Run(ctx context.Context) error {
	t.init()
	loop := lease.Loop[Work]{
		Claim: t.Store.ClaimThreadWork, Next: t.Store.NextThreadWork, Do: t.work,
		GiveBack: func(ctx context.Context, list []lease.Back[Work]) error {
			for _, b := range list {
				b.Row.DueAt = b.At
				t.settle(ctx, b.Row)
			}
			return nil
		},
		AtOnce: threadAtOnce, For: walkTimeout + leaseMargin, Wake: t.wakeups, Now: t.now, Name: "replies",
		Failed: func(ctx context.Context, doing string, err error) {
			t.Log.WarnContext(ctx, "store error", "doing", doing, "err", err)
		},
		Caught: func(w Work, panicked any, stack []byte) {
			t.Log.Error("placing a reply panicked", "kind", w.Kind, "name", w.Name, "panic", fmt.Sprint(panicked), "stack", string(stack))
		},
	}
	loop.Run(ctx)
	return nil
}

// work does one unit of work and records that it is done.
func (t *Threads) work(ctx context.Context, w Work) {
	var err error
	switch w.Kind {
	case WorkItem:
		err = t.item(ctx, w)
	case WorkComments:
		err = t.walk(ctx, w)
	}
	w.DueAt = time.Time{}
	switch code := fault.CodeOf(err); {
	case err == nil:
	case ctx.Err() != nil: // a shutdown is not a failure
		w.DueAt = t.now()
	case code == fault.NotFound || code == fault.Gone || code == fault.Refused || code == fault.Invalid || w.Tries >= maxWorkTries:
		t.Log.DebugContext(ctx, "a reply or a feed of comments was given up", "kind", w.Kind, "name", w.Name, "reason", fault.Message(err))
	default:
		w.Tries++
		w.DueAt = t.now().Add(time.Minute << (2 * w.Tries))
	}
	t.settle(ctx, w)
}

func (t *Threads) settle(ctx context.Context, w Work) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := t.Store.SettleThreadWork(ctx, w, t.now()); err != nil {
		t.Log.WarnContext(ctx, "store error", "doing", "settle replies", "err", err)
	}
}

// item adds a reply from the river to its thread, and queues the feed of comments of the parent.
func (t *Threads) item(ctx context.Context, w Work) error {
	id, err := strconv.ParseInt(w.Name, 10, 64)
	if err != nil || t.Items == nil {
		return nil
	}
	f, err := t.Items.FoundItem(ctx, id)
	if err != nil || f.Private {
		return err
	}
	if err := t.offer(ctx, f); err != nil {
		return err
	}
	for _, parent := range f.Parents {
		if err := t.Open(ctx, parent); err != nil {
			return err
		}
	}
	return nil
}

// Open queues the feed of comments of the post at a URL. It does nothing if this server does not
// know the post or has read the feed in the last few minutes.
func (t *Threads) Open(ctx context.Context, url string) error {
	t.init()
	if _, own := t.Own(url); own || t.Items == nil {
		return nil
	}
	f, err := t.Items.NamedItem(ctx, url)
	if err != nil || f.CommentsFeed == "" {
		if fault.CodeOf(err) == fault.NotFound {
			return nil
		}
		return err
	}
	return t.queue(ctx, f.CommentsFeed, 0)
}

func (t *Threads) queue(ctx context.Context, feed string, depth int) error {
	if _, own := t.Own(feed); own || depth >= maxWalkDepth {
		return nil
	}
	now := t.now()
	err := t.Store.QueueThreadWork(ctx, Work{Kind: WorkComments, Name: feed, Depth: depth, DueAt: now}, now.Add(-walkAgain))
	if err == nil {
		t.Wake()
	}
	return err
}

// walk reads a feed of comments. Each further feed that it finds becomes a separate row of work.
// Each URL is read at most once within walkAgain, so loops end.
//
// spec:cloudburst#thread-walk
func (t *Threads) walk(ctx context.Context, w Work) error {
	within, stop := context.WithTimeout(ctx, walkTimeout)
	defer stop()
	list, err := t.Comments(within, w.Name)
	if err != nil {
		return err
	}
	further := 0
	for _, f := range list[:min(len(list), MaxCommentFeed)] {
		f.Via, f.Item, f.Source = w.Name, 0, 0
		if err := t.offer(ctx, f); err != nil && fault.CodeOf(err) != fault.TooMany {
			return err
		}
		if f.CommentsFeed != "" && f.CommentsFeed != w.Name && further < maxFurther {
			further++
			if err := t.queue(ctx, f.CommentsFeed, w.Depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
