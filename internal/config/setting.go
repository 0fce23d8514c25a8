// Package config is the program's configuration: one table of settings, read
// from flags, the environment and a TOML file under one set of names.
//
// The setting hub.ping-interval is the flag --hub.ping-interval, the variable
// CLOUDBURST_HUB_PING_INTERVAL and, in the file, ping-interval in the table
// [hub]. A flag wins over a variable, a variable over the file, the file over
// the profile, the profile over the default. A name that is not in the table is an error that says which known
// one is nearest. Start with [Settings] and [Load].
package config

import (
	"slices"
	"strings"

	"cloudburst/internal/announce"
)

// Kind says how a setting's text is read.
type Kind int

// Kinds of setting.
const (
	Text        Kind = iota // any text
	Folder                  // a path, not empty
	Address                 // host:port to listen on; an empty host means every address
	PublicURL               // scheme://host[:port], or empty
	Database                // postgres:// URL, or empty
	Networks                // comma-separated CIDRs or bare addresses
	Duration                // a Go duration, days allowed: 1d12h
	Durations               // comma-separated durations
	Count                   // a whole number
	Rate                    // a number, per second; 0 means no limit
	Choice                  // one of Choices
	URLs                    // comma-separated http or https URLs
	PingTargets             // comma-separated "KIND URL": other servers that are told
	Share                   // a number from 0 to 1
	Headers                 // comma-separated NAME=value: header fields
	Collector               // http or https URL, or empty
)

// Setting is one row of the table.
type Setting struct {
	Name    string // dotted, lower case: hub.ping-interval
	Kind    Kind
	Default string
	Doc     string   // one or two sentences for people
	Secret  bool     // may hold a password: shown redacted, and readable from a file by NAME_FILE
	Choices []string // Choice only
	Min     string   // least Duration or Count; "" means none
	Max     string   // greatest Duration or Count; "" means none

	set func(*Config, parsed)
}

const envPrefix = "CLOUDBURST_"

// Env is the name of the variable that sets it.
func (s Setting) Env() string { return envName(s.Name) }

func envName(name string) string {
	return envPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name))
}

// EnvFile is the variable that names a file which holds the value; "" when the
// setting is not a secret.
func (s Setting) EnvFile() string {
	if !s.Secret {
		return ""
	}
	return s.Env() + "_FILE"
}

// Settings is the table, in the order in which people read it: names without a
// dot first, then table by table.
func Settings() []Setting {
	return slices.Concat(general(), tlsSettings(), hubSettings(), websubSettings(), listSettings(), accountSettings(), writeSettings(), riverSettings(), mailSettings(), traceSettings(), logSettings())
}

