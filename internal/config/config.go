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
	Profile        string // none or guide-2009
	Data           string
	PublicURL      string // URL without a trailing slash; "": Public derives it
	Database       string // PostgreSQL URL; "": SQLite in the folder Data
	TrustedProxies []netip.Prefix
	ShutdownDelay  time.Duration
	Server         string // server that commands connect to, host:port or http URL; "": from the data folder

	TLS     TLS
	Admin   Admin
	Disk    Disk
	Egress  Egress
	Hub     Hub
	WebSub  WebSub
	CNWS    CNWS
	Changes Changes
	Ping    Ping

	Webmention Webmention
	Accounts   Accounts
	Feeds      Feeds
	Write      Write
	Media      Media
	River      River
	SMTP       SMTP
	Trace      Trace
	Log        Log

	// Values has the text and origin of each setting, for the pages of administrators. nil: unknown.
	Values []Value
}

// Disk limits the use of the data folder's disk.
type Disk struct {
	MinFree int // minimum free space in bytes; 0: no minimum
}

// River configures how feeds are fetched and who can see the river.
type River struct {
	Public       string // owner or everyone
	Concurrency  int    // maximum number of feeds that are fetched at the same time
	PerHost      int
	HostInterval time.Duration // minimum time between two requests to one host; 0: none
	UnpacedHosts string        // comma-separated hosts to which HostInterval does not apply
	Keep         int
	KeepFor      time.Duration
	MaxFeeds     int    // maximum number of feeds that a user can follow
	Images       string // proxy, direct or off
}

// SMTP is the mail server for outgoing mail.
type SMTP struct {
	Server, From, User, Password, TLS string
	AccountLimit, RecipientLimit      int // maximum number of mails per day
}

// Accounts configures registration and the encryption of feed secrets.
type Accounts struct {
	Registration string // closed or open
	SecretKey    string // "": derived, as the documentation of the setting states
	Directory    string // public or off
}

// Feeds limits the resources for serving hosted feeds.
type Feeds struct {
	Memory      int           // maximum memory in bytes
	KeepReaders time.Duration // age at which daily counts are deleted
	Window      int           // minimum number of posts in an author's feed
}

// Write limits posts.
type Write struct {
	Limit     int    // maximum length of a post in characters
	LimitMode string // warn, stop or off
	MaxPosts  int    // maximum number of published posts of a user; 0: no limit
}

// Media limits uploaded files.
type Media struct {
	MaxSize int // maximum size of one file in bytes
	Quota   int // maximum size of all files of a user in bytes; 0: no limit

	Bucket, BucketRegion    string // URL and region of the bucket for file contents; "": the database stores the contents
	BucketKey, BucketSecret string // access key ID and secret access key
}

// Admin is the admin listener.
type Admin struct{ Listen string }

// Egress lists networks that outgoing requests may reach although they are not public.
type Egress struct{ AllowFetch, AllowCallback []netip.Prefix }

// Hub configures the engine of the hub.
type Hub struct {
	Expiry          time.Duration
	MaxErrors       int
	PingInterval    time.Duration
	CallbackTimeout time.Duration
	Retry           []time.Duration
	ClientRate      float64 // maximum requests per second; 0: no limit
	HostRate        float64 // maximum requests per second; 0: no limit
	CloudProtocol   string  // auto, http-post or https-post
	MaxInFlight     int     // maximum number of concurrent notifications; 0: derived from the limit of open files
}

// WebSub configures what WebSub subscribers can request.
type WebSub struct {
	Topics      string        // open, known or own
	MaxContent  int           // maximum size in bytes
	LargeTopics string        // reject or without-content
	Signature   string        // sha1, sha256, sha384 or sha512
	MaxLease    time.Duration // longest lease, which is also the default lease
}

// CNWS configures the notification service of 2003.
type CNWS struct{ DropAfter time.Duration }

// Changes configures the recent changes (changes.xml).
type Changes struct {
	When   string        // minutes or seconds
	Keep   time.Duration // age at which an entry is deleted
	Follow []string      // URLs of changes.xml on other servers
}

// Webmention turns the exchange of webmentions on or off for all authors.
type Webmention struct{ Receive, Send bool }

// Ping lists the servers that are pinged after a save, in addition to this server's hub.
type Ping struct{ Targets []announce.Target }

// Log configures the log on standard error and the stored log of the hub.
type Log struct {
	Level  string // debug, info, warn or error
	Format string // text or json
	Keep   time.Duration
}

// SlogLevel returns Level as a slog.Level.
func (l Log) SlogLevel() slog.Level {
	var level slog.Level
	if level.UnmarshalText([]byte(l.Level)) != nil {
		return slog.LevelInfo
	}
	return level
}

// Default returns the configuration without flags, environment and file.
func Default() Config {
	var c Config
	for _, s := range Settings() {
		// A test ensures that the defaults parse.
		if p, err := s.parse(s.Default); err == nil {
			s.set(&c, p)
		}
	}
	return c
}

// Public returns the public URL, without a trailing slash. If the setting public-url is empty,
// Public derives the URL from addr, the address of the open public listener. A specific address or
// name stays as it is, and a wildcard becomes localhost.
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
	// Certificates are for host names and rarely for loopback addresses.
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

// listensAtName reports whether the listen setting has the name localhost instead of an address.
func (c Config) listensAtName() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	return err == nil && strings.EqualFold(host, "localhost")
}

// bracketed formats a host for a URL without a port. IPv6 addresses get brackets.
func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// Warnings returns sentences for the operator about settings that are valid but probably not
// intended. The server logs them at startup and shows them on the status page.
func (c Config) Warnings() []string {
	var w []string
	if c.PublicURL == "" && len(c.TLS.Domains) == 0 {
		w = append(w, c.publicWarning())
	}
	w = append(w, c.tlsWarnings()...)
	if !loopback(c.Admin.Listen) {
		w = append(w, fmt.Sprintf("admin.listen is %s, not a loopback address: every client that can connect to it controls this server. Use a loopback address such as 127.0.0.1:5338.", c.Admin.Listen))
	}
	if len(c.Egress.AllowFetch) > 0 {
		w = append(w, fmt.Sprintf("egress.allow-fetch lets anyone make this server read feeds from %s. Remove networks that need no feeds.", joinNetworks(c.Egress.AllowFetch)))
	}
	if len(c.Egress.AllowCallback) > 0 {
		w = append(w, fmt.Sprintf("egress.allow-callback lets anyone make this server send requests to %s. Remove networks without subscribers.", joinNetworks(c.Egress.AllowCallback)))
	}
	for _, p := range c.TrustedProxies {
		if p.Bits() == 0 {
			w = append(w, fmt.Sprintf("trusted-proxies holds %s: every caller may then claim to be anyone. List only the addresses of your proxies.", p))
		}
	}
	return w
}

// publicWarning returns the warning for a missing public-url. The warning names the host that links
// contain instead.
func (c Config) publicWarning() string {
	u, err := url.Parse(c.Public(c.Listen))
	if err != nil {
		return "public-url is not set: links and the <cloud> element name the address of the public listener."
	}
	if loopback(net.JoinHostPort(u.Hostname(), "80")) {
		return fmt.Sprintf("public-url is not set: links and the <cloud> element name %s, which no other machine can reach. Set it to the URL under which others reach this server.", u.Hostname())
	}
	return fmt.Sprintf("public-url is not set: links and the <cloud> element name %s, the address that listen has. Set it to the URL under which others reach this server.", u.Hostname())
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

// Redact hides the password of a database URL. If database is not a URL, Redact hides the whole
// text. The result is safe to show.
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
