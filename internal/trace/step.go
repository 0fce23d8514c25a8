package trace

import (
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/text"
)

const errorCode = codes.Error

// Changed writes the spans from the ping, or the save, to the commit.
func (t *Tracer) Changed(change *hub.Topic, how hub.FoundChange) {
	i := idsOf(change)
	if !t.sampled(i.trace()) {
		return
	}
	ping := span{
		name: "ping", kind: oteltrace.SpanKindServer, own: i.context(i.span("ping", 0)), begin: change.ChangedAt, end: how.Done,
		attrs: append(topicAttributes(change), attribute.Int("cloudburst.pings", len(how.Signals)), attribute.Int("cloudburst.hops", how.Hops)),
	}
	if len(how.Signals) > 0 {
		ping.attrs = append(ping.attrs, viaAttributes(how.Signals[0].Via)...)
	}
	for _, s := range how.Signals {
		o, _ := s.Origin.(*origin)
		switch {
		case o == nil:
		case o.save != nil && !ping.parent.IsValid():
			ping.parent, ping.kind = i.context(i.span("save", 0)), oteltrace.SpanKindInternal
			t.writeSave(change, *o.save, ping.parent)
		case o.caller.IsValid():
			ping.links = append(ping.links, oteltrace.Link{SpanContext: o.caller})
			t.writeCallerPing(change, s, o.caller, ping.own, how.Done)
		}
	}
	t.write(ping)
	fetch := span{
		name: "fetch", kind: oteltrace.SpanKindClient, own: i.context(i.span("fetch", 0)), parent: ping.own, begin: how.Sent, end: how.Read,
		attrs: []attribute.KeyValue{
			attribute.Bool("cloudburst.conditional", how.Conditional), attribute.Int64("cloudburst.bytes", how.Bytes),
			attribute.String("server.address", text.Hostname(change.URL)),
		},
	}
	if how.Status != 0 {
		fetch.attrs = append(fetch.attrs, attribute.Int("http.response.status_code", how.Status))
	}
	t.write(fetch)
	t.write(span{
		name: "commit", parent: ping.own, begin: how.Read, end: how.Done,
		attrs: []attribute.KeyValue{attribute.Int64("cloudburst.version", change.Version), attribute.Int("cloudburst.parts", how.Shards)},
	})
}

// writeSave writes the root span of a document saved on this server.
func (t *Tracer) writeSave(change *hub.Topic, s Save, own oteltrace.SpanContext) {
	attrs := append(topicAttributes(change), attribute.String("cloudburst.kind", s.Kind),
		attribute.Int64("cloudburst.document_version", s.Version), attribute.Int64("cloudburst.bytes", s.Bytes))
	if s.Via != "" {
		attrs = append(attrs, attribute.String("cloudburst.door", s.Via))
	}
	t.write(span{name: "save", kind: oteltrace.SpanKindServer, own: own, begin: s.Begin, end: s.End, attrs: attrs})
}

// writeCallerPing writes a ping span in the client's own trace.
func (t *Tracer) writeCallerPing(change *hub.Topic, s hub.Signal, caller, ping oteltrace.SpanContext, done time.Time) {
	if !caller.IsSampled() {
		return
	}
	t.write(span{
		name: "ping", kind: oteltrace.SpanKindServer, parent: caller, begin: s.At, end: done,
		attrs: append(topicAttributes(change), viaAttributes(s.Via)...), links: []oteltrace.Link{{SpanContext: ping}},
	})
}

// BatchDone writes the span of a batch.
func (t *Tracer) BatchDone(change *hub.Topic, p hub.BatchNotified) {
	i := idsOf(change)
	if !t.sampled(i.trace()) {
		return
	}
	t.write(span{
		name: "page", parent: i.context(i.span("part", p.Shard)), begin: p.Begin, end: p.End,
		attrs: []attribute.KeyValue{
			attribute.Int("cloudburst.part", p.Shard), attribute.Int("cloudburst.page", p.N), attribute.Int("cloudburst.sent", p.Sent),
			attribute.Int("cloudburst.failed", p.Failed), attribute.Int("cloudburst.parked", p.Parked), attribute.Int("cloudburst.raised", p.Raised),
		},
	})
}

