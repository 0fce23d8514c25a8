// Package bench measures the program from outside: real processes, real sockets and the real
// endpoints, on loopback addresses only.
//
// A measurement starts the same executable several times: as a server on a temporary folder; as a
// [Receiver] that serves the feeds and a thousand callback hosts; and as loops. A loop sends the
// same requests as the server, with the server's sender or with net/http, but without state.
// Server and loops use the same receiver in turn. Each important figure is a ratio of two
// adjacent runs, because other load on the machine affects both alike. Start with [Commands] and
// [Receiver].
//
// Every wait has a deadline. At the end, the measurement stops each process by its ID and removes
// the temporary folder.
package bench
