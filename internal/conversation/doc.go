// Package conversation has the rules for what other sites write about the posts of this server:
// replies, likes, reposts, bookmarks and plain links. A site reports a page of its own that links to
// a post. The report is stored, the page is read later, and its text waits for the author of the
// post. Nothing from an unknown person is public before the author approves it.
//
// Start with [Conversation]; [Mention] is one page that links to a post.
package conversation
