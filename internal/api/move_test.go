package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/fault"
	"cloudburst/internal/transfer"
)

// fakeTransfers is a Transfers that exports the content of file and records imports.
type fakeTransfers struct {
	file     string // content of the file that Export writes
	abort    error  // error that Export and Import return; nil: no error
	imported string
	opts     transfer.Options
}

func (v *fakeTransfers) Export(_ context.Context, user string, w io.Writer, _ transfer.Progress) (transfer.Manifest, error) {
	if v.file != "" {
		if _, err := io.WriteString(w, v.file+user); err != nil {
			return transfer.Manifest{}, err
		}
	}
	return transfer.Manifest{User: user}, v.abort
}

func (v *fakeTransfers) Import(_ context.Context, user string, r io.ReaderAt, size int64, opts transfer.Options, progress transfer.Progress) (transfer.Result, error) {
	b, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil {
		return transfer.Result{}, err
	}
	v.imported, v.opts = user+" "+string(b), opts
	res := transfer.Result{
		Preview: opts.Preview, Omitted: []transfer.Omission{{Reason: "Boosts", Count: 1}}, Moved: []transfer.Moved{{From: "/a", To: "https://b.example/"}},
		Kind: "rss", Found: 5, Added: 3, Existing: 1, Skipped: 1, Files: 2, Problems: []string{"One was left out."},
	}
	progress(transfer.PhaseCheck, 1, 1)
	if v.abort != nil && fault.CodeOf(v.abort) == fault.Invalid {
		return transfer.Result{Kind: "rss"}, v.abort
	}
	for i := range 3 {
		progress(transfer.PhasePosts, i+1, 3)
	}
	return res, v.abort
}

func withTransfers(t *testing.T, v *fakeTransfers) *client.Client {
	t.Helper()
	w := newFakeHub()
	c, _ := serveWith(t, Options{Hub: w, Store: store{w}, Bus: w.bus, Accounts: newFakeAccounts("alice"), Transfers: v})
	return c
}

func TestUserIsExportedAndImported(t *testing.T) {
	t.Parallel()
	v := &fakeTransfers{file: "the file of "}
	c := withTransfers(t, v)
	var out bytes.Buffer
	last := int64(0)
	n, err := c.ExportUser(t.Context(), "alice", &out, func(n int64) { last = n })
	if err != nil || out.String() != "the file of alice" || n != 17 || last != 17 {
		t.Errorf("%q, %d, %v", out.String(), n, err)
	}
	var opmlProgress []string
	res, err := c.ImportUser(t.Context(), "alice", strings.NewReader("PK"), client.ImportUserOptions{Preview: true, Boosts: true, Progress: func(phase string, done, total int) {
		opmlProgress = append(opmlProgress, fmt.Sprint(phase, done, total))
	}})
	if err != nil || v.imported != "alice PK" || res.Added != 3 || res.Files != 2 || len(res.Problems) != 1 || !res.Preview || len(res.Omitted) != 1 || len(res.Moved) != 1 || v.opts != (transfer.Options{Preview: true, Boosts: true}) {
		t.Errorf("%+v, %v", res, err)
	}
	if got := strings.Join(opmlProgress, " "); got != "posts1 3 posts3 3" {
		t.Error(got)
	}
	for _, err := range []error{
		func() error { _, err := c.ExportUser(t.Context(), "nobody", io.Discard, nil); return err }(),
		func() error {
			_, err := c.ImportUser(t.Context(), "nobody", strings.NewReader("x"), client.ImportUserOptions{})
			return err
		}(),
	} {
		if !client.IsNotFound(err) {
			t.Error(err)
		}
	}
}

func TestInterruptedUserExportReturnsError(t *testing.T) {
	t.Parallel()
	c := withTransfers(t, &fakeTransfers{file: "half ", abort: errors.New("disk")})
	if _, err := c.ExportUser(t.Context(), "alice", io.Discard, nil); err == nil || !strings.Contains(err.Error(), "was interrupted") {
		t.Error(err)
	}
	c = withTransfers(t, &fakeTransfers{abort: fault.New(fault.Unavailable, "The database is away.")})
	_, err := c.ExportUser(t.Context(), "alice", io.Discard, nil)
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != http.StatusServiceUnavailable || e.Message != "The database is away." {
		t.Error(err)
	}
}

func TestFailedUserImportReportsReason(t *testing.T) {
	t.Parallel()
	c := withTransfers(t, &fakeTransfers{abort: fault.New(fault.Invalid, "The file is invalid.")})
	_, err := c.ImportUser(t.Context(), "alice", strings.NewReader("x"), client.ImportUserOptions{})
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != http.StatusBadRequest || e.Message != "The file is invalid." {
		t.Error(err)
	}
	c = withTransfers(t, &fakeTransfers{abort: fault.New(fault.Unavailable, "The database is away.")})
	_, err = c.ImportUser(t.Context(), "alice", strings.NewReader("x"), client.ImportUserOptions{})
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Message != "The import stopped after 3 posts and 2 files; running it again is safe. The database is away." {
		t.Error(err)
	}
}
