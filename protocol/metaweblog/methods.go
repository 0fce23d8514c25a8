package metaweblog

import (
	"cmp"
	"context"

	"cloudburst/protocol/xmlrpc"
)

// methodSupported is the name of the method that lists all methods.
const methodSupported = "mt.supportedMethods"

// Common parts of the help texts.
const (
	helpStruct = "title, description, categories, dateCreated (UTC), link, enclosure (url, type, length), mt_excerpt, mt_text_more, mt_keywords, mt_convert_breaks, wp_slug, post_status"
	helpKept   = "Missing members stay unchanged. "
)

// in is the part of the help texts about the login parameters.
const in = ", user name, password (or a token)"

func (s *Server) metaWeblog() []xmlrpc.Method {
	posts := s.method("metaWeblog.getRecentPosts", 1, 3, 4, Read, func(c *call) (any, error) {
		return c.recent(0, 3, false, Post.Value)
	})
	blogs := func(name string) func(context.Context, []any) (any, error) {
		return s.method(name, 1, 3, 3, List, blogs)
	}
	return []xmlrpc.Method{{
		Name: MethodNewPost, Help: "Creates a post: blogid" + in + ", a struct of " + helpStruct + ", and whether to publish it. The result is its postid.",
		Signature: [][]string{{"string", "string", "string", "string", "struct", "boolean"}},
		Do:        s.method(MethodNewPost, 1, 4, 5, Create, newPost),
	}, {
		Name: MethodEditPost, Help: "Changes a post: postid" + in + ", a struct as for " + MethodNewPost + ", and whether it is to be published. " + helpKept + "The result is true.",
		Signature: [][]string{{"boolean", "string", "string", "string", "struct", "boolean"}},
		Do:        s.method(MethodEditPost, 1, 4, 5, Update, editPost),
	}, {
		Name: "metaWeblog.getPost", Help: "Returns a post: postid" + in + ". The result is a struct as for " + MethodNewPost + ".",
		Signature: [][]string{{"struct", "string", "string", "string"}},
		Do: s.method("metaWeblog.getPost", 1, 3, 3, Read, func(c *call) (any, error) {
			return c.one(0, Post.Value)
		}),
	}, {
		Name: "metaWeblog.getRecentPosts", Help: "Returns the newest posts, drafts too: blogid" + in + " and how many.",
		Signature: [][]string{{"array", "string", "string", "string", "int"}},
		Do:        posts,
	}, {
		Name: "metaWeblog.getCategories", Help: "Returns the categories: blogid" + in + ".",
		Signature: [][]string{{"array", "string", "string", "string"}},
		Do: s.method("metaWeblog.getCategories", 1, 3, 3, List, func(c *call) (any, error) {
			return c.categories(Category.Value)
		}),
	}, {
		Name: MethodNewMediaObject, Help: "Uploads a file: blogid" + in + " and a struct of name, type and bits (base64). The result is a struct with its url.",
		Signature: [][]string{{"struct", "string", "string", "string", "struct"}},
		Do:        s.method(MethodNewMediaObject, 1, 4, 4, Upload, newMedia),
	}, {
		Name: "metaWeblog.deletePost", Help: "Deletes a post: any string, postid" + in + " and anything. The result is true.",
		Signature: [][]string{{"boolean", "string", "string", "string", "string", "boolean"}},
		Do:        s.method("metaWeblog.deletePost", 2, 4, 5, Delete, deletePost),
	}, {
		Name: "metaWeblog.getUsersBlogs", Help: "Same as blogger.getUsersBlogs.",
		Signature: [][]string{{"array", "string", "string", "string"}},
		Do:        blogs("metaWeblog.getUsersBlogs"),
	}}
}

// edit reads the parameters that newPost and editPost have in common: an ID and the struct. of
// names the ID in messages.
func (c *call) edit(of string) (to string, e Edit, err error) {
	to = c.text(0, of)
	e, err = ParseEdit(c.at(3))
	e.Publish = c.publish(4)
	return to, e, cmp.Or(c.err, err)
}

// spec:metaweblog-2002#new-post
func newPost(c *call) (any, error) {
	blog, e, err := c.edit("blogid")
	if err != nil {
		return nil, err
	}
	return c.NewPost(c.ctx, blog, e)
}

// spec:metaweblog-2002#edit-post
func editPost(c *call) (any, error) {
	id, e, err := c.edit("postid")
	if err != nil {
		return nil, err
	}
	return done(c.EditPost(c.ctx, id, e))
}

func newMedia(c *call) (any, error) {
	blog := c.text(0, "blogid")
	if c.err != nil {
		return nil, c.err
	}
	m, err := ParseMedia(c.at(3))
	if err != nil {
		return nil, err
	}
	f, err := c.Upload(c.ctx, blog, m)
	if err != nil {
		return nil, err
	}
	return f.Value(), nil
}

// deletePost implements the method of the Blogger API, whose first parameter is an appkey.
func deletePost(c *call) (any, error) {
	id := c.text(1, "postid")
	if c.err != nil {
		return nil, c.err
	}
	return done(c.DeletePost(c.ctx, id))
}

