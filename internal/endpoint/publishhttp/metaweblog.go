package publishhttp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/protocol/metaweblog"
	"cloudburst/protocol/xmlrpc"
)

// MetaWeblog is the endpoint for programs that write blogs by XML-RPC. Posts, Accounts and Public
// must be set.
type MetaWeblog struct {
	Posts    Posts
	Files    Files // nil: files are not supported
	Accounts Accounts
	Public   func() string // public origin of this server
	// Known returns nil if a user exists, and otherwise the fault to send.
	Known    func(ctx context.Context, user string) error
	Trusted  []netip.Prefix // see [endpoint.CallerAddr]
	Log      *slog.Logger   // nil: no log
	MaxMedia int64          // maximum bytes of a file [16 MiB]
	Version  string         // version of the program, for wp.getOptions
}

// viaMetaWeblog is the name of the interface in the log.
const viaMetaWeblog = "metaWeblog"

// defaultMedia is the maximum size of a file by XML-RPC, in bytes. An XML-RPC call is held in
// memory as a whole, so larger files need another interface.
const defaultMedia = 16 << 20

// Methods returns the methods for the XML-RPC endpoint.
func (m *MetaWeblog) Methods() []xmlrpc.Method {
	return (&metaweblog.Server{Backend: m, Software: "Cloudburst", Version: m.Version, Fault: m.fault}).Methods()
}

// LargeMethods returns, for each method with large calls, the maximum size of a call in bytes.
func (m *MetaWeblog) LargeMethods() map[string]int64 {
	// Escaping can expand a markup character to six bytes. base64 has a line break every 76
	// characters.
	const text = 6*author.MaxSource + 64<<10
	return map[string]int64{
		metaweblog.MethodNewPost: text, metaweblog.MethodEditPost: text,
		metaweblog.MethodBloggerNewPost: text, metaweblog.MethodBloggerEditPost: text,
		metaweblog.MethodWPNewPost: text, metaweblog.MethodWPEditPost: text,
		metaweblog.MethodNewMediaObject: m.maxMedia()*3/2 + 64<<10,
		metaweblog.MethodWPUploadFile:   m.maxMedia()*3/2 + 64<<10,
	}
}

func (m *MetaWeblog) maxMedia() int64 {
	if m.MaxMedia > 0 {
		return m.MaxMedia
	}
	return defaultMedia
}

// scopesOf returns the scopes that allow an access. A token needs at least one of these scopes.
func scopesOf(to metaweblog.Access) []string {
	switch to {
	case metaweblog.Create:
		return []string{"create"}
	case metaweblog.Update:
		return []string{"update"}
	case metaweblog.Delete:
		return []string{"delete"}
	case metaweblog.Upload:
		return []string{"media"}
	case metaweblog.Read: // reading includes drafts, so a token for reading feeds is not enough
		return []string{"update", "create", "delete"}
	}
	return []string{"update", "create", "delete", "media"}
}

// LogIn checks the password, or a token with a scope that allows the access.
//
// spec:cloudburst#metaweblog-log-in
func (m *MetaWeblog) LogIn(ctx context.Context, name, password string, to metaweblog.Access) (metaweblog.Session, error) {
	r := xmlrpc.RequestFrom(ctx)
	from := account.Caller{Via: viaMetaWeblog}
	s := &editorSession{api: m}
	if r != nil {
		from.Addr, s.agent = endpoint.CallerAddr(r, m.Trusted), r.UserAgent()
	}
	var err error
	s.user, err = logIn(ctx, m.Accounts, strings.TrimSpace(name), password, from, scopesOf(to))
	if err == nil {
		return s, nil
	}
	return nil, &loginError{err}
}

// loginError distinguishes a failed login from other refusals.
type loginError struct{ err error }

func (e *loginError) Error() string { return e.err.Error() }
func (e *loginError) Unwrap() error { return e.err }

// fault returns an error as the fault of a method.
//
// spec:cloudburst#metaweblog-faults
func (m *MetaWeblog) fault(ctx context.Context, method string, err error) error {
	code := fault.CodeOf(err)
	if m.Log != nil && (code == fault.Internal || code == fault.Unavailable) {
		m.Log.WarnContext(ctx, "a request of a blog editor failed", "method", method, "err", err)
	}
	_, login := err.(*loginError)
	return &xmlrpc.Fault{Code: faultCodeOf(code, login, err), String: fault.Message(err)}
}

// faultCodeOf returns the fault code that editors expect.
func faultCodeOf(code fault.Code, login bool, err error) int {
	switch code {
	case fault.Invalid, fault.Unsupported:
		return xmlrpc.CodeParams
	case fault.NotFound, fault.Gone:
		return metaweblog.CodeNotFound
	case fault.Refused:
		if login && !errors.Is(err, account.ErrScope) {
			return metaweblog.CodeLogin
		}
		return metaweblog.CodeNotAllowed
	case fault.Conflict:
		return metaweblog.CodeConflict
	case fault.TooMany:
		return metaweblog.CodeTooMany
	case fault.Unavailable:
		return metaweblog.CodeUnavailable
	}
	return xmlrpc.CodeInternal
}

// ServeRSD serves /<user>/rsd.xml.
//
// spec:rsd-2002#document
func (m *MetaWeblog) ServeRSD(w http.ResponseWriter, r *http.Request, user string) error {
	if m.Known != nil {
		if err := m.Known(r.Context(), user); err != nil {
			return err
		}
	}
	public := m.Public()
	rpc, home := public+"/RPC2", public+"/"+user+"/"
	d := metaweblog.RSD{Engine: "Cloudburst", EngineLink: public + "/", Home: home, APIs: []metaweblog.API{
		{Name: "MetaWeblog", Preferred: true, Link: rpc, BlogID: user},
		{Name: "WordPress", Link: rpc, BlogID: user},
		{Name: "MovableType", Link: rpc, BlogID: user},
		{Name: "Blogger", Link: rpc, BlogID: user},
		{Name: "Micropub", Link: public + "/micropub", BlogID: user},
	}}
	head := w.Header()
	head.Set("Content-Type", metaweblog.TypeRSD+"; charset=utf-8")
	head.Set("Cache-Control", "public, max-age=3600")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Access-Control-Allow-Origin", "*")
	_, _ = w.Write(d.Append(nil)) // ignore the error: the client has disconnected
	return nil
}

// discovery serves the document that names the endpoints for editors.
func (f *Feeds) discovery(w http.ResponseWriter, r *http.Request, user string) {
	if !allowRead(w, r, false) {
		return
	}
	if err := f.RSD(w, r, user); err != nil {
		f.refuse(w, r, err)
	}
}
