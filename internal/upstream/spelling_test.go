package upstream_test

import (
	"testing"
	"time"

	"cloudburst/internal/href"
	"cloudburst/internal/nettest"
	"cloudburst/internal/upstream"
)

func TestEquivalentHubHostNamesShareOneRate(t *testing.T) {
	t.Parallel()
	withFakeHubs(t, func(t *testing.T, _ *memory, c *fakeHubs, e *upstream.Engine) {
		c.took = 25 * time.Second
		for _, root := range nettest.Spellings("hub.test") {
			for _, path := range []string{"/a", "/b", "/c", "/d"} {
				r := upstream.Request{
					Feed: "http://feeds.test/" + href.Host(root) + path + "?" + root, For: upstream.Reader,
					Endpoint: &upstream.Endpoint{Protocol: upstream.RSSCloud, Hub: root + path, Wire: "http-post"},
				}
				if _, err := e.Add(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
		}
		time.Sleep(10 * time.Minute)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.peak["hub.test"] != 2 || c.hosts["hub.test"] != 32 {
			t.Errorf("the host got %d requests, %d of them at once; want 32 and 2", c.hosts["hub.test"], c.peak["hub.test"])
		}
	})
}
