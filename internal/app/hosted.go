package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/audience"
	"cloudburst/internal/author"
	"cloudburst/internal/author/upload"
	"cloudburst/internal/author/version"
	"cloudburst/internal/bucket"
	"cloudburst/internal/cache"
	"cloudburst/internal/conversation"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/endpoint/publishhttp"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/internal/people"
	"cloudburst/internal/publish"
	"cloudburst/internal/river"
	"cloudburst/internal/store"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/syndicate"
	"cloudburst/internal/testfeed"
)

// hosted contains the components that host feeds.
type hosted struct {
	accounts   *account.Accounts
	authors    *author.Feeds
	posts      *author.Posts
	authorSite *author.Site
	versions   version.Versions
	notifier   *publish.Notifier // notifies subscribers of the documents that users save
	late       chan struct{}     // signals that the notification about a version failed
	audience   *audience.Audience
	files      *upload.Files // storage of the files that users attach to posts
	layer      *syndicate.Layer

	conversation  *conversation.Conversation
	mentionSender *conversation.Sender
	mentionReader *fetch.Doer // reads the pages that mention posts, and sends webmentions
	threads       *conversation.Threads
	people        *people.Directory

	pageState func(ctx context.Context) (string, error) // returns a value that changes when the content of author pages changes
	pageCache cache.Counts                              // counts the uses of author pages that are cached in memory
	hostsRead atomic.Int64                              // number of times that the domains in use changed

	keyTrouble string // why the key does not match the stored secrets; "": the key matches
}

// hosting connects the hosted feeds and posts with the hub.
type hosting struct{ *App }

// newHosted creates the components for hosting feeds and connects them.
func (a hosting) newHosted(ctx context.Context, st store.Store) error {
	key, fits, err := a.key(ctx, st)
	if err != nil {
		return err
	}
	a.accounts = &account.Accounts{Store: st, Now: a.clock.Now, Key: key, Log: a.log, Shared: a.cfg.Database != ""}
	a.owners.accounts, a.owners.log = a.accounts, a.log
	if key != nil && !fits {
		if err := a.accounts.CheckKey(ctx); fault.CodeOf(err) == fault.Conflict {
			a.keyTrouble = fault.Message(err)
		} else if err != nil {
			return err
		}
	}
	a.hosted.late, a.notifier = make(chan struct{}, 1), &publish.Notifier{} // newNotifier sets the fields of the notifier later
	a.authors = &author.Feeds{
		OnNotifyFailure: func() {
			select {
			case a.hosted.late <- struct{}{}:
			default: // a signal is already pending
			}
		},
		Store: st, Now: a.clock.Now, Log: a.log, Shared: a.cfg.Database != "", Notify: a.notifier.Saved,
		Events: a.notifier.Events, Publish: a.hub.Bus.Publish, Own: a.ownUser,
		CheckUser: func(ctx context.Context, user string) error {
			u, err := a.accounts.User(ctx, user)
			if err == nil && u.Disabled {
				return fault.New(fault.Refused, "The user %s is disabled; nothing was saved.", user)
			}
			return err
		},
	}
	a.accounts.Disabled = func(ctx context.Context, user string, disabled bool) {
		a.feeds.InvalidateList()
		a.notifier.Disabled(ctx, user, disabled)
	}
	a.audience = &audience.Audience{Store: st, Now: a.clock.Now, Key: key, Log: a.log, Push: a.notifier.Subscribers, Keep: a.cfg.Feeds.KeepReaders}
	a.layer = &syndicate.Layer{Memory: int64(a.cfg.Feeds.Memory), Now: a.clock.Now, Log: a.log}
	a.feeds = &publishhttp.Feeds{
		Accounts: a.accounts, Authors: a.authors, Layer: a.layer, Public: a.names.Public, Trusted: a.cfg.TrustedProxies, Log: a.log,
		Topics: account.Topics{Accounts: a.accounts}, Hidden: a.accounts.IsDisabled, All: func(ctx context.Context) ([]author.Feed, error) {
			return publish.PublicFeeds(ctx, a.accounts, a.authors)
		}, Cloud: a.cloudAt, Locate: a.names.Located,
		Hit: func(r *http.Request, h publishhttp.ServedFeed) {
			a.audience.Hit(h.Feed, audience.Hit{
				Agent: r.UserAgent(), Addr: endpoint.CallerAddr(r, a.cfg.TrustedProxies), Form: h.Format, Selector: h.Selector, Status: h.Status,
			})
		},
	}
	a.pageState = st.PageState
	a.newPosts(st)
	if err := a.newFiles(st); err != nil {
		return err
	}
	a.newConversation(st)
	a.newMentionSender(st)
	a.newThreads(st)
	a.newPeople(st)
	return a.newHosts(ctx, st)
}

