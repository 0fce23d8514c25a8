package author

import (
	"context"
	"time"
)

// SaveOrigin describes the save that caused a call of Feeds.Notify.
type SaveOrigin struct {
	At   time.Time
	Via  string // endpoint of the save, as in Document.Via
	Kind string // KindDocument or KindPost
}

// Kinds of saved content.
const (
	KindDocument = "document"
	KindPost     = "post"
)

type saveOriginKey struct{}

// withOrigin adds the origin of a save to ctx. If ctx already has an origin, it stays.
func withOrigin(ctx context.Context, b SaveOrigin) context.Context {
	if _, known := SaveOriginOf(ctx); known {
		return ctx
	}
	return context.WithValue(ctx, saveOriginKey{}, b)
}

// SaveOriginOf returns the origin of the save that ctx belongs to; false: ctx has no origin, as for
// a notification after a restart.
func SaveOriginOf(ctx context.Context) (SaveOrigin, bool) {
	b, ok := ctx.Value(saveOriginKey{}).(SaveOrigin)
	return b, ok
}
