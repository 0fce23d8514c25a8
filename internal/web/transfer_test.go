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

	"cloudburst/internal/fault"
	"cloudburst/internal/transfer"
)

// fakeMoves is an import and export whose progress a test controls.
type fakeMoves struct {
	goOn    chan struct{} // each value lets it do one step; nil: it does not wait
	stepped chan struct{}
	got     chan string
	res     transfer.Result
	err     error
}

func (v *fakeMoves) Export(_ context.Context, user string, w io.Writer, _ transfer.Progress) (transfer.Manifest, error) {
	if v.err != nil {
		return transfer.Manifest{}, v.err
	}
	_, err := io.WriteString(w, "everything of "+user)
	return transfer.Manifest{}, err
}

func (v *fakeMoves) Import(_ context.Context, user string, r io.ReaderAt, size int64, progress transfer.Progress) (transfer.Result, error) {
	b, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil {
		return v.res, err
	}
	if v.goOn != nil {
		progress(transfer.PhasePosts, 40, 1000)
		v.stepped <- struct{}{}
		<-v.goOn
	}
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

func TestExportDownload(t *testing.T) {
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
	if !strings.Contains(body, "You have 1,200 posts more and 3 files. 1 was here already.") || strings.Contains(body, "<b>Something") || strings.Contains(body, "data-every") {
		t.Error(body)
	}
}

// finishedMove opens the page until it shows the result, shortly after fakeMoves ends.
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
	<-v.got
	if body := finishedMove(x, at); !strings.Contains(body, "The file could not be imported.") || !strings.Contains(body, "The file is not valid.") {
		t.Error(body)
	}
	v.err, v.res = errors.New("secret of the disk"), transfer.Result{Added: 7}
	at = x.bring("/account/import", "a.zip", "x").Header().Get("Location")
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
