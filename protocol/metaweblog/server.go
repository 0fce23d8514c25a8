package metaweblog

import (
	"context"
	"errors"
	"fmt"

	"cloudburst/protocol/xmlrpc"
)

// Access is what somebody wants to do, which a password is for wholly and a token may be
// for in part.
type Access string

// Kinds of access.
const (
	List   Access = "look"   // which weblogs and categories there are
	Read   Access = "read"   // posts, drafts too
	Create Access = "create" // posts
	Update Access = "update"
	Delete Access = "delete"
	Upload Access = "upload" // files
)

// Backend lets people in. The request, for the caller's address, is
// [xmlrpc.RequestFrom] of ctx.
type Backend interface {
	// LogIn lets in who has this name and password. Its error ends a batch of calls, so
	// that one request cannot try many passwords.
	LogIn(ctx context.Context, name, password string, to Access) (Session, error)
}

// PostQuery selects posts. Limit is at least 1 and may be huge. Titles means that nothing but ID,
// UserID, Title, Created and Status is looked at. Statuses are those of the wanted posts; nil: any.
type PostQuery struct {
	Limit    int
	Titles   bool
	Statuses []string
}

// Session is what one who was let in may do. A blogID is what [Blog] has, or what
// somebody typed in by hand; an id is a [Post]'s, or nonsense. Errors that are an
// [*xmlrpc.Fault] are answered as they are.
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
	// Publish shows a post to readers, now.
	Publish(ctx context.Context, id string) error
	Post(ctx context.Context, id string) (Post, error)
	// Posts are the newest posts that q selects, the newest first.
	Posts(ctx context.Context, blogID string, q PostQuery) ([]Post, error)
}

// CategorySession knows the categories of posts.
type CategorySession interface {
	Categories(ctx context.Context, blogID string) ([]Category, error)
	// NewCategory creates a category that posts can use later, or returns the existing one.
	NewCategory(ctx context.Context, blogID, name string) (Category, error)
	PostCategories(ctx context.Context, id string) ([]Category, error)
	// SetCategories puts a post under the categories with these IDs, the primary one first.
	SetCategories(ctx context.Context, id string, ids []string) error
}

// FileSession keeps files.
type FileSession interface {
	Upload(ctx context.Context, blogID string, m Media) (File, error)
	// File returns an uploaded file by its ID.
	File(ctx context.Context, blogID, id string) (File, error)
}

// Server makes XML-RPC methods of a Backend, which must be set.
type Server struct {
	Backend Backend
	// Software and Version name the program for wp.getOptions.
	Software, Version string
	// Filters are what mt.supportedTextFilters answers; nil: [FilterBreaks] and
	// [FilterMarkdown].
	Filters []Filter
	// Fault makes of an error of the Backend the one that is answered, such as an
	// [*xmlrpc.Fault]; nil: it is left to [xmlrpc.Handler.FaultOf].
	Fault func(ctx context.Context, method string, err error) error
}

// Names of the methods whose calls may be large: they carry a text or a file.
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

// Methods are all methods of the four families, for an [xmlrpc.Handler].
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

// call is one method on its way: its parameters, and who calls.
type call struct {
	*args
	ctx context.Context
	Session
}

// method is a method for those who are let in. login is the place of the name, which the
// password follows; from and to are how many parameters there may be.
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

// plain is a method for everybody.
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

// faultOf is a call that cannot be read, as what is answered.
//
// spec:xmlrpc-faults-2001#codes
func faultOf(err error) error {
	if f, ok := errors.AsType[*FieldError](err); ok {
		return &xmlrpc.Fault{Code: xmlrpc.CodeParams, String: f.Msg}
	}
	return err
}

// args reads parameters; the first trouble is kept.
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
		a.fail("", "%s takes %s parameters, and not %d.", a.method, many, n)
	}
}

func (a *args) at(i int) any {
	if i < len(a.params) {
		return a.params[i]
	}
	return nil
}

// text is parameter i, from 0, as a text.
func (a *args) text(i int, what string) string {
	s, ok := xmlrpc.String(a.at(i))
	if !ok {
		a.fail(what, "Parameter %d of %s, the %s, must be a string, and not %s.", i+1, a.method, what, kind(a.at(i)))
	}
	return s
}

// publish is the parameter of this name; nil: it is not there.
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
		a.fail("publish", "Parameter %d of %s, publish, must be a boolean, and not %s.", i+1, a.method, kind(v))
		return nil
	}
	return &b
}

// DefaultPosts is how many posts are told of where the caller does not say how many.
const DefaultPosts = 20

// limit is how many posts are wanted.
func (a *args) limit(i int) int {
	v := a.at(i)
	if s, ok := v.(string); v == nil || ok && s == "" {
		return DefaultPosts
	}
	n, ok := xmlrpc.Int(v)
	if !ok {
		a.fail("numberOfPosts", "Parameter %d of %s, the number of posts, must be a number, and not %s.", i+1, a.method, kind(v))
	}
	if n <= 0 {
		return DefaultPosts
	}
	return int(min(n, 1<<30))
}
