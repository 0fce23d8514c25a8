// Package author keeps what people publish here: feeds that they saved, byte for
// byte, and where those went.
//
// [Feeds.Save] checks a document and stores it as the next version of a feed;
// [Feeds.Document] gives it back. A version is told to subscribers after it is on
// disk, and the row remembers until that has happened, so that a crash between the
// two costs time and nothing else.
package author
