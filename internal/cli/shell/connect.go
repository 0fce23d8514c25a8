package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/config"
)

// adminFile is the name of a file in the data folder. It contains the address of the running
// server's admin listener, which differs from the configured address if the configured port is 0.
const adminFile = "admin.addr"

// ProbeTimeout is the maximum wait for the first response of a server.
const ProbeTimeout = 3 * time.Second

// ServerFlags adds the flags of commands that connect to a server.
func ServerFlags(c *cobra.Command) *cobra.Command {
	config.AddFlags(c.Flags(), "server", "admin.listen", "data", "database")
	c.Flags().Lookup("admin.listen").Hidden = true // admin.listen is the former name of --server
	return c
}

// Connection is a connection to the server, or to its data folder.
type Connection struct {
	*client.Client
	Running bool   // a server is running; false: this process has opened the data folder
	Where   string // address of the server, or data folder, for messages
	close   func() error
}

// Close closes the data folder if this process has opened it.
func (c *Connection) Close() error {
	if c.close == nil {
		return nil
	}
	return c.close()
}

// WithServer connects to the server, calls f and closes the connection. mayMake allows it to create
// the data folder.
func (p *Shell) WithServer(c *cobra.Command, mayMake bool, f func(ctx context.Context, s *Connection) error) error {
	s, err := p.Connect(c, mayMake)
	if err != nil {
		return err
	}
	err = s.withUsers(c.Context(), f(c.Context(), s))
	if closing := s.Close(); err == nil {
		err = closing
	}
	return err
}

// OnServer returns the run function of a command that calls do with a connection to the server.
func (p *Shell) OnServer(do func(ctx context.Context, s *Connection, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		return p.WithServer(c, false, func(ctx context.Context, s *Connection) error { return do(ctx, s, args) })
	}
}

// maxNamed is the maximum number of users in an error.
const maxNamed = 10

// withUsers adds the names of existing users to an error about an unknown user. The connection uses
// the admin listener, so the client may see all users.
func (c *Connection) withUsers(ctx context.Context, err error) error {
	e, ok := errors.AsType[*client.Error](err)
	if !ok || e.Code != "not-found" || !strings.HasPrefix(e.Message, "There is no user ") {
		return err
	}
	var names []string
	for u, failed := range c.Users(ctx, maxNamed+1) {
		if failed != nil {
			return err
		}
		names = append(names, u.Name)
	}
	switch {
	case len(names) == 0:
		return fmt.Errorf("%w There are no users yet: create one with \"cloudburst user add NAME\"", err)
	case len(names) > maxNamed:
		names[maxNamed] = "and others: see \"cloudburst user list\""
	}
	return fmt.Errorf("%w Users: %s", err, strings.Join(names, ", "))
}

// notAdmin returns an error if the listener at addr is the public listener of a server, not the
// admin listener; nil: the response does not show which listener it is.
func notAdmin(e *config.Effective, addr string, err error) error {
	answer, ok := errors.AsType[*client.Error](err)
	if !ok || answer.Code != "not-found" {
		return nil
	}
	text := addr + " is the public listener of the server; this command needs the admin listener"
	if b, err := os.ReadFile(filepath.Join(e.Config.Data, adminFile)); err == nil {
		return fmt.Errorf("%s: --server %s", text, strings.TrimSpace(string(b)))
	}
	return fmt.Errorf("%s, by default at %s", text, config.Default().Admin.Listen)
}

// Connect connects to the server at the address that ServerAddress returns. If no server responds
// there, or one with other data, Connect opens the data folder or the database in this process.
// mayMake allows it to create the data folder.
func (p *Shell) Connect(c *cobra.Command, mayMake bool) (*Connection, error) {
	e, err := p.LoadConfig(c.Flags())
	if err != nil {
		return nil, err
	}
	addr, verify, err := ServerAddress(e)
	if err != nil {
		return nil, err
	}
	onlyServer := e.Config.Server != "" && e.Value("data").Source == config.FromDefault && e.Value("database").Source == config.FromDefault
	missing := "no server is running"
	if addr != "" {
		h := &probe{Client: &http.Client{Transport: &http.Transport{}}}
		ctx, cancel := context.WithTimeout(c.Context(), ProbeTimeout)
		_, err := (&client.Client{Base: BaseURL(addr), HTTP: h}).Version(ctx)
		cancel()
		switch {
		case c.Context().Err() != nil:
			return nil, c.Context().Err()
		case verify && h.answer != nil && !e.Config.SameData(h.answer):
			missing = "the server at " + addr + " uses other data"
		case err == nil:
			return &Connection{Client: &client.Client{Base: BaseURL(addr), HTTP: h.Client}, Running: true, Where: addr}, nil
		case notAdmin(e, addr, err) != nil:
			return nil, notAdmin(e, addr, err)
		case !client.IsUnreachable(err) && !errors.Is(err, context.DeadlineExceeded) && (h.answer != nil || !verify):
			return nil, fmt.Errorf("%s: %w", addr, err)
		case onlyServer: // the folder at the default location has other data
			return nil, fmt.Errorf("no server responds at %s: start it, or omit --server", addr)
		default:
			missing = "no server responds at " + addr
		}
	}
	// If the user names a server, Connect must not create a data folder at the default location.
	named := (e.Config.Server != "" || e.Value("admin.listen").Source == config.FromFlag) && e.Value("data").Source == config.FromDefault
	return p.openFolder(c.Context(), e, missing, mayMake && !named)
}

