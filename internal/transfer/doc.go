// Package transfer takes everything of an author out of this server in one file, and in
// again: on the same server, on another, or from what other programs write.
//
// Start with [Transfer], its Export and its Import.
//
// # The file
//
// It is a ZIP archive. posts.jsonl has one post a line with everything that is known of
// it, media.jsonl the files beside posts, which stand in media/, and profile.json what the author says of himself. feeds/ has
// the published posts as RSS, Atom and JSON Feed, in pages, and a list of the pages in
// OPML, for readers that know nothing of this program. manifest.json comes last: it counts, and has
// the SHA-256 of every other entry.
//
// # Promises
//
// Neither way holds more than a page of posts in memory. An import looks at the whole file
// before it changes anything; repeated, it adds nothing; cut short, it goes on where it
// stopped when it is begun again. No name in an archive becomes a name on a disk.
package transfer
