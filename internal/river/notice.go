package river

import (
	"context"
	"slices"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/text"
)

// forwarding tells a forwarder what it has to know of the river.
type forwarding struct{ *River }

// newForwarder makes the forwarder of the river.
func (r forwarding) newForwarder() *forward.Forwarder {
	o := r.options()
	return &forward.Forwarder{
		Store: r.Store, Tell: r.Tell, Key: r.Key, Log: r.Log, Now: r.now, Sender: r.Sender, Wake: r.Wake,
		Subject: r.checkSubject,
		Newest: func(ctx context.Context, n forward.Notice) ([]Entry, error) {
			return r.Store.Items(ctx, ItemQuery{Reader: n.Reader, SourceID: n.SourceID, Category: n.Category, Limit: 1})
		},
		Options: forward.Options{Most: o.MostNotices, MailsBy: o.MailsBy, MailsTo: o.MailsTo, Lease: o.Lease},
	}
}

// checkSubject sees that there is what a notice is about.
func (r forwarding) checkSubject(ctx context.Context, n forward.Notice) error {
	if n.SourceID != 0 {
		_, err := r.one(ctx, n.Reader, n.SourceID)
		return err
	}
	if n.Category == "" {
		return nil
	}
	have, err := r.Store.Categories(ctx, n.Reader, false)
	if err == nil && !slices.ContainsFunc(have, func(c Category) bool { return c.Name == n.Category }) {
		err = fault.New(fault.NotFound, "There is no category %q.", text.ClipRunes(text.PlainLine(n.Category), longestCategory))
	}
	return err
}

// forward is the forwarder, which Init makes.
func (r *River) forward() *forward.Forwarder {
	r.Init()
	return r.forwarder
}

// Ways is [forward.Forwarder.Ways].
func (r *River) Ways() []string { return r.forward().Ways() }

// PutNotice is [forward.Forwarder.PutNotice].
func (r *River) PutNotice(ctx context.Context, n forward.Notice) (forward.Notice, error) {
	return r.forward().PutNotice(ctx, n)
}

// Notices is [forward.Forwarder.Notices].
func (r *River) Notices(ctx context.Context, reader string) ([]forward.Notice, error) {
	return r.forward().Notices(ctx, reader)
}

// DropNotice is [forward.Forwarder.DropNotice].
func (r *River) DropNotice(ctx context.Context, reader string, id int64) error {
	return r.forward().DropNotice(ctx, reader, id)
}

// TryNotice is [forward.Forwarder.TryNotice].
func (r *River) TryNotice(ctx context.Context, reader string, id int64) error {
	return r.forward().TryNotice(ctx, reader, id)
}

// ConfirmLink is [forward.Forwarder.ConfirmLink].
func (r *River) ConfirmLink(ctx context.Context, token string) (forward.Link, error) {
	return r.forward().ConfirmLink(ctx, token)
}

// EndLink is [forward.Forwarder.EndLink].
func (r *River) EndLink(ctx context.Context, token string) (forward.Link, error) {
	return r.forward().EndLink(ctx, token)
}

// ConfirmNotices is [forward.Forwarder.ConfirmNotices].
func (r *River) ConfirmNotices(ctx context.Context, token string) (forward.Link, error) {
	return r.forward().ConfirmNotices(ctx, token)
}

// EndNotices is [forward.Forwarder.EndNotices].
func (r *River) EndNotices(ctx context.Context, token string) (forward.Link, error) {
	return r.forward().EndNotices(ctx, token)
}

// AllowNotices is [forward.Forwarder.AllowNotices].
func (r *River) AllowNotices(ctx context.Context, token string) (forward.Link, error) {
	return r.forward().AllowNotices(ctx, token)
}
