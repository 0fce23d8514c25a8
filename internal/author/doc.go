// Package author stores what users publish on this server: posts, uploaded files, and feed
// documents, which are stored byte for byte.
//
// [Feeds.Save] checks a document and stores it as the next version of a feed; [Feeds.Document]
// returns it. Subscribers are notified after the version is on disk. The row records whether they
// were, so a crash in between only delays the notification.
package author