func general() []Setting {
	return []Setting{
		{Name: "listen", Kind: Address, Default: ":5337",
			Doc: "Address of the public listener: the doors of the protocols and the pages.",
			set: func(c *Config, p parsed) { c.Listen = p.text }},
		{Name: "profile", Kind: Choice, Default: "none", Choices: []string{"none", ProfileGuide2009},
			Doc: "Set of defaults. guide-2009 follows the guide to rssCloud of 2009: write.limit-mode is stop, changes.when is minutes, hub.cloud-protocol is http-post, and ping.sinks is weblogs-extended http://rpc.weblogs.com/RPC2. A setting with an explicit value keeps that value.",
			set: func(c *Config, p parsed) { c.Profile = p.text }},
		{Name: "data", Kind: Folder, Default: "cloudburst-data",
			Doc: "Folder of everything the program keeps. It is made when it does not exist; one process may use it at a time.",
			set: func(c *Config, p parsed) { c.Data = p.text }},
		{Name: "public-url", Kind: PublicURL, Default: "",
			Doc: "How the world reaches the public listener, for the <cloud> element and for links. Empty: http:// with the host and port of listen, and localhost as the host where listen names none.",
			set: func(c *Config, p parsed) { c.PublicURL = p.text }},
		{Name: "database", Kind: Database, Default: "", Secret: true,
			Doc: "A PostgreSQL database (postgres://user:password@host/name) in place of the SQLite file in the data folder. Several processes may share one.",
			set: func(c *Config, p parsed) { c.Database = p.text }},
		{Name: "trusted-proxies", Kind: Networks, Default: "",
			Doc: "Reverse proxies whose X-Forwarded-For and Forwarded headers say who the caller is. Networks or addresses, separated by commas.",
			set: func(c *Config, p parsed) { c.TrustedProxies = p.networks }},
		{Name: "shutdown-delay", Kind: Duration, Default: "0s", Min: "0s", Max: "5m",
			Doc: "How long a server that is told to stop still answers, while /readyz says 503 and each answer closes its connection: a balancer in front sends requests elsewhere meanwhile. Longer than it takes to notice.",
			set: func(c *Config, p parsed) { c.ShutdownDelay = p.duration }},
		{Name: "admin.listen", Kind: Address, Default: "127.0.0.1:5338",
			Doc: "Address of the operator's listener: JSON API, metrics, profiles. Whoever reaches it may do everything: keep it on a loopback address.",
			set: func(c *Config, p parsed) { c.Admin.Listen = p.text }},
		{Name: "disk.min-free", Kind: Count, Default: "67108864", Min: "0", Max: "1099511627776",
			Doc: "Bytes that have to be free on the disk of the data folder: below, /readyz answers 503 while everything else goes on. On a small disk an eighth of its size, where that is less. 0: any amount is enough. Only without database.",
			set: func(c *Config, p parsed) { c.Disk.MinFree = p.count }},
		{Name: "egress.allow-fetch", Kind: Networks, Default: "",
			Doc: "Private or reserved networks from which feeds may be read all the same. Empty: public addresses only.",
			set: func(c *Config, p parsed) { c.Egress.AllowFetch = p.networks }},
		{Name: "egress.allow-callback", Kind: Networks, Default: "",
			Doc: "Private or reserved networks to which notifications may be sent all the same. Empty: public addresses only.",
			set: func(c *Config, p parsed) { c.Egress.AllowCallback = p.networks }},
	}
}

func hubSettings() []Setting {
	return []Setting{
		{Name: "hub.expiry", Kind: Duration, Default: "25h", Min: "1s", Max: "8760h",
			Doc: "Life of a registration that is not renewed.",
			set: func(c *Config, p parsed) { c.Hub.Expiry = p.duration }},
		{Name: "hub.max-errors", Kind: Count, Default: "3", Min: "1", Max: "1000",
			Doc: "Changes in a row that may fail to reach a subscriber before the sweep at the top of the hour drops it.",
			set: func(c *Config, p parsed) { c.Hub.MaxErrors = p.count }},
		{Name: "hub.cloud-protocol", Kind: Choice, Default: "auto", Choices: []string{"auto", "http-post", "https-post"},
			Doc: "Protocol of the <cloud> element where public-url is https. auto: http-post at the port of tls.http-listen if that is set, else https-post. http-post without tls.http-listen: at the port of public-url, where aggregators need TLS.",
			set: func(c *Config, p parsed) { c.Hub.CloudProtocol = p.text }},
		{Name: "hub.ping-interval", Kind: Duration, Default: "1s", Min: "1ms", Max: "1h",
			Doc: "Least time between two checks of one feed. Pings in between are answered, and the last change is always told.",
			set: func(c *Config, p parsed) { c.Hub.PingInterval = p.duration }},
		{Name: "hub.callback-timeout", Kind: Duration, Default: "15s", Min: "100ms", Max: "5m",
			Doc: "Time for one notification, from the dial to the answer.",
			set: func(c *Config, p parsed) { c.Hub.CallbackTimeout = p.duration }},
		{Name: "hub.retry", Kind: Durations, Default: "5s,30s,2m,10m,1h", Min: "1ms", Max: "24h",
			Doc: "Waits after a failed notification, one for each attempt; the last one repeats until the next change or the drop.",
			set: func(c *Config, p parsed) { c.Hub.Retry = p.durations }},
		{Name: "hub.source-rate", Kind: Rate, Default: "200",
			Doc: "Pings, and feeds to register for, a second from one source (a /24 or a /56). 0: no limit.",
			set: func(c *Config, p parsed) { c.Hub.SourceRate = p.rate }},
		{Name: "hub.host-rate", Kind: Rate, Default: "100",
			Doc: "Checks a second of one feed host, at all of its ports and in every spelling of its name. 0: no limit.",
			set: func(c *Config, p parsed) { c.Hub.HostRate = p.rate }},
		{Name: "hub.max-in-flight", Kind: Count, Default: "0", Min: "0", Max: "1000000",
			Doc: "Notifications under way at once. 0: as many as the limit of open files (ulimit -n) allows.",
			set: func(c *Config, p parsed) { c.Hub.MaxInFlight = p.count }},
	}
}

