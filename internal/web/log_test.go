package web

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/web/hubui"
	"cloudburst/internal/web/shell"
)

// ids returns the IDs of the events on a page in document order, and the links of the page. key of links:
// text of the link; value: its URL
func ids(t *testing.T, doc *html.Node) (rows []string, links map[string]string) {
	t.Helper()
	links = map[string]string{}
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "data-id" {
				rows = append(rows, a.Val)
			}
			if a.Key == "href" && n.FirstChild != nil {
				links[n.FirstChild.Data] = a.Val
			}
		}
	}
	return rows, links
}

func TestPagesOfTheLogContainEachEventOnceInBothDirections(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	for i := range 3*hubui.EventsPerPage + 7 {
		f.now = f.now.Add(time.Duration(i%3) * time.Millisecond) // several events have the same time
		f.add(bus, ping(fmt.Sprint("event ", i)))
	}
	h := w.Routes()
	var all []string
	var pages []string
	for path := "/log?q=EVENT"; path != ""; {
		pages = append(pages, path)
		rows, links := ids(t, check(t, get(t, h, path)))
		all = append(all, rows...)
		path = links["Older"]
		if path != "" && !strings.Contains(path, "q=EVENT") {
			t.Errorf("the filter is lost in %s", path)
		}
	}
	if len(pages) != 4 || len(all) != len(f.events) {
		t.Fatalf("%d pages with %d events, want 4 with %d", len(pages), len(all), len(f.events))
	}
	for i, id := range all {
		if want := fmt.Sprintf("17:%d", len(all)-i); id != want {
			t.Fatalf("row %d is %s, want %s", i, id, want)
		}
	}
	rows, links := ids(t, check(t, get(t, h, pages[2])))
	newer, back := ids(t, check(t, get(t, h, links["Newer"])))
	if !slices.Equal(newer, all[hubui.EventsPerPage:2*hubui.EventsPerPage]) || links["Newest"] != "/log?q=EVENT" {
		t.Errorf("the page newer than %s… is %s…", rows[0], newer[0])
	}
	if first, _ := ids(t, check(t, get(t, h, back["Newer"]))); !slices.Equal(first, all[:hubui.EventsPerPage]) {
		t.Error("the way back does not end at the newest page")
	}
}

func TestOnlyTheFirstPageOfTheLogIsUpdatedLive(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	for range hubui.EventsPerPage + 1 {
		f.add(bus, ping("x"))
	}
	h := w.Routes()
	body := get(t, h, "/log?kind=ping&q=x").Body.String()
	if want := `data-stream="/log/stream?kind=ping&amp;q=x&amp;since=17%3A61&amp;as=html"`; !strings.Contains(body, want) {
		t.Errorf("the newest page does not hold %s", want)
	}
	if body := get(t, h, "/log?before="+shell.FormatCursor(f.events[5].Cursor())).Body.String(); strings.Contains(body, "data-stream") {
		t.Error("an older page is live")
	}
}

func TestLogFiltersAreInTheURL(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	kinds := []string{event.KindPing, event.KindCheck, event.KindDrop}
	for i := range 12 {
		e := ping(fmt.Sprint("number ", i))
		e.Kind = kinds[i%3]
		if i > 5 {
			e.Topic, e.TopicID = "https://b.example/f", hub.TopicID("https://b.example/f")
		}
		f.add(bus, e)
	}
	h := w.Routes()
	tests := []struct {
		query string
		want  []string
		code  int
	}{
		{"kind=ping", []string{"17:10", "17:7", "17:4", "17:1"}, 200},
		{"kind=ping&kind=drop&topic=https://b.example/f", []string{"17:12", "17:10", "17:9", "17:7"}, 200},
		{"kind=ping,drop&topic=" + fmt.Sprint(hub.TopicID("https://b.example/f")), []string{"17:12", "17:10", "17:9", "17:7"}, 200},
		{"q=NUMBER+11", []string{"17:12"}, 200},
		{"q=nowhere", nil, 200},
		{"topic=&kind=&q=number+11", []string{"17:12"}, 200},
		{"topic=b.example", nil, 400},
		{"kind=everything", nil, 400},
		{"before=nonsense&q=number+11", []string{"17:12"}, 400},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			t.Parallel()
			rec := get(t, h, "/log?"+tt.query)
			rows, _ := ids(t, check(t, rec))
			if rec.Code != tt.code {
				t.Errorf("status %d, want %d", rec.Code, tt.code)
			}
			if diff := cmp.Diff(tt.want, rows); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLogFilterFormKeepsEnteredValues(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	h := w.Routes()
	body := get(t, h, "/log?kind=drop&q="+url.QueryEscape(`a "b"`)+"&topic="+url.QueryEscape(scripting)).Body.String()
	for _, want := range []string{`<option value="drop" selected>`, `value="a &#34;b&#34;"`, `value="https://scripting.com/rss.xml"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the form does not hold %s", want)
		}
	}
	if body := get(t, h, "/log?kind=drop&kind=ping").Body.String(); !strings.Contains(body, `<option value="drop,ping" selected>drop and ping</option>`) {
		t.Error("several kinds are not preserved")
	}
}
