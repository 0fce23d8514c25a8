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

// MetaWeblog is the door for programs that write weblogs by XML-RPC. Posts, Accounts and
// Public must be set.
type MetaWeblog struct {
	Posts    Posts
	Files    Files // nil: no files are taken
	Accounts Accounts
	Public   func() string // origin at which strangers reach this server
	// Known is nil for a user that there is; its fault is the answer for any other.
	Known    func(ctx context.Context, user string) error
	Trusted  []netip.Prefix // see [endpoint.CallerAddr]
	Log      *slog.Logger   // nil is silent
	MaxMedia int64          // bytes of a file [16 MiB]
	Version  string         // of the program, for wp.getOptions
}

// doorMetaWeblog is how the log calls it.
const doorMetaWeblog = "metaWeblog"

// defaultMedia is how large a file may be that comes by XML-RPC, where a whole call is in
// memory at once. Larger ones have other doors.
const defaultMedia = 16 << 20

// Methods are the methods for the XML-RPC endpoint.
func (m *MetaWeblog) Methods() []xmlrpc.Method {
	return (&metaweblog.Server{Backend: m, Software: "Cloudburst", Version: m.Version, Fault: m.fault}).Methods()
}

// Large are the methods whose calls may be large, and how large, in bytes.
func (m *MetaWeblog) LargeMethods() map[string]int64 {
	// Each markup character of a text may come as six; base64 has a line end in every 76.
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

// scopesOf are the scopes of which a token needs one.
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
	case metaweblog.Read: // drafts too: a token for reading feeds is not for that
		return []string{"update", "create", "delete"}
	}
	return []string{"update", "create", "delete", "media"}
}

// LogIn lets in who has a password, or a token for what he wants to do.
//
// spec:cloudburst#metaweblog-log-in
func (m *MetaWeblog) LogIn(ctx context.Context, name, password string, to metaweblog.Access) (metaweblog.Session, error) {
	r := xmlrpc.RequestFrom(ctx)
	from := account.Caller{Via: doorMetaWeblog}
	s := &writing{door: m}
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

// loginError tells a log-in that failed from other refusals.
type loginError struct{ err error }

func (e *loginError) Error() string { return e.err.Error() }
func (e *loginError) Unwrap() error { return e.err }

// fault is an error as the fault of a method.
//
// spec:cloudburst#metaweblog-faults
func (m *MetaWeblog) fault(ctx context.Context, method string, err error) error {
	code := fault.CodeOf(err)
	if m.Log != nil && (code == fault.Internal || code == fault.Unavailable) {
		m.Log.WarnContext(ctx, "a weblog editor was not served", "method", method, "err", err)
	}
	_, login := err.(*loginError)
	return &xmlrpc.Fault{Code: faultCodeOf(code, login, err), String: fault.Message(err)}
}

// faultCodeOf is the number that editors know.
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

// ServeRSD answers /<user>/rsd.xml.
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
	_, _ = w.Write(d.Append(nil)) // whoever asked may have gone
	return nil
}

// discovery answers with the document that tells programs where to write.
func (f *Feeds) discovery(w http.ResponseWriter, r *http.Request, user string) {
	if !reading(w, r, false) {
		return
	}
	if r.Method == http.MethodOptions {
		preflight(w, false)
		return
	}
	if err := f.RSD(w, r, user); err != nil {
		f.refuse(w, r, err)
	}
}