func websubSettings() []Setting {
	return []Setting{
		{Name: "websub.topics", Kind: Choice, Default: "open", Choices: []string{"open", "known", "own"},
			Doc: "Topics that may be subscribed to over WebSub: any that can be read (open), those that somebody follows here already or that this server serves (known), or only those that it serves (own).",
			set: func(c *Config, p parsed) { c.WebSub.Topics = p.text }},
		{Name: "websub.max-content", Kind: Count, Default: "1048576", Min: "1024", Max: "5242880",
			Doc: "Bytes; a larger topic is not delivered over WebSub.",
			set: func(c *Config, p parsed) { c.WebSub.MaxContent = p.count }},
		{Name: "websub.oversize", Kind: Choice, Default: "refuse", Choices: []string{"refuse", "thin"},
			Doc: "What becomes of a larger topic: nobody can subscribe to it any more, and those who did are not told of its changes until it is smaller again (refuse); or they are told without the content (thin), which the WebSub text does not provide for.",
			set: func(c *Config, p parsed) { c.WebSub.Oversize = p.text }},
		{Name: "websub.signature", Kind: Choice, Default: "sha256", Choices: []string{"sha1", "sha256", "sha384", "sha512"},
			Doc: "Method of the signature of WebSub deliveries to subscribers that gave a secret.",
			set: func(c *Config, p parsed) { c.WebSub.Signature = p.text }},
		{Name: "websub.max-lease", Kind: Duration, Default: "240h", Min: "5m", Max: "8760h",
			Doc: "Longest life of a WebSub subscription, granted also when the subscriber names none. The shortest is 5 minutes.",
			set: func(c *Config, p parsed) { c.WebSub.MaxLease = p.duration }},
		{Name: "cnws.ageing", Kind: Duration, Default: "24h", Min: "24h", Max: "8760h",
			Doc: "How long a CNWS subscriber that cannot be reached is tried before it is removed.",
			set: func(c *Config, p parsed) { c.CNWS.Ageing = p.duration }},
	}
}

func listSettings() []Setting {
	return []Setting{
		{Name: "changes.when", Kind: Choice, Default: "minutes", Choices: []string{"minutes", "seconds"},
			Doc: "Unit of the attribute when in changes.xml: minutes since the ping, or seconds, as the original weblogs.com had it.",
			set: func(c *Config, p parsed) { c.Changes.When = p.text }},
		{Name: "changes.keep", Kind: Duration, Default: "720h", Min: "1h", Max: "87600h",
			Doc: "How long the lines of the list of changes, and with them the hourly archive, are kept.",
			set: func(c *Config, p parsed) { c.Changes.Keep = p.duration }},
		{Name: "changes.follow", Kind: URLs, Default: "",
			Doc: "Lists of changes of other servers (changes.xml), separated by commas. What they name and somebody follows here is checked. Each is read every 5 minutes.",
			set: func(c *Config, p parsed) { c.Changes.Follow = p.urls }},
		{Name: "ping.sinks", Kind: PingTargets, Default: "",
			Doc: "Other servers that are told of each public feed that is saved here, separated by commas: how each is told (" + strings.Join(announce.Kinds(), ", ") + "), a blank, and its URL. This server's own hub is told in any case.",
			set: func(c *Config, p parsed) { c.Ping.PingTargets = p.sinks }},
	}
}

