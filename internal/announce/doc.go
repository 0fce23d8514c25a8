// Package announce pings other servers after a feed was saved here: hubs of rssCloud and WebSub,
// and services with the ping interface of weblogs.com. These servers are called ping targets.
//
// Each pending ping is a row, written before anything is sent. Only the process that sent the ping
// settles the row, so pings survive a crash. A newer version replaces a pending older one, because
// a ping only reports that something changed. The package knows no wire protocol: a [Sender]
// implements the protocols, and a [Store] stores the rows.
//
// Start with [Announcer] and [Target].
package announce
