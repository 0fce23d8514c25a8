package river

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"cloudburst/feedstate"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/sanitize"
	"cloudburst/opml"
)

// Imported is what came of an import.
type Imported struct {
	Title    string
	Found    int // feeds in the document
	Added    int // that were not followed
	Had      int
	Lists    int      // reading lists that are followed now
	Skipped  int      // with no usable address
	Problems []string // for people, at most 100
}

// ImportOptions of an OPML import.
type ImportOptions struct {
	Category string                // put everything into it besides
	URL      string                // where the document comes from; "": a file
	Follow   bool                  // follow the URL as a reading list, instead of taking it over once
	Progress func(done, total int) // now and then; nil: not told
}

const (
	mostOPML      = 64 << 20 // bytes
	mostOutlines  = 250_000
	mostProblems  = 100
	lookedUp      = 5000 // feeds of an import that are looked for under later addresses
	progressEvery = 1000
)

// Import follows the feeds of an OPML document. With ImportOptions.URL and no document
// (nil) it is read from there. Of the folders around a feed the innermost becomes a
// category, and so does the last part of each of its category attributes. A name of its
// own it has where text and title differ. Other lists that the document includes become
// reading lists. Nothing is read of the feeds before it returns: they are due. All of it
// is on disk, or nothing. Errors: fault.Invalid (no OPML, with what it looks like),
// TooMany, Unreadable, Unavailable.
func (r *River) Import(ctx context.Context, reader string, doc io.Reader, o ImportOptions) (Imported, error) {
	r.Init()
	if o.Category != "" {
		name, err := checkCategory(o.Category)
		if err != nil {
			return Imported{}, err
		}
		o.Category = name
	}
	if doc == nil {
		return r.importFrom(ctx, reader, o)
	}
	if o.Follow {
		return Imported{}, fault.New(fault.Invalid, "A file cannot be followed as a reading list: give the address of one.")
	}
	body, err := io.ReadAll(io.LimitReader(doc, mostOPML+1))
	if err != nil {
		return Imported{}, fault.Wrap(fault.Unreadable, err, "The list could not be read to its end.")
	}
	if len(body) > mostOPML {
		return Imported{}, fault.New(fault.Invalid, "The list has more than %d MiB.", mostOPML>>20)
	}
	list, err := readOPML(body, "")
	if err != nil {
		return Imported{}, fault.New(fault.Invalid, "This is no list of feeds in OPML: %s.", notOPML(err))
	}
	g, err := r.gather(ctx, reader, list, gathering{category: o.Category, base: o.URL, progress: o.Progress})
	if err != nil {
		return Imported{}, err
	}
	return r.takeOver(ctx, reader, g, o)
}

// importFrom reads the document from its URL.
func (r *River) importFrom(ctx context.Context, reader string, o ImportOptions) (Imported, error) {
	a, err := r.address(o.URL)
	if err != nil {
		return Imported{}, err
	}
	if a.login.Kind != "" {
		return Imported{}, fault.New(fault.Invalid, "A list whose server wants a login cannot be read from there: save it as a file and import that.")
	}
	var s Source
	var got answered
	for i, u := range a.urls {
		s = Source{URL: u, State: feedstate.New(u, r.now())}
		got = r.get(ctx, &s, feedstate.ByHand)
		if err = unanswered(&s, got); err == nil || !silent(err) || i == len(a.urls)-1 {
			break
		}
	}
	if err != nil {
		return Imported{}, err
	}
	list, err := readOPML(got.res.Body, got.res.Header.Get("Content-Type"))
	if err != nil {
		return Imported{}, fault.New(fault.Invalid, "%s is no list of feeds in OPML: %s.", brief(s.URL), notOPML(err))
	}
	if o.Follow {
		return r.followList(ctx, reader, s, got, list, o)
	}
	g, err := r.gather(ctx, reader, list, gathering{category: o.Category, base: got.res.URL, progress: o.Progress})
	if err != nil {
		return Imported{}, err
	}
	return r.takeOver(ctx, reader, g, o)
}

