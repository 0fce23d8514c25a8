package shell

import (
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

// Connect connects to the running server. It tries the address of --server or admin.listen if one
// is set; otherwise the address in the data folder; otherwise the default address if the data
// folder is the default. If no server responds, Connect opens the data folder. mayMake allows it to
// create the data folder.
func (p *Shell) Connect(c *cobra.Command, mayMake bool) (*Connection, error) {
	e, err := p.LoadConfig(c.Flags())
	if err != nil {
		return nil, err
	}
	tried, err := ServerAddresses(e)
	if err != nil {
		return nil, err
	}
	for _, addr := range tried {
		s := &Connection{Client: &client.Client{Base: BaseURL(addr), HTTP: &http.Client{Transport: &http.Transport{}}}, Running: true, Where: addr}
		ctx, cancel := context.WithTimeout(c.Context(), ProbeTimeout)
		_, err := s.Version(ctx)
		cancel()
		switch {
		case err == nil:
			return s, nil
		case c.Context().Err() != nil:
			return nil, c.Context().Err()
		case notAdmin(e, addr, err) != nil:
			return nil, notAdmin(e, addr, err)
		case !client.IsUnreachable(err) && !errors.Is(err, context.DeadlineExceeded):
			return nil, fmt.Errorf("%s: %w", addr, err)
		}
	}
	// If the user names a server, Connect must not create a data folder at the default location.
	named := (e.Config.Server != "" || e.Value("admin.listen").Source == config.FromFlag) && e.Value("data").Source == config.FromDefault
	return p.openFolder(c.Context(), e, tried, mayMake && !named)
}

// ServerAddresses returns the addresses to try for the admin listener.
func ServerAddresses(e *config.Effective) ([]string, error) {
	if e.Config.Server != "" {
		return []string{e.Config.Server}, nil
	}
	if e.Value("admin.listen").Source != config.FromDefault {
		return []string{e.Config.Admin.Listen}, nil
	}
	b, err := os.ReadFile(filepath.Join(e.Config.Data, adminFile))
	if err == nil {
		return []string{strings.TrimSpace(string(b))}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the data folder: %w", err)
	}
	if e.Value("data").Source == config.FromDefault && e.Value("database").Source == config.FromDefault {
		return []string{e.Config.Admin.Listen}, nil
	}
	return nil, nil
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
	if host == "" {
		host = "127.0.0.1"
	}
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
func (p *Shell) openFolder(ctx context.Context, e *config.Effective, tried []string, mayMake bool) (*Connection, error) {
	none := "no server is running"
	if len(tried) > 0 {
		none = "no server responds at " + strings.Join(tried, " or ")
	}
	data := e.Config.Data
	if info, err := os.Stat(data); e.Config.Database == "" && !mayMake && (err != nil || !info.IsDir()) {
		return nil, NoFolderError{fmt.Errorf("%s, and there is no data folder %s: start a server with \"cloudburst serve\", or name one with --server or --data", none, data)}
	}
	log := slog.New(slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	app, err := p.Open(ctx, e.Config, log)
	if err != nil {
		if isLocked(err) && e.Config.Database == "" {
			return nil, fmt.Errorf("%s, but another cloudburst process uses the data folder %s: stop it, or name its admin listener with --server", none, data)
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
