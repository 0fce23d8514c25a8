// Package trace shows the way of a change, from the ping to the last delivery, in a
// program for OpenTelemetry traces such as Jaeger. Start with [New] and [Tracer].
//
// Each change of a topic is one trace. Its ID, and those of the spans that others hang on,
// are made from the topic's id, the version and the time of the change, which every node
// knows: so pages that another node tells, and retries after a restart, join the same trace
// without a row more, and all nodes decide alike which changes are traced. The tree is
//
//	save                  the document was saved here; not there for feeds elsewhere
//	  ping                from the ping to the commit of the new version
//	    fetch             the feed is read
//	    commit            the version is written
//	    part              a range of the subscribers, to its end; its event is the last delivery
//	      page            a page of them
//	      delivery        one of them, where it failed or took long
//	    retry             another try at one of them
//
// Spans are made when their step is over, with the times that were kept: it is known only
// at the commit that there is a change at all.
//
// Who pings may send a W3C traceparent. A change may have several pings, and its trace has
// to be found without knowing them. So the ping is also a span in the caller's own trace,
// below his, and each of the two links to the other.
//
// Nothing that is secret is told: of a callback the host, of a topic neither query nor
// user; of private feeds nothing, for they never come to the hub.
//
// The SDK and what turns its spans into messages are OpenTelemetry's. The message is sent
// by [exporter]: their own one for HTTP brings gRPC and a gateway for it into the program
// (4.9 MB and 16 modules, against 1.8 MB and 10 without), hides what was dropped, and does
// not wait for a collector that is away.
package trace
