// Package web joins the pages: it takes the dependencies of all of them, builds the shell and the
// groups of pages, and combines their routes.
//
// The pages are on the public listener. Except for pages that need a session, they show public data
// only. Every page works without JavaScript; the scripts only save reloads. Start with [Web] and
// its Routes.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/author/version"
	"cloudburst/internal/cache"
	"cloudburst/internal/conversation"
	"cloudburst/internal/event"
	"cloudburst/internal/ownhost"
	"cloudburst/internal/people"
	"cloudburst/internal/river"
	"cloudburst/internal/web/accountui"
	"cloudburst/internal/web/adminui"
	"cloudburst/internal/web/authorui"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/filterui"
	"cloudburst/internal/web/forwardui"
	"cloudburst/internal/web/hubui"
	"cloudburst/internal/web/peopleui"
	"cloudburst/internal/web/readerui"
	"cloudburst/internal/web/shell"
	"cloudburst/internal/web/writerui"
	"cloudburst/protocol/rsscloud"
)

// Web has the dependencies of the pages. Hub, Store and Bus must be set before Routes; the zero
// value of every other field means its default.
type Web struct {
	Hub   hubui.Hub
	Store hubui.Store
	Bus   *event.Bus

	PublicURL string // URL of this server for the public; "": taken from the request
	// Cloud is the <cloud> of this server at a public URL; nil: rsscloud.CloudAt.
	Cloud    func(public string) rsscloud.Cloud
	TestFeed string        // URL of a feed that changes every 15 minutes; "": none
	Expiry   time.Duration // lifetime of an rssCloud registration [25 h]
	// Changed returns the time of the last change of this server's feed at a URL, with or without
	// subscribers. Zero: this server has no feed at the URL. Nil: this server has no feeds.
	Changed func(ctx context.Context, url string) time.Time
	// Titles returns the titles of the feeds at these URLs, at most 1,000, as far as the server
	// knows them. Nil: no titles are known.
	Titles func(ctx context.Context, urls []string) (map[string]string, error)
	// Tick changes the test feed at once, for the owner of the first account; nil: not possible.
	Tick     func(ctx context.Context) (at time.Time, url string, err error)
	Version  string           // version of the program
	Warnings func() []string  // sentences for the status page; nil: none
	Now      func() time.Time // nil: time.Now
	Log      *slog.Logger     // nil: slog.Default
	Done     <-chan struct{}  // closed when the program stops: streams end; nil: never

	Accounts     AllAccounts        // nil: no accounts and no account pages
	Authors      accountui.Authors  // nil: this server hosts no feeds
	Audience     accountui.Audience // nil: readers are not counted
	Registration func() bool        // reports whether registration at /signup is open; nil: registration is closed
	Apps         accountui.Apps     // reads the metadata of client programs; nil: no sign-in for programs
	// Rels are the links on users' pages by which programs find the sign-in endpoints: rel and path
	// of each.
	Rels [][2]string

	Administration *adminui.Options // nil: no pages of administrators

	Posts    AllPosts        // nil: users cannot write posts
	Files    writerui.Files  // files of posts; nil: this server hosts no files
	Moves    accountui.Moves // imports and exports authors; nil: authors cannot be exported or imported
	Replies  AllReplies      // replies from other sites; nil: the server receives no replies
	Sent     writerui.Sent   // webmentions of posts; set if Replies is set
	Mentions author.MentionSettings
	// MentionsOff has the settings that the operator has turned off for all authors.
	MentionsOff author.Mentions
	Threads     *conversation.Threads // threads of posts; nil: posts have no threads
	People      peopleui.Directory    // list of the authors; nil: the server has no such list
	Site        *author.Site          // pages, themes and the search of authors; nil: none
	Domains     *ownhost.Hosts        // domains of authors; nil: authors cannot use their own domains
	// PageState identifies the state of everything that author pages show; nil: these pages are not
	// kept in memory.
	PageState func(ctx context.Context) (string, error)
	PageCache *cache.Counts       // counts the uses of author pages in memory; nil: the uses are not counted
	Versions  version.Versions    // earlier versions of posts; set if Posts is set
	Rules     author.RuleSettings // rules of authors for their texts; set if Posts is set
	// Card reads the preview of a page for a link to it; nil: no previews.
	Card func(ctx context.Context, user, url string) (author.Card, error)
	// FileOf returns a hosted file by the first digits of its hash. nil: files are served without
	// metadata.
	FileOf func(ctx context.Context, user, hash string) (author.File, error)

	River       AllRiver                           // nil: no feed reader
	Arrivals    func(buffer int) readerui.Listener // listens for new items; nil: pages are not live
	ReaderOf    func(user string) string           // returns the reader name of a user in the river; nil: both names are the same
	OwnerOf     func(reader string) string         // returns the name of a reader in paths; nil: the reader itself, and "server" for ""
	RiverPublic bool                               // the public may read the server's own river
	Fresh       func(ctx context.Context) bool     // reports that no account exists yet; nil: an account exists
	Images      string                             // mode for images of items: ImagesProxy, ImagesDirect or ImagesOff [off, without Remote or ImageKey]
	Remote      content.Remote                     // fetches images of other servers; nil: no image is fetched
	ImageKey    []byte                             // key that signs proxy URLs of images

	FullTexts readerui.FullTexts // reads the full text of items from their pages; nil: items have only the text of their feeds
	// Explained converts an explanation to its JSON form, for /feeds/{id}.json. Nil: not served.
	Explained func(f *river.Followed, e *river.Explanation) any

	// ClientAddr returns the client address of a request, behind proxies too. Nil: the TCP peer.
	ClientAddr   func(*http.Request) netip.Addr
	MaxListeners int           // maximum number of concurrent live streams [5,000]; further clients are asked to retry
	Heartbeat    time.Duration // interval of heartbeats on a quiet stream [15 s]

	// Subscriptions let visitors receive posts by e-mail; nil: not possible.
	Subscriptions *people.Subscriptions
}

