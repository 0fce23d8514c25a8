package trace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"

	oteltrace "go.opentelemetry.io/otel/trace"

	"cloudburst/internal/hub"
)

// ids computes the IDs of a change's trace and of the spans that other spans refer to.
type ids struct {
	sum [sha256.Size]byte
}

// idsOf returns the ids of a change. The IDs depend on the time of the change, because versions
// restart in another database and several servers may use one collector.
func idsOf(change *hub.Topic) ids {
	b := make([]byte, 0, 64)
	b = append(b, "cloudburst change "...)
	b = binary.BigEndian.AppendUint64(b, uint64(change.ID))
	b = binary.BigEndian.AppendUint64(b, uint64(change.Version))
	b = binary.BigEndian.AppendUint64(b, uint64(change.ChangedAt.UnixMilli()))
	return ids{sha256.Sum256(b)}
}

func (i ids) trace() (id oteltrace.TraceID) {
	copy(id[:], i.sum[:])
	id[0] |= 1 // an ID must not be zero
	return id
}

// span returns the ID of the span of that kind and number, unique within a trace.
func (i ids) span(kind string, n int) (id oteltrace.SpanID) {
	b := append(i.sum[:], kind...)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(n)))
	copy(id[:], sum[:])
	id[0] |= 1
	return id
}

// context returns the context of a span, for its child spans.
func (i ids) context(span oteltrace.SpanID) oteltrace.SpanContext {
	return oteltrace.NewSpanContext(oteltrace.SpanContextConfig{
		TraceID: i.trace(), SpanID: span, TraceFlags: oteltrace.FlagsSampled, Remote: true,
	})
}

// fixedIDs assigns spans the IDs in their context; it is an SDK IDGenerator.
type fixedIDs struct{}

type fixedIDKey struct{}

// NewIDs returns the IDs for a span without a parent: the IDs in ctx.
func (fixedIDs) NewIDs(ctx context.Context) (oteltrace.TraceID, oteltrace.SpanID) {
	c, _ := ctx.Value(fixedIDKey{}).(oteltrace.SpanContext)
	return c.TraceID(), c.SpanID()
}

// NewSpanID returns the ID for a span with a parent: the ID in ctx, or a random ID if ctx has none.
func (fixedIDs) NewSpanID(ctx context.Context, _ oteltrace.TraceID) oteltrace.SpanID {
	if c, ok := ctx.Value(fixedIDKey{}).(oteltrace.SpanContext); ok {
		return c.SpanID()
	}
	return randomSpan()
}

func randomSpan() (id oteltrace.SpanID) {
	_, _ = rand.Read(id[:]) // rand.Read never fails
	id[0] |= 1
	return id
}
