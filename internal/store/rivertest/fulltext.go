package rivertest

import (
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltext"
	"cloudburst/internal/lease"
	"cloudburst/internal/river"
	"cloudburst/internal/store/storetest"
)

func riverFullTextTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"PagesOfNewItemsAreQueuedOnlyIfWanted":     riverTest(fullQueued),
		"FullTextIsStoredOnceAndShownOnlyIfChosen": riverTest(fullStored),
		"FullTextOfOneItemIsQueuedFirst":           riverTest(fullWanted),
		"FailedPageIsRememberedAndTriedAgain":      riverTest(fullFailed),
		"LostClaimWritesNoFullText":                riverTest(fullClaims),
		"FullTextIsSearchedAndSweptWithItem":       riverTest(fullSearched),
		"FullTextSettingSurvivesUndo":              riverTest(fullUndo),
	}
}

func (s *stream) full() fulltext.Store { return s.env.Store.(fulltext.Store) }

// chooseFull makes a reader want the full text of a feed, or not.
func (s *stream) chooseFull(reader string, source int64, want bool) {
	s.t.Helper()
	f, err := s.ChangeSubscription(s.Ctx, reader, source, func(sub *river.Subscription) error {
		sub.FullText = want
		return nil
	})
	s.must(err)
	if f.FullText != want {
		s.t.Fatalf("the choice is %v, not %v", f.FullText, want)
	}
}

// claimFull claims all due pages.
func (s *stream) claimFull() []fulltext.Page {
	s.t.Helper()
	s.claim++
	list, err := s.full().ClaimFullTexts(s.Ctx, s.Now, s.In(time.Minute), 100, s.claim)
	s.must(err)
	return list
}

// saveFull stores a result that must be accepted.
func (s *stream) saveFull(r fulltext.Result) (followed bool) {
	s.t.Helper()
	r.At = s.Now
	saved, followed, err := s.full().SaveFullText(s.Ctx, r)
	s.must(err)
	if !saved {
		s.t.Fatal("the result was not saved")
	}
	return followed
}

func (s *stream) fullOf(item int64) fulltext.Text {
	s.t.Helper()
	t, err := s.full().FullText(s.Ctx, item)
	s.must(err)
	return t
}

// twoReaders returns a feed that ann and bob follow and that was read once.
func (s *stream) twoReaders() river.Source {
	src := s.followFeed("ann", feedURL(1))
	s.followFeed("bob", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 2)...)
	s.pass(time.Hour)
	return src
}

func fullQueued(t *testing.T, s *stream) {
	src := s.twoReaders()
	storetest.Same(t, "pages without a choice", len(s.claimFull()), 0)
	s.chooseFull("ann", src.ID, true)
	list := s.items(src.ID, 10, 13)
	list[2].Link = ""
	s.readFeed(src.ID, list...)
	pages := s.claimFull()
	storetest.Same(t, "pages of items with a link", len(pages), 2)
	for _, p := range pages {
		if p.Source != src.ID || p.Link == "" || p.Tries != 0 || p.Claim != s.claim || !strings.HasPrefix(p.Words, "Text 1") {
			t.Errorf("the page is %+v", p)
		}
	}
	storetest.Same(t, "claimed again", len(s.claimFull()), 0)
	next, err := s.full().NextFullText(s.Ctx)
	s.must(err)
	storetest.Same(t, "end of the claim", next, s.In(time.Minute))
	s.chooseFull("ann", src.ID, false)
	s.readFeed(src.ID, s.items(src.ID, 20, 22)...)
	s.pass(30 * time.Second)
	storetest.Same(t, "pages after the choice ended", len(s.claimFull()), 0)
	s.pass(time.Minute)
	storetest.Same(t, "pages whose claim expired", len(s.claimFull()), 2)
}

