package river

import (
	"context"
	"slices"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/text"
)

// forwarding tells a forwarder what it has to know of the river.
type forwarderDeps struct{ *River }

// newForwarder makes the forwarder of the river.
func (r forwarderDeps) newForwarder() *forward.Forwarder {
	o := r.options()
	return &forward.Forwarder{
		Store: r.Store, Forward: r.Forward, Key: r.Key, Log: r.Log, Now: r.now, Sender: r.Sender, Wake: r.Wake,
		Subject: r.checkSubject,
		Newest: func(ctx context.Context, n forward.Forwarding) ([]Entry, error) {
			return r.Store.Items(ctx, ItemQuery{Reader: n.Reader, SourceID: n.SourceID, Category: n.Category, Limit: 1})
		},
		Options: forward.Options{Max: o.MaxForwardings, MailsBy: o.MailsBy, MailsTo: o.MailsTo, Lease: o.Lease},
	}
}

// checkSubject sees that there is what a notice is about.
func (r forwarderDeps) checkSubject(ctx context.Context, n forward.Forwarding) error {
	if n.SourceID != 0 {
		_, err := r.findFollowed(ctx, n.Reader, n.SourceID)
		return err
	}
	if n.Category == "" {
		return nil
	}
	have, err := r.Store.Categories(ctx, n.Reader, false)
	if err == nil && !slices.ContainsFunc(have, func(c Category) bool { return c.Name == n.Category }) {
		err = fault.New(fault.NotFound, "There is no category %q.", text.ClipRunes(text.PlainLine(n.Category), maxCategoryName))
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
func (r *River) PutForwarding(ctx context.Context, n forward.Forwarding) (forward.Forwarding, error) {
	return r.forward().PutForwarding(ctx, n)
}

// Notices is [forward.Forwarder.Notices].
func (r *River) Forwardings(ctx context.Context, reader string) ([]forward.Forwarding, error) {
	return r.forward().Forwardings(ctx, reader)
}

// DropNotice is [forward.Forwarder.DropNotice].
func (r *River) DropForwarding(ctx context.Context, reader string, id int64) error {
	return r.forward().DropForwarding(ctx, reader, id)
}

// TryNotice is [forward.Forwarder.TryNotice].
func (r *River) TryForwarding(ctx context.Context, reader string, id int64) error {
	return r.forward().TryForwarding(ctx, reader, id)
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
func (r *River) ConfirmForwarding(ctx context.Context, token string) (forward.Link, error) {
	return r.forward().ConfirmForwarding(ctx, token)
}

// EndNotices is [forward.Forwarder.EndNotices].
func (r *River) EndForwarding(ctx context.Context, token string) (forward.Link, error) {
	return r.forward().EndForwarding(ctx, token)
}

// AllowNotices is [forward.Forwarder.AllowNotices].
func (r *River) AllowForwarding(ctx context.Context, token string) (forward.Link, error) {
	return r.forward().AllowForwarding(ctx, token)
}
