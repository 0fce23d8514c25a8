// Package people lists the authors of this server, so that users and visitors can find and follow
// them. It also lists the followers of an author on this server. Start with [Directory].
package people

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/text"
)

// Store is the database interface. Each method is one transaction.
type Store interface {
	// Authors lists users with a public feed that is neither gone nor moved, sorted by name. It
	// starts with the first name that is greater than after. It leaves out disabled users. limit is
	// at most 1,000.
	Authors(ctx context.Context, after string, limit int) ([]Row, error)
	// FollowersOf lists at most limit rivers that follow any of these sources, sorted by name.
	FollowersOf(ctx context.Context, sources []int64, limit int) ([]string, error)
	// PreferencesOf returns the encoded preferences of at most 10,000 users; key: user name. It
	// leaves out unknown and disabled users.
	PreferencesOf(ctx context.Context, users ...string) (map[string]string, error)
}

// Row is an author as stored.
type Row struct {
	User        string
	Title       string // title of the feed
	Profile     author.Profile
	Preferences string // encoded preferences
	Posts       int64  // number of published posts
	LastAt      time.Time
}

// Author is an author of the directory.
type Author struct {
	User   string
	Name   string    // display name
	About  string    // description in one line; "": none
	Avatar string    // path of this server or URL; "": none
	Posts  int64     // number of published posts; 0 for an author who saves a feed
	LastAt time.Time // time of the last post
}

// These are the limits of the directory.
const (
	PerPage    = 30
	MaxAuthors = 10_000 // maximum number of authors to read, in the order of names
	maxAbout   = 160    // maximum characters of Author.About
	keepFor    = 20 * time.Second
)

// Directory lists the authors of this server. Store must be set.
type Directory struct {
	Store Store
	Now   func() time.Time // nil: time.Now
	Off   bool             // the directory lists nobody
	// Addresses returns the URLs of a user's public feed, in all formats. The method Followed
	// requires Addresses.
	Addresses func(user string) []string
	// Stamp returns a number that changes with each change of a post or a profile. If Stamp is nil,
	// new posts appear after at most keepFor.
	Stamp func(ctx context.Context) (int64, error)

	mu    sync.Mutex
	list  []Author // author with the newest post first
	at    time.Time
	stamp int64
}

// Page is a page of the directory.
type Page struct {
	Authors []Author
	Number  int // number of the page, from 1
	More    bool
	Total   int // number of all authors that match
}

// List returns a page of the authors whose names contain all words, newest post first. Letter case does
// not matter. Authors who chose not to be listed are missing. fault.NotFound: the directory is off.
func (d *Directory) List(ctx context.Context, words string, number int) (Page, error) {
	number = max(number, 1)
	return d.Range(ctx, words, (number-1)*PerPage, PerPage)
}

// Range is like List. It skips the first from matching authors and returns at most limit authors.
func (d *Directory) Range(ctx context.Context, words string, from, limit int) (Page, error) {
	if d.Off {
		return Page{}, fault.New(fault.NotFound, "This server has no list of its authors.")
	}
	all, err := d.all(ctx)
	if err != nil {
		return Page{}, err
	}
	wanted := strings.Fields(strings.ToLower(text.Clip(words, 200)))
	var found []Author
	for _, a := range all {
		names := strings.ToLower(a.User + " " + a.Name)
		if !slices.ContainsFunc(wanted, func(w string) bool { return !strings.Contains(names, strings.TrimPrefix(w, "@")) }) {
			found = append(found, a)
		}
	}
	from = min(from, len(found))
	to := min(from+limit, len(found))
	return Page{Authors: found[from:to], Number: from/limit + 1, More: to < len(found), Total: len(found)}, nil
}

// all returns all listed authors. It reads them from the store if the last read is at least keepFor
// ago or if the stamp has changed.
func (d *Directory) all(ctx context.Context) ([]Author, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if d.Now != nil {
		now = d.Now()
	}
	stamp := int64(0)
	if d.Stamp != nil {
		var err error
		if stamp, err = d.Stamp(ctx); err != nil {
			return nil, err
		}
	}
	if age := now.Sub(d.at); d.list != nil && stamp == d.stamp && age >= 0 && age < keepFor {
		return d.list, nil
	}
	list, read := []Author{}, 0
	for after := ""; ; {
		rows, err := d.Store.Authors(ctx, after, 1000)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if after = r.User; !account.DecodePreferences(r.Preferences).Unlisted {
				list = append(list, authorOf(&r))
			}
		}
		if read += len(rows); len(rows) < 1000 || read >= MaxAuthors {
			break
		}
	}
	slices.SortStableFunc(list, func(a, b Author) int { return cmp.Or(b.LastAt.Compare(a.LastAt), cmp.Compare(a.User, b.User)) })
	d.list, d.at, d.stamp = list, now, stamp
	return list, nil
}

// Followed returns the ID of the source in following that is a feed of an author of this server; 0:
// none.
func (d *Directory) Followed(author string, following map[int64]bool) int64 {
	for _, u := range d.Addresses(author) {
		if id := river.SourceID(u); following[id] {
			return id
		}
	}
	return 0
}

// Forget makes the next List read the authors again.
func (d *Directory) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = nil
}

func authorOf(r *Row) Author {
	a := Author{User: r.User, Name: cmp.Or(r.Profile.Name, r.Profile.Title, r.Title, r.User), Avatar: r.Profile.Avatar, Posts: r.Posts, LastAt: r.LastAt}
	a.Name = text.ClipRunes(text.PlainLine(a.Name), 100)
	a.About = text.ClipRunes(text.PlainLine(strings.Join(strings.Fields(r.Profile.Blurb), " ")), maxAbout)
	return a
}

// Followers are the people of this server who follow an author.
type Followers struct {
	Count int64
	Names []string // sorted names of the followers who show whom they follow; at most [MaxNames]
	More  bool     // there are more followers than were counted
}

// These are the limits of followers.
const (
	MaxNames     = 100
	maxFollowers = 10_000
)

// Here finds followers. All fields must be set.
type Here struct {
	Store Store
	// URLs lists the URLs of a user's public feeds that have followers on this server.
	URLs func(ctx context.Context, user string) ([]string, error)
	// OwnerOf returns the user of a river.
	OwnerOf func(reader string) string
}

// Of returns the followers of a user. It does not count the user as a follower.
func (h *Here) Of(ctx context.Context, user string) (f Followers, err error) {
	urls, err := h.URLs(ctx, user)
	if err != nil || len(urls) == 0 {
		return f, err
	}
	ids := make([]int64, len(urls))
	for i, u := range urls {
		ids[i] = river.SourceID(u)
	}
	readers, err := h.Store.FollowersOf(ctx, ids, maxFollowers)
	if err != nil {
		return f, err
	}
	f.More = len(readers) == maxFollowers
	var names []string
	for _, reader := range readers {
		if name := h.OwnerOf(reader); name != user {
			names = append(names, name)
		}
	}
	f.Count = int64(len(names))
	encoded, err := h.Store.PreferencesOf(ctx, names...)
	for _, name := range names {
		if len(f.Names) < MaxNames && account.DecodePreferences(encoded[name]).ShowFollows {
			f.Names = append(f.Names, name)
		}
	}
	slices.Sort(f.Names)
	return f, err
}
