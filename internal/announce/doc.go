// Package announce pings other servers after a feed was saved here: hubs of rssCloud and WebSub, and
// services with the ping interface of weblogs.com. These servers are called ping targets.
//
// Each pending ping is a database row, which is written before the ping is sent. Only the process
// that sent the ping records its result, so pings survive a crash. A newer version of a feed
// replaces a pending older version, because a ping only reports that something changed. The package
// contains no wire protocol: a [Sender] implements the protocols, and a [Store] stores the rows.
//
// Start with [Announcer] and [Target].
package announce
