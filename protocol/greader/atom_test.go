package greader_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"testing"
)

func TestStreamIsServedAsAtom(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]int{
		"/reader/atom/feed/12?n=250": 250, "/greader/reader/atom/user/-/state/com.google/reading-list": 20,
		"/reader/atom/?s=feed/12&n=7": 7, "/reader/atom/feed/12?n=100000": 300,
	} {
		f := newFake(300)
		status, body, head := ask(t, f, "GET", target, "")
		var feed struct {
			XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
			ID      string   `xml:"id"`
			Title   string   `xml:"title"`
			Updated string   `xml:"updated"`
			Entries []struct {
				ID    string `xml:"id"`
				Title string `xml:"title"`
				Link  struct {
					Href string `xml:"href,attr"`
				} `xml:"link"`
			} `xml:"entry"`
		}
		if err := xml.Unmarshal([]byte(body), &feed); err != nil || status != http.StatusOK || head.Get("Content-Type") != "application/atom+xml; charset=utf-8" {
			t.Fatalf("%s: %d %v\n%.300s", target, status, err, body)
		}
		if len(feed.Entries) != want || feed.ID == "" || feed.Title == "" || feed.Updated == "" {
			t.Errorf("%s: %d entries, want %d; %q %q %q", target, len(feed.Entries), want, feed.ID, feed.Title, feed.Updated)
		}
		seen := map[string]bool{}
		for _, e := range feed.Entries {
			if seen[e.ID] || e.Link.Href == "" {
				t.Errorf("%s: %+v", target, e)
			}
			seen[e.ID] = true
		}
	}
	for target, want := range map[string]int{"/reader/atom/label/x": 400, "/reader/atom/feed/": 400} {
		if status, body, _ := ask(t, newFake(3), "GET", target, ""); status != want {
			t.Errorf("%s: %d %.100s", target, status, body)
		}
	}
}

// TestAtomStreamThatFailsHalfwayIsNotWellFormed lets the backend fail after the first batch.
func TestAtomStreamThatFailsHalfwayIsNotWellFormed(t *testing.T) {
	t.Parallel()
	f := newFake(300)
	f.failsAt = 2
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("the response ended with %v", err)
		}
	}()
	_, body, _ := ask(t, f, "GET", "/reader/atom/feed/12?n=250", "")
	_, _ = io.WriteString(t.Output(), body)
	t.Error("the response is complete")
}