func fullStored(t *testing.T, s *stream) {
	src := s.twoReaders()
	s.chooseFull("ann", src.ID, true)
	it := s.items(src.ID, 10, 11)[0]
	s.readFeed(src.ID, it)
	p := s.claimFull()[0]
	seq := s.seq + 100
	storetest.Same(t, "followed", s.saveFull(fulltext.Result{Page: p, HTML: "<p>Whole ☂ text</p>", Seq: seq}), true)
	ann, bob := s.ask(river.ItemQuery{Reader: "ann", IDs: []int64{it.ID}})[0], s.ask(river.ItemQuery{Reader: "bob", IDs: []int64{it.ID}})[0]
	storetest.Same(t, "for ann", ann.Full, river.Full{HTML: "<p>Whole ☂ text</p>", At: s.Now})
	storetest.Same(t, "for bob", bob.Full, river.Full{})
	storetest.Same(t, "the feed's own text", []string{ann.HTML, bob.HTML}, []string{"<p>Text 10</p>", "<p>Text 10</p>"})
	storetest.Same(t, "numbers", []int64{ann.Seq, ann.First}, []int64{seq, it.First})
	bare := s.ask(river.ItemQuery{Reader: "ann", IDs: []int64{it.ID}, Bare: true})[0]
	storetest.Same(t, "in a list of IDs", bare.Full, river.Full{})
	// bob asks for the same item: its page is not read again.
	s.must(s.full().WantFullText(s.Ctx, it.ID, s.Now, 10))
	storetest.Same(t, "pages after the second request", len(s.claimFull()), 0)
	s.chooseFull("bob", src.ID, true)
	bob = s.ask(river.ItemQuery{Reader: "bob", IDs: []int64{it.ID}})[0]
	storetest.Same(t, "for bob later", bob.Full.HTML, "<p>Whole ☂ text</p>")
}

func fullWanted(t *testing.T, s *stream) {
	src := s.twoReaders()
	s.chooseFull("ann", src.ID, true)
	s.readFeed(src.ID, s.items(src.ID, 10, 13)...)
	other := s.followFeed("bob", feedURL(2))
	list := s.items(other.ID, 0, 2)
	list[1].Link = ""
	s.readFeed(other.ID, list...)
	s.must(s.full().WantFullText(s.Ctx, list[0].ID, s.Now, 10))
	s.must(s.full().WantFullText(s.Ctx, list[0].ID, s.Now, 10))
	if text := s.fullOf(list[0].ID); !text.Pending() {
		t.Errorf("the wanted page is not pending: %+v", text)
	}
	for id, want := range map[int64]fault.Code{list[1].ID: fault.Invalid, 12345: fault.NotFound} {
		storetest.Same(t, "error", fault.CodeOf(s.full().WantFullText(s.Ctx, id, s.Now, 10)), want)
	}
	_, err := s.full().FullText(s.Ctx, 12345)
	storetest.Same(t, "unknown item", fault.CodeOf(err), fault.NotFound)
	storetest.Same(t, "too many", fault.CodeOf(s.full().WantFullText(s.Ctx, river.ItemID(src.ID, "guid-1"), s.Now, 4)), fault.TooMany)
	s.claim++
	first, err := s.full().ClaimFullTexts(s.Ctx, s.Now, s.In(time.Minute), 1, s.claim)
	s.must(err)
	storetest.Same(t, "first", []any{len(first), first[0].Item}, []any{1, list[0].ID})
	storetest.Same(t, "followed", s.saveFull(fulltext.Result{Page: first[0], HTML: "<p>Whole</p>", Seq: s.seq + 10}), false)
	got := s.ask(river.ItemQuery{Reader: "bob", IDs: []int64{list[0].ID}})[0]
	storetest.Same(t, "number of the item", got.Seq, list[0].Seq)
	storetest.Same(t, "stored", s.fullOf(list[0].ID).HTML, "<p>Whole</p>")
}

