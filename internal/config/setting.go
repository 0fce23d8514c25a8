// Package config is the program's configuration: one table of settings, read
// from flags, the environment and a TOML file under one set of names.
//
// The setting hub.ping-interval is the flag --hub.ping-interval, the variable
// CLOUDBURST_HUB_PING_INTERVAL and, in the file, ping-interval in the table
// [hub]. A flag wins over a variable, a variable over the file, the file over
// the profile, the profile over the default. The error about an unknown name suggests
// the nearest known name. Start with [Settings] and [Load].
package config

import (
	"slices"
	"strings"

	"cloudburst/internal/announce"
)

// Kind is the type of a setting's value. It decides how the text is parsed.
type Kind int

// Kinds of setting.
const (
	Text        Kind = iota // any text
	Folder                  // a path, not empty
	Address                 // host:port to listen on; an empty host means every address
	Server                  // host:port or http://host:port to connect to, or empty
	PublicURL               // scheme://host[:port], or empty
	Database                // postgres:// URL, or empty
	Networks                // comma-separated CIDRs or bare addresses
	Duration                // a Go duration, which can begin with days: 1d12h
	Durations               // comma-separated durations
	Count                   // a whole number
	Size                    // a number of bytes with a unit: 64MiB
	Rate                    // a number per second; 0: no limit
	Choice                  // one of Choices
	URLs                    // comma-separated http or https URLs
	PingTargets             // comma-separated "KIND URL": other servers to ping
	Share                   // a number from 0 to 1
	Headers                 // comma-separated NAME=value: header fields
	Collector               // http or https URL, or empty
	Hosts                   // comma-separated hosts, each with or without a port
	Domains                 // comma-separated hosts; a leading dot means all subdomains
)

// Setting is one row of the table.
type Setting struct {
	Name    string // dotted, lowercase: hub.ping-interval
	Kind    Kind
	Default string
	Doc     string   // one or two sentences for people
	Secret  bool     // may hold a password: shown redacted, and NAME_FILE can name a file with the value
	Choices []string // allowed values of a Choice
	Min     string   // smallest Duration, Count or Size; "": none
	Max     string   // largest Duration, Count or Size; "": none

	Client     bool              // only for commands that connect to a server, not for the command serve
	Old        string            // former name, which still works with a warning; "": none
	OldChoices map[string]string // key: former word of Choices; value: the current word

	set func(*Config, parsed)
}

const envPrefix = "CLOUDBURST_"

// Env returns the name of the environment variable of s.
func (s Setting) Env() string { return envName(s.Name) }

func envName(name string) string {
	return envPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name))
}

// EnvFile returns the environment variable that names a file with the value; "" if s is
// not a secret.
func (s Setting) EnvFile() string {
	if !s.Secret {
		return ""
	}
	return s.Env() + "_FILE"
}

// Settings returns the table in the order in which it is printed: names without a dot first, then
// table by table.
func Settings() []Setting {
	return slices.Concat(general(), tlsSettings(), hubSettings(), websubSettings(), listSettings(), accountSettings(), writeSettings(), riverSettings(), mailSettings(), traceSettings(), logSettings())
}