func readOPML(body []byte, contentType string) (*opml.Document, error) {
	return opml.ParseBytes(body, &opml.Options{ContentType: contentType, Limits: opml.Limits{Bytes: mostOPML, Outlines: mostOutlines}})
}

// notOPML says what a document is instead.
func notOPML(err error) string {
	not, ok := errors.AsType[*opml.NotOPMLError](err)
	if !ok {
		return "it cannot be read"
	}
	switch not.Looks {
	case "html":
		return "it is a web page"
	case "feed":
		return "it is a feed itself; follow it as one"
	case "empty":
		return "it is empty"
	case "xml":
		return fmt.Sprintf("it is XML of another kind, <%s>", cutTo(plainLine(not.Detail), 40))
	}
	return "it looks like " + not.Looks
}

// takeOver puts what was gathered on disk. Reading lists come first and go again when the
// feeds cannot be kept.
func (r *River) takeOver(ctx context.Context, reader string, g gathered, o ImportOptions) (Imported, error) {
	out := g.imported
	fresh, err := r.addLists(ctx, reader, g.lists, &out)
	if err != nil {
		return Imported{}, err
	}
	var added []bool
	if len(g.adds) > 0 {
		added, err = r.Store.RiverSubscribe(ctx, g.adds, r.now(), r.options().Most)
	}
	if err != nil {
		c, cancel := saving(ctx)
		defer cancel()
		for _, l := range fresh {
			r.complain(c, "a reading list of an import that failed stays", r.Store.DropReadingList(c, reader, l))
		}
		return Imported{}, err
	}
	for _, yes := range added {
		if yes {
			out.Added++
		}
	}
	out.Had = len(added) - out.Added
	if o.Progress != nil {
		o.Progress(out.Found, out.Found)
	}
	r.forget(reader)
	r.Wake()
	return out, nil
}

// addLists follows reading lists, and returns the ids of those that are new.
func (r *River) addLists(ctx context.Context, reader string, lists []ReadingList, out *Imported) (fresh []int64, err error) {
	if len(lists) == 0 {
		return nil, nil
	}
	have, err := r.Store.ReadingLists(ctx, reader)
	if err != nil {
		return nil, err
	}
	room := mostLists - len(have)
	for _, l := range lists {
		if slices.ContainsFunc(have, func(h ReadingList) bool { return h.URL == l.URL }) {
			continue
		}
		if room <= 0 {
			out.problem("%s is not followed: there are %d reading lists already, which is as many as there may be.", brief(l.URL), mostLists)
			continue
		}
		err := r.Store.AddReadingList(ctx, l)
		if fault.CodeOf(err) == fault.Conflict && err != nil {
			continue
		}
		if err != nil {
			return fresh, err
		}
		room--
		fresh = append(fresh, l.ID)
		out.Lists++
	}
	return fresh, nil
}

func (i *Imported) problem(format string, args ...any) {
	switch len(i.Problems) {
	case mostProblems:
	case mostProblems - 1:
		i.Problems = append(i.Problems, "There are more problems, which are not listed.")
	default:
		i.Problems = append(i.Problems, fmt.Sprintf(format, args...))
	}
}

// gathering says how the feeds of a document are gathered.
type gathering struct {
	category string // for all of them; "": none
	base     string // what relative addresses stand on; "": nothing
	list     int64  // the reading list that it is; 0: none
	progress func(done, total int)
}

// gathered is what a document says, each feed and list once.
type gathered struct {
	adds     []Addition
	lists    []ReadingList
	imported Imported // Title, Found, Skipped, Problems
	cut      bool     // the document ends in the middle, or was too long
}