// newNotifier sets the fields of the notifier after all components exist that the notifier uses.
// It also makes accounts end the subscriptions of a revoked secret.
func (a hosting) newNotifier() {
	*a.notifier = publish.Notifier{
		Hub: a.hub, Store: a.hub.Store, Readers: a.river, Sources: a.river.Store, Posts: a.posts, Hosted: a.feeds, Targets: a.announcer,
		Topics: a.privateTopics, Names: &a.names, Stamp: a.hub.Bus.Stamp, Publish: a.hub.Bus.Publish, Trace: a.tracedSave, Now: a.clock.Now, Log: a.log,
		FollowOwn: a.followOwn,
	}
	a.accounts.Revoked = func(ctx context.Context, s account.Secret) {
		remove := func(ctx context.Context, keys []hub.Key) error {
			_, err := a.hub.Remove(ctx, keys, "revoke")
			return err
		}
		a.noteHosted(ctx, "end the subscriptions of a revoked secret", a.notifier.Revoked(ctx, publishhttp.TopicPaths(a.feeds.Topics, s), remove))
	}
}

// followOwn makes an author follow their own feed after their first post, unless they chose to
// keep their posts out of their river. Users who save documents with a program are not affected,
// because the program has a reader of its own.
func (a hosting) followOwn(ctx context.Context, user string) error {
	encoded, err := a.people.Store.PreferencesOf(ctx, user)
	if err != nil || account.DecodePreferences(encoded[user]).NoOwnPosts {
		return err
	}
	posts, err := a.posts.List(ctx, author.PostQuery{User: user, State: author.Published, Limit: 1})
	if err != nil || len(posts) == 0 {
		return err
	}
	_, err = a.river.Add(ctx, river.Request{Reader: a.owners.readerOf(user), URL: a.names.Public() + author.FeedPath(user)})
	return err
}

// privateTopics returns the paths of the topics of a private feed, for all of its readers.
func (a hosting) privateTopics(ctx context.Context, user, feed string) ([]string, error) {
	secrets, err := a.accounts.Secrets(ctx, user, feed)
	var all []string
	for _, s := range secrets {
		all = append(all, publishhttp.TopicPaths(a.feeds.Topics, s)...)
	}
	return all, err
}

// keyFile contains the key that encrypts the secrets of private feeds, unless the settings
// contain a key.
const keyFile = store.KeyFile

// secretKey returns the configured key. If no key is configured, it returns the key in the data
// folder, and creates the key file if it is missing.
func secretKey(given, dir string) ([]byte, error) {
	for {
		key, err := knownKey(given, dir)
		if err != nil || key != nil {
			return key, err
		}
		if err := sqlite.MakeFolder(dir); err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "Cannot create the data folder %s.", dir)
		}
		key = make([]byte, 32)
		_, _ = rand.Read(key) // rand.Read never fails
		name := filepath.Join(dir, keyFile)
		if err := store.WriteNew(name, []byte(base64.StdEncoding.EncodeToString(key)+"\n")); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fault.Wrap(fault.Unavailable, err, "Cannot write %s.", name)
		}
	}
}