func general() []Setting {
	return []Setting{
		{Name: "listen", Kind: Address, Default: ":5337",
			Doc: "Address of the public listener, which serves the protocols and the pages.",
			set: func(c *Config, p parsed) { c.Listen = p.text }},
		{Name: "profile", Kind: Choice, Default: "none", Choices: []string{"none", ProfileGuide2009},
			Doc: "Set of defaults. guide-2009 follows the rssCloud guide of 2009: write.limit-mode is stop, changes.when is minutes, hub.cloud-protocol is http-post, and ping.targets is weblogs-extended http://rpc.weblogs.com/RPC2. A setting with an explicit value keeps that value.",
			set: func(c *Config, p parsed) { c.Profile = p.text }},
		{Name: "data", Kind: Folder, Default: "cloudburst-data",
			Doc: "Folder for all data of the program. The program creates it if it is missing; only one process can use it at a time.",
			set: func(c *Config, p parsed) { c.Data = p.text }},
		{Name: "public-url", Kind: PublicURL, Default: "",
			Doc: "Public URL of this server, for links and the <cloud> element. Empty: http:// with the host and port of listen, or localhost if listen names no host.",
			set: func(c *Config, p parsed) { c.PublicURL = p.text }},
		{Name: "database", Kind: Database, Default: "", Secret: true,
			Doc: "PostgreSQL database (postgres://user:password@host/name) to use instead of the SQLite file in the data folder. Several processes can share one.",
			set: func(c *Config, p parsed) { c.Database = p.text }},
		{Name: "trusted-proxies", Kind: Networks, Default: "",
			Doc: "Reverse proxies whose X-Forwarded-For and Forwarded headers name the client. Networks or addresses, separated by commas.",
			set: func(c *Config, p parsed) { c.TrustedProxies = p.networks }},
		{Name: "shutdown-delay", Kind: Duration, Default: "0s", Min: "0s", Max: "5m",
			Doc: "Time that a stopping server still answers requests, while /readyz returns 503 and each response closes its connection. A load balancer needs this time to send requests elsewhere.",
			set: func(c *Config, p parsed) { c.ShutdownDelay = p.duration }},
		{Name: "server", Kind: Server, Default: "", Client: true,
			Doc: "Address of the server that commands talk to: host:port or the URL of its admin listener. Empty: the server that uses the data folder.",
			set: func(c *Config, p parsed) { c.Server = p.text }},
		{Name: "admin.listen", Kind: Address, Default: "127.0.0.1:5338",
			Doc: "Address of the admin listener: JSON API, metrics, profiles. Every client that can connect to it controls the server, so keep it on a loopback address.",
			set: func(c *Config, p parsed) { c.Admin.Listen = p.text }},
		{Name: "disk.min-free", Kind: Size, Default: "64MiB", Min: "0", Max: "1TiB",
			Doc: "Free space that the disk of the data folder needs. With less, /readyz returns 503 and everything else continues. On a small disk the limit is an eighth of its size, if that is less. 0: no limit. Without effect if database is set.",
			set: func(c *Config, p parsed) { c.Disk.MinFree = p.count }},
		{Name: "egress.allow-fetch", Kind: Networks, Default: "",
			Doc: "Private or reserved networks from which the server may read feeds. Empty: public addresses only.",
			set: func(c *Config, p parsed) { c.Egress.AllowFetch = p.networks }},
		{Name: "egress.allow-callback", Kind: Networks, Default: "",
			Doc: "Private or reserved networks to which the server may send notifications. Empty: public addresses only.",
			set: func(c *Config, p parsed) { c.Egress.AllowCallback = p.networks }},
	}
}

