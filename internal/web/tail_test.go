package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/web/hubui"
	"cloudburst/internal/web/shell"
)

// watchChanges opens the stream of recent changes.
func watchChanges(t *testing.T, server *httptest.Server, query, last string) *reader {
	t.Helper()
	return watchAt(t, server, "/changes/stream"+query, last)
}

func TestChangesStreamSendsNewChangesOnceAndInOrder(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	f.listed(site1(0))
	server := serveWeb(t, w)
	page, program := watchChanges(t, server, "?as=html&q=SITE", ""), watchChanges(t, server, "?q=SITE", "")
	f.listed(site1(1), hub.Change{Name: "another", URL: "https://a.example/"}, site1(2))
	f.add(bus, ping("wake up"))
	f.listed(site1(3)) // no event announces this change, so only polling finds it
	for _, i := range []int64{2, 4, 5} {
		want := fmt.Sprintf("%d.17.%d", f.now.UnixMilli(), i)
		got := page.next(false)
		if got.id != want || !strings.HasPrefix(got.data, `<li class="event change" data-id="`+want) {
			t.Fatalf("got %+v, want %s", got, want)
		}
		got = program.next(false)
		var data struct {
			Name, URL string
			Via       string `json:"door"`
		}
		if err := json.Unmarshal([]byte(got.data), &data); err != nil || got.id != want || !strings.HasPrefix(data.Name, "Site number") || data.Via != "weblogs" {
			t.Fatalf("got %+v, %v, want %s", got, err, want)
		}
	}
}

func TestChangesStreamResumesAfterTheLastEventID(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	server := serveWeb(t, w)
	for i := range 250 {
		f.listed(site1(i))
	}
	at := func(i int) string { return shell.FormatCursor(f.changes[i-1].Cursor()) }
	for _, how := range [][2]string{{"", at(30)}, {"?since=" + at(30), ""}, {"?since=" + at(99), at(30)}} {
		r := watchChanges(t, server, how[0], how[1])
		for want := 31; want <= len(f.changes); want++ {
			if got := r.next(false); got.id != at(want) {
				t.Fatalf("got %s, want %s", got.id, at(want))
			}
		}
		f.listed(site1(1000))
		f.add(bus, ping("wake up"))
		if got := r.next(false); got.id != at(len(f.changes)) {
			t.Errorf("after the missed ones came %s", got.id)
		}
		r.stop()
	}
	for range hubui.MaxMissedChanges {
		f.listed(site1(7))
	}
	if got := watchChanges(t, server, "", at(30)).next(false); got.name != "reset" {
		t.Errorf("after too many missed changes: %+v, want a reset", got)
	}
	if res := watchChanges(t, server, "?since=1.2", "").res; res.StatusCode != http.StatusOK {
		t.Errorf("a since that is none: %s", res.Status)
	}
	if res := watchChanges(t, server, "?after=no", "").res; res.StatusCode != http.StatusBadRequest {
		t.Errorf("a place that is none: %s", res.Status)
	}
}

func TestChangesStreamsReleaseTheirResources(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	done := make(chan struct{})
	w.Done = done
	server := serveWeb(t, w)
	first, second := watchChanges(t, server, "", ""), watchChanges(t, server, "", "")
	for bus.Listeners() == 0 {
		runtime.Gosched()
	}
	first.stop()
	close(done)
	if _, err := second.in.ReadString('\n'); err == nil {
		t.Error("a stream goes on after the program's end")
	}
	server.Close() // Close waits until all handlers have returned
	for bus.Listeners() != 0 {
		runtime.Gosched() // the loop that reads the changes ends shortly after the last client has left
	}
}
