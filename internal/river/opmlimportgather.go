package river

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/lease"
	"cloudburst/internal/river/location"
	"cloudburst/internal/river/naming"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/text"
)

// gatherOptions controls how gather collects the feeds of a document.
type gatherOptions struct {
	category string // category that every feed gets; "": none
	base     string // URL that resolves relative URLs; "": none
	list     int64  // ID of the reading list; 0: the document is not a reading list
	progress func(done, total int)
}

// gatherResult contains the data of a document other than its feeds.
type gatherResult struct {
	lists    []ReadingList
	imported Imported // only Title, Found, Skipped and Problems are set
	cut      bool     // true if the document is truncated or too long
}

const (
	gatherBatch = 100         // number of feeds that are looked up and stored together
	gatherPause = time.Second // maximum pause between two batches
)

// gather reads a document and passes its feeds to take in batches. Each batch contains a feed at
// most once. A later batch may contain the feed again, with other categories.
func (r importer) gather(ctx context.Context, user string, list *opml.Stream, how gatherOptions, take func([]Addition) error) (gatherResult, error) {
	g := gatherer{River: r.River, gatherOptions: how, ctx: ctx, user: user, now: r.now(), at: map[string]int{}, base: href.New(how.base), take: take}
	g.out.imported.Found = list.Feeds
	g.reportProgress(0)
	d, err := list.Walk(g.visit)
	if err == nil {
		err = g.flush()
	}
	if err != nil {
		return g.out, err
	}
	g.reportProgress(list.Feeds)
	g.out.imported.Title = naming.TitleOf(plainText(d.Head.Title))
	for _, p := range d.Problems {
		if p.Kind == opml.ProblemTruncated || p.Kind == opml.ProblemLimit {
			g.out.cut = true
			g.out.imported.problem("%s", text.ClipRunes(p.Message, 200))
		}
	}
	return g.out, nil
}

type gatherer struct {
	*River
	gatherOptions
	ctx   context.Context // context of the call of gather; each call has its own gatherer
	user  string
	now   time.Time
	base  *href.Base
	batch []Addition
	at    map[string]int // key: URL of a feed; value: index in batch
	take  func([]Addition) error
	begun time.Time // when the work on the current batch started
	done  int       // number of feeds of the document that were visited
	added int       // number of additions so far
	out   gatherResult
}

func (g *gatherer) reportProgress(done int) {
	if g.progress != nil {
		g.progress(done, g.out.imported.Found)
	}
}

// visit collects one subscription or included list.
func (g *gatherer) visit(folders []string, o *opml.Outline) error {
	if o.FeedURL() != "" {
		g.done++
		g.feed(folders, o)
	}
	if o.IncludeURL() != "" {
		g.include(folders, o)
	}
	switch {
	case g.ctx.Err() != nil:
		return interrupted(g.ctx)
	case len(g.batch) < gatherBatch:
		return nil
	}
	return g.flush()
}

func interrupted(ctx context.Context) error {
	return fault.Wrap(fault.Unavailable, ctx.Err(), "The import was interrupted.")
}

// flush passes the collected feeds to take. Between two batches it pauses for twice the time that
// the last batch took, so that a long list leaves processor time and database capacity to other
// work.
func (g *gatherer) flush() error {
	if len(g.batch) == 0 {
		return nil
	}
	if g.begun.IsZero() {
		g.begun = time.Now()
	}
	if err := g.resolve(); err != nil {
		return err
	}
	if err := g.take(g.batch); err != nil {
		return err
	}
	g.batch = g.batch[:0]
	clear(g.at)
	g.reportProgress(g.done)
	if g.done < g.out.imported.Found && !lease.Sleep(g.ctx, nil, min(2*time.Since(g.begun), gatherPause)) {
		return interrupted(g.ctx)
	}
	g.begun = time.Now()
	return nil
}

