package account_test

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/protocol/wsse"
)

// header returns the header that a reader sends now.
func (w *harness) header(user, password string) wsse.Token {
	w.t.Helper()
	return w.token(wsse.Header(user, password, time.Now(), nil))
}

func (w *harness) token(header string) wsse.Token {
	w.t.Helper()
	t, err := wsse.Parse(header)
	if err != nil {
		// A header cannot contain this name, so use the header of a name that it can contain.
		t, err = wsse.Parse(wsse.Header("?", "?", time.Now(), nil))
		must(w.t, err)
	}
	return t
}

// wsseToken creates a token whose digest is computed for hashedNonce instead of nonce.
func wsseToken(nonce, hashedNonce, created, password string) wsse.Token {
	sum := sha1.Sum([]byte(hashedNonce + created + password))
	t, err := wsse.Parse(wsse.Token{Username: "alice", Digest: base64.StdEncoding.EncodeToString(sum[:]), Nonce: nonce, Created: created}.String())
	if err != nil {
		panic(err)
	}
	return t
}

func (w *harness) wsse(t wsse.Token) error {
	_, err := w.OpenByWSSE(w.ctx, "alice", private, t, at(home))
	return err
}

func TestWSSEHeaderIsAcceptedOnceEvenAfterARestart(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		a, _ := w.readers()
		header := w.header("alice", a.Plain)
		must(t, w.wsse(header))
		wantFault(t, w.wsse(header), fault.Refused)
		w.restart()
		wantFault(t, w.wsse(header), fault.Refused)
		w.wait(4 * time.Minute)
		must(t, w.Sweep(w.ctx))
		wantFault(t, w.wsse(header), fault.Refused)
		w.wait(2 * time.Minute)
		must(t, w.Sweep(w.ctx))
		wantFault(t, w.wsse(header), fault.Refused) // the header is too old now
		must(t, w.wsse(w.header("alice", a.Plain)))
	})
}

func TestWSSEHeaderSentConcurrentlyIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{Limits: account.Limits{Source: 1000}}, func(t *testing.T, w *harness) {
		a, _ := w.readers()
		for range 5 {
			header := w.header("alice", a.Plain)
			var accepted, refused atomic.Int64
			var group sync.WaitGroup
			for range 50 {
				group.Go(func() {
					switch err := w.wsse(header); {
					case err == nil:
						accepted.Add(1)
					case fault.CodeOf(err) == fault.Refused:
						refused.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			group.Wait()
			if accepted.Load() != 1 || refused.Load() != 49 {
				t.Errorf("%d accepted, %d refused", accepted.Load(), refused.Load())
			}
		}
	})
}

func TestReencodedWSSEHeaderIsRejectedAsReplay(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{Limits: account.Limits{Source: 1000}}, func(t *testing.T, w *harness) {
		a, _ := w.readers()
		const nonce = "bf59559401b2d9e1" // the text of the nonce is also valid base64
		created := time.Now().UTC().Format(time.RFC3339)
		first := wsseToken(nonce, nonce, created, a.Plain)
		must(t, w.wsse(first))
		sum, err := base64.StdEncoding.DecodeString(first.Digest)
		must(t, err)
		text := hex.EncodeToString(sum)
		std := base64.StdEncoding.EncodeToString
		spelled := map[string]wsse.Token{}
		for name, nonce := range map[string]string{"raw": nonce, "base64": std([]byte(nonce)), "without padding": strings.TrimRight(std([]byte(nonce)), "=")} {
			for kind, digest := range map[string]string{"bytes": first.Digest, "text": std([]byte(text)), "digits": text, "capitals": strings.ToUpper(text), "no padding": strings.TrimRight(first.Digest, "=")} {
				one := first
				one.Nonce, one.Digest = nonce, digest
				spelled[name+", "+kind] = one
			}
		}
		for _, user := range []string{"Zoë ☂", a.Selector, "ALICE"} {
			one := first
			one.Username = user
			spelled["as "+user] = one
		}
		for name, one := range spelled {
			if err := w.wsse(one); fault.CodeOf(err) != fault.Refused {
				t.Errorf("%s: %v", name, err)
			}
		}
		// A header stays invalid if characters move between the nonce and the time.
		for _, n := range []int{-4, -1, 1, 4} {
			both := nonce + created
			one := first
			one.Nonce, one.Created = both[:len(nonce)+n], both[len(nonce)+n:]
			if err := w.wsse(one); fault.CodeOf(err) != fault.Refused {
				t.Errorf("moved by %d: %v", n, err)
			}
		}
		// A new header with a used nonce is rejected in every spelling.
		w.wait(time.Second)
		created = time.Now().UTC().Format(time.RFC3339)
		wantFault(t, w.wsse(wsseToken(nonce, nonce, created, a.Plain)), fault.Refused)
		wantFault(t, w.wsse(wsseToken(std([]byte(nonce)), nonce, created, a.Plain)), fault.Refused)
		must(t, w.wsse(wsseToken(nonce+"x", nonce+"x", created, a.Plain)))
	})
}

func TestUsersCanUseTheSameNonce(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		a, b := w.readers()
		created := time.Now().UTC().Format(time.RFC3339)
		must(t, w.wsse(wsseToken("n", "n", created, a.Plain)))
		token := wsseToken("n", "n", created, b.Plain)
		token.Username = "bob"
		_, err := w.OpenByWSSE(w.ctx, "bob", private, token, at(home))
		must(t, err)
	})
}

