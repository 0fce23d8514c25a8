// Package trace exports each change, from the ping to the last delivery, as an
// OpenTelemetry trace, for programs such as Jaeger. Start with [New] and [Tracer].
//
// Each change of a topic is one trace. The IDs of the trace and of its parent spans are derived
// from the topic's id, the version and the time of the change, which every node knows. So batches
// of other nodes and retries after a restart join the same trace without another row in the
// database, and all nodes sample the same changes. The tree is
//
//	save                  the document was saved on this server; absent for feeds elsewhere
//	  ping                from the ping to the commit of the new version
//	    fetch             the feed is read
//	    commit            the version is written
//	    part              one run over a shard; its event is the last delivery
//	      page            a batch of its subscribers
//	      delivery        one notification that failed or took long
//	    retry             a retry of one notification
//
// Spans are written when their step ends, with the recorded times, because only the commit
// shows whether there is a change.
//
// A ping may carry a W3C traceparent. A change may have several pings, and its trace ID must not
// depend on the pings. So the ping is also a child span in the client's own trace, and the two
// spans link to each other.
//
// Spans contain no secrets: only the host of a callback, and neither query nor user of a
// topic. The topic of a private feed is called private.
//
// The SDK and the encoding are OpenTelemetry's. [exporter] sends the messages: OpenTelemetry's
// HTTP exporter adds gRPC and a gateway to the program (4.9 MB and 16 modules, against 1.8 MB
// and 10), hides dropped spans, and does not wait for an unreachable collector.
package trace
