package account_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/sqlite/sqlitetest"
)

const (
	home    = "192.0.2.7"
	away    = "198.51.100.9"
	right   = "right password"
	wrong   = "wrong password"
	private = "private"
)

// harness is an Accounts with a real store. It runs in a synctest bubble.
type harness struct {
	*account.Accounts
	t     *testing.T
	ctx   context.Context
	dir   string
	store *sqlite.Store
	// hashes is the number of hashed passwords.
	hashes atomic.Int64
}

func withHarness(t *testing.T, o account.Options, do func(*testing.T, *harness)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &harness{t: t, ctx: t.Context(), dir: dir}
		w.start(o)
		defer func() { w.stop() }()
		do(t, w)
	})
}

// start opens the store, as a new process would.
func (w *harness) start(o account.Options) {
	w.t.Helper()
	log := slog.New(slog.NewTextHandler(w.t.Output(), nil))
	st, err := sqlite.Open(w.ctx, sqlite.Options{Dir: sqlitetest.Fill(w.t, w.dir), Log: log})
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = st
	if o.Hash == nil {
		o.Hash = w.hash
	}
	w.Accounts = &account.Accounts{Store: st, Key: []byte("0123456789abcdef0123456789abcdef"), Log: log, Options: o}
}

func (w *harness) stop() {
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

// restart simulates a restart of the process.
func (w *harness) restart() {
	w.t.Helper()
	o := w.Options
	w.stop()
	w.start(o)
}

// hash is a fast and insecure replacement of argon2id.
func (w *harness) hash(password, salt []byte, passes, memory uint32) []byte {
	w.hashes.Add(1)
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint32(nil, passes))
	h.Write(binary.BigEndian.AppendUint32(nil, memory))
	h.Write(salt)
	h.Write(password)
	return h.Sum(nil)
}

func at(addr string) account.Caller {
	return account.Caller{Addr: netip.MustParseAddr(addr), Via: "page"}
}

// source returns a caller in the network number n.
func source(n int) account.Caller { return at(fmt.Sprintf("10.%d.%d.1", n/256, n%256)) }

// withFailures fails with invalid tokens from a source, up to a quarter of its limit. If the limit
// of a name is reached, attempts from this source are therefore rejected and not paced.
func (w *harness) withFailures(from account.Caller) account.Caller {
	w.t.Helper()
	for range 5 {
		if _, err := w.Token(w.ctx, "cb_x", "", from); fault.CodeOf(err) != fault.TooMany {
			wantFault(w.t, err, fault.Refused)
		}
	}
	return from
}

func (w *harness) add(names ...string) {
	w.t.Helper()
	for _, name := range names {
		_, err := w.Add(w.ctx, name, right)
		must(w.t, err)
	}
}

// user returns the user as a log-in returns it.
func (w *harness) user(name string) account.User {
	w.t.Helper()
	u, err := w.User(w.ctx, name)
	must(w.t, err)
	return u
}

// signIn signs in and checks the result. want is the code of the expected fault; ok: success.
func (w *harness) signIn(name, password string, from account.Caller, want fault.Code) {
	w.t.Helper()
	u, err := w.Check(w.ctx, name, password, from)
	if want == ok {
		must(w.t, err)
		if u.Name != name {
			w.t.Fatalf("%s is signed in as %s", name, u.Name)
		}
		return
	}
	wantFault(w.t, err, want)
	if u != (account.User{}) {
		w.t.Fatalf("refused, but returned %+v", u)
	}
}

const ok = fault.Internal

func (w *harness) wait(d time.Duration) { time.Sleep(d) } // advances the clock of the synctest bubble

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantFault(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if err == nil || fault.CodeOf(err) != code {
		t.Fatalf("got error %v, want a fault of the kind %s", err, code)
	}
	if code == fault.TooMany && fault.RetryAfter(err) < time.Second {
		t.Fatalf("%v has no RetryAfter", err)
	}
}