// knownKey is like secretKey, but returns nil if the key file is missing.
func knownKey(given, dir string) ([]byte, error) {
	if given != "" {
		if len(given) < 16 {
			return nil, fault.New(fault.Invalid, "accounts.secret-key has %d characters; it must have at least 16.", len(given))
		}
		sum := sha256.Sum256([]byte("cloudburst secret key " + given))
		return sum[:], nil
	}
	name := filepath.Join(dir, keyFile)
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, fault.Wrap(fault.Unavailable, err, "Cannot read %s. If another user owns it, change its owner with chown --reference=%s %s.", name, dir, name)
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, err, "Cannot read %s.", name)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != 32 {
		return nil, fault.New(fault.Invalid, "%s does not contain a key any more. Put the right file back from a backup; without it the secrets of private feeds are lost, and after removing it readers need new ones.", name)
	}
	return key, nil
}

// key returns the key of the secrets. Only the servers' key can open the secrets of a shared database.
// A command there creates a key only before the first secret, in a data folder that exists. If it knows
// no key, or one that opens no secret, the result is nil, and it can neither seal nor open secrets.
// fits reports that the key is known to open all secrets.
func (a hosting) key(ctx context.Context, st store.Store) (key []byte, fits bool, err error) {
	if !a.command || a.cfg.Database == "" {
		key, err = secretKey(a.cfg.Accounts.SecretKey, a.cfg.Data)
		return key, false, err
	}
	if key, err = knownKey(a.cfg.Accounts.SecretKey, a.cfg.Data); err != nil {
		return nil, false, err
	}
	all, others, err := account.CountSecrets(ctx, st, key)
	if err != nil || all > 0 && others == all {
		return nil, false, err
	}
	if _, missing := os.Stat(a.cfg.Data); key == nil && missing == nil {
		key, err = secretKey(a.cfg.Accounts.SecretKey, a.cfg.Data)
	}
	return key, others == 0, err
}

// bucket returns the bucket of media.bucket; nil: files are in the database.
func (a *App) bucket() *bucket.Bucket {
	if a.files == nil {
		return nil
	}
	b, _ := a.files.Objects.(*bucket.Bucket)
	return b
}

const (
	pendingEvery = time.Minute
	pendingRetry = time.Second // delay after a failure; each further failure doubles the delay, up to pendingEvery
	tidyEvery    = time.Hour
	tidyTask     = "hosted"
)

// maintainHosted sends notifications that were pending when the program stopped or crashed. Once
// an hour, one node of the cluster also counts readers and removes old data.
func (a hosting) maintainHosted(ctx context.Context) {
	tick := time.NewTicker(pendingEvery)
	defer tick.Stop()
	again := pendingRetry
	a.noteHosted(ctx, "rewrite feeds for the public URL", a.renewPosts(ctx))
	if b := a.bucket(); b != nil {
		a.noteHosted(ctx, "media.bucket is not usable, so uploads fail", b.Check(ctx))
	}
	for {
		a.noteHosted(ctx, "notify about saved feeds", a.authors.NotifyPending(ctx))
		now := a.clock.Now()
		hour := now.Truncate(tidyEvery)
		won, err := a.store.ClaimTask(ctx, tidyTask, now, hour, hour.Add(tidyEvery))
		a.noteHosted(ctx, "claim the hourly task", err)
		if won {
			a.noteHosted(ctx, "remove expired sign-ins", a.accounts.Sweep(ctx))
			a.noteHosted(ctx, "remove old audit entries", a.admin.SweepAudit(ctx))
			a.noteHosted(ctx, "count readers", a.audience.Sweep(ctx))
			a.tidyPosts(ctx)
			a.noteHosted(ctx, "remove unused files", a.files.Sweep(ctx))
			a.noteHosted(ctx, "remove old pings", a.announcer.Tidy(ctx))
			a.noteHosted(ctx, "remove old replies", a.conversation.Tidy(ctx))
			a.noteHosted(ctx, "remove old webmentions", a.mentionSender.Tidy(ctx))
			a.noteHosted(ctx, "remove old threads", a.threads.TidyThreads(ctx))
			a.noteHosted(ctx, "remove past domains", a.hosts.Load().Tidy(ctx))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			again = pendingRetry
		case <-a.hosted.late:
			select {
			case <-ctx.Done():
				return
			case <-time.After(again):
			}
			again = min(2*again, pendingEvery)
		}
	}
}

func (a hosting) noteHosted(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		a.log.Warn(what, "err", err)
	}
}

