package metaweblog

import (
	"context"
	"errors"
	"fmt"

	"cloudburst/protocol/xmlrpc"
)

// Access is the permission that a method requires. A password has all permissions; a token
// may have some of them.
type Access string

// Permissions.
const (
	List   Access = "look"   // list weblogs and categories
	Read   Access = "read"   // read posts and drafts
	Create Access = "create" // create posts
	Update Access = "update"
	Delete Access = "delete"
	Upload Access = "upload" // upload files
)

// Backend authenticates users. LogIn gets the request, for the client address, from
// [xmlrpc.RequestFrom].
type Backend interface {
	// LogIn returns a session for a user name and a password or token. A token must have the
	// permission to. An error ends a batch of calls, so one request cannot try many passwords.
	LogIn(ctx context.Context, name, password string, to Access) (Session, error)
}

// PostQuery selects posts. Limit is at least 1 and may be very large. If Titles is set, only ID,
// UserID, Title, Created and Status of the posts are needed. Statuses restricts the posts to these
// statuses; nil means any.
type PostQuery struct {
	Limit    int
	Titles   bool
	Statuses []string
}

// Session is the access of an authenticated user. A blogID is the ID of a [Blog] or any
// string that the user typed. An id is the ID of a [Post] or invalid. Errors that are an
// [*xmlrpc.Fault] are sent unchanged.
type Session interface {
	PostSession
	CategorySession
	FileSession

	Blogs(ctx context.Context) ([]Blog, error)
	User(ctx context.Context) (User, error)
}

// PostSession reads and writes posts.
type PostSession interface {
	NewPost(ctx context.Context, blogID string, e Edit) (id string, err error)
	EditPost(ctx context.Context, id string, e Edit) error
	DeletePost(ctx context.Context, id string) error
	// Publish publishes a post now.
	Publish(ctx context.Context, id string) error
	Post(ctx context.Context, id string) (Post, error)
	// Posts returns the newest posts that q selects, newest first.
	Posts(ctx context.Context, blogID string, q PostQuery) ([]Post, error)
}

// CategorySession reads and writes categories.
type CategorySession interface {
	Categories(ctx context.Context, blogID string) ([]Category, error)
	// NewCategory creates a category that posts can use later, or returns the existing one.
	NewCategory(ctx context.Context, blogID, name string) (Category, error)
	PostCategories(ctx context.Context, id string) ([]Category, error)
	// SetCategories replaces the categories of a post by those with these IDs. The first is
	// the primary category.
	SetCategories(ctx context.Context, id string, ids []string) error
}

// FileSession stores files.
type FileSession interface {
	Upload(ctx context.Context, blogID string, m Media) (File, error)
	// File returns an uploaded file by its ID.
	File(ctx context.Context, blogID, id string) (File, error)
}

// Server implements the XML-RPC methods with a Backend, which must be set.
type Server struct {
	Backend Backend
	// Software and Version name the program for wp.getOptions.
	Software, Version string
	// Filters is the result of mt.supportedTextFilters; nil: [FilterBreaks] and
	// [FilterMarkdown].
	Filters []Filter
	// Fault converts an error of the Backend into the error to send, for example an
	// [*xmlrpc.Fault]. If it is nil, [xmlrpc.Handler.FaultOf] converts the error.
	Fault func(ctx context.Context, method string, err error) error
}

// Names of the methods whose calls may be large, because they carry a text or a file.
const (
	MethodNewPost         = "metaWeblog.newPost"
	MethodEditPost        = "metaWeblog.editPost"
	MethodNewMediaObject  = "metaWeblog.newMediaObject"
	MethodBloggerNewPost  = "blogger.newPost"
	MethodBloggerEditPost = "blogger.editPost"
	MethodWPNewPost       = "wp.newPost"
	MethodWPEditPost      = "wp.editPost"
	MethodWPUploadFile    = "wp.uploadFile"
)

// Methods returns all methods of the four APIs, for an [xmlrpc.Handler].
//
// spec:metaweblog-2002#methods
// spec:blogger-2001#methods
// spec:movabletype-2002#methods
// spec:wordpress-xmlrpc#methods
func (s *Server) Methods() []xmlrpc.Method {
	all := s.metaWeblog()
	all = append(all, s.blogger()...)
	all = append(all, s.movableType()...)
	all = append(all, s.wordPress()...)
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Name
	}
	for i := range all {
		if all[i].Name == methodSupported {
			all[i].Do = s.plain(methodSupported, func(a *args) any { return names })
		}
	}
	return all
}

