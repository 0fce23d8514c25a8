// Package web joins the pages that people see: it takes the surroundings of all of them, builds
// the shell and the groups of pages, and puts their routes together.
//
// The pages stand on the public listener, so but for the pages that need a session they show what
// the public may see and nothing else. Every page works without JavaScript; the scripts only save
// a reload. Start with [Web] and its Routes.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/event"
	"cloudburst/internal/river"
	"cloudburst/internal/web/accountui"
	"cloudburst/internal/web/authorui"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/hubui"
	"cloudburst/internal/web/readerui"
	"cloudburst/internal/web/shell"
	"cloudburst/internal/web/writerui"
	"cloudburst/protocol/rsscloud"
)

// Web is the pages' surroundings. Hub, Store and Bus must be set before Routes;
// the zero value of everything else means its default.
type Web struct {
	Hub   hubui.Hub
	Store hubui.Store
	Bus   *event.Bus

	PublicURL string // where strangers reach this server; "": as the request says
	// Cloud is the <cloud> of this server at a public URL; nil: rsscloud.CloudAt.
	Cloud    func(public string) rsscloud.Cloud
	TestFeed string        // URL of a feed that changes by itself; "": none
	Expiry   time.Duration // how long a registration by rssCloud lasts [25 h]
	// Changed is when the feed of this server at a URL changed last, whether anybody was
	// subscribed or not. Zero: it has no such feed. Nil: it has no feeds.
	Changed func(ctx context.Context, url string) time.Time
	// Tick has it change at once, for the owner of the first account; nil: it cannot be had.
	Tick     func(ctx context.Context) (at time.Time, url string, err error)
	Version  string           // of the program
	Warnings func() []string  // sentences for the status page; nil: none
	Now      func() time.Time // nil: time.Now
	Log      *slog.Logger     // nil: slog.Default
	Done     <-chan struct{}  // closed when the program stops: streams end; nil: never

	Accounts     AllAccounts        // nil: nobody signs in here, and there are no pages for it
	Authors      accountui.Authors  // nil: no feeds are kept here
	Audience     accountui.Audience // nil: readers are not counted
	Registration bool               // everybody may make an account, at /signup
	Apps         accountui.Apps     // reads what programs say of themselves; nil: nobody signs in to programs here
	// Rels are the links of users' pages by which programs find what they need to sign in: rel
	// and path in turn.
	Rels [][2]string

	Posts     AllPosts        // nil: nobody writes here
	Files     writerui.Files  // beside posts; nil: none are kept
	Moves     accountui.Moves // takes authors in and out; nil: nobody does
	LimitMode string          // of short posts: author.LimitWarn and so on
	// FileOf is a file that is kept here, by the beginning of its hash. nil: nothing is known of files.
	FileOf func(ctx context.Context, user, hash string) (author.File, error)

	River       AllRiver                           // nil: no feeds are read here
	Arrivals    func(buffer int) readerui.Listener // hears of what comes; nil: pages are not live
	ReaderOf    func(user string) string           // of the river; nil: the same name
	OwnerOf     func(reader string) string         // its name in paths; nil: the same name, and "server" for ""
	RiverPublic bool                               // strangers may read the server's own river
	Fresh       func(ctx context.Context) bool     // nobody has an account yet; nil: somebody has
	Images      string                             // of items: ImagesProxy, ImagesDirect or ImagesOff [off, without Remote or ImageKey]
	Remote      content.Remote                     // reads pictures; nil: none
	ImageKey    []byte                             // signs their addresses

	// Explained gives an explanation as it is written in JSON, at /feeds/{id}.json. Nil:
	// there is none.
	Explained func(f *river.Followed, e *river.Explanation) any

	// ClientAddr is the address a request counts as coming from, proxies
	// considered. Nil: the TCP peer.
	ClientAddr   func(*http.Request) netip.Addr
	MaxListeners int           // live readers at once [5,000]; more are asked to come back
	Heartbeat    time.Duration // between two signs of life on a quiet stream [15 s]
}

// AllAccounts is what all pages ask of the accounts; an account.Accounts is one.
type AllAccounts interface {
	accountui.Accounts
	shell.Sessions
}

// AllPosts is what all pages ask of posts; an author.Posts is one.
type AllPosts interface {
	writerui.Posts
	authorui.Posts
	content.Posts
}

// AllRiver is what all pages ask of the aggregator; a river.River is one.
type AllRiver interface {
	readerui.River
	hubui.Reading
}

func (w *Web) shellOptions() shell.Options {
	return shell.Options{
		PublicURL: w.PublicURL, Cloud: w.Cloud, TestFeed: w.TestFeed, Expiry: w.Expiry, Version: w.Version,
		Now: w.Now, Log: w.Log, Done: w.Done, Sessions: w.Accounts, Rels: w.Rels,
		Reads: w.River != nil, Writes: w.Posts != nil, Hosts: w.Authors != nil, CountsReaders: w.Audience != nil,
		ClientAddr: w.ClientAddr, MaxListeners: w.MaxListeners, Heartbeat: w.Heartbeat,
	}
}

func (w *Web) textOptions() content.Options {
	return content.Options{Posts: w.Posts, FileOf: w.FileOf, Images: w.Images, Remote: w.Remote, ImageKey: w.ImageKey}
}

func (w *Web) hubOptions() hubui.Options {
	return hubui.Options{Hub: w.Hub, Store: w.Store, Bus: w.Bus, Changed: w.Changed, Tick: w.Tick, Warnings: w.Warnings,
		Accounts: w.Accounts, Reading: w.River, ReaderOf: w.ReaderOf}
}

func (w *Web) authorOptions() authorui.Options {
	return authorui.Options{Feeds: w.Authors, Posts: w.Posts}
}

func (w *Web) readerOptions() readerui.Options {
	return readerui.Options{River: w.River, Arrivals: w.Arrivals, ReaderOf: w.ReaderOf, OwnerOf: w.OwnerOf, RiverPublic: w.RiverPublic,
		Fresh: w.Fresh, Accounts: w.Accounts, Posts: w.Posts, Explained: w.Explained}
}

func (w *Web) accountOptions() accountui.Options {
	return accountui.Options{Accounts: w.Accounts, Authors: w.Authors, Profiles: w.Posts, Audience: w.Audience,
		Registration: w.Registration, Apps: w.Apps, Moves: w.Moves}
}
