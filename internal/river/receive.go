package river

import (
	"context"
	"net/http"
	"slices"
	"time"

	"cloudburst/feed/feedstate"
	"cloudburst/internal/date"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/lease"
	"cloudburst/internal/river/item"
)

// mostAnnounced is how many announced sources may wait in memory beyond what is due; the
// rest is found by the loop that looks for what is due.
const maxPushed = 256

// Away is the door of news that nobody announced: this program was away and may have missed
// some. Unlike an announcement it keeps to skipHours and skipDays.
const Away = "notify-away"

// Heard takes the news that a feed changed, by door ("ping", "notify-rsscloud",
// "save" …). When it returns, the source is due on disk, and it will be read at once.
// known is false when nobody here follows the feed.
//
// spec:cloudburst#river-push-is-durable
func (r *River) ReceivePush(ctx context.Context, url, via string) (known bool, err error) {
	return pushReceiver{r}.receive(ctx, r.canonicals([]string{url}), via)
}

// HeardAny is Heard for a document with several addresses, of which few are followed. A
// source that is known by several of them is read once. With an error, some may have been
// heard.
func (r *River) ReceivePushAny(ctx context.Context, urls []string, via string) (known bool, err error) {
	if urls = r.canonicals(urls); len(urls) < 2 {
		return pushReceiver{r}.receive(ctx, urls, via)
	}
	named, err := r.Store.NamedSources(ctx, urls)
	if err != nil {
		return false, err
	}
	return pushReceiver{r}.receive(ctx, named, via)
}

// pushes takes what hubs and pings say of sources.
type pushReceiver struct{ *River }

// heard makes due what the urls mean, and then has it read: what is announced while it is
// being read would be read again.
func (r pushReceiver) receive(ctx context.Context, urls []string, via string) (known bool, err error) {
	r.Init()
	var ids []int64
	for _, u := range urls {
		var more []int64
		if more, err = r.Store.MarkPushed(ctx, u, via, r.nextPushTime()); err != nil {
			break
		}
		for _, id := range more {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	for _, id := range ids {
		if !r.scheduler.markPushed(id) {
			r.checkNow(ctx, id, via)
		}
	}
	if len(ids) > 0 && r.Hint != nil && !r.open.Load() {
		r.Hint()
	}
	return len(ids) > 0, err
}

// hearing is the moment of an announcement. No two have the same, so that one that comes
// while another is being dealt with is not taken for it.
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

// readAgain claims an announced source for this process, if it is one that reads, and
// puts it before all others. Where that fails the loop finds it due.
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
			r.logError(ctx, "the river could not take a feed that was announced", err)
		}
		lease.Wake(r.wakeups.claim)
		return
	}
	if s.PushedAt.IsZero() {
		s.PushedAt, s.PushedVia = now, via
	}
	known, err := r.Store.Hosts(ctx, []string{feedstate.HostOf(s.State.URL)})
	if err != nil {
		r.logError(ctx, "the river could not see what hosts asked for", err)
	}
	runner(r).giveBack(ctx, r.scheduler.add([]Source{s}, known, now))
}

// Deliver takes a document that a hub brought and signed. When it returns nil, its items
// are on disk; what is no usable feed counts as Heard.
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
			at: r.now(), cause: feedstate.Delivered, maxItems: o.maxItemsTaken(),
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

// contentHeader is what a hub's request says of its content. What it says of caching or
// validators is the request's own affair.
func contentHeader(h http.Header) http.Header {
	out := http.Header{}
	for _, name := range []string{"Content-Type", "Link"} {
		if v := h.Values(name); len(v) > 0 {
			out[name] = v
		}
	}
	return out
}

// delivered stores a delivered document for one source; false: it has to be read instead.
// A document that nobody can place is no reason to doubt the hub, but none to believe it
// either.
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
		return false // it is being read, or the database is away: then hearing fails too
	}
	pushedAt, by := claimed.PushedAt, claimed.PushedVia
	if _, err = checker(r).saveCheck(ctx, claimed, got, via); err != nil {
		runner(r).giveBack(context.WithoutCancel(ctx), []PutOff{{ID: s.ID, Claim: claimed.Claim, NextAt: date.Later(claimed.State.DueAt(), now)}})
		return false
	}
	if !pushedAt.IsZero() { // another door had announced something that nobody has read yet
		if _, err := r.ReceivePush(ctx, url, by); err != nil {
			r.logError(ctx, "the river could not keep an announcement", err)
		}
	}
	return true
}

// Refresh reads a source now because a reader wants it. Errors: fault.NotFound; TooMany,
// with RetryAfter and the reason, when it was read less than a minute ago or its server
// asked to be left alone; Conflict when it is being read already, or gone.
//
// spec:cloudburst#river-by-hand
func (r *River) Refresh(ctx context.Context, id int64) (Check, error) {
	r.Init()
	s, err := r.Store.Source(ctx, id)
	if err != nil {
		return Check{}, err
	}
	now, key := r.now(), feedstate.HostOf(s.State.URL)
	if s.State.Gone != nil {
		return Check{}, fault.New(fault.Conflict, "The feed is gone: %s. Revive it to have it read again.", s.State.Gone.Reason)
	}
	ok, from, why := feedstate.Refresh(s.State, now)
	if ok {
		known, err := r.Store.Hosts(ctx, []string{key})
		if err != nil {
			return Check{}, err
		}
		if from = known[key].Until(now); from.After(now) {
			ok, why = false, "its host asked several feeds to be left alone until then"
		}
	}
	if !ok {
		e := fault.New(fault.TooMany, "The feed can be read again %s: %s.", when(from, now), why)
		e.RetryAfter = from.Sub(now)
		return Check{}, e
	}
	if s, err = (runner{r}).claimOne(ctx, id); err != nil {
		return Check{}, err
	}
	got := checker{r}.fetchPaced(ctx, &s, feedstate.ByHand)
	return checker{r}.saveCheck(context.WithoutCancel(ctx), s, got, "")
}
