package web

import (
	"bytes"
	"mime/multipart"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/readerui"
)

// upload sends a form with a file. fields contains names and values of further fields in turn.
func (g *followHarness) upload(path, file string, doc []byte, fields ...string) *httptest.ResponseRecorder {
	g.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i := 0; i+1 < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1])
	}
	part, err := w.CreateFormFile("file", file)
	if err != nil {
		g.Fatal(err)
	}
	_, _ = part.Write(doc)
	_ = w.Close()
	r := httptest.NewRequest("POST", path, &body)
	r.Header.Set("Content-Type", w.FormDataContentType())
	return g.do(r)
}

const aList = `<opml version="2.0"><head><title>Mine &amp; yours</title></head><body><outline text="Web"><outline text="A" type="rss" xmlUrl="https://a.example/rss"/></outline><outline text="B" type="rss" xmlUrl="https://b.example/rss"/></body></opml>`

func TestOPMLListIsImportedAndThePageShowsProgress(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	rec := g.upload("/feeds/import", "feeds.opml", []byte(aList), "category", "", "url", "", "follow", "")
	if rec.Code != 303 {
		t.Fatalf("%d\n%s", rec.Code, rec.Body)
	}
	to := rec.Header().Get("Location")
	page := g.look(to)
	has(t, page, "has 2 feeds. You follow all of them now.", "2 feeds have not been read", `<noscript><meta http-equiv="refresh"`, `data-every="2000"`)
	read := func(u string) {
		_, _ = g.fakeRiver.alter("alice", river.SourceID(u), func(f *river.Followed) error { f.Source.State.CheckedAt = g.fake.now; return nil })
	}
	read("https://a.example/rss")
	has(t, g.look(to), `<span class="num">1</span> of the <span class="num">2</span> new feeds have been read`)
	read("https://b.example/rss")
	page = g.look(to)
	has(t, page, "All feeds that you follow have been read.")
	lacks(t, page, "http-equiv", "data-every")
	g.as("bob")
	lacks(t, g.look(to), "has 2 feeds")
}

func TestImportResultIsShownCompletely(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	var options river.ImportOptions
	g.fakeRiver.imported = func(_, _ string, o river.ImportOptions) (river.Imported, error) {
		options = o
		return river.Imported{Title: "Anna's <b>", Found: 50, Added: 40, Had: 9, Skipped: 1, Lists: 1, Problems: []string{"line 7: no address <script>"}}, nil
	}
	page := g.look(g.done("/feeds/import", "url", "feed:https://lists.example/tech.opml", "follow", "yes", "category", "Tech"))
	has(t, page, "“Anna&#39;s &lt;b&gt;” has 50 feeds. You follow 40 of them now that you did not follow before. You already followed 9. 1 has no usable address and was left out. You also follow the list", "Line 7: no address &lt;script&gt;.")
	if options.URL != "https://lists.example/tech.opml" || !options.Follow || options.Category != "Tech" {
		t.Errorf("%+v", options)
	}
}

func TestErrorForFileThatIsNotOPMLIsShownNextToTheField(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	has(t, g.wrong(400, "/feeds/import", "category", "Keep <me>"), "Choose a file, or enter the address of a list.", "Keep &lt;me&gt;")
	rec := g.upload("/feeds/import", "x.opml", []byte("<html>no"), "category", "Tech")
	if check(t, rec); rec.Code != 400 || !strings.Contains(rec.Body.String(), "This is no OPML.") || !strings.Contains(rec.Body.String(), `value="Tech"`) {
		t.Errorf("%d\n%s", rec.Code, rec.Body)
	}
	rec = g.upload("/feeds/import", "x.opml", bytes.Repeat([]byte("x"), readerui.MaxImport+1))
	if check(t, rec); rec.Code != 400 || !strings.Contains(rec.Body.String(), "larger than 20 MiB") {
		t.Errorf("%d\n%s", rec.Code, rec.Body)
	}
	g.fakeRiver.imported = func(_, _ string, o river.ImportOptions) (river.Imported, error) {
		return river.Imported{}, fault.New(fault.Unreadable, "Its server answered 404.")
	}
	has(t, g.wrong(422, "/feeds/import", "url", "https://lists.example/none", "follow", "yes"), "Its server answered 404.", `value="https://lists.example/none"`, `value="yes" checked`)
	r := httptest.NewRequest("POST", "/feeds/import", strings.NewReader("--x\r\nbroken"))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	if rec := g.do(r); rec.Code != 400 {
		t.Errorf("a broken form: %d", rec.Code)
	}
}

func TestLongImportContinuesInTheBackground(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	hold := make(chan error)
	g.fakeRiver.imported = func(_, doc string, o river.ImportOptions) (river.Imported, error) {
		if doc != aList || o.Category != "Tech" {
			t.Errorf("%q in %q is imported", doc, o.Category)
		}
		o.Progress(0, 7000)
		o.Progress(2000, 7000)
		return river.Imported{Found: 7000, Added: 4000, Had: 1000, Over: 2000, Limit: 5000, Problems: []string{"2000 feeds were not added."}}, <-hold
	}
	rec := g.upload("/feeds/import", "feeds.opml", []byte(aList), "category", "Tech")
	if rec.Code != 303 {
		t.Fatalf("%d\n%s", rec.Code, rec.Body)
	}
	at := rec.Header().Get("Location")
	has(t, g.look(at), "The list is being imported.", `<span class="num">2,000</span> of <span class="num">7,000</span> feeds`, `max="7000" value="2000"`, "data-every")
	hold <- nil
	page := g.look(at)
	for strings.Contains(page, "is being imported") {
		page = g.look(at)
	}
	has(t, page, "has 7,000 feeds. You follow 4,000 of them now that you did not follow before. You already followed 1,000. 2,000 feeds were not added, because this server allows each user 5,000 feeds (river.max-feeds).", "2000 feeds were not added.")
	has(t, g.look("/feeds/import/unknown"), "not available any more")
}

func TestStoppedImportShowsItsPartialResult(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.imported = func(string, string, river.ImportOptions) (river.Imported, error) {
		return river.Imported{Found: 900, Added: 400}, fault.New(fault.Unavailable, "The import stopped after 400 feeds, which stay.")
	}
	has(t, g.look(g.done("/feeds/import", "url", "https://lists.example/tech.opml")), "in part: you follow 400 feeds more.", "The import stopped after 400 feeds, which stay.")
	g.fakeRiver.imported = func(string, string, river.ImportOptions) (river.Imported, error) {
		f := fault.New(fault.Conflict, "Another list of yours is still being imported.")
		f.RetryAfter = 10 * time.Second
		return river.Imported{}, f
	}
	rec := g.send("/feeds/import", "url", "https://lists.example/tech.opml")
	if rec.Code != 409 || rec.Header().Get("Retry-After") != "10" || !strings.Contains(rec.Body.String(), "still being imported") {
		t.Errorf("a second import: %d %v", rec.Code, rec.Header())
	}
}

func TestFeedListIsExportedAsOPML(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	rec := g.open("/feeds/export.opml?category=" + url.QueryEscape("People of the web"))
	if rec.Code != 200 || !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/x-opml") || rec.Header().Get("Content-Disposition") != "attachment; filename=feeds-people-of-the-web.opml" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	if body := rec.Body.String(); !strings.Contains(body, "http://scripting.com/rss.xml") || strings.Contains(body, "bbci") {
		t.Error(body)
	}
}