// AllAccounts is the interface to the accounts for all pages; account.Accounts implements it.
type AllAccounts interface {
	accountui.Accounts
	shell.Sessions
}

// AllPosts is the interface to posts for all pages; author.Posts implements it.
type AllPosts interface {
	writerui.Posts
	authorui.Posts
	content.Posts
	accountui.Groups
}

// AllReplies is the interface to replies from other sites for all pages; conversation.Conversation
// implements it.
type AllReplies interface {
	writerui.Replies
	authorui.Replies
}

// AllRiver is the interface to the aggregator for all pages; river.River implements it.
type AllRiver interface {
	readerui.River
	hubui.Reading
	filterui.River
	forwardui.River
}

func (w *Web) shellOptions() shell.Options {
	return shell.Options{
		PublicURL: w.PublicURL, Cloud: w.Cloud, TestFeed: w.TestFeed, Expiry: w.Expiry, Version: w.Version,
		Now: w.Now, Log: w.Log, Done: w.Done, Sessions: w.Accounts, Rels: w.Rels,
		Reads: w.River != nil, Writes: w.Posts != nil, Hosts: w.Authors != nil, Administers: w.Administration != nil, CountsReaders: w.Audience != nil, Replies: w.Replies != nil, Moves: w.Moves != nil, People: w.People != nil,
		ClientAddr: w.ClientAddr, MaxListeners: w.MaxListeners, Heartbeat: w.Heartbeat,
	}
}

func (w *Web) textOptions() content.Options {
	return content.Options{Posts: w.Posts, FileOf: w.FileOf, Images: w.Images, Remote: w.Remote, ImageKey: w.ImageKey}
}

func (w *Web) hubOptions() hubui.Options {
	return hubui.Options{Hub: w.Hub, Store: w.Store, Bus: w.Bus, Changed: w.Changed, Titles: w.Titles, Tick: w.Tick, Warnings: w.Warnings,
		Accounts: w.Accounts, Reading: w.River, ReaderOf: w.ReaderOf}
}

func (w *Web) authorOptions() authorui.Options {
	o := authorui.Options{Feeds: w.Authors, Posts: w.Posts, Site: w.Site, Domains: w.Domains, PageState: w.PageState, PageCache: w.PageCache}
	if w.Replies != nil {
		o.Replies = w.Replies
	}
	if w.Threads != nil {
		o.Threads = w.Threads
	}
	return o
}

func (w *Web) peopleOptions() peopleui.Options {
	o := peopleui.Options{Directory: w.People, Subscriptions: w.Subscriptions, ReaderOf: w.ReaderOf, Hosted: func(ctx context.Context, user string) (author.Feed, error) {
		return w.Authors.Feed(ctx, user, author.Public)
	}}
	if w.River != nil {
		o.River = w.River
	}
	if o.ReaderOf == nil {
		o.ReaderOf = func(user string) string { return user }
	}
	return o
}

// knownWithin is the time for which a page waits for the description of a post that is not cached.
const knownWithin = time.Second

func (w *Web) readerOptions() readerui.Options {
	o := readerui.Options{River: w.River, Arrivals: w.Arrivals, ReaderOf: w.ReaderOf, OwnerOf: w.OwnerOf, RiverPublic: w.RiverPublic,
		Fresh: w.Fresh, Accounts: w.Accounts, Posts: w.Posts, FullTexts: w.FullTexts, Explained: w.Explained}
	if w.Threads != nil {
		o.Threads = w.Threads
		o.Known = func(url string) (conversation.Brief, bool) {
			ctx, cancel := context.WithTimeout(context.Background(), knownWithin)
			defer cancel()
			return w.Threads.Known(ctx, url)
		}
	}
	return o
}

func (w *Web) accountOptions() accountui.Options {
	o := accountui.Options{Accounts: w.Accounts, Authors: w.Authors, Profiles: w.Posts, Audience: w.Audience,
		Registration: w.Registration, Apps: w.Apps, Moves: w.Moves}
	if w.Posts != nil {
		o.Groups = w.Posts
	}
	if w.Administration != nil {
		o.Deletion = w.Administration.Admin
	}
	return o
}