// probe is a client.HTTPClient that stores the header of the last response.
type probe struct {
	*http.Client
	answer http.Header // nil: no response
}

// Do sends a request.
func (p *probe) Do(req *http.Request) (*http.Response, error) {
	res, err := p.Client.Do(req)
	if err == nil {
		p.answer = res.Header
	}
	return res, err
}

// ServerAddress returns the address of the admin listener that a command calls; "": none. If verify
// is true, the command must only call a server with the same data, see [config.Config.SameData].
//
// A server that the user names is called as named, unless a setting of a higher priority names a
// data folder or a database. admin.listen names a server too if nothing names the data. Otherwise
// the data decides, and the address only helps to find its server: the server may have crashed and
// left its address in the folder, and another server may use that address now.
func ServerAddress(e *config.Effective) (addr string, verify bool, err error) {
	server, listen, data, database := e.Value("server"), e.Value("admin.listen"), e.Value("data"), e.Value("database")
	named := data.Source != config.FromDefault || database.Source != config.FromDefault
	switch {
	case e.Config.Server != "" && !data.Source.Overrides(server.Source) && !database.Source.Overrides(server.Source):
		return e.Config.Server, false, nil
	case listen.Source == config.FromFlag, listen.Source != config.FromDefault && !named:
		return e.Config.Admin.Listen, false, nil
	}
	b, err := os.ReadFile(filepath.Join(e.Config.Data, adminFile))
	switch {
	case err == nil:
		return strings.TrimSpace(string(b)), true, nil
	case listen.Source != config.FromDefault:
		return e.Config.Admin.Listen, true, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", false, fmt.Errorf("cannot read the data folder: %w", err)
	case database.Source != config.FromDefault:
		return e.Config.Admin.Listen, true, nil
	case named:
		return "", false, nil
	}
	_, err = os.Stat(e.Config.Data)
	return e.Config.Admin.Listen, err == nil, nil
}

// BaseURL converts the address of a listener, or the URL of a server, to the base URL
// for requests.
func BaseURL(addr string) string {
	if strings.HasPrefix(addr, "http://") || strings.HasPrefix(addr, "https://") {
		return strings.TrimRight(addr, "/")
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://" + addr
	}
	host = cmp.Or(host, "127.0.0.1")
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.Is6() {
			host = "::1"
		}
	}
	return "http://" + net.JoinHostPort(host, port)
}

// NoFolderError means that no server is running and that the data folder does not exist.
type NoFolderError struct{ error }

// openFolder opens the data folder in this process. The process does not listen on the network.
// missing states why this process calls no server.
func (p *Shell) openFolder(ctx context.Context, e *config.Effective, missing string, mayMake bool) (*Connection, error) {
	data := e.Config.Data
	if info, err := os.Stat(data); e.Config.Database == "" && !mayMake && (err != nil || !info.IsDir()) {
		return nil, NoFolderError{fmt.Errorf("%s, and there is no data folder %s: start a server with \"cloudburst serve\", or name one with --server or --data", missing, data)}
	}
	log := slog.New(slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	app, err := p.Open(ctx, e.Config, log)
	if err != nil {
		if isLocked(err) && e.Config.Database == "" {
			return nil, fmt.Errorf("%s, but another cloudburst process uses the data folder %s: stop it, or name its admin listener with --server", missing, data)
		}
		return nil, err
	}
	where := data
	if e.Config.Database != "" {
		where = config.Redact(e.Config.Database)
	}
	// The handler accepts requests to this host name.
	api := &client.Client{Base: "http://localhost", HTTP: inProcess{app.Admin()}}
	return &Connection{Client: api, Where: where, close: app.Close}, nil
}
