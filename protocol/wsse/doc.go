// Package wsse is the UsernameToken log-in of Atom's early days, both sides: a
// header that proves who knows a password without saying it.
//
//	X-WSSE: UsernameToken Username="cal", PasswordDigest="WgUU6xmxOsGYqhNun9gJZ//C9ew=",
//	        Nonce="bf59559401b2d9e14964823a37836a76", Created="2005-11-14T18:40:04-0800"
//
// The digest is base64(sha1(nonce + created + password)). So the server needs the
// password in clear, or something that is used as one; a hash of it does not do.
//
// A client writes the header with [Header], a new one for each request. A server reads
// it with [Parse] and asks [Token.Verify] whether the password fits and [Token.Fresh]
// whether it was made just now. Then it has to remember the [Proof] for as long as a
// header is fresh and to refuse it when it comes again: without that, whoever saw the
// header can send it once more.
//
// # Interoperability
//
// Clients never agreed on how the digest is made. All of these are taken: the nonce as
// it is written, or as what its base64 decodes to; the sum as 20 bytes in base64, as 40
// hexadecimal digits in base64, or as the digits themselves. Parameters come in any order
// and case, in quotes or without; Created has any zone that ISO 8601 has, a time without
// one is UTC. Because of all these spellings one proof can be written in several ways,
// which is why a server remembers what was hashed, not what was written.
//
// The rules are from the chapter on data feeds (2006) that spec/index.txt calls
// datafeeds-2006. SHA-1 is as weak as it was when this was made up: it is for feeds whose
// readers know nothing better, and over https.
package wsse
