package hub

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"cloudburst/internal/event"
)

// emptyStore is a store that is not called.
type emptyStore struct{ Store }

// quietTracer is a Tracer that expects no report of a fast successful delivery.
type quietTracer struct{ t *testing.T }

func (quietTracer) Origin(context.Context) any                            { return nil }
func (quietTracer) Reading(ctx context.Context, _ *Topic) context.Context { return ctx }
func (quietTracer) Changed(*Topic, FoundChange)                           {}
func (quietTracer) BatchDone(*Topic, BatchNotified)                       {}
func (quietTracer) ShardDone(*Topic, ShardNotified)                       {}
func (d quietTracer) AttemptDone(*Topic, Attempt) {
	d.t.Error("the tracer received a fast successful delivery")
}
func (quietTracer) ID(*Topic) string { return "" }

func TestTracingASuccessfulDeliveryDoesNotAllocate(t *testing.T) {
	for _, tracer := range []Tracer{nil, quietTracer{t}} {
		h := &Hub{Store: emptyStore{}, Bus: event.NewBus(1), Log: slog.New(slog.DiscardHandler), Trace: tracer}
		h.Init()
		b := &deliveryBatch{shard: 1, n: 1, begun: time.Now(), open: 1 << 30, done: make(chan struct{})}
		d := &delivery{topic: &Topic{Version: 1, ChangedAt: time.Now()}, batch: b}
		r := Reply{OK: true, Took: time.Millisecond}
		if n := testing.AllocsPerRun(1000, func() { d.state = started; delivering{h}.finishBatched(d, r) }); n != 0 {
			t.Errorf("with the tracer %v, a delivery has %g allocations", tracer, n)
		}
	}
}
