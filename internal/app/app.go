// Package app assembles the whole program from one configuration. The command-line program only
// calls this package. Tests run the program with port 0, so that the system selects a free port.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"cloudburst/internal/admin"
	"cloudburst/internal/announce"
	"cloudburst/internal/api"
	"cloudburst/internal/config"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/endpoint/publishhttp"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/href"
	"cloudburst/internal/hub"
	"cloudburst/internal/hub/clock"
	"cloudburst/internal/origin"
	"cloudburst/internal/ownhost"
	"cloudburst/internal/store"
	"cloudburst/internal/systemd"
	"cloudburst/internal/testfeed"
	"cloudburst/internal/trace"
	"cloudburst/internal/upstream"
)

// Version is the version of the program.
const Version = "0.1.0"

// App is the whole program. Create an App with [New] or [Open].
type App struct {
	Out     io.Writer        // writer that receives the banner of Run; nil: Run prints no banner
	Service *systemd.Service // the service manager that started the program; nil: none

	// OpenStore opens the store; nil: [store.Open]. Test harnesses set it to open a store that
	// simulates faults.
	OpenStore func(ctx context.Context, o store.Options) (store.Store, error)
	// DialDomain connects to the domains of authors to verify them; nil: connect to the addresses
	// in DNS. Only tests set it.
	DialDomain fetch.Dial

	command  bool   // a command opened the App, see [OpenCommand]
	serverID string // random ID of this run; see [config.ServerIDFile]

	cfg   config.Config
	log   *slog.Logger
	store hub.Store
	hub   *hub.Hub
	clock *clock.Steady

	upstream *upstream.Engine
	hosted
	reading
	feeds     *publishhttp.Feeds // HTTP endpoints of hosted feeds
	announcer *announce.Announcer
	testFeed  *testfeed.Feed
	admin     *admin.Admin

	certificates lateCertificates
	tracer       *trace.Tracer // exporter of traces; nil: tracing is off

	client   *fetch.Client
	sender   *fetch.Sender
	doer     *fetch.Doer
	operator *api.Server
	names    origin.Names
	hosts    atomic.Pointer[ownhost.Hosts] // domains of authors; nil until the store is open
	tls      atomic.Pointer[front]         // TLS of the public listener; nil: TLS is off
	owners   owners
	space    space
	probes   probes        // requests of this process to its own public URL
	done     chan struct{} // closed when Run stops, which ends live streams
	draining atomic.Bool   // true when the server is about to stop: every response then closes its connection
}

// New creates a server without opening its store; [App.Run] opens the store. The caller must call
// Close.
func New(cfg config.Config, log *slog.Logger) *App {
	a := &App{cfg: cfg, log: withoutPrivate(log), clock: &clock.Steady{}, done: make(chan struct{})}
	a.names.Default = func() string { return cfg.Public(cfg.Listen) }
	a.names.Hosts = lateHosts{&a.hosts}
	return a
}