// ownChanged returns when the public feed at a URL of this server last changed. It returns zero
// if the time is unknown or if there is no feed at the URL.
func (a hosting) ownChanged(ctx context.Context, raw string) time.Time {
	u, own := a.names.Path(raw)
	if !own {
		return time.Time{}
	}
	if u.Path == testfeed.Path {
		at, err := a.testFeed.Changed(ctx, a.names.Public())
		a.noteHosted(ctx, "read the test feed", err)
		return at
	}
	if user := a.ownUser(raw); slices.Contains(a.feeds.Addresses(user), u.RequestURI()) {
		f, err := a.authors.Feed(ctx, user, author.Public)
		if fault.CodeOf(err) != fault.NotFound {
			a.noteHosted(ctx, "read a saved feed", err)
		}
		return f.SavedAt
	}
	v, ok := a.feeds.ViewAt(u.Path, u.RawQuery)
	if !ok {
		return time.Time{}
	}
	stamp, err := a.posts.Stamp(ctx, v.User, v.Category)
	if a.noteHosted(ctx, "read when posts changed", err); stamp == 0 {
		return time.Time{}
	}
	return time.UnixMicro(stamp)
}

// ownUser returns the user whose feed is at a URL of this program; "": there is none.
func (a hosting) ownUser(raw string) string {
	u, own := a.names.Path(raw)
	if !own {
		return ""
	}
	user, _, _ := strings.Cut(strings.TrimPrefix(path.Clean(u.Path), "/"), "/")
	return user
}

// privateFeed reports whether a URL addresses a private feed of this server, in any spelling of
// host and path. A URL with a secret counts with any host, because this server may have names
// that it does not know.
func (a hosting) privateFeed(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || !publishhttp.IsPrivatePath(u.Path) {
		return false
	}
	return publishhttp.IsSecretPath(u.Path) || slices.ContainsFunc(a.names.All(), func(o string) bool {
		own, err := url.Parse(o)
		return err == nil && strings.EqualFold(own.Hostname(), strings.TrimSuffix(u.Hostname(), "."))
	})
}

// library contains the feeds that anonymous clients may read: the hosted feeds, and the feeds
// that have followers on this server.
type library struct{ app *App }

// Known reports whether a URL is in the library. state changes with each version of the feed.
func (l library) Known(ctx context.Context, raw string) (state string, known bool, err error) {
	if u, own := l.app.names.Path(raw); own {
		if u.Path == testfeed.Path {
			return "", true, nil
		}
		if event.IsPrivate(u.Path) { // the URL of a private feed is a secret of its reader, also if the reader subscribed with it
			return "", false, nil
		}
		// Only the canonical spelling of a URL is known. Otherwise, clients could cause further
		// reads by adding query parameters.
		user, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
		if u.Fragment != "" || !slices.Contains(l.app.feeds.Addresses(user), u.RequestURI()) {
			return l.followed(ctx, raw)
		}
		_, _, tag, _, own, err := l.app.feeds.OwnDocument(ctx, u.Path, u.RawQuery)
		if err != nil && fault.CodeOf(err) != fault.Unavailable {
			return "", false, nil
		}
		return tag, own, err
	}
	return l.followed(ctx, raw)
}

// followed does the work of Known for feeds of other servers. state is the version of which
// subscribers were last notified.
func (l library) followed(ctx context.Context, raw string) (state string, known bool, err error) {
	id := hub.TopicID(raw)
	if known, err = l.app.store.Followed(ctx, id, l.app.clock.Now()); err != nil || !known {
		return "", false, err
	}
	t, err := l.app.store.Topic(ctx, id)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return "", false, err
	}
	return strconv.FormatInt(t.Version, 10), true, nil
}

// Read fetches one feed of the library.
func (l library) Read(ctx context.Context, raw string) (doc []byte, contentType string, version int64, modified time.Time, err error) {
	got, err := l.app.hub.Fetch.Fetch(ctx, hub.Fetch{URL: raw})
	if err != nil {
		return nil, "", 0, modified, err
	}
	// ParseTime returns a zero time for an invalid date, which means unknown.
	modified, _ = http.ParseTime(got.LastModified)
	return got.Body, got.ContentType, 0, modified, nil
}
