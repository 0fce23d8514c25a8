// Package river reads feeds for people: it checks each when it wants to be checked,
// takes in what hubs announce, and keeps what arrived in the order in which it came.
//
// A [Source] is one feed, read once for everybody who follows it. A [Subscription] is
// that somebody does. An [Item] is what came; [Mark]s say what one reader did with it.
// Readers are named as users are; the reader "" is the server itself.
//
// When a source is read is decided by package feedstate; when it is due is a row,
// claimed for a while by whoever reads it, so that a crash loses nothing and two
// processes on one database do not both read. Items, validators and the next check
// are written in one transaction. Start with [River] and its Run, Add and Items.
package river
