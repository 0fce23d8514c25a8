package app_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestMessagesAndPagesStateTheConfiguredExpiry(t *testing.T) {
	t.Parallel()
	for expiry, want := range map[time.Duration][2]string{25 * time.Hour: {"25 hours", "24 hours"}, time.Hour: {"1 hour", "57 minutes"}} {
		t.Run(expiry.String(), func(t *testing.T) {
			t.Parallel()
			cfg := conf(t, t.TempDir())
			cfg.Hub.Expiry = expiry
			r, f, s := start(t, cfg), newFeed(t), newSubscriber(t)
			f.set(`<rss version="2.0"><channel><title>one</title></channel></rss>`)
			if _, body := post(t, r.base+"/rsscloud/pleaseNotify", s.form(f.URL+"/rss.xml", "yes")); !strings.Contains(body, "Register again within "+want[1]+"; this registration ends at ") {
				t.Errorf("the answer is %s", body)
			}
			for _, page := range []string{"/hub"} {
				if body := browse(t, r.base+page); !strings.Contains(body, "lasts "+want[0]) || !strings.Contains(body, "every "+want[1]) {
					t.Errorf("%s does not name %q", page, want)
				}
			}
		})
	}
}

// browse requests a page with the headers of a browser, and returns the body.
func browse(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