func accountSettings() []Setting {
	return []Setting{
		{Name: "accounts.registration", Kind: Choice, Default: "closed", Choices: []string{"closed", "open"},
			Doc: "Who may make an account: the operator only (closed), or everybody who opens the page for it (open).",
			set: func(c *Config, p parsed) { c.Accounts.Registration = p.text }},
		{Name: "accounts.secret-key", Kind: Text, Default: "", Secret: true,
			Doc: "What the secrets of private feeds are encrypted with: at least 16 characters, the same on all machines that share a database. Empty: a key that is made once and kept in the data folder.",
			set: func(c *Config, p parsed) { c.Accounts.SecretKey = p.text }},
		{Name: "feeds.memory", Kind: Count, Default: "67108864", Min: "1048576", Max: "68719476736",
			Doc: "Bytes of written feeds that are kept in memory, all formats and packed forms together.",
			set: func(c *Config, p parsed) { c.Feeds.Memory = p.count }},
		{Name: "feeds.keep-readers", Kind: Duration, Default: "2160h", Min: "48h", Max: "87600h",
			Doc: "How long the daily counts of a feed's readers are kept.",
			set: func(c *Config, p parsed) { c.Feeds.KeepReaders = p.duration }},
	}
}

func writeSettings() []Setting {
	return []Setting{
		{Name: "feeds.window", Kind: Count, Default: "20", Min: "1", Max: "1000",
			Doc: "Posts that the feed of somebody who writes here has at least; older ones are in its archive, in pages of as many.",
			set: func(c *Config, p parsed) { c.Feeds.Window = p.count }},
		{Name: "write.limit", Kind: Count, Default: "140", Min: "1", Max: "100000",
			Doc: "Characters of a short post: one without a title.",
			set: func(c *Config, p parsed) { c.Write.Limit = p.count }},
		{Name: "write.limit-mode", Kind: Choice, Default: "warn", Choices: []string{"warn", "stop", "off"},
			Doc: "What becomes of a short post that is longer: its writer is warned (warn), it is not published (stop), or nothing, and nothing is counted (off).",
			set: func(c *Config, p parsed) { c.Write.LimitMode = p.text }},
		{Name: "write.max-posts", Kind: Count, Default: "1000000", Min: "0", Max: "1000000000",
			Doc: "Posts that one user may have published; whoever wants to publish more is told to delete some. 0: no limit.",
			set: func(c *Config, p parsed) { c.Write.MaxPosts = p.count }},
		{Name: "media.max-size", Kind: Count, Default: "67108864", Min: "1024", Max: "4294967296",
			Doc: "Bytes of one file that somebody puts beside a post.",
			set: func(c *Config, p parsed) { c.Media.MaxSize = p.count }},
		{Name: "media.quota", Kind: Count, Default: "1073741824", Min: "0", Max: "1099511627776",
			Doc: "Bytes of all such files of one user together. 0: no limit.",
			set: func(c *Config, p parsed) { c.Media.Quota = p.count }},
	}
}

