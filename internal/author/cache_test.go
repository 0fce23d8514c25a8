package author

import (
	"fmt"
	"testing"

	"cloudburst/internal/fault"
)

func read(t *testing.T, s *Feeds, user string) string {
	t.Helper()
	_, doc, err := s.Document(t.Context(), user, Public)
	must(t, err)
	return string(doc)
}

func TestFeedIsReadOnceFromUnsharedStore(t *testing.T) {
	t.Parallel()
	store := &memory{}
	s := &Feeds{Store: store}
	_, err := s.Save(t.Context(), "alice", Public, document(1), "put")
	must(t, err)
	for range 3 {
		read(t, s, "alice")
		if _, err := s.Feed(t.Context(), "alice", Public); err != nil {
			t.Fatal(err)
		}
	}
	if store.docs != 1 || store.heads != 0 {
		t.Errorf("the store was read for %d documents and %d feeds", store.docs, store.heads)
	}
	_, err = s.Save(t.Context(), "alice", Public, document(2), "put")
	must(t, err)
	if got := read(t, s, "alice"); got != string(document(2)) {
		t.Errorf("read %s", got)
	}
	_, err = s.End(t.Context(), "alice", Public)
	must(t, err)
	if f, err := s.Feed(t.Context(), "alice", Public); err != nil || !f.Gone {
		t.Errorf("the feed is %+v, %v", f, err)
	}
	_, err = s.Feed(t.Context(), "bob", Public)
	wantFault(t, err, fault.NotFound, "")
	_, err = s.Feed(t.Context(), "alice", "other")
	wantFault(t, err, fault.NotFound, "")
}

func TestFeedIsReadAgainAfterAnotherNodeChangedIt(t *testing.T) {
	t.Parallel()
	store := &memory{}
	local, remote := &Feeds{Store: store, Shared: true}, &Feeds{Store: store, Shared: true}
	for n := range 3 {
		_, err := remote.Save(t.Context(), "alice", Public, document(n), "put")
		must(t, err)
		for range 3 {
			if got := read(t, local, "alice"); got != string(document(n)) {
				t.Fatalf("read %s", got)
			}
		}
	}
	if store.docs != 3 || store.heads != 8 {
		t.Errorf("the store was read for %d documents and %d feeds", store.docs, store.heads)
	}
	_, err := remote.Move(t.Context(), "alice", Public, "https://b.example/")
	must(t, err)
	if f, err := local.Feed(t.Context(), "alice", Public); err != nil || f.MovedTo == "" {
		t.Errorf("the feed is %+v, %v", f, err)
	}
}

func TestFeedReadBeforeASaveIsNotCachedAfterwards(t *testing.T) {
	t.Parallel()
	store := &memory{}
	s := &Feeds{Store: store}
	_, err := s.Save(t.Context(), "alice", Public, document(1), "put")
	must(t, err)
	store.reading = func() {
		store.reading = nil
		_, err := s.Save(t.Context(), "alice", Public, document(2), "put")
		must(t, err)
	}
	read(t, s, "alice") // this read may return either version, because the save runs during the read
	if got := read(t, s, "alice"); got != string(document(2)) {
		t.Errorf("read %s", got)
	}
}

// A save invalidates the cache shortly after its commit. Between the two, the cache must not combine
// the new version with the old document: caches of rendered documents use the version as their key.
func TestOldDocumentDoesNotReplaceNewVersionInTheCache(t *testing.T) {
	t.Parallel()
	store := &memory{}
	s := &Feeds{Store: store}
	_, err := s.Save(t.Context(), "alice", Public, document(1), "put")
	must(t, err)
	store.reading = func() {
		store.reading = nil
		_, err := (&Feeds{Store: store}).Save(t.Context(), "alice", Public, document(2), "put") // committed, but the cache of s is not invalidated yet
		must(t, err)
		f, err := s.Feed(t.Context(), "alice", Public)
		if must(t, err); f.Version != 2 {
			t.Errorf("the feed has version %d", f.Version)
		}
	}
	read(t, s, "alice") // reads the first document before the commit
	f, doc, err := s.Document(t.Context(), "alice", Public)
	if must(t, err); f.Version != 2 || string(doc) != string(document(2)) {
		t.Errorf("version %d is %s", f.Version, doc)
	}
}

func TestFailedSaveInvalidatesTheCache(t *testing.T) {
	t.Parallel()
	store := &memory{}
	s := &Feeds{Store: store}
	_, err := s.Save(t.Context(), "alice", Public, document(1), "put")
	must(t, err)
	read(t, s, "alice")
	_, err = (&Feeds{Store: store}).Save(t.Context(), "alice", Public, document(2), "put") // the cache of s does not see this save
	must(t, err)
	store.fail = fault.New(fault.Unavailable, "The connection broke.")
	_, err = s.Save(t.Context(), "alice", Public, document(2), "put")
	wantFault(t, err, fault.Unavailable, "")
	if got := read(t, s, "alice"); got != string(document(2)) {
		t.Errorf("read %s", got)
	}
}

func TestFeedCacheIsBounded(t *testing.T) {
	t.Parallel()
	store := &memory{}
	s := &Feeds{Store: store, Memory: 10 * headSize}
	for i := range 100 {
		user := fmt.Sprint("u", i)
		_, err := s.Save(t.Context(), user, Public, document(i), "put")
		must(t, err)
		read(t, s, user)
		if s.cache.entries.Size() > s.Memory {
			t.Fatalf("%d bytes are cached for %d feeds", s.cache.entries.Size(), s.cache.entries.Len())
		}
	}
	if s.cache.entries.Len() < 5 {
		t.Errorf("only %d feeds are cached", s.cache.entries.Len())
	}
	read(t, s, "u99")
	if store.docs != 100 {
		t.Errorf("the last feed was read again")
	}
}

func TestFeedCacheHitDoesNotAllocate(t *testing.T) {
	s := &Feeds{Store: &memory{}}
	_, err := s.Save(t.Context(), "alice", Public, document(1), "put")
	must(t, err)
	read(t, s, "alice")
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		if _, _, err := s.Document(ctx, "alice", Public); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("a hit makes %v allocations", n)
	}
}