// feed collects one subscription, or records a problem if its URL is not usable.
func (g *gatherer) feed(folders []string, o *opml.Outline) {
	ref := g.base.Resolve(o.FeedURL())
	a, err := addressOf(g.River, ref)
	if err == nil && len(a.URLs) > 1 && !strings.Contains(ref, "/") {
		err = fault.New(fault.Invalid, "%s is not a complete URL.", location.Brief(ref)) // do not guess https://: the text may be the name of a file next to the list
	}
	name := plainText(o.Text)
	if err == nil && a.Login.Kind != "" {
		a.Login, err = g.sealed(a.Login)
	}
	if err != nil {
		g.out.imported.Skipped++
		g.out.imported.problem("%s: %s", text.ClipRunes(name, 60), fault.Message(err))
		return
	}
	url := a.URLs[len(a.URLs)-1] // a URL without a scheme probably is old and means http, which is the last alternative
	categories := g.categories(folders, o)
	if i, ok := g.at[url]; ok {
		s := &g.batch[i].Subscription
		s.Categories = joinNames(s.Categories, categories)
		return
	}
	g.at[url] = len(g.batch)
	n := Addition{Subscription: Subscription{Reader: g.user, Categories: categories, AddedAt: g.now, ListID: g.list}}
	n.Subscription.Title, n.Source.About.Title = naming.Imported(name, plainText(o.Title), url)
	if g.list != 0 && n.Subscription.Title == n.Source.About.Title {
		n.Subscription.Title = "" // the name is from the author of the list, not from the user
	}
	n.Source.URL, n.Source.Login, n.Source.ID = url, a.Login, SourceID(url)
	if a.Login.Kind != "" {
		n.Source.ID = rand.Int64N(1<<62) + 1
	}
	// Each feed becomes due a millisecond after the previous feed, so that feeds are checked in
	// the order of the list.
	n.Source.NextAt = g.now.Add(time.Duration(g.added) * time.Millisecond)
	g.added++
	n.Source.State = polling.New(url, n.Source.NextAt)
	n.Source.CreatedAt = g.now
	n.SourceID = n.Source.ID
	g.batch = append(g.batch, n)
}

func (g *gatherer) sealed(l Login) (Login, error) {
	if err := l.Check(); err != nil {
		return Login{}, err
	}
	return location.Seal(g.Key, l)
}

// include collects one list that the document includes.
func (g *gatherer) include(folders []string, o *opml.Outline) {
	a, err := addressOf(g.River, g.base.Resolve(o.IncludeURL()))
	if err == nil && a.Login.Kind != "" {
		err = fault.New(fault.Invalid, "A list whose server wants a login is not followed.")
	}
	if err != nil {
		g.out.imported.problem("%s: %s", text.ClipRunes(plainText(o.Text), 60), fault.Message(err))
		return
	}
	url := a.URLs[len(a.URLs)-1]
	l := newList(g.user, url, g.now)
	if l.ID == g.list || slices.ContainsFunc(g.out.lists, func(other ReadingList) bool { return other.ID == l.ID }) {
		return
	}
	if len(g.out.lists) >= maxLists {
		g.out.imported.problem("%s: there are more than %d lists in this list.", location.Brief(url), maxLists)
		return
	}
	l.Title, l.Memory.Parent = naming.TitleOf(plainText(o.Text)), g.list
	l.Category = g.category
	if len(folders) > 0 {
		if c := naming.CategoryOf(plainText(folders[len(folders)-1])); c != "" {
			l.Category = c
		}
	}
	g.out.lists = append(g.out.lists, l)
}

// resolve sets the IDs of additions whose URL already has a source. A source that the user
// follows takes precedence over a source without a login.
func (g *gatherer) resolve() error {
	urls := make([]string, len(g.batch))
	for i := range g.batch {
		urls[i] = g.batch[i].Source.URL
	}
	known, err := g.Store.KnownSources(g.ctx, g.user, urls)
	if err != nil {
		return err
	}
	for i := range g.batch {
		// A URL with a login gets a new source, unless the user follows the source already.
		if k, ok := known[urls[i]]; ok && (k.Followed || g.batch[i].Source.Login.Kind == "") {
			g.batch[i].Source.ID, g.batch[i].SourceID = k.ID, k.ID
			if g.batch[i].Title == naming.TitleOf(k.Title) {
				g.batch[i].Title = ""
			}
		}
	}
	g.dedupe()
	return nil
}

// dedupe merges the additions that have the same source.
func (g *gatherer) dedupe() {
	at := make(map[int64]int, len(g.batch))
	kept := g.batch[:0]
	for _, n := range g.batch {
		if i, ok := at[n.SourceID]; ok {
			kept[i].Categories = joinNames(kept[i].Categories, n.Categories)
			continue
		}
		at[n.SourceID] = len(kept)
		kept = append(kept, n)
	}
	g.batch = kept
}

// plainText returns the plain text of a string that may be HTML, in one line.
func plainText(s string) string {
	if href.LooksLikeHTML(s) {
		s = sanitize.Text(s)
	}
	return text.PlainLine(s)
}
