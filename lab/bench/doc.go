// Package bench measures the program from outside: real processes, real sockets,
// the real doors, on loopback addresses only.
//
// A measurement starts the same executable several times: as a server on a
// temporary folder, as a [Sink] that plays a thousand callback hosts and the
// feeds, and as bare loops that send the same requests with the same sender, or
// with net/http, and keep no state. Server and loops take turns against the same
// sink, so that each figure that matters is a ratio of two neighbours in time; a
// busy machine spoils both alike. Start with [Commands] and [Sink].
//
// Everything is bounded: each wait has a deadline, each process is ended by its
// own id, the temporary folder is removed.
package bench
