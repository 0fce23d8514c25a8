package transfer

import (
	"context"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// postBatch collects posts and imports them in batches.
type postBatch struct {
	*Transfer
	user     string
	res      *Result
	progress Progress
	total    int
	opts     Options

	posts   []author.Post
	bytes   int
	pending []pendingMove
}

func (t *Transfer) newBatch(user string, res *Result, progress Progress, total int, opts Options) *postBatch {
	return &postBatch{Transfer: t, user: user, res: res, progress: progress, total: total, opts: opts}
}

// add adds a post. A post without a GUID is identified by its Key.
func (b *postBatch) add(ctx context.Context, p author.Post) error {
	b.res.Found++
	b.res.span(p)
	if b.opts.Preview || p.GUID == "" && p.Key != "" {
		switch _, err := b.Posts.ByKey(ctx, b.user, p.Key, p.GUID); {
		case err == nil:
			b.res.Existing++
			return nil
		case fault.CodeOf(err) != fault.NotFound:
			return err
		}
	}
	if p.State == author.Scheduled && !p.DueAt.After(b.now()) {
		p.State, p.DueAt = author.Draft, time.Time{} // the time of publication passed before the import
	}
	if b.opts.Preview {
		b.res.Added++
		return nil
	}
	b.posts = append(b.posts, p)
	if b.bytes += len(p.Source) + 1024; len(b.posts) < batchPosts && b.bytes < batchBytes {
		return nil
	}
	return b.flush(ctx)
}

func (b *postBatch) flush(ctx context.Context) error {
	if len(b.posts) == 0 {
		return nil
	}
	before := b.res.Added + b.res.Existing + b.res.Skipped
	added, err := b.Posts.Import(ctx, b.user, b.posts, func(done int) { b.progress.at(PhasePosts, before+done, max(b.total, before+done)) })
	b.res.Added += added
	if err != nil {
		return err
	}
	b.res.Existing += len(b.posts) - added
	b.posts, b.bytes = b.posts[:0], 0
	return nil
}

// leave counts a post that is not imported, and reports the reason.
func (b *postBatch) leave(reason string) {
	b.res.Found++
	b.res.Skipped++
	b.res.problem(reason)
}

// addMoved adds a post that had the URL old elsewhere; "": the URL is unknown.
func (b *postBatch) addMoved(ctx context.Context, p author.Post, old string) error {
	if old != "" {
		b.pending = append(b.pending, pendingMove{[]string{old}, p.Key, p.GUID})
	}
	if err := b.add(ctx, p); err != nil {
		return err
	}
	return b.resolveLarge(ctx)
}

// pendingMove is a post whose new URL is known only after its batch is stored.
type pendingMove struct {
	old       []string
	key, guid string
}

// finish stores the remaining posts. It also runs after an error, because the files of these posts
// are already stored.
func (b *postBatch) finish(ctx context.Context) error {
	if err := b.flush(ctx); err != nil {
		return err
	}
	return b.resolve(ctx)
}

// resolveLarge resolves pending URLs if there are at least 500 and all batches are stored.
func (b *postBatch) resolveLarge(ctx context.Context) error {
	if len(b.posts) > 0 || len(b.pending) < 500 {
		return nil
	}
	return b.resolve(ctx)
}

// resolve records the new URLs of stored posts.
func (b *postBatch) resolve(ctx context.Context) error {
	pending := b.pending
	b.pending = nil
	if b.opts.Preview {
		return nil
	}
	for _, m := range pending {
		if len(m.old) == 0 {
			continue
		}
		p, err := b.Posts.ByKey(ctx, b.user, m.key, m.guid)
		if fault.CodeOf(err) == fault.NotFound || err == nil && p.State != author.Published {
			continue
		}
		if err != nil {
			return err
		}
		for _, old := range m.old {
			if len(b.res.Moved) < maxMoved {
				b.res.Moved = append(b.res.Moved, Moved{From: old, To: b.Posts.Address(p)})
			}
		}
	}
	return nil
}
