package config

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"cloudburst/internal/announce"
)

// Config is the configuration as the program uses it. Make it with [Load], or
// with [Default] in tests.
type Config struct {
	Listen         string
	Profile        string // none, guide-2009
	Data           string
	PublicURL      string // without a trailing slash; "" is derived, see Public
	Database       string // "" is SQLite in Data
	TrustedProxies []netip.Prefix
	ShutdownDelay  time.Duration

	TLS    TLS
	Admin  Admin
	Disk   Disk
	Egress Egress
	Hub    Hub
	WebSub WebSub
	CNWS   CNWS
	// Changes is the list of changes.
	Changes  Changes
	Ping     Ping
	Accounts Accounts
	Feeds    Feeds
	Write    Write
	Media    Media
	River    River
	SMTP     SMTP
	Trace    Trace
	Log      Log
}

// Disk says how much space the data folder needs.
type Disk struct {
	MinFree int // bytes; 0: any amount is enough
}

// River says how feeds are read here, and who may see them.
type River struct {
	Public       string // owner, everyone
	AtOnce       int
	PerHost      int
	HostInterval time.Duration // 0: none
	OwnHosts     string        // separated by commas
	Keep         int
	KeepFor      time.Duration
	MaxFeeds     int    // of one user
	Images       string // proxy, direct, off
}

// SMTP is the way to send mail.
type SMTP struct {
	Server, From, User, Password, TLS string
	AccountLimit, RecipientLimit      int // mails of a day
}

// Accounts says who may have one, and what keeps their readers' secrets.
type Accounts struct {
	Registration string // closed, open
	SecretKey    string // "" is derived: see the setting
}

// Feeds bounds what serving the feeds of this server takes.
type Feeds struct {
	Memory      int           // bytes
	KeepReaders time.Duration // of a day's count
	Window      int           // posts that a written feed has at least
}

// Write bounds short posts.
type Write struct {
	Limit     int    // characters
	LimitMode string // warn, stop, off
	MaxPosts  int    // published ones of a user; 0: no bound
}

// Media bounds the files that people put beside their posts.
type Media struct {
	MaxSize int // bytes of one
	Quota   int // bytes of all of a user; 0: no bound
}

// Admin is the operator's listener.
type Admin struct{ Listen string }

// Egress holds the exceptions from "public addresses only".
type Egress struct{ AllowFetch, AllowCallback []netip.Prefix }

// Hub holds the engine's figures.
type Hub struct {
	Expiry          time.Duration
	MaxErrors       int
	PingInterval    time.Duration
	CallbackTimeout time.Duration
	Retry           []time.Duration
	SourceRate      float64 // per second; 0: no limit
	HostRate        float64 // per second; 0: no limit
	CloudProtocol   string  // auto, http-post or https-post
	MaxInFlight     int     // 0: from the limit of open files
}

// WebSub holds what the hub grants to WebSub subscribers.
type WebSub struct {
	Topics     string        // open, known, own
	MaxContent int           // bytes
	Oversize   string        // refuse, thin
	Signature  string        // sha1, sha256, sha384, sha512
	MaxLease   time.Duration // and what is granted by default
}

// CNWS holds what subscribers of 2003's notification service are granted.
type CNWS struct{ Ageing time.Duration }

// Changes says how the list of changes is written, kept and fed.
type Changes struct {
	When   string        // minutes, seconds
	Keep   time.Duration // of a line
	Follow []string      // changes.xml of other servers
}

// Ping says who is told of what is saved here, besides the own hub.
type Ping struct{ PingTargets []announce.Target }

// Log says what is written and kept.
type Log struct {
	Level  string // debug, info, warn, error
	Format string // text, json
	Keep   time.Duration
}

// SlogLevel is Level as slog counts it.
func (l Log) SlogLevel() slog.Level {
	var level slog.Level
	if level.UnmarshalText([]byte(l.Level)) != nil {
		return slog.LevelInfo
	}
	return level
}

// Default is the configuration when nobody says anything.
func Default() Config {
	var c Config
	for _, s := range Settings() {
		// The table's own defaults parse: a test holds that.
		if p, err := s.parse(s.Default); err == nil {
			s.set(&c, p)
		}
	}
	return c
}

// Public is the public URL, without a trailing slash. Where none is set it follows
// from addr, the address that the public listener really has: a specific address or
// name is kept as it is, every wildcard is localhost.
func (c Config) Public(addr string) string {
	if c.PublicURL != "" {
		return c.PublicURL
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://localhost"
	}
	ip, err := netip.ParseAddr(host)
	wildcard, here := host == "" || err == nil && ip.IsUnspecified(), err == nil && ip.IsLoopback()
	// A certificate names hosts, hardly ever a loopback address.
	if wildcard || here && (c.TLS.On() || c.listensAtName()) {
		host = "localhost"
	}
	if c.TLS.On() {
		return c.publicTLS(host, port)
	}
	if port == "80" {
		return "http://" + bracketed(host)
	}
	return "http://" + net.JoinHostPort(host, port)
}

// listensAtName reports a listen setting that names localhost and not an address.
func (c Config) listensAtName() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	return err == nil && strings.EqualFold(host, "localhost")
}

// bracketed is a host as it is in a URL without a port.
func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// Warnings are sentences for the operator about settings that are allowed and
// may not be what was meant. They belong at the start and on the status page.
func (c Config) Warnings() []string {
	var w []string
	if c.PublicURL == "" && len(c.TLS.Domains) == 0 {
		w = append(w, c.publicWarning())
	}
	w = append(w, c.tlsWarnings()...)
	if !loopback(c.Admin.Listen) {
		w = append(w, fmt.Sprintf("admin.listen is %s, not a loopback address: everyone who can connect to it controls this server.", c.Admin.Listen))
	}
	if len(c.Egress.AllowFetch) > 0 {
		w = append(w, fmt.Sprintf("egress.allow-fetch lets anyone make this server read feeds from %s.", joinNetworks(c.Egress.AllowFetch)))
	}
	if len(c.Egress.AllowCallback) > 0 {
		w = append(w, fmt.Sprintf("egress.allow-callback lets anyone make this server send requests to %s.", joinNetworks(c.Egress.AllowCallback)))
	}
	for _, p := range c.TrustedProxies {
		if p.Bits() == 0 {
			w = append(w, fmt.Sprintf("trusted-proxies holds %s: every caller may then claim to be anyone.", p))
		}
	}
	return w
}

// publicWarning says which host links name while public-url is not set.
func (c Config) publicWarning() string {
	text := "public-url is not set: links and the <cloud> element name "
	u, err := url.Parse(c.Public(c.Listen))
	if err != nil {
		return text + "the address of the public listener."
	}
	if loopback(net.JoinHostPort(u.Hostname(), "80")) {
		return text + u.Hostname() + ", which no other machine can reach."
	}
	return text + u.Hostname() + ", the address that listen has."
}

func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

func joinNetworks(nets []netip.Prefix) string {
	s := make([]string, len(nets))
	for i, n := range nets {
		s[i] = n.String()
	}
	return strings.Join(s, ", ")
}

// Redact hides the password of a database URL, and everything of a text that is
// not a URL. It is safe to show.
func Redact(database string) string {
	if database == "" {
		return ""
	}
	u, err := url.Parse(database)
	if err != nil || u.Scheme == "" || u.Opaque != "" {
		return "(hidden)"
	}
	q := u.Query()
	for key := range q {
		if strings.Contains(strings.ToLower(key), "password") {
			q.Set(key, "xxxxx")
			u.RawQuery = q.Encode()
		}
	}
	return u.Redacted()
}