// call is one call of a method: its parameters and the caller's session.
type call struct {
	*args
	ctx context.Context
	Session
}

// method returns a method that requires a login. login is the index of the user name; the
// password follows it. from and to limit the number of parameters.
func (s *Server) method(name string, login, from, to int, want Access, do func(c *call) (any, error)) func(context.Context, []any) (any, error) {
	return func(ctx context.Context, params []any) (any, error) {
		a := &args{method: name, params: params}
		a.count(from, to)
		user, password := a.text(login, "user name"), a.text(login+1, "password")
		if a.err != nil {
			return nil, faultOf(a.err)
		}
		session, err := s.Backend.LogIn(ctx, user, password, want)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", s.fault(ctx, name, err), xmlrpc.ErrLogin)
		}
		v, err := do(&call{args: a, ctx: ctx, Session: session})
		if err != nil {
			return nil, s.fault(ctx, name, err)
		}
		return v, nil
	}
}

// plain returns a method without login.
func (s *Server) plain(name string, do func(a *args) any) func(context.Context, []any) (any, error) {
	return func(ctx context.Context, params []any) (any, error) {
		a := &args{method: name, params: params}
		v := do(a)
		if a.err != nil {
			return nil, faultOf(a.err)
		}
		return v, nil
	}
}

func (s *Server) fault(ctx context.Context, method string, err error) error {
	if _, ours := errors.AsType[*FieldError](err); ours {
		return faultOf(err)
	}
	if f, ok := errors.AsType[*xmlrpc.Fault](err); ok {
		return f
	}
	if s.Fault != nil {
		return s.Fault(ctx, method, err)
	}
	return err
}

// faultOf converts the error of an invalid call into its response.
//
// spec:xmlrpc-faults-2001#codes
func faultOf(err error) error {
	if f, ok := errors.AsType[*FieldError](err); ok {
		return &xmlrpc.Fault{Code: xmlrpc.CodeParams, String: f.Msg}
	}
	return err
}

// args reads the parameters of a call. err is the first error.
type args struct {
	method string
	params []any
	err    error
}

func (a *args) fail(field, format string, v ...any) {
	if a.err == nil {
		a.err = fieldErr(field, format, v...)
	}
}

func (a *args) count(from, to int) {
	if n := len(a.params); n < from || n > to {
		many := fmt.Sprint(from)
		if to > from {
			many = fmt.Sprintf("%d to %d", from, to)
		}
		a.fail("", "%s takes %s parameters, not %d.", a.method, many, n)
	}
}

func (a *args) at(i int) any {
	if i < len(a.params) {
		return a.params[i]
	}
	return nil
}

// text returns parameter i, from 0, as a text.
func (a *args) text(i int, what string) string {
	s, ok := xmlrpc.String(a.at(i))
	if !ok {
		a.fail(what, "Parameter %d of %s, the %s, must be a string, not %s.", i+1, a.method, what, kind(a.at(i)))
	}
	return s
}

// publish returns the parameter publish; nil: missing.
func (a *args) publish(i int) *bool {
	v := a.at(i)
	if s, ok := v.(string); v == nil || ok && s == "" {
		return nil
	}
	b, ok := xmlrpc.Bool(v)
	if n, is := xmlrpc.Int(v); !ok && is {
		b, ok = n != 0, true
	}
	if !ok {
		a.fail("publish", "Parameter %d of %s, publish, must be a boolean, not %s.", i+1, a.method, kind(v))
		return nil
	}
	return &b
}

// DefaultPosts is the number of posts to return if the client does not specify one.
const DefaultPosts = 20

// limit returns the number of posts to return.
func (a *args) limit(i int) int {
	v := a.at(i)
	if s, ok := v.(string); v == nil || ok && s == "" {
		return DefaultPosts
	}
	n, ok := xmlrpc.Int(v)
	if !ok {
		a.fail("numberOfPosts", "Parameter %d of %s, the number of posts, must be a number, not %s.", i+1, a.method, kind(v))
	}
	if n <= 0 {
		return DefaultPosts
	}
	return int(min(n, 1<<30))
}
