// Package announce tells other servers that a feed here was saved: hubs of rssCloud and
// WebSub, and those that take the pings of weblogs.com. They are called sinks.
//
// What a sink shall hear is a row, written before anything is sent and removed by nobody
// but who sent it; so a ping outlives the process that owes it. A newer version takes the
// place of one that is still owed, since a ping says no more than that there is something
// new. The package knows no wire: a [Sender] speaks it, and a [Store] keeps the rows.
//
// Start with [Announcer] and [Sink].
package announce
