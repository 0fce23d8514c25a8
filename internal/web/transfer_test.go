package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/transfer"
)

// fakeMoves imports and exports users. A test controls the progress of an import.
type fakeMoves struct {
	goOn    chan struct{} // an import waits for a value before it continues; nil: it does not wait
	stepped chan struct{}
	got     chan string
	res     transfer.Result
	err     error
	opts    transfer.Options
	pre     transfer.Result // result of each preview
	preErr  error
}

func (v *fakeMoves) Export(_ context.Context, user string, w io.Writer, _ transfer.Progress) (transfer.Manifest, error) {
	if v.err != nil {
		return transfer.Manifest{}, v.err
	}
	_, err := io.WriteString(w, "everything of "+user)
	return transfer.Manifest{}, err
}

func (v *fakeMoves) Import(_ context.Context, user string, r io.ReaderAt, size int64, opts transfer.Options, progress transfer.Progress) (transfer.Result, error) {
	if opts.Preview {
		pre := v.pre
		pre.Preview = true
		return pre, v.preErr
	}
	b, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil {
		return v.res, err
	}
	if v.goOn != nil {
		progress(transfer.PhasePosts, 40, 1000)
		v.stepped <- struct{}{}
		<-v.goOn
	}
	v.opts = opts
	defer func() { v.got <- user + " " + string(b) }()
	return v.res, v.err
}

func newMovesHarness(t *testing.T, v *fakeMoves) *accountHarness {
	t.Helper()
	x := newAccountHarness(t)
	v.got = make(chan string, 4)
	x.Moves = v
	x.pages = x.Routes()
	return x.as("alice")
}

