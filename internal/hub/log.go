package hub

import (
	"encoding/json"
	"fmt"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/text"
)

// detail encodes an exchange as JSON for Event.Detail, which only the operator sees.
func detail(x event.Exchange) json.RawMessage {
	if x == (event.Exchange{}) {
		return nil
	}
	b, _ := json.Marshal(x) // nil after an error
	return b
}

// failureEvent returns the log event of one failed notification.
func (h delivering) failureEvent(d *delivery, r Reply) event.Event {
	x := r.Exchange
	x.Callback = d.sub.Callback
	e := event.Event{
		Kind: event.KindError, TopicID: d.topic.ID, Topic: d.topic.URL, Version: d.topic.Version,
		Via: d.sub.Protocol, Peer: text.Host(d.sub.Callback), Took: r.Took, Failed: 1, Text: r.Text, Detail: detail(x),
	}
	if r.Gone {
		e.Kind = event.KindDrop
		if d.sub.Protocol != CNWS {
			e.Text = "The subscriber answered 410 Gone: the subscription has ended."
		}
	}
	return e
}

// arrivedEvent returns the log event of one successful notification outside a batch, such as a
// retry.
func (h delivering) arrivedEvent(d *delivery, r Reply) event.Event {
	e := event.Event{
		Kind: event.KindNotify, TopicID: d.topic.ID, Topic: d.topic.URL, Version: d.topic.Version, OK: true,
		Via: d.sub.Protocol, Peer: text.Host(d.sub.Callback), Took: r.Took, Notified: 1,
		Text:   fmt.Sprintf("Delivered after %s.", short(r.Took)),
		Detail: detail(event.Exchange{Callback: d.sub.Callback}),
	}
	if d.sub.Failures > 0 {
		e.Text = fmt.Sprintf("Delivered after %s, at attempt %d.", short(r.Took), d.sub.Tries+1)
	}
	return e
}

// summary returns the log event of a whole run over a shard.
func (run *shardRun) summary() event.Event {
	took := run.hub.now().Sub(run.begun)
	e := event.Event{
		Kind: event.KindNotify, TopicID: run.shard.TopicID, Topic: run.shard.Topic.URL, Version: run.shard.Want, OK: run.failed == 0,
		Notified: run.notified, Failed: run.failed, Took: took,
		Text: fmt.Sprintf("Notified %s in %s.", text.Plural(run.notified, "subscriber"), short(took)),
	}
	if n := run.failed - run.ended; n > 0 {
		e.Text = fmt.Sprintf("%s; %d could not be notified and will be tried again.", e.Text[:len(e.Text)-1], n)
	}
	switch {
	case run.ended == 1:
		e.Text = fmt.Sprintf("%s; 1 subscription has ended.", e.Text[:len(e.Text)-1])
	case run.ended > 1:
		e.Text = fmt.Sprintf("%s; %d subscriptions have ended.", e.Text[:len(e.Text)-1], run.ended)
	}
	return e
}

// dropped counts the events that end a subscription.
func dropped(list []event.Event) int {
	n := 0
	for _, e := range list {
		if e.Kind == event.KindDrop {
			n++
		}
	}
	return n
}

// short formats a duration for display.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.2g ms", float64(d.Microseconds())/1000)
}

// bytesOf formats a size for display.
func bytesOf(n int64) string { return text.Thousands(n) + " bytes" }
