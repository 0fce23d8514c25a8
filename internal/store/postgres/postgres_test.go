package postgres

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
	"cloudburst/internal/nettest"
	"cloudburst/internal/store/accounttest"
	"cloudburst/internal/store/authortest"
	"cloudburst/internal/store/hubtest"
	"cloudburst/internal/store/rivertest"
	"cloudburst/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

func TestStorePassesTheContractTests(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t) // the tests of package sqlite run the same contract under the race detector
	fulltest.Needs(t, "PostgreSQL")
	inspector := newInspector()
	t.Cleanup(func() { inspector.report(t) })
	planned := open(t, storetest.Postgres(t))
	t.Cleanup(func() { checkRowOrder(t, planned, inspector.bulk) })
	var free emptied
	empty := func(sub *testing.T) hub.Store {
		return openTraced(sub, free.take(sub, func() string { return storetest.Postgres(t) }), inspector)
	}
	hubtest.Run(t, empty)
	accounttest.Run(t, empty)
	authortest.Run(t, empty)
	rivertest.Run(t, empty)
}

// open opens a store that is closed when the test ends.
func open(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{URL: url, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// The driver tries an address with and without TLS, and reports both attempts.
func TestOpenErrorNamesEachFailureOnce(t *testing.T) {
	t.Parallel()
	addr := nettest.RefusingAddr(t, "127.0.0.1")
	_, err := Open(t.Context(), Options{URL: "postgres://alice@" + addr + "/cloudburst"})
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != fault.Unavailable || f.Err == nil {
		t.Fatalf("got %v; want a fault of an unavailable database", err)
	}
	if text := f.Err.Error(); strings.Count(text, "connection refused") != 1 || strings.Contains(text, "\n") {
		t.Errorf("got %q; want one line that names the refusal once", text)
	}
}
