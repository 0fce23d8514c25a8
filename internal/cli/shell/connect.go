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

// adminFile, in the data folder, holds the address of the running server's
// operator listener, which may be another than the configured one (port 0).
const adminFile = "admin.addr"

// ProbeTimeout is how long a server may take to say that it is there.
const ProbeTimeout = 3 * time.Second

// ServerFlags adds what every command needs that talks to a server.
func ServerFlags(c *cobra.Command) *cobra.Command {
	config.AddFlags(c.Flags(), "admin.listen", "data", "database")
	return c
}

// Connection is a way to the server.
type Connection struct {
	*client.Client
	Running bool   // a server runs; else this process has opened its folder
	Where   string // for people
	close   func() error
}

// Close closes the folder, where this process has opened it.
func (c *Connection) Close() error {
	if c.close == nil {
		return nil
	}
	return c.close()
}

// WithServer connects, calls f and closes.
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

// mostNamed is how many users an error names.
const maxNamed = 10

// withUsers adds the users there are to an error about one that there is not. Commands
// talk to the operator's listener, where they may be known.
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
		return fmt.Errorf("%w There are none yet: \"cloudburst user add NAME\" makes one", err)
	case len(names) > maxNamed:
		names[maxNamed] = "and more, which \"cloudburst user list\" lists"
	}
	return fmt.Errorf("%w There is: %s", err, strings.Join(names, ", "))
}

// notOperator says which listener answers at addr where it is not the operator's; nil:
// nothing is known of it.
func notOperator(e *config.Effective, addr string, err error) error {
	answer, ok := errors.AsType[*client.Error](err)
	if !ok || answer.Code != "not-found" {
		return nil
	}
	text := addr + " is the public listener of the server; this command needs the operator's"
	if b, err := os.ReadFile(filepath.Join(e.Config.Data, adminFile)); err == nil {
		return fmt.Errorf("%s: --admin.listen %s", text, strings.TrimSpace(string(b)))
	}
	return fmt.Errorf("%s, which is at %s unless admin.listen names another address", text, config.Default().Admin.Listen)
}

// Connect finds the running server: at admin.listen where somebody set that, else
// where the data folder says, else at the default address when the folder is the
// default too. When none answers it opens the folder itself.
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
		case notOperator(e, addr, err) != nil:
			return nil, notOperator(e, addr, err)
		case !client.IsUnreachable(err) && !errors.Is(err, context.DeadlineExceeded):
			return nil, fmt.Errorf("%s: %w", addr, err)
		}
	}
	// Who names a server means that one, not a new data folder in the default place.
	named := e.Value("admin.listen").Source == config.FromFlag && e.Value("data").Source == config.FromDefault
	return p.openFolder(c.Context(), e, tried, mayMake && !named)
}

// ServerAddresses are the addresses at which the operator's listener may answer.
func ServerAddresses(e *config.Effective) ([]string, error) {
	if e.Value("admin.listen").Source != config.FromDefault {
		return []string{e.Config.Admin.Listen}, nil
	}
	b, err := os.ReadFile(filepath.Join(e.Config.Data, adminFile))
	if err == nil {
		return []string{strings.TrimSpace(string(b))}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the data folder cannot be read: %w", err)
	}
	if e.Value("data").Source == config.FromDefault && e.Value("database").Source == config.FromDefault {
		return []string{e.Config.Admin.Listen}, nil
	}
	return nil, nil
}

// BaseURL turns an address to listen on into one to connect to.
func BaseURL(addr string) string {
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

// NoFolderError says that there is neither a server nor its folder.
type NoFolderError struct{ error }

// openFolder opens the store in this process, without serving.
func (p *Shell) openFolder(ctx context.Context, e *config.Effective, tried []string, mayMake bool) (*Connection, error) {
	none := "no server runs"
	if len(tried) > 0 {
		none = "no server answers at " + strings.Join(tried, " or ")
	}
	data := e.Config.Data
	if info, err := os.Stat(data); e.Config.Database == "" && !mayMake && (err != nil || !info.IsDir()) {
		return nil, NoFolderError{fmt.Errorf("%s, and there is no data folder %s: start one with \"cloudburst serve\", or name it with --admin.listen or --data", none, data)}
	}
	log := slog.New(slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	app, err := p.Open(ctx, e.Config, log)
	if err != nil {
		if isLocked(err) && e.Config.Database == "" {
			return nil, fmt.Errorf("%s, but another process uses the data folder %s: name the address of its operator's listener with --admin.listen (%w)", none, data, err)
		}
		return nil, err
	}
	where := data
	if e.Config.Database != "" {
		where = config.Redact(e.Config.Database)
	}
	// The host is one that the handler takes for its own.
	api := &client.Client{Base: "http://localhost", HTTP: inProcess{app.Admin()}}
	return &Connection{Client: api, Where: where, close: app.Close}, nil
}
