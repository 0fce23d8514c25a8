// Package bench measures the program from outside: real processes, real sockets and the real
// endpoints, on loopback addresses only.
//
// A measurement starts the same executable several times: as a server on a temporary folder,
// as a [Receiver] with a thousand callback hosts and the feeds, and as bare loops that send the
// same requests with the same sender, or with net/http, without state. Server and loops use the
// same receiver in turn, so that each important figure is a ratio of two adjacent runs; a busy
// machine disturbs both alike. Start with [Commands] and [Receiver].
//
// Every wait has a deadline. At the end each process is stopped by its ID, and the temporary
// folder is removed.
package bench