func hubSettings() []Setting {
	return []Setting{
		{Name: "hub.expiry", Kind: Duration, Default: "25h", Min: "1s", Max: "365d",
			Doc: "Lifetime of a registration that is not renewed.",
			set: func(c *Config, p parsed) { c.Hub.Expiry = p.duration }},
		{Name: "hub.max-errors", Kind: Count, Default: "3", Min: "1", Max: "1000",
			Doc: "Failed notifications in a row after which the hourly sweep removes a subscriber. Each change of a feed counts once.",
			set: func(c *Config, p parsed) { c.Hub.MaxErrors = p.count }},
		{Name: "hub.cloud-protocol", Kind: Choice, Default: "auto", Choices: []string{"auto", "http-post", "https-post"},
			Doc: "Protocol in the <cloud> element if public-url is https. auto: http-post at the port of tls.http-listen if that is set, else https-post. http-post without tls.http-listen: at the port of public-url, where aggregators need TLS.",
			set: func(c *Config, p parsed) { c.Hub.CloudProtocol = p.text }},
		{Name: "hub.ping-interval", Kind: Duration, Default: "1s", Min: "1ms", Max: "1h",
			Doc: "Minimum time between two checks of one feed. The hub answers pings in between and always delivers the last change.",
			set: func(c *Config, p parsed) { c.Hub.PingInterval = p.duration }},
		{Name: "hub.callback-timeout", Kind: Duration, Default: "15s", Min: "100ms", Max: "5m",
			Doc: "Time limit for one notification, from opening the connection to the response.",
			set: func(c *Config, p parsed) { c.Hub.CallbackTimeout = p.duration }},
		{Name: "hub.retry", Kind: Durations, Default: "5s,30s,2m,10m,1h", Min: "1ms", Max: "24h",
			Doc: "Waiting times after a failed notification, one for each attempt. The last one repeats until the next change or until the subscriber is removed.",
			set: func(c *Config, p parsed) { c.Hub.Retry = p.durations }},
		{Name: "hub.client-rate", Old: "hub.source-rate", Kind: Rate, Default: "200",
			Doc: "Pings and registered feeds per second from one client network (a /24 or a /56). 0: no limit.",
			set: func(c *Config, p parsed) { c.Hub.ClientRate = p.rate }},
		{Name: "hub.host-rate", Kind: Rate, Default: "100",
			Doc: "Feed checks per second for one host, over all its ports and all spellings of its name. 0: no limit.",
			set: func(c *Config, p parsed) { c.Hub.HostRate = p.rate }},
		{Name: "hub.max-in-flight", Kind: Count, Default: "0", Min: "0", Max: "1000000",
			Doc: "Notifications in progress at once. 0: derived from the limit of open files (ulimit -n).",
			set: func(c *Config, p parsed) { c.Hub.MaxInFlight = p.count }},
	}
}

func websubSettings() []Setting {
	return []Setting{
		{Name: "websub.topics", Kind: Choice, Default: "open", Choices: []string{"open", "known", "own"},
			Doc: "Topics that WebSub subscribers can subscribe to. open: every readable feed; known: feeds that have subscribers here or are hosted here; own: feeds hosted here.",
			set: func(c *Config, p parsed) { c.WebSub.Topics = p.text }},
		{Name: "websub.max-content", Kind: Size, Default: "1MiB", Min: "1KiB", Max: "5MiB",
			Doc: "Largest topic that the hub delivers over WebSub.",
			set: func(c *Config, p parsed) { c.WebSub.MaxContent = p.count }},
		{Name: "websub.large-topics", Old: "websub.oversize", Kind: Choice, Default: "reject", Choices: []string{"reject", "without-content"},
			OldChoices: map[string]string{"refuse": "reject", "thin": "without-content"},
			Doc:        "Treatment of topics above websub.max-content. reject: no new subscriptions, and no notifications until the topic is smaller again; without-content: notifications without the content, which WebSub does not specify.",
			set:        func(c *Config, p parsed) { c.WebSub.LargeTopics = p.text }},
		{Name: "websub.signature", Kind: Choice, Default: "sha256", Choices: []string{"sha1", "sha256", "sha384", "sha512"},
			Doc: "Signature method for deliveries to WebSub subscribers with a secret.",
			set: func(c *Config, p parsed) { c.WebSub.Signature = p.text }},
		{Name: "websub.max-lease", Kind: Duration, Default: "10d", Min: "5m", Max: "365d",
			Doc: "Longest lease of a WebSub subscription, and the lease of subscribers that request none. The shortest lease is 5 minutes.",
			set: func(c *Config, p parsed) { c.WebSub.MaxLease = p.duration }},
		{Name: "cnws.drop-after", Old: "cnws.ageing", Kind: Duration, Default: "24h", Min: "24h", Max: "365d",
			Doc: "Time after which the hub removes a CNWS subscriber that it cannot reach.",
			set: func(c *Config, p parsed) { c.CNWS.DropAfter = p.duration }},
	}
}