func riverSettings() []Setting {
	return []Setting{
		{Name: "river.public", Kind: Choice, Default: "owner", Choices: []string{"owner", "everyone"},
			Doc: "Who may see the server's own river at /river: the owner of the first account, signed in (owner), or everyone. While there is no account, everyone may.",
			set: func(c *Config, p parsed) { c.River.Public = p.text }},
		{Name: "river.at-once", Kind: Count, Default: "32", Min: "1", Max: "1024",
			Doc: "Feeds that are read at the same time.",
			set: func(c *Config, p parsed) { c.River.AtOnce = p.count }},
		{Name: "river.per-host", Kind: Count, Default: "2", Min: "1", Max: "64",
			Doc: "Connections to one host for reading feeds.",
			set: func(c *Config, p parsed) { c.River.PerHost = p.count }},
		{Name: "river.host-interval", Kind: Duration, Default: "1s", Min: "0s", Max: "1h",
			Doc: "Least time between the starts of two checks at one host.",
			set: func(c *Config, p parsed) { c.River.HostInterval = p.duration }},
		{Name: "river.own-hosts", Kind: Text, Default: "",
			Doc: "Hosts of one's own, separated by commas, of which feeds are read without that time between them and with as many connections as there are; * means all hosts.",
			set: func(c *Config, p parsed) { c.River.OwnHosts = p.text }},
		{Name: "river.keep", Kind: Count, Default: "1000", Min: "10", Max: "1000000",
			Doc: "Items that are kept of one feed. Starred ones are kept besides, and so is what the feed still holds.",
			set: func(c *Config, p parsed) { c.River.Keep = p.count }},
		{Name: "river.keep-for", Kind: Duration, Default: "4320h", Min: "24h", Max: "876000h",
			Doc: "How long an item is kept that its feed does not hold any more.",
			set: func(c *Config, p parsed) { c.River.KeepFor = p.duration }},
		{Name: "river.max-feeds", Kind: Count, Default: "5000", Min: "1", Max: "250000",
			Doc: "Feeds that one user may follow. Feeds beyond the limit are not added; an import says how many. What the operator adds by command, or on the operator's listener, may exceed the limit, up to 250000 feeds.",
			set: func(c *Config, p parsed) { c.River.MaxFeeds = p.count }},
		{Name: "river.images", Kind: Choice, Default: "proxy", Choices: []string{"proxy", "direct", "off"},
			Doc: "Pictures in posts: read through this server, so that nobody else learns who reads what (proxy); by the browser from where they are (direct); or not shown (off).",
			set: func(c *Config, p parsed) { c.River.Images = p.text }},
	}
}

func mailSettings() []Setting {
	return []Setting{
		{Name: "smtp.server", Kind: Text, Default: "",
			Doc: "Mail server, host:port, through which readers are told of what arrives. Empty: no mail is sent.",
			set: func(c *Config, p parsed) { c.SMTP.Server = p.text }},
		{Name: "smtp.from", Kind: Text, Default: "",
			Doc: "Sender of that mail: an address, or a name with an address in angle brackets.",
			set: func(c *Config, p parsed) { c.SMTP.From = p.text }},
		{Name: "smtp.user", Kind: Text, Default: "",
			Doc: "User name at the mail server. Empty: it asks for none.",
			set: func(c *Config, p parsed) { c.SMTP.User = p.text }},
		{Name: "smtp.password", Kind: Text, Default: "", Secret: true,
			Doc: "Password at the mail server.",
			set: func(c *Config, p parsed) { c.SMTP.Password = p.text }},
		{Name: "smtp.tls", Kind: Choice, Default: "starttls", Choices: []string{"starttls", "tls", "none"},
			Doc: "How the way to the mail server is protected: by STARTTLS, by TLS from the beginning, or not at all, which is for a server on this machine.",
			set: func(c *Config, p parsed) { c.SMTP.TLS = p.text }},
		{Name: "smtp.account-limit", Kind: Count, Default: "500", Min: "1", Max: "1000000",
			Doc: "Mails that one user may have forwarded in a day (UTC). Items beyond the limit wait for the next day.",
			set: func(c *Config, p parsed) { c.SMTP.AccountLimit = p.count }},
		{Name: "smtp.recipient-limit", Kind: Count, Default: "200", Min: "1", Max: "1000000",
			Doc: "Mails that one mailbox receives in a day (UTC), whoever forwards them. Items beyond the limit wait for the next day.",
			set: func(c *Config, p parsed) { c.SMTP.RecipientLimit = p.count }},
	}
}

func logSettings() []Setting {
	return []Setting{
		{Name: "log.level", Kind: Choice, Default: "info", Choices: []string{"debug", "info", "warn", "error"},
			Doc: "Least level of what the program writes to standard error.",
			set: func(c *Config, p parsed) { c.Log.Level = p.text }},
		{Name: "log.format", Kind: Choice, Default: "text", Choices: []string{"text", "json"},
			Doc: "Form of those lines.",
			set: func(c *Config, p parsed) { c.Log.Format = p.text }},
		{Name: "log.keep", Kind: Duration, Default: "720h", Min: "1m", Max: "87600h",
			Doc: "How long the hub's own log (the rows behind the log page) is kept.",
			set: func(c *Config, p parsed) { c.Log.Keep = p.duration }},
	}
}
