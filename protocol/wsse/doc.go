// Package wsse implements the WSSE UsernameToken authentication of the early Atom API, for
// clients and servers. A header proves knowledge of a password without sending it:
//
//	X-WSSE: UsernameToken Username="cal", PasswordDigest="WgUU6xmxOsGYqhNun9gJZ//C9ew=",
//	        Nonce="bf59559401b2d9e14964823a37836a76", Created="2005-11-14T18:40:04-0800"
//
// The digest is base64(sha1(nonce + created + password)). The server therefore needs the
// password in clear, or a secret that is used as one; a hash of the password is not
// sufficient.
//
// A client creates a new header for each request with [Header]. A server reads the header
// with [Parse], checks the password with [Token.Verify] and the time with [Token.Fresh]. It
// must then store the [Proof] for as long as the header is fresh, and reject a header with
// the same proof. Otherwise an observer of the header could send it again.
//
// # Interoperability
//
// A server that rejects a header may have another clock, whose time is in the Date field of its
// response, or may decode the nonce before it hashes it; then the client repeats the request with
// [HeaderDecoded].
//
// Clients compute the digest in different ways, and all of these are accepted: the nonce
// may be hashed as text or as the bytes that its base64 encodes; the sum may be the base64
// of its 20 bytes, the base64 of 40 hexadecimal digits, or the digits themselves.
// Parameters may have any order and case, with or without quotes. Created may have any zone
// of ISO 8601; a time without a zone is UTC. One proof can therefore have several forms, so
// a server stores the hashed values and not the header.
//
// The rules are from the chapter on data feeds (2006), datafeeds-2006 in spec/index.txt.
// SHA-1 is weak. Use this authentication only for feeds whose readers support nothing
// better, and only over https.
package wsse
