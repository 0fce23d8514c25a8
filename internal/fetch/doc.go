// Package fetch makes every outgoing connection to a host that an unknown client or a feed has
// named. No other package connects to such hosts.
//
// A [Guard] decides which addresses and URLs are allowed. It checks each dial again, so neither a
// redirect nor a name with a changing address bypasses it. A [Client] reads feeds; a [Sender] sends
// notifications, many at once; a [Doer] sends requests of other packages. All three limit time,
// size, redirects and sockets.
//
// # What unknown clients learn
//
// An [Error] has a Text for the client and an Err for the operator. Every failure without a
// response has the same Text: a refused address, a closed port, an unknown name, a silent server.
// The failure also returns at the next multiple of a bucket of time (250 ms by default). So neither
// text nor timing turns this program into a port scanner. The Text may disclose what the server
// itself sent (a status, a body too large) and what is visible in the URL.
//
// # Retries
//
// Requests are not retried, with one exception. If the peer closed a reused connection before it
// sent any byte, the request is sent once more on a new connection. The peer may then receive the
// request twice, as with every HTTP client that reuses connections.
package fetch
