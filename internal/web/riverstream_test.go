package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/river/item"
	"cloudburst/internal/web/readerui"
)

// newLive returns a riverHarness in which the river of the server is public, and an HTTP server for it.
func newLive(t *testing.T) (*riverHarness, *httptest.Server) {
	t.Helper()
	x := newRiverHarness(t)
	x.RiverPublic = true
	return x, serveWeb(t, x.Web)
}

func news(words string) river.Item {
	return river.Item{SourceID: river.SourceID("http://scripting.com/rss.xml"), GUID: words, Content: river.Content{HTML: "<p>" + words + "</p>"}}
}

func (x *riverHarness) newest() int64 {
	x.fakeRiver.mu.Lock()
	defer x.fakeRiver.mu.Unlock()
	return x.fakeRiver.seq
}

func TestRiverStreamSendsItemsOnArrival(t *testing.T) {
	t.Parallel()
	x, server := newLive(t)
	r := watchAt(t, server, "/river/stream?since="+strconv.FormatInt(x.newest()+1e7, 10), "")
	if got := r.res.Header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
		t.Error(got)
	}
	x.fakeRiver.arrive(news("one"), news("two"))
	for i, want := range []string{"one", "two"} {
		got := r.next(false)
		if !strings.Contains(got.data, "<p>"+want+"</p>") || got.id != strconv.FormatInt(x.newest()-1+int64(i), 10) {
			t.Errorf("got %+v, want %s", got, want)
		}
		if strings.Contains(got.data, `class="star"`) {
			t.Error("a signed-out client has a star button")
		}
	}
	edited := news("two")
	edited.HTML, edited.EditedAt = "<p>two, but better</p>", x.fake.now
	x.fakeRiver.arrive(edited)
	if got := r.next(false); !strings.Contains(got.data, "two, but better") || !strings.Contains(got.data, "edited") {
		t.Errorf("got %+v", got)
	}
}

func TestRiverStreamHidesItemsThatTheUserMayNotSee(t *testing.T) {
	t.Parallel()
	x, server := newLive(t)
	far := strconv.FormatInt(x.newest()+1e7, 10)
	all := watchAt(t, server, "/river/stream?since="+far, "")
	weblogs := watchAt(t, server, "/river/stream?category=Weblogs&since="+far, "")
	feed := watchAt(t, server, "/river/stream?source="+strconv.FormatInt(river.SourceID("https://xkcd.com/atom.xml"), 10)+"&since="+far, "")
	public := watchAt(t, server, "/rivers/alice/Weblogs/stream?since="+far, "")
	private, elsewhere, comic := news("private"), news("elsewhere"), news("comic")
	private.SourceID, elsewhere.SourceID, comic.SourceID = river.SourceID("https://family.example/secret.xml"), 4711, river.SourceID("https://xkcd.com/atom.xml")
	x.fakeRiver.arrive(private)
	x.fakeRiver.arrive(elsewhere)
	x.fakeRiver.arrive(comic)
	x.fakeRiver.arrive(news("weblog"))
	for _, c := range []struct {
		name string
		r    *reader
		want []string
	}{{"all", all, []string{"comic", "weblog"}}, {"a category", weblogs, []string{"weblog"}}, {"a feed", feed, []string{"comic"}}, {"public", public, []string{"weblog"}}} {
		for _, want := range c.want {
			if got := c.r.next(false); !strings.Contains(got.data, "<p>"+want+"</p>") {
				t.Errorf("%s: got %+v, want %s", c.name, got, want)
			}
		}
	}
}

