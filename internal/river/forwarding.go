package river

import (
	"context"
	"slices"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/river/naming"
	"cloudburst/internal/text"
)

// forwarderDeps gives the forwarder access to the river.
type forwarderDeps struct{ *River }

// newForwarder returns the forwarder of the river.
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

// checkSubject verifies that the source or category of a forwarding exists.
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
		err = fault.New(fault.NotFound, "There is no category %q.", text.ClipRunes(text.PlainLine(n.Category), naming.LongestCategory))
	}
	return err
}

// forward returns the Forwarder that Init created.
func (r *River) forward() *forward.Forwarder {
	r.Init()
	return r.forwarder
}

// Ways calls [forward.Forwarder.Ways].
func (r *River) Ways() []string { return r.forward().Ways() }

// PutForwarding calls [forward.Forwarder.PutForwarding].
func (r *River) PutForwarding(ctx context.Context, n forward.Forwarding) (forward.Forwarding, error) {
	return r.forward().PutForwarding(ctx, n)
}

// Forwardings calls [forward.Forwarder.Forwardings].
func (r *River) Forwardings(ctx context.Context, user string) ([]forward.Forwarding, error) {
	return r.forward().Forwardings(ctx, user)
}

// DropForwarding calls [forward.Forwarder.DropForwarding].
func (r *River) DropForwarding(ctx context.Context, user string, id int64) error {
	return r.forward().DropForwarding(ctx, user, id)
}

// TryForwarding calls [forward.Forwarder.TryForwarding].
func (r *River) TryForwarding(ctx context.Context, user string, id int64) error {
	return r.forward().TryForwarding(ctx, user, id)
}

// ConfirmLink calls [forward.Forwarder.ConfirmLink].
func (r *River) ConfirmLink(ctx context.Context, token string) (forward.Link, error) {
	return r.forward().ConfirmLink(ctx, token)
}

// EndLink calls [forward.Forwarder.EndLink].
func (r *River) EndLink(ctx context.Context, token string) (forward.Link, error) {
	return r.forward().EndLink(ctx, token)
}

// ConfirmForwarding calls [forward.Forwarder.ConfirmForwarding].
func (r *River) ConfirmForwarding(ctx context.Context, token string) (forward.Link, error) {
	return r.forward().ConfirmForwarding(ctx, token)
}

// EndForwarding calls [forward.Forwarder.EndForwarding].
func (r *River) EndForwarding(ctx context.Context, token string) (forward.Link, error) {
	return r.forward().EndForwarding(ctx, token)
}

// ChooseDigest calls [forward.Forwarder.ChooseDigest].
func (r *River) ChooseDigest(ctx context.Context, token, digest string) (forward.Link, error) {
	return r.forward().ChooseDigest(ctx, token, digest)
}

// AllowForwarding calls [forward.Forwarder.AllowForwarding].
func (r *River) AllowForwarding(ctx context.Context, token string) (forward.Link, error) {
	return r.forward().AllowForwarding(ctx, token)
}
