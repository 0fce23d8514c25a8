// Package river is the feed reader: it checks each feed when the feed's hints allow it, receives
// pushes from hubs, and stores the items in the order of their arrival.
//
// A [Source] is one feed, checked once for all users who follow it. A [Subscription] is one user's
// subscription to a source. An [Item] is an entry of a feed; a [Mark] records what one user did
// with it. A user is named by their account name; the user "" is the server itself.
//
// Package polling decides when a source is checked. The database has a row with the time at
// which the source is due, and the process that checks it claims the row for a while. So a crash
// loses nothing, and two processes on one database do not check the same source. Items, validators
// and the next check are written in one transaction. Start with [River] and its Run, Add and
// Items.
package river