func listSettings() []Setting {
	return []Setting{
		{Name: "changes.when", Kind: Choice, Default: "minutes", Choices: []string{"minutes", "seconds"},
			Doc: "Unit of the attribute when in changes.xml: minutes since the ping, or seconds as on the original weblogs.com.",
			set: func(c *Config, p parsed) { c.Changes.When = p.text }},
		{Name: "changes.keep", Kind: Duration, Default: "30d", Min: "1h", Max: "3650d",
			Doc: "Age at which entries of the recent changes and of their hourly archive are deleted.",
			set: func(c *Config, p parsed) { c.Changes.Keep = p.duration }},
		{Name: "changes.follow", Kind: URLs, Default: "",
			Doc: "Recent changes (changes.xml) of other servers, separated by commas. The server reads each every 5 minutes and checks the listed feeds that have subscribers here.",
			set: func(c *Config, p parsed) { c.Changes.Follow = p.urls }},
		{Name: "ping.targets", Old: "ping.sinks", Kind: PingTargets, Default: "",
			Doc: "Other servers to ping after each save of a public feed, separated by commas: the protocol (" + strings.Join(announce.Kinds(), ", ") + "), a space, and the URL. The hub of this server is always notified.",
			set: func(c *Config, p parsed) { c.Ping.Targets = p.targets }},
	}
}

func accountSettings() []Setting {
	return []Setting{
		{Name: "accounts.registration", Kind: Choice, Default: "closed", Choices: []string{"closed", "open"},
			Doc: "Who can create an account. closed: the operator only; open: every visitor.",
			set: func(c *Config, p parsed) { c.Accounts.Registration = p.text }},
		{Name: "accounts.directory", Kind: Choice, Default: "public", Choices: []string{"public", "off"},
			Doc: "The list of authors at /people. public: every visitor finds the authors, except those who chose not to be listed; off: there is no list.",
			set: func(c *Config, p parsed) { c.Accounts.Directory = p.text }},
		{Name: "accounts.secret-key", Kind: Text, Default: "", Secret: true,
			Doc: "Key that encrypts the secrets of private feeds: at least 16 characters, the same on all nodes that share a database. Empty: the program creates a key and stores it in the data folder.",
			set: func(c *Config, p parsed) { c.Accounts.SecretKey = p.text }},
		{Name: "feeds.memory", Kind: Size, Default: "64MiB", Min: "1MiB", Max: "64GiB",
			Doc: "Memory for rendered feeds, in all formats and encodings together.",
			set: func(c *Config, p parsed) { c.Feeds.Memory = p.count }},
		{Name: "feeds.keep-readers", Kind: Duration, Default: "90d", Min: "2d", Max: "3650d",
			Doc: "Age at which the daily reader counts of a feed are deleted.",
			set: func(c *Config, p parsed) { c.Feeds.KeepReaders = p.duration }},
	}
}