// gather makes additions of the outlines of a document.
func (r *River) gather(ctx context.Context, reader string, d *opml.Document, how gathering) (gathered, error) {
	g := gatherer{River: r, gathering: how, reader: reader, now: r.now(), at: map[string]int{}, base: href.New(how.base)}
	g.out.imported.Title = titleOf(plainText(d.Head.Title))
	for _, p := range d.Problems {
		if p.Kind == opml.ProblemTruncated || p.Kind == opml.ProblemLimit {
			g.out.cut = true
			g.out.imported.problem("%s", cutTo(p.Message, 200))
		}
	}
	for range d.Feeds() {
		g.out.imported.Found++
	}
	most := r.options().Most
	g.out.adds = make([]Addition, 0, min(g.out.imported.Found, most))
	done := 0
	for folders, o := range d.Feeds() {
		if len(g.out.adds) > most {
			return gathered{}, fault.New(fault.TooMany, "The list has more than %d feeds, which is as many as one may follow.", most)
		}
		if how.progress != nil && done%progressEvery == 0 {
			how.progress(done, g.out.imported.Found)
		}
		if done++; done%progressEvery == 0 && ctx.Err() != nil {
			return gathered{}, fault.Wrap(fault.Unavailable, ctx.Err(), "The import was given up before anything was kept.")
		}
		g.feed(folders, o)
	}
	for folders, o := range d.Includes() {
		g.include(folders, o)
	}
	return g.out, g.resolve(ctx)
}

type gatherer struct {
	*River
	gathering
	reader string
	now    time.Time
	base   *href.Base
	at     map[string]int // where in adds a URL is
	out    gathered
}

// feed takes in one subscription.
func (g *gatherer) feed(folders []string, o *opml.Outline) {
	ref := g.base.Resolve(o.FeedURL())
	a, err := g.address(ref)
	if err == nil && len(a.urls) > 1 && !strings.Contains(ref, "/") {
		err = fault.New(fault.Invalid, "%s is no whole address.", brief(ref)) // but perhaps a file beside the list
	}
	name := plainText(o.Text)
	if err == nil && a.login.Kind != "" {
		a.login, err = g.sealed(a.login)
	}
	if err != nil {
		g.out.imported.Skipped++
		g.out.imported.problem("%s: %s", cutTo(name, 60), fault.Message(err))
		return
	}
	url := a.urls[len(a.urls)-1] // without a scheme it is from the days of http
	categories := g.categories(folders, o)
	if i, ok := g.at[url]; ok {
		s := &g.out.adds[i].Subscription
		s.Categories = joinNames(s.Categories, categories)
		return
	}
	g.at[url] = len(g.out.adds)
	n := Addition{Subscription: Subscription{Reader: g.reader, Categories: categories, AddedAt: g.now, ListID: g.list}}
	n.Subscription.Title, n.Source.About.Title = titles(name, plainText(o.Title), url)
	n.Source.URL, n.Source.Login, n.Source.ID = url, a.login, SourceID(url)
	if a.login.Kind != "" {
		n.Source.ID = rand.Int64N(1<<62) + 1
	}
	// Not all at the same moment: those that are listed first are read first.
	n.Source.NextAt = g.now.Add(time.Duration(len(g.out.adds)) * time.Millisecond)
	n.Source.State = feedstate.New(url, n.Source.NextAt)
	n.Source.CreatedAt = g.now
	n.SourceID = n.Source.ID
	g.out.adds = append(g.out.adds, n)
}

func (g *gatherer) sealed(l Login) (Login, error) {
	if err := l.check(); err != nil {
		return Login{}, err
	}
	return g.seal(l)
}

// titles tells the reader's own title from what a feed is called until it was read. Most
// programs write one name into both attributes: then it is the feed's.
//
// spec:cloudburst#opml-own-title
func titles(text, title, url string) (own, feed string) {
	switch {
	case title == "" || title == text:
		feed = text
	case title == url:
		own = text
	default:
		own, feed = text, title
	}
	if own == url {
		own = ""
	}
	if feed == url {
		feed = ""
	}
	return titleOf(own), titleOf(feed)
}

