package author

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

// Document is what somebody wants to publish.
type Document struct {
	User, Name string
	Bytes      []byte
	// Type is the Content-Type that came with it, or "". JSON is taken only when it says so.
	Type string
	Via  string // by which it came, for the log: "saveRss", "put"
	// Base is the version that it shall replace, New when there shall be none; 0: whatever is there.
	Base int64
}

// New as the Base of a document means that the feed must not be there yet.
const New = -1

// tellWithin is how long an answer waits for subscribers' rows; what is not told by
// then is told later.
const notifyTimeout = 10 * time.Second

// looksAtOnce is how many documents are inspected at the same time.
const maxInspections = 4

// Put stores a document byte for byte as the next version of a feed, and has its
// subscribers told. When it returns nil the document is on disk. The same bytes again
// are no new version. A feed that has ended is there again; one that has moved must be
// restored first.
//
// The document must not be larger than MaxDocument, must be well-formed XML without a
// DOCTYPE (or JSON when its Type says so), and must be a feed; what it is not, the
// fault.Invalid says. The feed of before stays in any case.
//
// Further errors: fault.Refused from Known; fault.Conflict when Base is not the version that is
// there, or the feed has moved; fault.Unavailable.
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
		// What is on disk stays there, whether the caller waits or not.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
		defer cancel()
		s.notify(ctx, &f)
	}
	return f, nil
}

// look inspects a document when its turn comes: what is read takes many times its room.
func (s *Feeds) inspectInTurn(ctx context.Context, d Document) (documentInfo, error) {
	s.start.Do(func() { s.inspections = make(chan struct{}, maxInspections) })
	select {
	case s.inspections <- struct{}{}:
	case <-ctx.Done():
		return documentInfo{}, fault.Wrap(fault.Unavailable, ctx.Err(), "The document was given up by the one who sent it.")
	}
	defer func() { <-s.inspections }()
	return inspect(d.Bytes, d.Type)
}

func (s *Feeds) store(ctx context.Context, d Document, what documentInfo) (Feed, error) {
	hash := sha256.Sum256(d.Bytes)
	var events []event.Event
	saving := Saving{
		User: d.User, Name: d.Name, At: s.now(), Type: what.typ, Title: what.title, Items: what.items, Push: what.push,
		Bytes: d.Bytes, Hash: hash[:], Quiet: d.Name == Private || s.Notify == nil,
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
	// Also after an error: nobody knows whether the transaction went through.
	s.cache.forget(d.User, d.Name)
	if err != nil {
		return Feed{}, err
	}
	if changed && s.Publish != nil {
		s.Publish(events...)
	}
	return f, nil
}

// allow holds a document against the feed that it shall replace.
func allow(d Document, now Feed) error {
	switch {
	case d.Base == New && now.Version > 0:
		return fault.New(fault.Conflict, "There is a feed here already; it was not replaced.")
	case d.Base > 0 && d.Base != now.Version:
		return fault.New(fault.Conflict, "The feed has changed since it was read; it was not replaced. Read it again, and save it then.")
	case now.MovedTo != "":
		return fault.New(fault.Conflict, "The feed has moved to %s, and nothing was saved; bring it back first if it shall be here again.", clip(now.MovedTo))
	}
	return nil
}

// ErrLater is what Tell returns when this process cannot tell anybody, because it does
// not serve: TellUntold does, in the one that will.
var ErrNotServing = errors.New("subscribers are told by the server")

// tell has a feed's subscribers told, and remembers that they were.
func (s *Feeds) notify(ctx context.Context, f *Feed) {
	if s.Notify == nil || f.Name != Public {
		return
	}
	switch err := s.Notify(ctx, *f); {
	case errors.Is(err, ErrNotServing):
		return
	case err != nil:
		s.log().WarnContext(ctx, "subscribers of a saved feed could not be told; it is tried again", "feed", f.key(), "version", f.Version, "err", err)
		s.notifyFailed()
		return
	}
	if err := s.Store.MarkNotified(ctx, f.User, f.Name, f.Version); err != nil {
		s.log().WarnContext(ctx, "it could not be written down that a saved feed was told; it is told again", "feed", f.key(), "version", f.Version, "err", err)
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

// TellUntold tells of every version that was saved and not told yet: what a process
// left that died in between, or what could not be told at the time. Call it at the
// start, and now and then.
func (s *Feeds) NotifyPending(ctx context.Context) error {
	user, name := "", ""
	for {
		page, err := s.Store.ListUnnotified(ctx, user, name, 100)
		if err != nil || len(page) == 0 {
			return err
		}
		for i := range page {
			f := &page[i]
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