func fullFailed(t *testing.T, s *stream) {
	src := s.twoReaders()
	id := river.ItemID(src.ID, "guid-1")
	s.must(s.full().WantFullText(s.Ctx, id, s.Now, 10))
	p := s.claimFull()[0]
	p.Tries = 1
	s.saveFull(fulltext.Result{Page: p, Problem: "The server answered 503.", NextAt: s.In(5 * time.Minute)})
	got := s.fullOf(id)
	storetest.Same(t, "failed", got, fulltext.Text{Full: river.Full{At: s.Now}, Problem: "The server answered 503.", NextAt: s.In(5 * time.Minute)})
	storetest.Same(t, "too early", len(s.claimFull()), 0)
	s.pass(5 * time.Minute)
	p = s.claimFull()[0]
	storetest.Same(t, "tries", p.Tries, 1)
	p.Tries = 2
	s.saveFull(fulltext.Result{Page: p, Problem: "The page is gone."})
	got = s.fullOf(id)
	storetest.Same(t, "given up", []any{got.Problem, got.NextAt, got.Pending()}, []any{"The page is gone.", time.Time{}, false})
	s.pass(time.Hour)
	storetest.Same(t, "given up", len(s.claimFull()), 0)
	s.must(s.full().WantFullText(s.Ctx, id, s.Now, 10))
	p = s.claimFull()[0]
	storetest.Same(t, "tries after a request", p.Tries, 0)
}

func fullClaims(t *testing.T, s *stream) {
	src := s.twoReaders()
	id := river.ItemID(src.ID, "guid-1")
	s.must(s.full().WantFullText(s.Ctx, id, s.Now, 10))
	old := s.claimFull()[0]
	s.pass(2 * time.Minute)
	p := s.claimFull()[0]
	saved, _, err := s.full().SaveFullText(s.Ctx, fulltext.Result{Page: old, HTML: "<p>Old</p>", At: s.Now})
	s.must(err)
	storetest.Same(t, "saved with an old claim", saved, false)
	s.must(s.full().PutOffFullTexts(s.Ctx, []lease.Back[fulltext.Page]{{Row: old, At: s.In(time.Hour)}, {Row: p, At: s.In(time.Second)}}))
	storetest.Same(t, "given back", len(s.claimFull()), 0)
	s.pass(time.Second)
	storetest.Same(t, "due again", len(s.claimFull()), 1)
}

func fullSearched(t *testing.T, s *stream) {
	src := s.twoReaders()
	s.index()
	it := s.ask(river.ItemQuery{Reader: "ann", SourceID: src.ID})[0]
	s.must(s.full().WantFullText(s.Ctx, it.ID, s.Now, 10))
	s.saveFull(fulltext.Result{Page: s.claimFull()[0], HTML: "<p>An umbrella opens</p>"})
	s.index()
	storetest.Same(t, "found by the full text", s.titles(river.ItemQuery{Reader: "ann", Match: "umbrella"}), []string{it.Title})
	storetest.Same(t, "found by the feed's text", s.titles(river.ItemQuery{Reader: "ann", Match: "text title"})[:1], []string{it.Title})
	s.readFeed(src.ID)
	s.pass(48 * time.Hour)
	for {
		n, err := s.SweepRiver(s.Ctx, 1000, s.In(-time.Hour), 100)
		s.must(err)
		if n == 0 {
			break
		}
	}
	_, err := s.full().FullText(s.Ctx, it.ID)
	storetest.Same(t, "after the sweep", fault.CodeOf(err), fault.NotFound)
	storetest.Same(t, "found after the sweep", len(s.titles(river.ItemQuery{Reader: "ann", Match: "umbrella"})), 0)
}

func fullUndo(t *testing.T, s *stream) {
	src := s.twoReaders()
	s.chooseFull("ann", src.ID, true)
	s.must(s.KeepUnfollowed(s.Ctx, "ann", []int64{src.ID}, s.Now, s.In(-time.Minute)))
	_, err := s.RiverUnsubscribe(s.Ctx, "ann", []int64{src.ID})
	s.must(err)
	s.must(s.RiverResubscribe(s.Ctx, "ann", src.ID, s.In(-time.Minute), s.Now))
	list, err := s.RiverSubscriptions(s.Ctx, river.SubscriptionQuery{Reader: "ann"})
	s.must(err)
	storetest.Same(t, "full text", []any{len(list), list[0].FullText}, []any{1, true})
}