// categories are what the folders and attributes of a feed make: the innermost folder and
// the last part of each path.
//
// spec:cloudburst#opml-innermost-folder
func (g *gatherer) categories(folders []string, o *opml.Outline) []string {
	var names []string
	if g.category != "" {
		names = append(names, g.category)
	}
	if len(folders) > 0 {
		names = append(names, categoryOf(plainText(folders[len(folders)-1])))
	}
	if o.Category != "" {
		for _, path := range o.Category.Paths() {
			if len(path) > 0 {
				names = append(names, categoryOf(path[len(path)-1]))
			}
		}
	}
	return joinNames(nil, names)
}

// joinNames is both lists, each name once, in order, and not too many.
func joinNames(have, more []string) []string {
	out := slices.Clone(have)
	for _, m := range more {
		if m != "" && !slices.Contains(out, m) && len(out) < mostCategories {
			out = append(out, m)
		}
	}
	slices.Sort(out)
	return out
}

// include takes in one list within the list.
func (g *gatherer) include(folders []string, o *opml.Outline) {
	a, err := g.address(g.base.Resolve(o.IncludeURL()))
	if err == nil && a.login.Kind != "" {
		err = fault.New(fault.Invalid, "A list whose server wants a login is not followed.")
	}
	if err != nil {
		g.out.imported.problem("%s: %s", cutTo(plainText(o.Text), 60), fault.Message(err))
		return
	}
	url := a.urls[len(a.urls)-1]
	l := newList(g.reader, url, g.now)
	if l.ID == g.list || slices.ContainsFunc(g.out.lists, func(other ReadingList) bool { return other.ID == l.ID }) {
		return
	}
	if len(g.out.lists) >= mostLists {
		g.out.imported.problem("%s: there are more than %d lists in this list.", brief(url), mostLists)
		return
	}
	l.Title, l.Memory.Parent = titleOf(plainText(o.Text)), g.list
	l.Category = g.category
	if len(folders) > 0 {
		if c := categoryOf(plainText(folders[len(folders)-1])); c != "" {
			l.Category = c
		}
	}
	g.out.lists = append(g.out.lists, l)
}

// resolve finds the sources that are known by now under these addresses.
func (g *gatherer) resolve(ctx context.Context) error {
	if len(g.out.adds) == 0 {
		return nil
	}
	mine, err := g.Store.RiverSubscriptions(ctx, SubscriptionQuery{Reader: g.reader})
	if err != nil {
		return err
	}
	for i := range mine {
		g.is(mine[i].Source.URL, mine[i].SourceID)
	}
	if len(g.out.adds) <= lookedUp {
		for i := range g.out.adds {
			s := &g.out.adds[i].Source
			if s.ID != SourceID(s.URL) {
				continue
			}
			list, err := g.Store.SourcesAt(ctx, s.URL)
			if err != nil {
				return err
			}
			if len(list) > 0 && !list[0].Private() {
				g.is(s.URL, list[0].ID)
			}
		}
	}
	return g.once()
}

// is says which source is at url.
func (g *gatherer) is(url string, id int64) {
	if i, ok := g.at[url]; ok {
		g.out.adds[i].Source.ID, g.out.adds[i].SourceID = id, id
	}
}

// once merges what has become the same source.
func (g *gatherer) once() error {
	at := make(map[int64]int, len(g.out.adds))
	kept := g.out.adds[:0]
	for _, n := range g.out.adds {
		if i, ok := at[n.SourceID]; ok {
			kept[i].Categories = joinNames(kept[i].Categories, n.Categories)
			continue
		}
		at[n.SourceID] = len(kept)
		kept = append(kept, n)
	}
	g.out.adds = kept
	return nil
}

// plainText is the words of what may be HTML.
func plainText(s string) string {
	if href.LooksLikeHTML(s) {
		s = sanitize.Text(s)
	}
	return plainLine(s)
}
