// Package author stores what users publish on this server: posts, uploaded files, and feed
// documents, which are stored byte for byte.
//
// [Feeds.Save] checks a document and stores it as the next version of a feed; [Feeds.Document]
// returns it. Subscribers are notified after the version is on disk. [Feed.Notified] records the
// version that they were notified of, so a crash before the notification only delays it.
package author