func TestWSSEHeaderIsValidForFiveMinutesAroundItsTime(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		a, _ := w.readers()
		w.wait(time.Second - time.Duration(time.Now().Nanosecond())) // the time in a header has a precision of one second
		for d, want := range map[time.Duration]bool{
			0: true, 5 * time.Minute: true, -5 * time.Minute: true, 5*time.Minute + time.Second: false, -5*time.Minute - time.Second: false, time.Hour: false, -24 * time.Hour: false,
		} {
			header := w.token(wsse.Header("alice", a.Plain, time.Now().Add(d), nil))
			if err := w.wsse(header); (err == nil) != want {
				t.Errorf("%v away: %v", d, err)
			}
		}
		// A header is invalid if its time differs from the time in its digest.
		old := w.token(wsse.Header("alice", a.Plain, time.Now().Add(-time.Hour), nil))
		fresh := w.header("alice", a.Plain)
		old.Created, old.At = fresh.Created, fresh.At
		wantFault(t, w.wsse(old), fault.Refused)
		// A header from the future is stored until it expires.
		ahead := w.token(wsse.Header("alice", a.Plain, time.Now().Add(5*time.Minute), nil))
		must(t, w.wsse(ahead))
		w.wait(10 * time.Minute)
		must(t, w.Sweep(w.ctx))
		wantFault(t, w.wsse(ahead), fault.Refused)
	})
}

func TestClockSetBackDoesNotRevalidateUsedWSSEHeaders(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		var ahead time.Duration
		w.Now = func() time.Time { return time.Now().Add(ahead) }
		a, _ := w.readers()
		header := w.header("alice", a.Plain)
		must(t, w.wsse(header))
		ahead = time.Hour
		must(t, w.Sweep(w.ctx))
		ahead = 0
		wantFault(t, w.wsse(header), fault.Refused)
	})
}

func TestNoncesPerSecretAreLimited(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		a, b := w.readers()
		for range 120 {
			must(t, w.wsse(w.header("alice", a.Plain)))
		}
		wantFault(t, w.wsse(w.header("alice", a.Plain)), fault.TooMany)
		_, err := w.OpenByWSSE(w.ctx, "bob", private, w.header("bob", b.Plain), at(home))
		must(t, err)
		w.wait(time.Minute)
		must(t, w.wsse(w.header("alice", a.Plain)))
	})
}
