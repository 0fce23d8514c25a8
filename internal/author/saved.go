package author

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"cloudburst/internal/author/inspect"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

// Document is a feed document to publish.
type Document struct {
	User, Name string
	Bytes      []byte
	// Type is the Content-Type of the request; "": unknown. A JSON document is accepted only if Type
	// is JSON.
	Type string
	Via  string // endpoint of the save, for the log: "saveRss", "put"
	// Base is the version that the document replaces, or New if the feed must not exist yet; 0: any
	// version.
	Base int64
}

// New is the Base of a document whose feed must not exist yet.
const New = -1

// notifyTimeout limits how long a save waits for the notification. NotifyPending retries a
// notification that takes longer.
const notifyTimeout = 10 * time.Second

// maxInspections is the maximum number of documents that are inspected at the same time.
const maxInspections = 4

// Put stores a document byte for byte as the next version of a feed, and notifies its subscribers.
// When it returns nil, the document is on disk. Identical bytes make no new version. An ended feed
// is active again; a moved feed must be restored first.
//
// The document must not be larger than MaxDocument, must be well-formed XML without a DOCTYPE (or
// JSON if its Type is JSON), and must be a feed; otherwise the error is a fault.Invalid with the
// reason. After an error the previous feed is unchanged.
//
// Further errors: fault.Refused from CheckUser; fault.Conflict if Base is not the current version
// or the feed has moved; fault.Unavailable.
//
// spec:rsscloud-2009#save-rss
func (s *Feeds) Put(ctx context.Context, d Document) (Feed, error) {
	ctx = withOrigin(ctx, SaveOrigin{At: s.now(), Via: d.Via, Kind: KindDocument})
	if err := checkFeed(d.User, d.Name); err != nil {
		return Feed{}, err
	}
	if s.CheckUser != nil {
		if err := s.CheckUser(ctx, d.User); err != nil {
			return Feed{}, err
		}
	}
	what, err := s.inspectInTurn(ctx, d)
	if err != nil {
		return Feed{}, err
	}
	f, err := s.store(ctx, d, what)
	if err != nil {
		return Feed{}, err
	}
	if f.Notified < f.Version {
		// The version is on disk, so the notification continues even if the caller's context ends.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
		defer cancel()
		s.notify(ctx, &f)
	}
	return f, nil
}

// inspectInTurn inspects a document. At most maxInspections documents are inspected at the same
// time, because a parsed document needs many times its size in memory.
func (s *Feeds) inspectInTurn(ctx context.Context, d Document) (inspect.Info, error) {
	s.start.Do(func() { s.inspections = make(chan struct{}, maxInspections) })
	select {
	case s.inspections <- struct{}{}:
	case <-ctx.Done():
		return inspect.Info{}, fault.Wrap(fault.Unavailable, ctx.Err(), "The upload of the document was canceled.")
	}
	defer func() { <-s.inspections }()
	return inspect.Document(d.Bytes, d.Type)
}

func (s *Feeds) store(ctx context.Context, d Document, what inspect.Info) (Feed, error) {
	hash := sha256.Sum256(d.Bytes)
	var events []event.Event
	saving := Saving{
		User: d.User, Name: d.Name, At: s.now(), Type: what.Type, Title: what.Title, Items: what.Items, Push: what.Push,
		Bytes: d.Bytes, Hash: hash[:], Quiet: s.Notify == nil,
		Allow: func(now Feed) error { return allow(d, now) },
		Events: func(f Feed) []event.Event {
			events = nil
			if s.Events != nil && d.Name == Public {
				events = s.Events(f, d.Via)
			}
			return events
		},
	}
	f, changed, err := s.Store.SaveDocument(ctx, saving)
	// Forget the cached feed also after an error, because the transaction may have been committed.
	s.cache.forget(d.User, d.Name)
	if err != nil {
		return Feed{}, err
	}
	if changed && s.Publish != nil {
		s.Publish(events...)
	}
	return f, nil
}

// allow returns a fault if a document must not replace the current feed.
func allow(d Document, now Feed) error {
	switch {
	case d.Base == New && now.Version > 0:
		return fault.New(fault.Conflict, "This URL already has a feed; it was not replaced.")
	case d.Base > 0 && d.Base != now.Version:
		return fault.New(fault.Conflict, "The feed has changed since it was read; it was not replaced. Read it again, and save it then.")
	case now.MovedTo != "":
		return fault.New(fault.Conflict, "The feed has moved to %s, and nothing was saved; restore it first to publish it here again.", clip(now.MovedTo))
	}
	return nil
}

// ErrNotServing is returned by Feeds.Notify in a process that does not serve requests, such as a
// command. The server sends the notification with NotifyPending.
var ErrNotServing = errors.New("the server notifies subscribers later")

// notify notifies the subscribers of a feed and records the version that they were notified of.
func (s *Feeds) notify(ctx context.Context, f *Feed) {
	if _, group := GroupOf(f.Name); s.Notify == nil || f.Name != Public && !group {
		return
	}
	switch err := s.Notify(ctx, *f); {
	case errors.Is(err, ErrNotServing):
		return
	case err != nil:
		s.log().WarnContext(ctx, "could not notify the subscribers of a saved feed; retrying", "feed", f.key(), "version", f.Version, "err", err)
		s.notifyFailed()
		return
	}
	if err := s.Store.MarkNotified(ctx, f.User, f.Name, f.Version); err != nil {
		s.log().WarnContext(ctx, "could not record the notification of a saved feed; notifying again", "feed", f.key(), "version", f.Version, "err", err)
		s.notifyFailed()
		return
	}
	f.Notified = f.Version
	s.cache.forget(f.User, f.Name)
}

func (s *Feeds) notifyFailed() {
	if s.OnNotifyFailure != nil {
		s.OnNotifyFailure()
	}
}

// NotifyPending notifies subscribers of all saved versions that they were not notified of because
// of a crash or a failed notification. Call it at startup and periodically.
func (s *Feeds) NotifyPending(ctx context.Context) error {
	user, name := "", ""
	for {
		batch, err := s.Store.ListUnnotified(ctx, user, name, 100)
		if err != nil || len(batch) == 0 {
			return err
		}
		for i := range batch {
			f := &batch[i]
			user, name = f.User, f.Name
			if ctx.Err() != nil {
				return ctx.Err()
			}
			one, cancel := context.WithTimeout(ctx, notifyTimeout)
			s.notify(one, f)
			cancel()
		}
	}
}
