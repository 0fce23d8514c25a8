package forward

import (
	"context"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// retryDelay returns how long a forwarding waits after a number of consecutive failures.
//
// spec:cloudburst#forwarding-retry
func retryDelay(failures int) time.Duration {
	switch failures {
	case 1:
		return time.Minute
	case 2:
		return 5 * time.Minute
	case 3:
		return 30 * time.Minute
	case 4:
		return 2 * time.Hour
	}
	return 6 * time.Hour
}

// maxForwardFailures is the number of consecutive failures after which a forwarding is paused.
// With the delays of retryDelay, they take about three days.
const maxForwardFailures = 17

// Send sends the queued items of a claimed forwarding once. It stores which items were sent after
// it sends them, so a crash in between sends the items again.
//
// spec:cloudburst#forwarding-at-least-once
func (f *Forwarder) Send(ctx context.Context, n Forwarding) {
	if n.State == ForwardingWaiting {
		if err := f.askConsent(ctx, n); fault.CodeOf(err) == fault.Internal {
			f.logError(ctx, "cannot ask a recipient for consent", err)
		}
		return
	}
	q, err := f.queued(ctx, n)
	if err != nil {
		f.logError(ctx, "cannot read the queue of a forwarding", err)
		return // the claim expires without a release
	}
	var sent []int64
	switch {
	case len(q.List) == 0:
		n.NextAt = DueAt(n.Digest, n.ID, f.Now()) // new items may have been queued since the claim
		sent = q.IDs
	default:
		n.More = q.Count - len(q.List)
		err = f.forward(ctx, n, q.List)
		sent = f.outcome(ctx, &n, q.IDs, err)
	}
	c, cancel := saveContext(ctx)
	defer cancel()
	_, err = f.Store.SaveForwarding(c, n, sent)
	f.logError(c, "cannot store the result of a forwarding", err)
}

// queued returns the queued items for the next message.
func (f *Forwarder) queued(ctx context.Context, n Forwarding) (Queue, error) {
	if n.Digest != DigestNone {
		return f.Store.QueuedDigest(ctx, n.ID, DigestItems)
	}
	limit := maxItems
	if n.Via == ViaPost || n.Via == ViaMastodon {
		limit = 1
	}
	list, err := f.Store.ForwardingItems(ctx, n.ID, limit)
	q := Queue{List: list, Count: len(list)}
	for i := range list {
		q.IDs = append(q.IDs, list[i].ID)
	}
	return q, err
}

// outcome sets the fields of n to the result of sending the items with these IDs, and returns the
// IDs of the items that were sent. The caller stores n.
func (f *Forwarder) outcome(ctx context.Context, n *Forwarding, ids []int64, err error) (sent []int64) {
	now := f.Now()
	n.NextAt = now
	switch {
	case err == nil:
		n.Sent++
		n.LastAt, n.Failures, n.Problem, n.NextAt = now, 0, "", DueAt(n.Digest, n.ID, now)
		return ids
	case ctx.Err() != nil: // the server is stopping; the target did not fail
		return nil
	case fault.CodeOf(err) == fault.Gone:
		n.Paused, n.NextAt = true, time.Time{}
		n.Problem = text.ClipRunes(text.PlainLine(fault.Message(err)), 300)
		return nil
	case fault.CodeOf(err) == fault.TooMany: // a daily limit of this server is reached; the target did not fail
		n.Problem = text.ClipRunes(text.PlainLine(fault.Message(err)), 300)
		n.NextAt = now.Add(max(time.Minute, min(fault.RetryAfter(err), 24*time.Hour)))
		return nil
	case fault.CodeOf(err) == fault.Unavailable: // this server failed, so the delay does not grow
		n.Problem = text.ClipRunes(text.PlainLine(fault.Message(err)), 300)
		n.NextAt = now.Add(max(5*time.Minute, min(fault.RetryAfter(err), time.Hour)))
		return nil
	}
	n.Failures++
	n.Problem = text.ClipRunes(text.PlainLine(fault.Message(err)), 300)
	if n.Failures >= maxForwardFailures {
		n.Paused, n.NextAt = true, time.Time{}
		n.Problem = "It is paused after three days without a delivery. The last error: " + n.Problem
		return nil
	}
	wait := max(retryDelay(n.Failures), min(fault.RetryAfter(err), 24*time.Hour))
	n.NextAt = now.Add(wait)
	if fault.CodeOf(err) == fault.Internal {
		f.logError(ctx, "cannot forward items", err)
	}
	return nil
}
