package river

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/river/location"
	"cloudburst/internal/river/naming"
	"cloudburst/internal/text"
)

// Imported is the result of an import.
type Imported struct {
	Title    string
	Found    int      // feeds in the document
	Added    int      // feeds that are followed now and were not before
	Had      int      // feeds that the user already followed
	Over     int      // feeds that were left out because of Limit
	Limit    int      // feeds that the user may follow
	Lists    int      // reading lists that are followed now
	Skipped  int      // feeds without a usable URL
	Problems []string // for people, at most 100
}

// ImportOptions are the options of an OPML import.
type ImportOptions struct {
	Category string // added to every feed
	URL      string // source of the document; "": a file
	Follow   bool   // follow the URL as a reading list, instead of importing it once
	Operator bool   // the server's operator imports: the limit is MaxOfOperator
	// Progress is called when the whole document has arrived and is a list, then after each batch.
	// nil: never.
	Progress func(done, total int)
}

const (
	maxOPML           = 64 << 20 // maximum size of a document in bytes
	maxOutlines       = 250_000
	maxProblems       = 100
	maxActiveImports  = 2                // imports that are being written
	maxPendingImports = 16               // imports that arrive, wait or are being written
	importSlotWait    = 30 * time.Second // longest wait for a free slot to write
)

// Import follows the feeds of an OPML document. With ImportOptions.URL and a nil document it
// fetches the document from that URL. The innermost folder around a feed becomes a category, and
// so does the last part of each category path of the feed. The user's own title is taken from text
// where it differs from title. Included lists become reading lists. Import fetches no feed: the
// feeds are due when it returns.
//
// The feeds are written in batches. Batches that were written stay when the import fails later:
// Imported has the progress, with an error too. Feeds beyond the limit are counted and left out. A
// user has one import at a time. Errors: fault.Invalid (not OPML; the message names the actual
// format), Conflict (another import of the user is in progress), TooMany, Unreadable, Unavailable.
func (r *River) Import(ctx context.Context, user string, doc io.Reader, o ImportOptions) (Imported, error) {
	r.Init()
	if o.Category != "" {
		name, err := naming.Category(o.Category)
		if err != nil {
			return Imported{}, err
		}
		o.Category = name
	}
	if doc != nil && o.Follow {
		return Imported{}, fault.New(fault.Invalid, "A file cannot be followed as a reading list: give the address of one.")
	}
	done, err := importer{r}.beginImport(user)
	if err != nil {
		return Imported{}, err
	}
	defer done()
	if doc == nil {
		return importer{r}.importFrom(ctx, user, o)
	}
	file, drop, err := spool(doc)
	if err != nil {
		return Imported{}, err
	}
	defer drop()
	list, err := readOPML(file, "")
	if err != nil {
		return Imported{}, fault.New(fault.Invalid, "This file is not an OPML list of feeds: %s.", notOPML(err))
	}
	return importer{r}.takeOver(ctx, user, list, gatherOptions{category: o.Category, base: o.URL}, o)
}

// importer imports and exports lists of feeds.
type importer struct{ *River }

// importFrom fetches the document from its URL.
func (r importer) importFrom(ctx context.Context, user string, o ImportOptions) (Imported, error) {
	a, err := addressOf(r.River, o.URL)
	if err != nil {
		return Imported{}, err
	}
	if a.Login.Kind != "" {
		return Imported{}, fault.New(fault.Invalid, "A list whose server wants a login cannot be read from there: save it as a file and import that.")
	}
	var s Source
	var got fetchResult
	for i, u := range a.URLs {
		s = Source{URL: u, State: polling.New(u, r.now())}
		got = checker(r).fetchPaced(ctx, &s, polling.ByHand)
		if err = responseError(&s, got); err == nil || !noServerAnswered(err) || i == len(a.URLs)-1 {
			break
		}
	}
	if err != nil {
		return Imported{}, err
	}
	list, err := readOPML(bytes.NewReader(got.res.Body), got.res.Header.Get("Content-Type"))
	if err != nil {
		return Imported{}, fault.New(fault.Invalid, "%s is not an OPML list of feeds: %s.", location.Brief(s.URL), notOPML(err))
	}
	if o.Follow {
		return listReader(r).followList(ctx, user, s, got, list, o)
	}
	return r.takeOver(ctx, user, list, gatherOptions{category: o.Category, base: got.res.URL}, o)
}

func readOPML(doc io.ReadSeeker, contentType string) (*opml.Stream, error) {
	return opml.Open(doc, &opml.Options{ContentType: contentType, Limits: opml.Limits{Bytes: maxOPML, Outlines: maxOutlines}})
}

// notOPML describes what a document is instead.
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
		return fmt.Sprintf("it is XML of another kind, <%s>", text.ClipRunes(text.PlainLine(not.Detail), 40))
	}
	return "it looks like " + not.Looks
}

// takeOver follows the feeds of a document, and then the lists that it includes.
func (r importer) takeOver(ctx context.Context, user string, list *opml.Stream, how gatherOptions, o ImportOptions) (Imported, error) {
	free, err := r.importSlot(ctx)
	if err != nil {
		return Imported{}, err
	}
	defer free()
	how.progress = o.Progress
	t, err := r.newBatchFollower(ctx, user, o.Operator)
	if err != nil {
		return Imported{}, err
	}
	g, err := r.gather(ctx, user, list, how, t.batch)
	out := t.result(g.imported)
	if err == nil {
		err = r.addLists(ctx, user, g.lists, &out)
	}
	r.forget(user)
	r.Wake()
	return out, stopped(err, out)
}

// stopped adds the progress of the import to an error.
func stopped(err error, out Imported) error {
	if err == nil || out.Added == 0 {
		return err
	}
	f := fault.Wrap(fault.CodeOf(err), err, "The import stopped after %d feeds, which stay. It is safe to import the list again. %s", out.Added, fault.Message(err))
	f.RetryAfter = fault.RetryAfter(err)
	return f
}

// addLists follows reading lists.
func (r importer) addLists(ctx context.Context, user string, lists []ReadingList, out *Imported) error {
	if len(lists) == 0 {
		return nil
	}
	have, err := r.Store.ReadingLists(ctx, user)
	if err != nil {
		return err
	}
	free := maxLists - len(have)
	for _, l := range lists {
		if slices.ContainsFunc(have, func(h ReadingList) bool { return h.URL == l.URL }) {
			continue
		}
		if free <= 0 {
			out.problem("%s is not followed: there are already %d reading lists, which is the limit.", location.Brief(l.URL), maxLists)
			continue
		}
		err := r.Store.AddReadingList(ctx, l)
		if fault.CodeOf(err) == fault.Conflict && err != nil {
			continue
		}
		if err != nil {
			return err
		}
		free--
		out.Lists++
	}
	return nil
}

func (i *Imported) problem(format string, args ...any) {
	switch len(i.Problems) {
	case maxProblems:
	case maxProblems - 1:
		i.Problems = append(i.Problems, "There are more problems, which are not listed.")
	default:
		i.Problems = append(i.Problems, fmt.Sprintf(format, args...))
	}
}