func TestRiverStreamResumesAfterTheLastEventID(t *testing.T) {
	t.Parallel()
	x, server := newLive(t)
	x.fake.now = x.fake.now.Add(time.Minute) // longer than the overlap of the stream, which is 5 s
	x.fakeRiver.arrive(news("seen"))
	seen := x.newest()
	x.fake.now = x.fake.now.Add(time.Minute)
	x.fakeRiver.arrive(news("missed"), news("missed too"))
	r := watchAt(t, server, "/river/stream?since=1", strconv.FormatInt(seen, 10))
	for _, want := range []string{"seen", "missed", "missed too"} { // the stream also repeats items from the 5 s before the last event ID
		if got := r.next(false); !strings.Contains(got.data, "<p>"+want+"</p>") {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
	x.fakeRiver.arrive(news("live"))
	if got := r.next(false); !strings.Contains(got.data, "live") {
		t.Errorf("then came %+v", got)
	}
}

func TestRiverStreamRequestsAReloadAfterTooManyMissedItems(t *testing.T) {
	t.Parallel()
	x, server := newLive(t)
	for i := range readerui.MaxMissedItems + 1 {
		x.fakeRiver.arrive(news(fmt.Sprint("item ", i)))
	}
	r := watchAt(t, server, "/river/stream?since=1", "")
	if got := r.next(false); got.name != "reset" || got.id != "" {
		t.Errorf("got %+v, want a reset", got)
	}
	x.fakeRiver.arrive(news("after"))
	if got := r.next(false); !strings.Contains(got.data, "after") {
		t.Errorf("then came %+v", got)
	}
}

func TestRiverStreamOfANewPageRequestsNoReload(t *testing.T) {
	t.Parallel()
	x, server := newLive(t)
	for i := range readerui.MaxMissedItems + 50 { // as many items as after the import of a list
		x.fakeRiver.arrive(news(fmt.Sprint("item ", i)))
	}
	r := watchAt(t, server, fmt.Sprint("/river/stream?since=", x.newest()), "")
	for i := range readerui.MaxMissedItems {
		if got := r.next(false); got.name != "" || !strings.Contains(got.data, fmt.Sprintf("<p>item %d</p>", i+50)) {
			t.Fatalf("event %d is %+v", i, got)
		}
	}
	x.fakeRiver.arrive(news("after"))
	if got := r.next(false); !strings.Contains(got.data, "after") {
		t.Errorf("then came %+v", got)
	}
}

func TestRiverStreamSendsMarksToTheirUserOnly(t *testing.T) {
	t.Parallel()
	x, server := newLive(t)
	far := "&since=" + strconv.FormatInt(x.newest()+1e7, 10)
	public := watchAt(t, server, "/river/stream?x=1"+far, "")
	x.as("alice")
	own := watchAs(t, server, "/river/stream?unread=1"+far, "", x.cookie)
	yes, no := true, false
	for _, m := range []item.Marks{{User: "bob", IDs: []int64{4}, Read: &yes}, {User: "alice", IDs: []int64{5, 6}, Read: &yes}, {User: "alice", IDs: []int64{7}, Starred: &no}, {User: "alice"}} {
		x.fakeRiver.publishMarks(m)
	}
	for _, want := range []string{`{"ids":["5","6"],"read":true,"starred":null}`, `{"ids":["7"],"read":null,"starred":false}`, `{"ids":null,"read":null,"starred":null}`} {
		if got := own.next(false); got.name != "marks" || strings.TrimSpace(got.data) != want || got.id != "" {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
	x.fakeRiver.arrive(news("after"))
	if got := public.next(false); !strings.Contains(got.data, "after") {
		t.Errorf("a client that is signed out received %+v", got)
	}
}

func TestRiverStreamRejectsSearchesAndUnknownCategories(t *testing.T) {
	t.Parallel()
	x, server := newLive(t)
	_ = x
	for path, want := range map[string]int{"/river/stream?q=x": 400, "/river/stream?starred=1": 400, "/river/stream?source=x": 400, "/rivers/alice/News/stream": 404, "/rivers/nobody/Weblogs/stream": 404} {
		res, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
}

func TestRiverStreamEndsWithTheSessionThatOpenedIt(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	x.Heartbeat = 20 * time.Millisecond
	server := serveWeb(t, x.Web)
	req, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/river/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: "cloudburst", Value: x.cookie})
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	x.fakeAccounts.mu.Lock()
	clear(x.fakeAccounts.sessions)
	x.fakeAccounts.mu.Unlock()
	for buf := make([]byte, 1024); err == nil; {
		_, err = res.Body.Read(buf)
	}
}

func TestDelayedRiverStreamReadsMissedItemsFromTheStore(t *testing.T) {
	t.Parallel()
	x, server := newLive(t)
	r := watchAt(t, server, "/river/stream?since="+strconv.FormatInt(x.newest()+1e7, 10), "")
	x.fakeRiver.arrive(news("first"))
	_ = r.next(false)
	x.fakeRiver.mu.Lock()
	for l := range x.fakeRiver.listeners { // close all listeners, as the real river does with slow listeners
		delete(x.fakeRiver.listeners, l)
		close(l.c)
	}
	x.fakeRiver.mu.Unlock()
	x.fakeRiver.arrive(news("while nobody listened"))
	for {
		if got := r.next(false); strings.Contains(got.data, "while nobody listened") {
			break
		}
	}
}

func TestRiverIsNotPolledWithoutStreamClients(t *testing.T) {
	t.Parallel()
	x, server := newLive(t)
	r := watchAt(t, server, "/river/stream", "")
	x.fakeRiver.arrive(news("x"))
	_ = r.next(false)
	r.stop()
	for end := time.Now().Add(10 * time.Second); x.fakeRiver.Live().Listening > 0; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("it still listens")
		}
	}
}
