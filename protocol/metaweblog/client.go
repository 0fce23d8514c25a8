package metaweblog

import (
	"cmp"
	"context"

	"cloudburst/protocol/xmlrpc"
)

// maxAnswer is the maximum size of a response, in bytes.
const maxAnswer = 32 << 20

// Client writes a weblog. It is safe for concurrent use.
//
// An error is or wraps an [*xmlrpc.Fault] if the server refused the call, and wraps
// [ErrInvalidResponse] if the response is invalid. Other errors are those of
// [xmlrpc.Client.Call].
type Client struct {
	URL       string // URL of the XML-RPC endpoint, see [RSD]
	Blog      string // blogid, see [Client.Blogs]
	Name      string
	Password  string
	HTTP      xmlrpc.HTTPClient // nil: [net/http.DefaultClient], which has no timeout other than the context's deadline
	UserAgent string
	MaxBytes  int64 // limit of a response in bytes; 0: 32 MiB
}

func (c *Client) call(ctx context.Context, method string, params ...any) (any, error) {
	rpc := xmlrpc.Client{URL: c.URL, HTTP: c.HTTP, UserAgent: c.UserAgent, MaxBytes: c.MaxBytes}
	rpc.MaxBytes = cmp.Or(rpc.MaxBytes, maxAnswer)
	return rpc.Call(ctx, method, params...)
}

// NewPost creates a post and returns its postid. The post is a draft unless e publishes it.
func (c *Client) NewPost(ctx context.Context, e Edit) (id string, err error) {
	v, err := c.call(ctx, MethodNewPost, c.Blog, c.Name, c.Password, e.Value(), e.Public() != nil && *e.Public())
	if err != nil {
		return "", err
	}
	id, ok := xmlrpc.String(v)
	if !ok {
		return "", responseError("the postid is %s", kind(v))
	}
	return id, nil
}

// EditPost changes a post. If e does not specify whether to publish the post, EditPost
// reads the post first and leaves it published or unpublished.
func (c *Client) EditPost(ctx context.Context, id string, e Edit) error {
	public := e.Public()
	if public == nil {
		p, err := c.Post(ctx, id)
		if err != nil {
			return err
		}
		public = new(p.Status != StatusDraft)
	}
	return c.done(ctx, MethodEditPost, id, c.Name, c.Password, e.Value(), *public)
}

// done makes a call and expects the result true.
func (c *Client) done(ctx context.Context, method string, params ...any) error {
	v, err := c.call(ctx, method, params...)
	if err != nil {
		return err
	}
	if b, ok := v.(bool); ok && !b {
		return responseError("%s returned false", method)
	}
	return nil
}

// Post returns a post.
func (c *Client) Post(ctx context.Context, id string) (Post, error) {
	v, err := c.call(ctx, "metaWeblog.getPost", id, c.Name, c.Password)
	if err != nil {
		return Post{}, err
	}
	return ParsePost(v)
}

// RecentPosts returns the newest posts, at most limit.
func (c *Client) RecentPosts(ctx context.Context, limit int) ([]Post, error) {
	return c.posts(ctx, "metaWeblog.getRecentPosts", limit)
}

// RecentTitles returns the newest posts without their texts, at most limit.
func (c *Client) RecentTitles(ctx context.Context, limit int) ([]Post, error) {
	return c.posts(ctx, "mt.getRecentPostTitles", limit)
}

func (c *Client) posts(ctx context.Context, method string, limit int) ([]Post, error) {
	v, err := c.call(ctx, method, c.Blog, c.Name, c.Password, limit)
	if err != nil {
		return nil, err
	}
	return list(v, ParsePost)
}

func list[T any](v any, parse func(any) (T, error)) ([]T, error) {
	items, ok := v.([]any)
	if !ok {
		return nil, responseError("the list is %s", kind(v))
	}
	all := make([]T, 0, len(items))
	for _, item := range items {
		one, err := parse(item)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// DeletePost deletes a post.
func (c *Client) DeletePost(ctx context.Context, id string) error {
	return c.done(ctx, "blogger.deletePost", "", id, c.Name, c.Password, true)
}

// Publish publishes a post unchanged.
func (c *Client) Publish(ctx context.Context, id string) error {
	return c.done(ctx, "mt.publishPost", id, c.Name, c.Password)
}

// Categories returns the categories of the weblog, with their IDs if the server sends them.
func (c *Client) Categories(ctx context.Context) ([]Category, error) {
	return c.categories(ctx, "metaWeblog.getCategories", c.Blog)
}

// PostCategories returns the categories of a post.
func (c *Client) PostCategories(ctx context.Context, id string) ([]Category, error) {
	return c.categories(ctx, "mt.getPostCategories", id)
}

func (c *Client) categories(ctx context.Context, method, of string) ([]Category, error) {
	v, err := c.call(ctx, method, of, c.Name, c.Password)
	if err != nil {
		return nil, err
	}
	return ParseCategories(v)
}

// SetPostCategories replaces the categories of a post by those with the given IDs. The
// first is the primary category.
func (c *Client) SetPostCategories(ctx context.Context, id string, ids ...string) error {
	list := make([]any, len(ids))
	for i, id := range ids {
		list[i] = map[string]any{"categoryId": id, "isPrimary": i == 0}
	}
	return c.done(ctx, "mt.setPostCategories", id, c.Name, c.Password, list)
}

// Upload stores a file for use in posts.
func (c *Client) Upload(ctx context.Context, m Media) (File, error) {
	v, err := c.call(ctx, MethodNewMediaObject, c.Blog, c.Name, c.Password, m.Value())
	if err != nil {
		return File{}, err
	}
	in, err := structOf(v, "the file")
	if err != nil {
		return File{}, err
	}
	f := File{ID: in.word("id"), Name: in.plain("file"), Type: in.word("type"), URL: in.word("url")}
	if f.URL == "" && in.err == nil {
		return File{}, responseError("the file has no url")
	}
	return f, in.responseErr()
}

// Blogs returns the weblogs that the user may write. The field Blog need not be set.
func (c *Client) Blogs(ctx context.Context) ([]Blog, error) {
	v, err := c.call(ctx, "blogger.getUsersBlogs", "", c.Name, c.Password)
	if err != nil {
		return nil, err
	}
	return list(v, func(v any) (Blog, error) {
		m, err := structOf(v, "a weblog")
		if err != nil {
			return Blog{}, err
		}
		return Blog{ID: m.word("blogid"), Name: m.plain("blogName"), URL: m.word("url"), RPCURL: m.word("xmlrpc")}, m.responseErr()
	})
}

// User returns the user's profile.
func (c *Client) User(ctx context.Context) (User, error) {
	v, err := c.call(ctx, "blogger.getUserInfo", "", c.Name, c.Password)
	if err != nil {
		return User{}, err
	}
	m, err := structOf(v, "the user")
	if err != nil {
		return User{}, err
	}
	return User{
		ID: m.word("userid"), Nickname: m.plain("nickname"), FirstName: m.plain("firstname"), LastName: m.plain("lastname"),
		Email: m.word("email"), URL: m.word("url"),
	}, m.responseErr()
}

// Filters returns the text filters that the server supports.
func (c *Client) Filters(ctx context.Context) ([]Filter, error) {
	v, err := c.call(ctx, "mt.supportedTextFilters")
	if err != nil {
		return nil, err
	}
	return list(v, func(v any) (Filter, error) {
		m, err := structOf(v, "a filter")
		if err != nil {
			return Filter{}, err
		}
		return Filter{m.word("key"), m.plain("label")}, m.responseErr()
	})
}