func (x *accountHarness) bring(path, name, content string) *httptest.ResponseRecorder {
	x.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if name != "" || content != "" {
		part, err := form.CreateFormFile("file", name)
		if err == nil {
			_, err = io.WriteString(part, content)
		}
		if err != nil {
			x.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		x.Fatal(err)
	}
	r := httptest.NewRequest("POST", path, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return x.do(r)
}

func TestExportIsDownloadedAsAnArchive(t *testing.T) {
	t.Parallel()
	x := newMovesHarness(t, &fakeMoves{})
	rec := x.open("/account/export")
	if rec.Code != 200 || rec.Body.String() != "everything of alice" || rec.Header().Get("Content-Type") != "application/zip" ||
		!regexp.MustCompile(`^attachment; filename="alice-\d{4}-\d\d-\d\d\.zip"$`).MatchString(rec.Header().Get("Content-Disposition")) || rec.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	x.cookie = ""
	if rec := x.open("/account/export"); rec.Code != 303 || !strings.HasPrefix(rec.Header().Get("Location"), "/login") {
		t.Errorf("signed out: %d", rec.Code)
	}
	x = newMovesHarness(t, &fakeMoves{err: fault.New(fault.Unavailable, "The database is away.")})
	if rec := x.open("/account/export"); rec.Code != 503 || rec.Header().Get("Content-Disposition") != "" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
}

func TestFileIsImportedWhileAPageShowsProgress(t *testing.T) {
	t.Parallel()
	v := &fakeMoves{goOn: make(chan struct{}), stepped: make(chan struct{}), res: transfer.Result{Added: 1200, Existing: 1, Files: 3, Problems: []string{"<b>Something</b> was left out."}}}
	x := newMovesHarness(t, v)
	rec := x.bring("/account/import", "alice.zip", "PK the file")
	at := rec.Header().Get("Location")
	if rec.Code != 303 || !strings.HasPrefix(at, "/account/import/") {
		t.Fatalf("%d to %s: %s", rec.Code, at, rec.Body)
	}
	x.start(at)
	<-v.stepped
	rec = x.open(at)
	check(t, rec)
	if body := rec.Body.String(); !strings.Contains(body, `value="40"`) || !strings.Contains(body, "Posts are being imported.") || !strings.Contains(body, "data-every") {
		t.Error(body)
	}
	rec = x.bring("/account/import", "again.zip", "PK")
	check(t, rec)
	if rec.Code != 409 || !strings.Contains(rec.Body.String(), "still running") {
		t.Errorf("%d", rec.Code)
	}
	x.as("bob")
	if rec := x.open(at); strings.Contains(rec.Body.String(), "Posts are being imported.") {
		t.Error("another user sees it")
	}
	x.as("alice")
	close(v.goOn)
	if got := <-v.got; got != "alice PK the file" {
		t.Error(got)
	}
	body := finishedMove(x, at)
	if !strings.Contains(body, "You have 1,200 posts more and 3 files. 1 was already here.") || strings.Contains(body, "<b>Something") || strings.Contains(body, "data-every") {
		t.Error(body)
	}
}

// start waits until the page with the path at shows the preview. Then it starts the import.
func (x *accountHarness) start(at string, fields ...string) {
	x.Helper()
	finishedMove(x, at)
	if rec := x.send(at, append([]string{"do", "import"}, fields...)...); rec.Code != 303 || rec.Header().Get("Location") != at {
		x.Errorf("%d: %s", rec.Code, rec.Body)
	}
}

// finishedMove opens a page repeatedly until it shows the result of a preview or an import.
func finishedMove(x *accountHarness, at string) string {
	x.Helper()
	for {
		rec := x.open(at)
		check(x.T, rec)
		if body := rec.Body.String(); !strings.Contains(body, "data-every") || x.Context().Err() != nil {
			return body
		}
	}
}

func TestFailedImportShowsTheError(t *testing.T) {
	t.Parallel()
	v := &fakeMoves{err: fault.New(fault.Invalid, "The file is not valid.")}
	x := newMovesHarness(t, v)
	at := x.bring("/account/import", "a.zip", "x").Header().Get("Location")
	x.start(at)
	<-v.got
	if body := finishedMove(x, at); !strings.Contains(body, "The file could not be imported.") || !strings.Contains(body, "The file is not valid.") {
		t.Error(body)
	}
	v.err, v.res = errors.New("secret of the disk"), transfer.Result{Added: 7}
	at = x.bring("/account/import", "a.zip", "x").Header().Get("Location")
	x.start(at)
	<-v.got
	if body := finishedMove(x, at); !strings.Contains(body, "in part: You have 7 posts more.") || strings.Contains(body, "secret") {
		t.Error(body)
	}
	for _, rec := range []*httptest.ResponseRecorder{x.bring("/account/import", "", ""), x.send("/account/import", "file", "x")} {
		check(t, rec)
		if rec.Code != 400 || !strings.Contains(rec.Body.String(), "Choose a file") {
			t.Errorf("%d", rec.Code)
		}
	}
	rec := x.open("/account/import/nothing")
	check(t, rec)
	if !strings.Contains(rec.Body.String(), "not available any more") {
		t.Error(rec.Body)
	}
}

func TestPreviewShowsWhatAnImportWouldAdd(t *testing.T) {
	t.Parallel()
	v := &fakeMoves{
		pre: transfer.Result{
			Kind: "mastodon", Found: 9, Added: 5, Drafts: 1, Existing: 1, Skipped: 3, Replies: 2, Boosts: 1, Files: 4, FileBytes: 2_000_000,
			From: time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC), To: time.Date(2021, 3, 4, 0, 0, 0, 0, time.UTC),
			Omitted: []transfer.Omission{{Reason: "<i>Replies</i>", Count: 2}}, Problems: []string{"Something."},
		},
		res: transfer.Result{Kind: "mastodon", Added: 5, Moved: []transfer.Moved{{From: "https://m.example/1?a=\"", To: "https://one.example/alice/1"}}},
	}
	x := newMovesHarness(t, v)
	at := x.bring("/account/import", "a.zip", "x").Header().Get("Location")
	body := finishedMove(x, at)
	for _, want := range []string{"Nothing is stored yet", "Archive of Mastodon", "2 January 2020 – 4 March 2021", "2 MB", `name="replies"`, `name="boosts"`, "&lt;i&gt;Replies", "Something."} {
		if !strings.Contains(body, want) {
			t.Errorf("the preview lacks %q: %s", want, body)
		}
	}
	if rec := x.open(at + "/urls"); rec.Code != 404 {
		t.Errorf("URLs of a preview: %d", rec.Code)
	}
	x.start(at, "replies", "yes")
	<-v.got
	body = finishedMove(x, at)
	if v.opts != (transfer.Options{Replies: true}) || !strings.Contains(body, "Old and new URLs") || !strings.Contains(body, "https://one.example/alice/1") {
		t.Errorf("%+v: %s", v.opts, body)
	}
	rec := x.open(at + "/urls")
	if want := "old,new\n\"https://m.example/1?a=\"\"\",https://one.example/alice/1\n"; rec.Code != 200 || rec.Body.String() != want {
		t.Errorf("%d: %s", rec.Code, rec.Body)
	}
	x.as("bob")
	if rec := x.open(at + "/urls"); rec.Code != 404 {
		t.Errorf("URLs of another user: %d", rec.Code)
	}
}

func TestDiscardedPreviewImportsNothing(t *testing.T) {
	t.Parallel()
	v := &fakeMoves{pre: transfer.Result{Kind: "rss", Added: 1}}
	x := newMovesHarness(t, v)
	first := x.bring("/account/import", "a.zip", "x").Header().Get("Location")
	finishedMove(x, first)
	second := x.bring("/account/import", "b.zip", "y").Header().Get("Location") // the second upload replaces the first upload
	finishedMove(x, second)
	x.as("bob")
	if rec := x.send(second, "do", "import"); rec.Code != 404 {
		t.Errorf("another user: %d", rec.Code)
	}
	x.as("alice")
	for _, at := range []string{first, second} {
		if rec := x.send(at, "do", "discard"); rec.Code != 303 {
			t.Errorf("%d", rec.Code)
		}
		if body := finishedMove(x, at); !strings.Contains(body, "The file was discarded. Nothing was imported.") {
			t.Error(body)
		}
	}
	if len(v.got) > 0 {
		t.Error("a discarded file was imported")
	}
	v.preErr = fault.New(fault.Invalid, "The file is damaged.")
	if body := finishedMove(x, x.bring("/account/import", "c.zip", "z").Header().Get("Location")); !strings.Contains(body, "The file is damaged.") {
		t.Error(body)
	}
}
