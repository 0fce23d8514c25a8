// Package fetch is the program's only way out: every connection to a host that a
// stranger named is made here.
//
// A [Guard] decides which addresses and URLs may be reached and is asked again at
// each dial, so that neither a redirect nor a name whose address changes gets
// past it. A [Client] reads feeds; a [Sender] sends notifications, many at once.
// Both bound everything: time, size, redirects, sockets.
//
// # What strangers learn
//
// An [Error] has a Text for whoever asked and an Err for the operator. The text
// of every failure without an answer is the same sentence, whether the address
// was refused, the port closed, the name unknown or the server silent, and such
// a failure is held back until the next multiple of a bucket of time (250 ms by
// default), so that neither words nor clock make a port scanner of this program.
// What a server itself answered (a status, a body too large) may be told, and so
// may what can be seen in the URL without looking anywhere.
//
// # Retries
//
// Nothing is retried, with one exception: a request on a kept connection which
// the peer closed before a single byte of an answer came is sent once more on a
// new connection. Such a request may have been received twice; that is the price
// of keeping connections, and every sender of HTTP pays it.
package fetch