func writeSettings() []Setting {
	return []Setting{
		{Name: "feeds.window", Kind: Count, Default: "20", Min: "1", Max: "1000",
			Doc: "Minimum number of posts in the feed of an author. Older posts are in the archive, in pages of this many posts.",
			set: func(c *Config, p parsed) { c.Feeds.Window = p.count }},
		{Name: "write.limit", Kind: Count, Default: "140", Min: "1", Max: "100000",
			Doc: "Characters of a short post, which is a post without a title.",
			set: func(c *Config, p parsed) { c.Write.Limit = p.count }},
		{Name: "write.limit-mode", Kind: Choice, Default: "warn", Choices: []string{"warn", "stop", "off"},
			Doc: "Treatment of a short post above write.limit. warn: the author sees a warning; stop: the post is not published; off: no limit and no counter.",
			set: func(c *Config, p parsed) { c.Write.LimitMode = p.text }},
		{Name: "write.max-posts", Kind: Count, Default: "1000000", Min: "0", Max: "1000000000",
			Doc: "Published posts per user. An author at the limit has to delete posts before publishing more. 0: no limit.",
			set: func(c *Config, p parsed) { c.Write.MaxPosts = p.count }},
		{Name: "webmention.receive", Kind: Choice, Default: "on", Choices: []string{"on", "off"},
			Doc: "Whether pages elsewhere can report by Webmention that they link to a post. Each author can turn it off for their own posts.",
			set: func(c *Config, p parsed) { c.Webmention.Receive = p.text == "on" }},
		{Name: "webmention.send", Kind: Choice, Default: "on", Choices: []string{"on", "off"},
			Doc: "Whether the pages that a public post links to receive a webmention. Each author can turn it off for their own posts.",
			set: func(c *Config, p parsed) { c.Webmention.Send = p.text == "on" }},
		{Name: "media.max-size", Kind: Size, Default: "64MiB", Min: "1KiB", Max: "4GiB",
			Doc: "Largest file that a user can upload for a post.",
			set: func(c *Config, p parsed) { c.Media.MaxSize = p.count }},
		{Name: "media.quota", Kind: Size, Default: "1GiB", Min: "0", Max: "1TiB",
			Doc: "Space for all uploaded files of one user. 0: no limit.",
			set: func(c *Config, p parsed) { c.Media.Quota = p.count }},
		{Name: "media.bucket", Kind: Text, Default: "",
			Doc: "URL of a bucket on S3-compatible storage for the content of uploaded files, such as https://s3.example.org/files. Contents in the database move there within an hour. Empty: the database stores them.",
			set: func(c *Config, p parsed) { c.Media.Bucket = p.text }},
		{Name: "media.bucket-region", Kind: Text, Default: "us-east-1",
			Doc: "Region of the bucket, for signatures.",
			set: func(c *Config, p parsed) { c.Media.BucketRegion = p.text }},
		{Name: "media.bucket-key", Kind: Text, Default: "",
			Doc: "Access key ID for the bucket. The key needs permission to put, get and delete objects.",
			set: func(c *Config, p parsed) { c.Media.BucketKey = p.text }},
		{Name: "media.bucket-secret", Kind: Text, Default: "", Secret: true,
			Doc: "Secret access key for the bucket.",
			set: func(c *Config, p parsed) { c.Media.BucketSecret = p.text }},
	}
}

func riverSettings() []Setting {
	return []Setting{
		{Name: "river.public", Kind: Choice, Default: "owner", Choices: []string{"owner", "everyone"},
			Doc: "Who sees the server's own river at /river. owner: the owner of the first account, signed in; everyone: all visitors. Without any account, all visitors see it.",
			set: func(c *Config, p parsed) { c.River.Public = p.text }},
		{Name: "river.concurrency", Old: "river.at-once", Kind: Count, Default: "32", Min: "1", Max: "1024",
			Doc: "Feeds that the reader fetches at the same time.",
			set: func(c *Config, p parsed) { c.River.Concurrency = p.count }},
		{Name: "river.per-host", Kind: Count, Default: "2", Min: "1", Max: "64",
			Doc: "Connections to one host for fetching feeds.",
			set: func(c *Config, p parsed) { c.River.PerHost = p.count }},
		{Name: "river.host-interval", Kind: Duration, Default: "1s", Min: "0s", Max: "1h",
			Doc: "Minimum time between the starts of two feed checks on one host.",
			set: func(c *Config, p parsed) { c.River.HostInterval = p.duration }},
		{Name: "river.unpaced-hosts", Old: "river.own-hosts", Kind: Hosts, Default: "",
			Doc: "Hosts exempt from river.host-interval and river.per-host, separated by commas. * means all hosts.",
			set: func(c *Config, p parsed) { c.River.UnpacedHosts = p.text }},
		{Name: "river.keep", Kind: Count, Default: "1000", Min: "10", Max: "1000000",
			Doc: "Stored items per feed. Starred items, and items that are still in the feed, are stored in addition.",
			set: func(c *Config, p parsed) { c.River.Keep = p.count }},
		{Name: "river.keep-for", Kind: Duration, Default: "180d", Min: "24h", Max: "36500d",
			Doc: "Age at which an item that is no longer in its feed is deleted.",
			set: func(c *Config, p parsed) { c.River.KeepFor = p.duration }},
		{Name: "river.max-feeds", Kind: Count, Default: "5000", Min: "1", Max: "250000",
			Doc: "Feeds that one user can follow. Feeds above the limit are not added; an import reports how many. Feeds that the operator adds by command or through the admin listener can exceed the limit, up to 250000 feeds.",
			set: func(c *Config, p parsed) { c.River.MaxFeeds = p.count }},
		{Name: "river.images", Kind: Choice, Default: "proxy", Choices: []string{"proxy", "direct", "off"},
			Doc: "Loading of images in items. proxy: through this server, so that image hosts do not learn who reads; direct: by the browser; off: no images.",
			set: func(c *Config, p parsed) { c.River.Images = p.text }},
	}
}

