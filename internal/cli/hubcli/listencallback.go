package hubcli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/rsscloud"
)

// serve starts the server for the callback.
//
// spec:rsscloud-2009#subscriber-runs-a-server
func (l *listener) serve(ctx context.Context) (stop func(), err error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", l.addr)
	if err != nil {
		return nil, fmt.Errorf("--addr is %q: cannot listen on this address: %w", l.addr, err)
	}
	host, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		return nil, err
	}
	if l.port, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	if a, err := netip.ParseAddr(host); err == nil && !a.IsUnspecified() {
		l.host = host
	}
	secret, err := unguessable()
	if err != nil {
		return nil, err
	}
	l.path = "/notify/" + secret
	mux := http.NewServeMux()
	callback := l.way.handler()
	mux.Handle(l.path, callback)
	mux.Handle(l.path+"/", callback)
	mux.HandleFunc("/notify/", earlier)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: 15 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	go func() {
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			l.emit(record{Event: "error", Message: "the callback stopped: " + shell.Sentence(err)})
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close() // ignore the error: the command is ending
		}
	}, nil
}

// earlier returns 410 for notifications to the callback of an earlier run on the same port. The
// status ends the subscription at hubs that support it.
func earlier(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	http.Error(w, "This subscription has ended.", http.StatusGone)
}

// unguessable returns a random text that cannot be guessed, for URLs and secrets.
func unguessable() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(b[:]), nil
}

// address returns the callback URL of path for a hub. It serves protocols in which the subscriber
// sends a complete URL.
func (l *listener) address(ctx context.Context, hub, path string) (string, error) {
	host := cmp.Or(l.domain, l.host)
	if host == "" {
		var err error
		if host, err = towards(ctx, hub); err != nil {
			return "", err
		}
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(l.port)), Path: path}
	if err := rsscloud.CheckFeedURL(u.String()); err != nil {
		return "", fmt.Errorf("a hub cannot connect to %s: set another host with --domain", u.Host)
	}
	return u.String(), nil
}

// towards returns the local address of a connection to the hub. It sends nothing.
func towards(ctx context.Context, hub string) (string, error) {
	u, err := url.Parse(hub)
	if err != nil {
		return "", err
	}
	port := cmp.Or(u.Port(), "80")
	var d net.Dialer
	c, err := d.DialContext(ctx, "udp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return "", hubclient.Temporary(fmt.Errorf("the hub at %s cannot be reached: %w", hub, shell.PlainNetError(err)))
	}
	defer c.Close()
	host, _, err := net.SplitHostPort(c.LocalAddr().String())
	return host, err
}
