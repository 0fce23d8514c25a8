package river

import (
	"context"
	"net/http"
	"slices"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/date"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/lease"
	"cloudburst/internal/river/item"
)

// maxPushed is the maximum number of pushed sources that wait in memory beyond the scheduler's
// capacity. The claim loop finds further pushed sources in the database.
const maxPushed = 256

// Away is a value of via that means that no hub announced a change. Instead, this program was
// down and may have missed changes. Unlike a check after a push, a check for Away respects
// skipHours and skipDays.
const Away = "notify-away"

// ReceivePush records that a feed changed. via names the protocol or endpoint of the announcement
// ("ping", "notify-rsscloud", "save" …). When ReceivePush returns, the source is stored as due,
// and the check starts soon. known is false if no user follows the feed.
//
// spec:cloudburst#river-push-is-durable
func (r *River) ReceivePush(ctx context.Context, url, via string) (known bool, err error) {
	return pushReceiver{r}.receive(ctx, canonicals(r, []string{url}), via)
}

// ReceivePushAny is like ReceivePush for a document with several URLs, of which users follow only
// a few. If several URLs belong to one source, the source is checked once. After an error, some
// of the pushes may be recorded.
func (r *River) ReceivePushAny(ctx context.Context, urls []string, via string) (known bool, err error) {
	if urls = canonicals(r, urls); len(urls) < 2 {
		return pushReceiver{r}.receive(ctx, urls, via)
	}
	named, err := r.Store.NamedSources(ctx, urls)
	if err != nil {
		return false, err
	}
	return pushReceiver{r}.receive(ctx, named, via)
}

// pushReceiver handles pushes from hubs and pings.
type pushReceiver struct{ *River }

// receive first marks the sources of urls as due, and then starts their checks. So a push that
// arrives during a check causes another check.
func (r pushReceiver) receive(ctx context.Context, urls []string, via string) (known bool, err error) {
	r.Init()
	var ids []int64
	at := map[int64]time.Time{}
	for _, u := range urls {
		var more []int64
		now := r.nextPushTime()
		if more, err = r.Store.MarkPushed(ctx, u, via, now); err != nil {
			break
		}
		for _, id := range more {
			at[id] = now
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	for _, id := range ids {
		if !r.scheduler.markPushed(id, at[id]) {
			r.checkNow(ctx, id, via)
		}
	}
	if len(ids) > 0 && r.Hint != nil && !r.open.Load() {
		r.Hint()
	}
	return len(ids) > 0, err
}

// nextPushTime returns the time to store for a push. Each time is later than the previous one, so
// that all pushes have different times.
func (r pushReceiver) nextPushTime() time.Time {
	r.seqMu.Lock()
	defer r.seqMu.Unlock()
	now := r.now()
	if !now.After(r.lastPush) && r.lastPush.Sub(now) < time.Second {
		now = r.lastPush.Add(time.Millisecond)
	}
	r.lastPush = now
	return now
}

// checkNow claims a pushed source and puts it at the front of the queue, if this process runs
// checks. If the claim fails, the claim loop finds the source in the database, because it is
// stored as due.
func (r pushReceiver) checkNow(ctx context.Context, id int64, via string) {
	if !r.open.Load() {
		return
	}
	if r.scheduler.free() < -maxPushed {
		lease.Wake(r.wakeups.claim)
		return
	}
	now := r.now()
	s, err := runner(r).claimOne(ctx, id)
	if err != nil {
		if code := fault.CodeOf(err); code != fault.NotFound && code != fault.Conflict {
			r.logError(ctx, "cannot claim a pushed feed", err)
		}
		lease.Wake(r.wakeups.claim)
		return
	}
	if s.PushedAt.IsZero() {
		s.PushedAt, s.PushedVia = now, via
	}
	known, err := r.Store.Hosts(ctx, []string{polling.HostOf(s.State.URL)})
	if err != nil {
		r.logError(ctx, "cannot read the state of a host", err)
	}
	runner(r).giveBack(ctx, r.scheduler.add([]Source{s}, known, now))
}

// Deliver stores the items of a document that a hub sent and signed. If the document cannot be
// used as the feed, Deliver calls ReceivePush instead, so that the feed is fetched. The items or
// the push are on disk when Deliver returns nil.
func (r *River) Deliver(ctx context.Context, url, via string, body []byte, header http.Header) (known bool, err error) {
	r.Init()
	url = r.canonical(url)
	list, err := r.Store.SourcesAt(ctx, url)
	if err != nil {
		return false, err
	}
	o := r.options()
	for i := range list {
		s := &list[i]
		if s.Private() || s.Readers == 0 || s.State.Gone != nil {
			continue
		}
		got := fetchResult{
			at: r.now(), cause: polling.Delivered, maxItems: o.maxItemsTaken(),
			res: &fetch.Response{Status: http.StatusOK, Header: contentHeader(header), Body: body, URL: s.State.URL},
		}
		if known = (pushReceiver{r}).storeDelivered(ctx, s, url, got, via); !known {
			break
		}
	}
	if known {
		return true, nil
	}
	return r.ReceivePush(ctx, url, via)
}

// contentHeader returns the header fields of a hub's request that describe the content. It leaves
// out caching fields and validators, which describe the request.
func contentHeader(h http.Header) http.Header {
	out := http.Header{}
	for _, name := range []string{"Content-Type", "Link"} {
		if v := h.Values(name); len(v) > 0 {
			out[name] = v
		}
	}
	return out
}

// storeDelivered stores a delivered document for one source. It returns false if the source must
// be fetched instead, for example because the document is another feed.
func (r pushReceiver) storeDelivered(ctx context.Context, s *Source, url string, got fetchResult, via string) bool {
	f := got.parse().feed
	if f == nil || len(f.Items) == 0 || f.Moved != nil || s.State.ReadAt.IsZero() {
		return false
	}
	if self := item.WebURL(f.Self); self != "" && self != url && self != s.URL && self != s.Topic && self != s.originalURL() {
		return false
	}
	now := r.now()
	claimed, err := runner(r).claimOne(ctx, s.ID)
	if err != nil {
		return false // the source is being checked, or the database is down; then ReceivePush fails too
	}
	pushedAt, by := claimed.PushedAt, claimed.PushedVia
	if _, err = checker(r).saveCheck(ctx, claimed, got, via); err != nil {
		runner(r).giveBack(context.WithoutCancel(ctx), []PutOff{{ID: s.ID, Claim: claimed.Claim, NextAt: date.Later(claimed.State.DueAt(), now)}})
		return false
	}
	if !pushedAt.IsZero() { // saveCheck reset an earlier push that no check has handled yet, so store the push again
		if _, err := r.ReceivePush(ctx, url, by); err != nil {
			r.logError(ctx, "cannot store a push", err)
		}
	}
	return true
}
