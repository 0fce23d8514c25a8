package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

func TestPublishButtonLoadsTheNextPageOnce(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	to, err := url.Parse(p.base)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var loaded []string
	pass := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.URL.RawQuery, "did=") {
			mu.Lock()
			loaded = append(loaded, r.URL.RequestURI())
			mu.Unlock()
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	b := newTab(t, front.URL)
	b.join(p.admin)
	for n := 1; n <= 3; n++ {
		b.keys(fmt.Sprint("Post ", n))
		b.ctrl(kb.Enter)
		b.until("it is published", fmt.Sprintf(`location.search.includes("done=%d") && document.querySelector(".undo")?.textContent.includes("Published.") && document.activeElement.id === "w-source"`, n))
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"/write?did=published&done=1", "/write?did=published&done=2", "/write?did=published&done=3"}; !slices.Equal(loaded, want) {
		t.Errorf("the pages %q were loaded, not %q", loaded, want)
	}
}

func TestOwnPostsAppearInTheAuthorsRiver(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	b := newTab(t, p.base)
	b.join(p.admin)
	b.keys("My first post")
	b.ctrl(kb.Enter)
	b.until("it is published", `location.search.includes("done=1")`)
	b.open("/river")
	b.until("it is in the river", `document.getElementById("days").textContent.includes("My first post")`)
	writer := newTab(t, p.base)
	writer.signIn("/write")
	writer.until("the cursor is in the form", `document.activeElement.id === "w-source"`)
	writer.keys("My second post")
	writer.ctrl(kb.Enter)
	b.until("the next post appears in the open river", `document.getElementById("days").textContent.includes("My second post")`)
}
