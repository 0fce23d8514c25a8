// Package river is the feed reader: it checks each feed when the feed's hints allow it, receives
// pushes from hubs, and stores the items in the order of their arrival.
//
// A [Source] is one feed, checked once for all users who follow it. A [Subscription] is one user's
// subscription to a source. An [Item] is an entry of a feed; a [Mark] records what one user did
// with it. A user is named by their account name; the user "" is the server itself.
//
// Package polling decides when a source is checked. Each source has a database row with the time
// of its next check, and the process that checks the source claims the row for a limited time. So
// a crash loses nothing, and two processes on one database do not check the same source. Items,
// validators and the time of the next check are written in one transaction. Start with [River]
// and its methods Run, Add and Items.
package river