// OpenCommand is like [Open], for a command. It rejects data with an older schema
// (fault.Unsupported), because servers of an earlier version may still use it, and creates no key
// for the secrets in a shared database.
//
// spec:cloudburst#command-data
func OpenCommand(ctx context.Context, cfg config.Config, log *slog.Logger) (*App, error) {
	a := New(cfg, log)
	a.command = true
	if err := a.open(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// Open opens the store and connects all components. It does not listen, and does not start the
// work of the hub. The caller must call Close. Open fails at once if the database is unavailable,
// and after at most 30 s if the database is slow.
func Open(ctx context.Context, cfg config.Config, log *slog.Logger) (*App, error) {
	a := New(cfg, log)
	if err := a.open(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// open opens the store and connects all components to it.
func (a *App) open(ctx context.Context) error {
	st, err := a.openStore(ctx, 0)
	if err != nil {
		return err
	}
	if err := a.join(ctx, st); err != nil {
		_ = st.Close() // return err, because the error of Close is less important
		return err
	}
	return nil
}

// openStore opens the configured store. connect is the maximum time for connecting to a database;
// 0 means the default.
func (a *App) openStore(ctx context.Context, connect time.Duration) (store.Store, error) {
	open := a.OpenStore
	if open == nil {
		open = store.Open
	}
	return open(ctx, store.Options{Dir: a.cfg.Data, DatabaseURL: a.cfg.Database, Log: a.log, Connect: connect, KeepSchema: a.command})
}

// join creates the components and connects them to the store. After a failure, the caller may
// call join again.
func (a *App) join(ctx context.Context, st store.Store) error {
	cfg, log := a.cfg, a.log
	administering{a}.newAdmin(st)
	a.newClients()
	bus := event.NewBus(rand.Int64N(1<<40) + 1)
	fetcher := &hubhttp.Fetcher{Client: a.client}
	redirects := &hubhttp.Redirects{
		Callable: a.callable, AllowChallenge: func(url string) bool { return a.hub.AllowChallenge(url) }, Timeout: a.cfg.Hub.CallbackTimeout, Now: a.clock.Now,
	}
	notifier := &hubhttp.Notifier{Sender: a.sender, Redirects: redirects, HubURL: a.websubEndpoint, Signature: cfg.WebSub.Signature}
	a.hub = &hub.Hub{
		Store: st, Bus: bus, Log: log, Now: a.clock.Now,
		Fetch: ownFeeds{fetcher, a}, Options: a.hubOptions(), Busy: busy,
	}
	a.hub.Notify = notifier
	a.newTracer(fetcher, notifier)
	a.hub.Verify = &hubhttp.Verifier{Sender: a.sender, Redirects: redirects}
	a.hub.Ask = &hubhttp.Asker{Sender: a.sender}
	a.hub.Find = &hubhttp.Discoverer{Client: a.client}
	if hints, shared := st.(store.Hinter); shared { // set Allowances and Hint before Init, which uses both
		a.hub.Allowances, a.hub.Hint = st, hints.Hint
	}
	a.hub.Init()
	a.newUpstream(st)
	a.newAnnouncer(st)
	if err := (hosting{a}).newHosted(ctx, st); err != nil {
		return err
	}
	if err := a.newRiver(st); err != nil {
		return err
	}
	a.testFeed = &testfeed.Feed{Store: st, Hub: a.hub, Readers: a.river, Names: &a.names, Cloud: a.cloudAt, Now: a.clock.Now, Log: log}
	hosting{a}.newNotifier()
	a.store = a.hub.Store
	if err := (administering{a}).openAdmin(ctx); err != nil {
		return err
	}
	a.certificates.open(st)
	a.operator = api.New(a.operating(st, a.writing(api.Options{
		Hub: a.hub, Store: st, Config: administering{a}.configured(), Relays: a.upstream, Admin: a.admin, Accounts: a.accounts, Feeds: a.authors, Audience: a.audience, Origin: a.names.Public,
		River: a.river, ReaderOf: a.owners.readerOf, Targets: a.announcer, Tick: a.testFeed.Tick, Traces: a.traceCounts(), DiskFree: a.diskFree, PageCache: &a.pageCache,
		Bus: bus, Version: Version, PublicURL: cfg.PublicURL, Warnings: a.operatorWarnings,
		Log: log, Now: a.clock.Now, Done: a.done,
	})))
	return nil
}

// Names of the settings that allow non-public addresses.
const (
	allowFetch    = "egress.allow-fetch"
	allowCallback = "egress.allow-callback"
)

// newClients creates the HTTP clients, each with its guard for outgoing connections.
func (a *App) newClients() {
	agent := endpoint.UserAgent(Version, a.cfg.PublicURL)
	a.client = fetch.New(fetch.Options{
		Guard:     a.fetchGuard(),
		UserAgent: agent,
	})
	a.sender = fetch.NewSender(fetch.SenderOptions{
		Guard:     a.callbackGuard(),
		UserAgent: agent,
		Timeout:   a.cfg.Hub.CallbackTimeout,
		MaxConns:  a.inFlight() + 64,
		IdleTotal: a.inFlight() / 2,
	})
}

// inFlight returns the maximum number of concurrent notifications. The default is three eighths
// of the process's file descriptors. Idle connections and feed reads get half of this default each.
// Incoming connections get a quarter of all descriptors (see connLimiter),
// and the store uses the rest.
func (a *App) inFlight() int {
	if n := a.cfg.Hub.MaxInFlight; n > 0 {
		return n
	}
	return min(max(openFiles()*3/8, 64), 8192)
}

func (a *App) hubOptions() hub.Options {
	c, ws := a.cfg.Hub, a.cfg.WebSub
	unlimited := func(rate float64) float64 {
		if rate == 0 {
			return -1
		}
		return rate
	}
	return hub.Options{
		Expiry: c.Expiry, MaxErrors: c.MaxErrors, PingInterval: c.PingInterval, CallbackTimeout: c.CallbackTimeout,
		Retry: c.Retry, MaxInFlight: a.inFlight(), SourceRate: unlimited(c.ClientRate), HostRate: unlimited(c.HostRate),
		KeepEvents: a.cfg.Log.Keep, KeepChanges: a.cfg.Changes.Keep, IsOwnURL: a.ownCallback,
		Ageing: a.cfg.CNWS.DropAfter, MaxContent: int64(ws.MaxContent), NotifyWithoutContent: ws.LargeTopics == "without-content", MaxLease: ws.MaxLease,
		Topics: ws.Topics, IsOwnTopic: a.ownTopic, Names: a.spellings, IsPrivate: hosting{a}.privateFeed, Callable: a.callable, Readable: a.readable,
	}
}

// ownCallback reports whether a URL is an endpoint of this server, under a public name or the
// address of a listener. For all other names, the guard refuses the connection to the server's
// own listeners.
func (a *App) ownCallback(raw string) bool {
	if a.names.Served() {
		return hubhttp.IsOwnEndpoint(raw, a.names.All()...)
	}
	return hubhttp.IsOwnEndpoint(raw, a.cfg.PublicURL)
}

// readable returns the reason why the hub can never read a topic, based only on the URL. nil: no
// reason is known.
func (a *App) readable(raw string) error {
	err := (&fetch.Guard{Allow: a.cfg.Egress.AllowFetch, Setting: allowFetch, Blocks: a.admin}).CheckURL(raw)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fetch.ErrBlocked):
		return fault.Wrap(fault.Refused, fetch.ErrBlocked, "The address %s is blocked by an administrator of this server.", fetch.Redact(raw))
	case fetch.KindOf(err) == fetch.Refused:
		return fault.Wrap(fault.Refused, fetch.Cause(err), "The address %s is on a network that this server does not read.", fetch.Redact(raw))
	}
	return fault.Wrap(fault.Refused, err, "The address %s %s.", fetch.Redact(raw), strings.TrimRight(fetch.Text(err), "."))
}

// ownTopic reports whether this program serves a topic.
func (a *App) ownTopic(url string) bool {
	_, own := a.names.Path(url)
	return own
}

// websubEndpoint returns the public URL of the WebSub endpoint.
func (a *App) websubEndpoint() string { return a.names.Public() + "/websub" }

// warnings returns the operator warnings that the public status page also displays.
func (a *App) warnings() []string {
	w := a.cfg.Warnings()
	if a.cfg.Database != "" && a.cfg.Accounts.SecretKey == "" && a.accounts.Key != nil {
		w = append(w, "accounts.secret-key is not set: the key of the secrets of private feeds is in this machine's data folder, and other machines on the same database cannot open them and count failed sign-ins separately. Set the same key on all machines.")
	}
	if n := openFiles(); n < 4096 {
		w = append(w, fmt.Sprintf("The limit of open files is %d, so at most %d notifications are under way at once; ulimit -n 65536 lifts it.", n, a.inFlight()))
	}
	if a.cfg.Database != "" && a.cfg.Accounts.SecretKey == "" && len(a.cfg.TLS.Domains) > 0 {
		w = append(w, "tls.domains with several machines on one database needs the same accounts.secret-key on all: without it each asks for certificates of its own, and the authority limits how many.")
	}
	if a.keyTrouble != "" {
		w = append(w, a.keyTrouble)
	}
	if low := a.spaceWarning(); low != "" {
		w = append(w, low)
	}
	if off := a.clock.Off(); off.Abs() > time.Minute {
		w = append(w, fmt.Sprintf("The machine's clock was set by %s while this program ran; it follows slowly, so that nothing expires at once. Check the time service of the machine.", off.Round(time.Second)))
	}
	return w
}

// operatorWarnings returns all warnings for the operator. They are printed at startup and
// returned by the operator's API. The public status page omits the warnings that would help an
// attacker.
func (a *App) operatorWarnings() []string {
	w := a.warnings()
	if a.trustsThisMachine() {
		w = append(w, "No account exists yet, so requests from this machine may change the server's river. If a proxy or a tunnel on this machine forwards requests of others, create the first account before they can reach it, and set public-url and trusted-proxies.")
	}
	return w
}

// trustsThisMachine reports whether pages treat requests from a loopback address to a loopback
// name as the operator's requests. Pages do so until the first account exists, unless public-url
// is set. The danger is a local proxy that forwards the Host header and adds no headers: the
// server cannot distinguish its requests from local ones.
func (a *App) trustsThisMachine() bool {
	host := href.Host(a.names.Public())
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return (host == "localhost" || err == nil && ip.IsLoopback()) && a.owners.fresh(context.Background())
}

// Admin returns the handler of the operator's API. A listener or a command in this process can
// use the handler.
func (a *App) Admin() http.Handler { return a.operator.Handler() }

// Hub returns the hub engine.
func (a *App) Hub() *hub.Hub { return a.hub }

// Close closes the store. Call Close only after Run has returned.
func (a *App) Close() error {
	if a.store == nil {
		return nil
	}
	a.client.CloseIdle()
	a.reader.CloseIdle()
	a.doer.CloseIdle()
	a.mentionReader.CloseIdle()
	a.sender.Close()
	return a.store.Close()
}

// addrPorts returns the TCP addresses of listeners as values that a guard can compare.
func addrPorts(list ...net.Listener) []netip.AddrPort {
	var out []netip.AddrPort
	for _, l := range list {
		if t, ok := l.Addr().(*net.TCPAddr); ok {
			out = append(out, t.AddrPort())
		}
	}
	return out
}
