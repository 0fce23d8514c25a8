package account_test

import (
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

func TestInvalidUserNamesAreRejected(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "alice", "a-b_c9", "9", "123", "12345", "2026a", strings.Repeat("x", 32), "_", "-"} {
		if err := account.CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		"", "Alice", "ALICE", "al ice", " alice", "alice ", "alice\n", "alice\x00", "al.ice", "alice/", "../alice", "%61lice", "a@b", "alicé", "аlice", "ａlice", "ali\u200bce",
		"alice\u0301", "ﬁ", "K", "\xff", strings.Repeat("x", 33), strings.Repeat("x", 1<<20), "1999", "2026", "0000",
		"rss", "feed", "login", "admin", "private", "robots.txt", "changes.xml", "rpc2", "rsscloud", "v1", "www", "setup", "static", "test", "user",
	} {
		err := account.CheckName(name)
		if fault.CodeOf(err) != fault.Invalid || err == nil || len(err.Error()) > 400 {
			t.Errorf("%.40q: %v", name, err)
		}
	}
}

func TestReservedNamesAreSortedAndRefused(t *testing.T) {
	t.Parallel()
	list := account.Reserved()
	if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Error("the list is not sorted, or has duplicates")
	}
	for _, name := range list {
		if account.CheckName(name) == nil {
			t.Errorf("%q can be a user", name)
		}
		if name != strings.ToLower(name) {
			t.Errorf("%q is not lowercase", name)
		}
	}
}

func TestLookalikeNamesAreRefused(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{Limits: account.Limits{Source: 1000, Name: 1000}}, func(t *testing.T, w *harness) {
		w.add("alice")
		for _, name := range []string{
			"Alice", "ALICE", "alice ", " alice", "alice\x00", "аlice", "ａlice", "alice\u0301", "ali\u200bce", "alice%00", "ａｌｉｃｅ", "\xffalice", "", "ali%", "alic_",
			strings.Repeat("a", 1<<16),
		} {
			before := w.hashes.Load()
			w.signIn(name, right, at(home), fault.Refused)
			if n := w.hashes.Load() - before; n != 1 {
				t.Errorf("%q: %d hashes", name, n)
			}
		}
		w.signIn("alice", right, at(home), ok)
	})
}

func TestInvalidPasswordsAreRejected(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		for i, password := range []string{"", "1234567", strings.Repeat("x", 1025), "null\x00null", "bytes \xff\xff", "alice-alice"} {
			_, err := w.Add(w.ctx, "alice-alice", password)
			wantFault(t, err, fault.Invalid)
			if strings.Contains(err.Error(), "null") || i > 1 && strings.Contains(err.Error(), password) {
				t.Errorf("the password is in the error %q", err)
			}
		}
		for name, password := range map[string]string{
			"a": "12345678", "b": strings.Repeat("x", 1024), "c": "  spaces  ", "d": "Ünïcødé☂", "e": "\r\n\t\r\n\t\r\n\t",
		} {
			_, err := w.Add(w.ctx, name, password)
			must(t, err)
			w.signIn(name, password, source(len(password)), ok)
			w.signIn(name, strings.TrimSpace(password)+"x", source(len(password)), fault.Refused)
		}
		w.signIn("d", "U\u0308nïcødé☂", at(home), ok) // the same name with decomposed characters
		w.signIn("d", "Ünïcødé☔", at(home), fault.Refused)
		w.signIn("b", strings.Repeat("x", 1025), at(home), fault.Refused)
		_, err := w.Add(w.ctx, "a", right)
		wantFault(t, err, fault.Conflict)
	})
}
