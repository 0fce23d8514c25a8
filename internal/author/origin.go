package author

import (
	"context"
	"time"
)

// Beginning says how a save began of which Tell is called.
type SaveOrigin struct {
	At   time.Time
	Via  string // by which it came, as Document.Door
	Kind string // KindDocument or KindPost
}

// What is saved.
const (
	KindDocument = "document"
	KindPost     = "post"
)

type saveOriginKey struct{}

// begin is ctx for a save. One that is part of another is part of it.
func withOrigin(ctx context.Context, b SaveOrigin) context.Context {
	if _, known := SaveOriginOf(ctx); known {
		return ctx
	}
	return context.WithValue(ctx, saveOriginKey{}, b)
}

// BeginningOf is how the save began that ctx belongs to; false: nobody knows, as after a
// restart.
func SaveOriginOf(ctx context.Context) (SaveOrigin, bool) {
	b, ok := ctx.Value(saveOriginKey{}).(SaveOrigin)
	return b, ok
}
