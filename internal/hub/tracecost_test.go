package hub

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"cloudburst/internal/event"
)

// noStore is one that nobody asks anything.
type noStore struct{ Store }

// deaf is a Tracer that hears nothing of a delivery that is as it should be.
type deaf struct{ t *testing.T }

func (deaf) Origin(context.Context) any                            { return nil }
func (deaf) Reading(ctx context.Context, _ *Topic) context.Context { return ctx }
func (deaf) Changed(*Topic, FoundChange)                           {}
func (deaf) BatchDone(*Topic, BatchNotified)                       {}
func (deaf) ShardDone(*Topic, ShardNotified)                       {}
func (d deaf) Tried(*Topic, Tried)                                 { d.t.Error("it was told of a delivery that arrived at once") }
func (deaf) ID(*Topic) string                                      { return "" }

func TestTracingCostsADeliveryThatArrivesNoMemory(t *testing.T) {
	for _, tracer := range []Tracer{nil, deaf{t}} {
		h := &Hub{Store: noStore{}, Bus: event.NewBus(1), Log: slog.New(slog.DiscardHandler), Trace: tracer}
		h.Init()
		p := &page{part: 1, n: 1, begun: time.Now(), open: 1 << 30, done: make(chan struct{})}
		d := &delivery{topic: &Topic{Version: 1, ChangedAt: time.Now()}, page: p}
		r := Reply{OK: true, Took: time.Millisecond}
		if n := testing.AllocsPerRun(1000, func() { d.state = started; delivering{h}.finishPaged(d, r) }); n != 0 {
			t.Errorf("with the tracer %v, a delivery allocates %g times", tracer, n)
		}
	}
}
