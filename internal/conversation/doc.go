// Package conversation receives and moderates what other sites write about the posts of this server:
// replies, likes, reposts, bookmarks and plain links. Another site reports that one of its pages
// links to a post. This server stores the report and reads the page later. The text of the page then
// waits for a decision by the author of the post. Nothing from an unknown person is public before
// the author approves it.
//
// Start with [Conversation]; [Mention] is one page that links to a post.
package conversation
