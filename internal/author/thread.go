package author

// pathComments follows the path of a post in the path of the feed of its replies.
const pathComments = "/comments.rss"

// CommentsPath returns the path of the feed of the replies to a post; "": the post has no page.
func CommentsPath(post Post) string {
	path := PathOf(post)
	if path == "" {
		return ""
	}
	return path + pathComments
}

// PlaceOf returns the position of a post in a thread. name returns the name that the post with this
// URL has in threads; nil: the name is the URL.
func PlaceOf(post Post, name func(url string) string) ThreadPlace {
	at := ThreadPlace{Path: PathOf(post)}
	if post.Reply == nil {
		return at
	}
	for _, url := range []string{post.Reply.URL, post.Reply.GUID} {
		if name != nil && url != "" {
			url = name(url)
		}
		if url != "" && url != at.Path {
			at.Parents = append(at.Parents, url)
		}
	}
	return at
}