// done returns the result true, or an error.
func done(err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return true, nil
}

func blogs(c *call) (any, error) {
	list, err := c.Blogs(c.ctx)
	if err != nil {
		return nil, err
	}
	return values(list, Blog.Value), nil
}

func (s *Server) blogger() []xmlrpc.Method {
	const key = "any string (the appkey)"
	return []xmlrpc.Method{{
		Name: "blogger.getUsersBlogs", Help: "Lists the weblogs of the user: " + key + in + ". The result is an array of structs of blogid, blogName and url.",
		Signature: [][]string{{"array", "string", "string", "string"}},
		Do:        s.method("blogger.getUsersBlogs", 1, 3, 3, List, blogs),
	}, {
		Name: "blogger.getUserInfo", Help: "Returns the user's profile: " + key + in + ".",
		Signature: [][]string{{"struct", "string", "string", "string"}},
		Do: s.method("blogger.getUserInfo", 1, 3, 3, List, func(c *call) (any, error) {
			u, err := c.User(c.ctx)
			if err != nil {
				return nil, err
			}
			return u.Value(), nil
		}),
	}, {
		Name: MethodBloggerNewPost, Help: "Creates a post: " + key + ", blogid" + in + ", the text (a title may precede it as <title>), and whether to publish it. The result is its postid.",
		Signature: [][]string{{"string", "string", "string", "string", "string", "string", "boolean"}},
		Do:        s.method(MethodBloggerNewPost, 2, 5, 6, Create, bloggerNew),
	}, {
		Name: MethodBloggerEditPost, Help: "Changes a post: " + key + ", postid" + in + ", the text as for " + MethodBloggerNewPost + ", and whether it is to be published. The result is true.",
		Signature: [][]string{{"boolean", "string", "string", "string", "string", "string", "boolean"}},
		Do:        s.method(MethodBloggerEditPost, 2, 5, 6, Update, bloggerEdit),
	}, {
		Name: "blogger.deletePost", Help: "Deletes a post: " + key + ", postid" + in + " and anything. The result is true.",
		Signature: [][]string{{"boolean", "string", "string", "string", "string", "boolean"}},
		Do:        s.method("blogger.deletePost", 2, 4, 5, Delete, deletePost),
	}, {
		Name: "blogger.getPost", Help: "Returns a post: " + key + ", postid" + in + ".",
		Signature: [][]string{{"struct", "string", "string", "string", "string"}},
		Do: s.method("blogger.getPost", 2, 4, 4, Read, func(c *call) (any, error) {
			return c.one(1, Post.BloggerValue)
		}),
	}, {
		Name: "blogger.getRecentPosts", Help: "Returns the newest posts, drafts too: " + key + ", blogid" + in + " and how many.",
		Signature: [][]string{{"array", "string", "string", "string", "string", "int"}},
		Do: s.method("blogger.getRecentPosts", 2, 4, 5, Read, func(c *call) (any, error) {
			return c.recent(1, 4, false, Post.BloggerValue)
		}),
	}}
}

// spec:blogger-2001#new-post
func bloggerNew(c *call) (any, error) {
	blog := c.text(1, "blogid")
	e := c.content()
	if c.err != nil {
		return nil, c.err
	}
	return c.NewPost(c.ctx, blog, e)
}

func bloggerEdit(c *call) (any, error) {
	id := c.text(1, "postid")
	e := c.content()
	if c.err != nil {
		return nil, c.err
	}
	return done(c.EditPost(c.ctx, id, e))
}

// content returns the edit of a Blogger API call. Its content is the whole text, so the edit
// also sets the extended text.
func (c *call) content() Edit {
	title, whole := ParseBloggerContent(c.text(4, "content"))
	text, more := SplitMore(whole)
	return Edit{Title: title, Description: &text, More: &more, Publish: c.publish(5)}
}

// one implements a method that returns one post. at is the position of the post's ID among the
// parameters.
func (c *call) one(at int, value func(Post) map[string]any) (any, error) {
	id := c.text(at, "postid")
	if c.err != nil {
		return nil, c.err
	}
	p, err := c.Post(c.ctx, id)
	if err != nil {
		return nil, err
	}
	return value(p), nil
}

// recent implements a method that returns the newest posts. blogAt and limitAt are the positions of
// its parameters.
func (c *call) recent(blogAt, limitAt int, titles bool, value func(Post) map[string]any) (any, error) {
	blog, limit := c.text(blogAt, "blogid"), c.limit(limitAt)
	if c.err != nil {
		return nil, c.err
	}
	list, err := c.Posts(c.ctx, blog, PostQuery{Limit: limit, Titles: titles})
	if err != nil {
		return nil, err
	}
	return values(list, value), nil
}

func (c *call) categories(value func(Category) map[string]any) (any, error) {
	blog := c.text(0, "blogid")
	if c.err != nil {
		return nil, c.err
	}
	list, err := c.Categories(c.ctx, blog)
	if err != nil {
		return nil, err
	}
	return values(list, value), nil
}

func values[T any](list []T, value func(T) map[string]any) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = value(v)
	}
	return out
}
