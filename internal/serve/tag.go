package serve

// CacheTag is the header with the tags of a response, separated by commas. A shared cache removes
// this header from responses. At the request of the operator, it deletes all stored responses that
// have a given tag.
const CacheTag = "Cache-Tag"

// AuthorTag returns the tag of every public response with content of an author: feeds, pages, files
// and style sheets.
//
// spec:cloudburst#cache-tags
func AuthorTag(user string) string { return "author-" + user }

// FeedTags returns the tags of each public feed of an author.
func FeedTags(user string) string { return AuthorTag(user) + ",feed-" + user }
