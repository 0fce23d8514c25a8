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
	Found    int      // number of feeds in the document
	Added    int      // number of feeds that the user follows because of the import
	Had      int      // number of feeds that the user already followed
	Over     int      // number of feeds that were left out because of Limit
	Limit    int      // maximum number of feeds that the user may follow
	Lists    int      // number of reading lists that the user follows because of the import
	Skipped  int      // number of feeds that were left out because they have no usable URL
	Problems []string // at most 100 sentences to display about problems
}

// ImportOptions are the options of an OPML import.
type ImportOptions struct {
	Category string // category that every feed gets in addition to its own; "": none
	URL      string // URL of the document; "": the document is a file
	Follow   bool   // true: follow the document at URL as a reading list, instead of importing it once
	Operator bool   // true: the server's operator imports, so the feed limit is MaxOfOperator
	// Progress is called when the whole document has arrived and is valid OPML, and then after
	// each batch. A nil Progress is not called.
	Progress func(done, total int)
}

// MaxOPML is the maximum size of an OPML document in bytes.
const MaxOPML = 64 << 20

const (
	maxOutlines       = 250_000
	maxProblems       = 100
	maxActiveImports  = 2                // maximum number of imports that are being written at the same time
	maxPendingImports = 16               // maximum number of imports that arrive, wait or are being written
	importSlotWait    = 30 * time.Second // maximum wait for a free slot to write
)

// Import follows the feeds of an OPML document. If ImportOptions.URL is set and doc is nil,
// Import fetches the document from that URL. A feed gets two kinds of categories: the innermost
// folder around the feed, and the last part of each of its category paths. The attribute text becomes
// the user's own title, unless it is the feed's title. Included lists become reading lists.
// Import fetches no feed; the feeds are due when Import returns.
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

// importer imports and exports OPML documents.
type importer struct{ *River }

// importFrom fetches the document from its URL and imports it.
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
	return opml.Open(doc, &opml.Options{ContentType: contentType, Limits: opml.Limits{Bytes: MaxOPML, Outlines: maxOutlines}})
}

// notOPML describes a document that is not OPML, as a clause.
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

// takeOver follows the feeds of a document, and then the lists that the document includes.
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

// stopped adds the progress of the import to the message of an error.
func stopped(err error, out Imported) error {
	if err == nil || out.Added == 0 {
		return err
	}
	f := fault.Wrap(fault.CodeOf(err), err, "The import stopped after %d feeds, which stay. It is safe to import the list again. %s", out.Added, fault.Message(err))
	f.RetryAfter = fault.RetryAfter(err)
	return f
}

// addLists makes the user follow reading lists.
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

// problem adds a sentence unless the list has it.
func (i *Imported) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch n := len(i.Problems); {
	case n == maxProblems, slices.Contains(i.Problems, text):
	case n == maxProblems-1:
		i.Problems = append(i.Problems, "There are more problems, which are not listed.")
	default:
		i.Problems = append(i.Problems, text)
	}
}
