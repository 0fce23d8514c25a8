package event

import (
	"strings"
	"testing"
	"time"
)

func TestEventsAreNumberedInOrder(t *testing.T) {
	t.Parallel()
	b := NewBus(7)
	now := time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
	earlier := now.Add(-time.Hour)
	x, y, z := Event{}, Event{At: earlier}, Event{}
	b.Stamp(now, &x, &y)
	b.Stamp(now, &z)
	if x.Node != 7 || x.Seq != 1 || y.Seq != 2 || z.Seq != 3 {
		t.Errorf("places: %v %v %v", x.Cursor(), y.Cursor(), z.Cursor())
	}
	if !y.At.Equal(earlier) || x.At.Nanosecond() != 678_000_000 {
		t.Errorf("times: %v %v", x.At, y.At)
	}
	if !y.Cursor().Less(x.Cursor()) || !x.Cursor().Less(z.Cursor()) || x.Cursor().Less(x.Cursor()) {
		t.Error("cursors do not order by time, node and number")
	}
}

func TestSlowListenerIsDropped(t *testing.T) {
	t.Parallel()
	b := NewBus(1)
	slow, quick := b.Listen(2), b.Listen(10)
	defer quick.Close()
	for i := range 5 {
		b.Publish(Event{Seq: int64(i)})
	}
	n := 0
	for range slow.C() {
		n++
	}
	if n != 2 {
		t.Errorf("the slow one got %d; want the buffered events", n)
	}
	if len(quick.C()) != 5 || b.Listeners() != 1 {
		t.Errorf("the quick one has %d of 5; %d listen", len(quick.C()), b.Listeners())
	}
	slow.Close()
}

func TestClosedListenerReceivesNothing(t *testing.T) {
	t.Parallel()
	b := NewBus(1)
	l := b.Listen(1)
	l.Close()
	l.Close()
	b.Publish(Event{})
	if _, open := <-l.C(); open || b.Listeners() != 0 {
		t.Error("a closed listener still listens")
	}
}

func TestPublicEventContainsNoDetail(t *testing.T) {
	t.Parallel()
	e := Event{Text: "x", Detail: []byte(`{"callback":"http://a.test/secret"}`)}
	if p := e.Public(); p.Detail != nil || p.Text != "x" || e.Detail == nil {
		t.Errorf("public: %+v", p)
	}
}

func TestEventWithTheURLOfAPrivateFeedIsNotPublished(t *testing.T) {
	t.Parallel()
	b := NewBus(1)
	all := b.Listen(10)
	defer all.Close()
	secret := "http://a.test/alice/private/family/abcdefghij12." + strings.Repeat("K_-9", 8) + "/rss.xml"
	topic := "http://a.test" + PrivateTopics + "abcdefghij12-abc/rss.xml"
	public := Event{Topic: "http://a.test/private/abcdefghij12.x/rss.xml", Text: "fine"}
	b.Publish(Event{Topic: secret}, Event{Text: "refused " + secret}, Event{Topic: topic}, public, Event{Text: "refused " + topic})
	if n := len(all.C()); n != 1 || (<-all.C()).Text != "fine" {
		t.Errorf("%d events are published", n)
	}
}