func mailSettings() []Setting {
	return []Setting{
		{Name: "smtp.server", Kind: Text, Default: "",
			Doc: "Mail server, host:port, for forwarding items by mail. Empty: no mail.",
			set: func(c *Config, p parsed) { c.SMTP.Server = p.text }},
		{Name: "smtp.from", Kind: Text, Default: "",
			Doc: "Sender of mail: an address, or a name with an address in angle brackets.",
			set: func(c *Config, p parsed) { c.SMTP.From = p.text }},
		{Name: "smtp.user", Kind: Text, Default: "",
			Doc: "User name at the mail server. Empty: no authentication.",
			set: func(c *Config, p parsed) { c.SMTP.User = p.text }},
		{Name: "smtp.password", Kind: Text, Default: "", Secret: true,
			Doc: "Password at the mail server.",
			set: func(c *Config, p parsed) { c.SMTP.Password = p.text }},
		{Name: "smtp.tls", Kind: Choice, Default: "starttls", Choices: []string{"starttls", "tls", "none"},
			Doc: "Encryption of the connection to the mail server. starttls: STARTTLS; tls: TLS from the start; none: no encryption, for a server on this machine.",
			set: func(c *Config, p parsed) { c.SMTP.TLS = p.text }},
		{Name: "smtp.account-limit", Kind: Count, Default: "500", Min: "1", Max: "1000000",
			Doc: "Mails that one user can forward per day (UTC). Items above the limit wait for the next day.",
			set: func(c *Config, p parsed) { c.SMTP.AccountLimit = p.count }},
		{Name: "smtp.recipient-limit", Kind: Count, Default: "200", Min: "1", Max: "1000000",
			Doc: "Mails to one mailbox per day (UTC), from all users together. Items above the limit wait for the next day.",
			set: func(c *Config, p parsed) { c.SMTP.RecipientLimit = p.count }},
	}
}

func logSettings() []Setting {
	return []Setting{
		{Name: "log.level", Kind: Choice, Default: "info", Choices: []string{"debug", "info", "warn", "error"},
			Doc: "Lowest level of messages that the program writes to standard error.",
			set: func(c *Config, p parsed) { c.Log.Level = p.text }},
		{Name: "log.format", Kind: Choice, Default: "text", Choices: []string{"text", "json"},
			Doc: "Log format: text or json.",
			set: func(c *Config, p parsed) { c.Log.Format = p.text }},
		{Name: "log.keep", Kind: Duration, Default: "30d", Min: "1m", Max: "3650d",
			Doc: "Age at which entries of the hub's log (shown on the log page) are deleted.",
			set: func(c *Config, p parsed) { c.Log.Keep = p.duration }},
	}
}