// ShardDone writes the span of a shard, which ends with its last delivery.
func (t *Tracer) ShardDone(change *hub.Topic, p hub.ShardNotified) {
	i := idsOf(change)
	if !t.sampled(i.trace()) {
		return
	}
	s := span{
		name: "part", own: i.context(i.span("part", p.Shard)), parent: i.context(i.span("ping", 0)), begin: p.Begin, end: p.End, last: p.Last,
		attrs: []attribute.KeyValue{
			attribute.Int("cloudburst.part", p.Shard), attribute.Int("cloudburst.pages", p.Batches), attribute.Int("cloudburst.sent", p.Sent),
			attribute.Int("cloudburst.failed", p.Failed), attribute.Bool("cloudburst.continued", p.Continued),
		},
	}
	if !p.Last.IsZero() {
		s.attrs = append(s.attrs, attribute.Float64("cloudburst.last_delivery_ms", float64(p.Last.Sub(change.ChangedAt).Microseconds())/1000))
	}
	t.write(s)
}

// AttemptDone writes the span of one notification. It writes at most maxSingles such spans per
// change.
func (t *Tracer) AttemptDone(change *hub.Topic, d hub.Attempt) {
	i := idsOf(change)
	if !t.sampled(i.trace()) || !t.admitSingle(i.trace()) {
		return
	}
	s := span{
		name: "delivery", kind: oteltrace.SpanKindClient, parent: i.context(i.span("part", d.Shard)), begin: d.End.Add(-d.Reply.Took), end: d.End,
		attrs: []attribute.KeyValue{
			attribute.String("cloudburst.protocol", d.To.Protocol), attribute.String("server.address", text.Hostname(d.To.Callback)),
			attribute.Int("cloudburst.attempt", d.Number),
		},
	}
	if d.Retry {
		s.name, s.parent = "retry", i.context(i.span("ping", 0))
	}
	if !d.Reply.OK {
		s.failed = errorType(&d.Reply)
		s.attrs = append(s.attrs, attribute.String("error.type", s.failed))
	}
	t.write(s)
}

// errorType classifies a failed reply. The reply's text is not used, because it may contain the
// query of the topic.
func errorType(r *hub.Reply) string {
	if len(r.Exchange.Answer) > 3 {
		if status, err := strconv.Atoi(r.Exchange.Answer[:3]); err == nil {
			return strconv.Itoa(status)
		}
	}
	switch {
	case r.Timeout:
		return "timeout"
	case r.Gone:
		return "gone"
	}
	return "no_answer"
}

// topicAttributes describes a topic, without user and query. The attribute cloudburst.topic_id
// distinguishes topics whose URLs differ only in user or query. Log events contain the same ID.
func topicAttributes(t *hub.Topic) []attribute.KeyValue {
	shown := ""
	if event.IsPrivate(t.URL) {
		shown = "private"
	} else if u, err := url.Parse(t.URL); err == nil {
		shown = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	}
	return []attribute.KeyValue{
		attribute.String("cloudburst.topic", shown), attribute.String("cloudburst.topic_id", strconv.FormatInt(t.ID, 10)),
		attribute.Int64("cloudburst.version", t.Version),
	}
}

// viaAttributes describes an endpoint, and its protocol if it has one.
func viaAttributes(via string) []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String("cloudburst.door", via)}
	protocol := ""
	switch via {
	case "rest", "xml-rpc", "soap":
		protocol = "rsscloud"
	case "weblogs", "weblogs-extended", "pingsite":
		protocol = "weblogs"
	case "websub", "cnws":
		protocol = via
	}
	if protocol != "" {
		attrs = append(attrs, attribute.String("cloudburst.protocol", protocol))
	}
	return attrs
}
