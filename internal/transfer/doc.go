// Package transfer exports all data of an author as one file and imports it again, on the same
// server or on another server. It also imports files that other programs write.
//
// Start with [Transfer] and its methods Export and Import.
//
// # The file
//
// The file is a ZIP archive. posts.jsonl contains one post per line with all its data, media.jsonl
// lists the files that posts use, media/ contains these files, and profile.json contains the
// author's profile. feeds/ contains the published posts as RSS, Atom and JSON Feed, split into
// archive files, and an OPML list of the archive files, for other feed readers. manifest.json is
// the last entry. It contains the counts and the SHA-256 of every other entry.
//
// # Guarantees
//
// Neither an export nor an import holds more than one batch of posts in memory. An import verifies
// the whole file before it changes anything. Importing the same file again adds nothing, and an
// interrupted import continues where it stopped. No name in an archive is used as a file name on
// disk.
package transfer
