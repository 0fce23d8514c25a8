package content

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/fetch"
	"cloudburst/internal/href"
	"cloudburst/internal/nettest"
	"cloudburst/internal/web/shell"
)

func TestImagesOfThisServerAreNotProxied(t *testing.T) {
	t.Parallel()
	s := New(shell.New(shell.Options{PublicURL: "https://here.example"}), Options{ImageKey: []byte("x")})
	for address, want := range map[string]string{
		"https://here.example/alice/media/0123456789abcdef/hill.png":  "/alice/media/0123456789abcdef/hill.png",
		"https://here.example/alice/media/../../account":              "/river/image",
		"https://here.example/alice/media/0123456789abcdef/a\"b.png":  "/river/image",
		"https://here.example/alice/rss.xml":                          "/river/image",
		"https://here.example.org/alice/media/0123456789abcdef/a.png": "/river/image",
		"https://other.example/alice/media/0123456789abcdef/hill.png": "/river/image",
	} {
		if got, _, _ := strings.Cut(s.ProxyURL(address), "?"); got != want {
			t.Errorf("%s is shown from %s, not from %s", address, got, want)
		}
	}
}

func TestImageTypeIsDetectedFromTheContent(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]string{"image/jpeg": "\xff\xd8\xff\xe0", "image/png": "\x89PNG\r\n\x1a\nx", "image/gif": "GIF89a..", "image/webp": "RIFF\x10\x00\x00\x00WEBPVP8 x",
		"image/avif": "\x00\x00\x00\x20ftypavif\x00\x00\x00\x00xx", "image/x-icon": "\x00\x00\x01\x00\x01\x00" + strings.Repeat("x", 20), "image/bmp": "BM\x10\x00\x00\x00\x00\x00\x00\x00" + strings.Repeat("x", 20)} {
		if got := imageType([]byte(b)); got != want {
			t.Errorf("%q: %q, not %q", b, got, want)
		}
	}
}

func TestImageRequestsAreLimitedInTotalAndPerHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, maxActive, hosts, maxOfHost := 0, 0, map[string]int{}, 0
		g := &gallery{give: func(u string) (*fetch.Response, error) {
			mu.Lock()
			now++
			hosts[href.Host(u)]++
			maxActive, maxOfHost = max(maxActive, now), max(maxOfHost, hosts[href.Host(u)])
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			hosts[href.Host(u)]--
			mu.Unlock()
			return &fetch.Response{Status: 200, Body: []byte("GIF89a......")}, nil
		}}
		s := New(shell.New(shell.Options{Now: time.Now}), Options{Images: ImagesProxy, Remote: g, ImageKey: []byte("k")})
		var group sync.WaitGroup
		results := make(chan error, 400)
		for i := range 200 {
			group.Go(func() {
				address := fmt.Sprintf("https://host%d.example/%d.gif", i%20, i)
				if i%2 == 0 {
					address = fmt.Sprintf("%s/%d.gif", nettest.Spellings("host0.example")[i/2%8], i)
				}
				p, err := s.images.get(t.Context(), s, address)
				if err == nil && !p.failedAt.IsZero() {
					err = errors.New("it failed")
				}
				results <- err
			})
		}
		group.Wait()
		close(results)
		failed := 0
		for err := range results {
			if err != nil {
				failed++
			}
		}
		if maxActive > maxImageReads || maxOfHost > maxImageReadsPerHost || maxActive < 8 {
			t.Errorf("%d at once, %d of one host", maxActive, maxOfHost)
		}
		// 100 images are on the same host. The proxy requests four images a second from this host, and each
		// request fails after imageTimeout, which is ten seconds.
		if failed < 50 || failed > 85 || len(s.images.reading) != 0 || len(s.images.hosts) != 0 {
			t.Errorf("%d failed, %d are being read, %d hosts", failed, len(s.images.reading), len(s.images.hosts))
		}
	})
}

func TestImageCacheIsBounded(t *testing.T) {
	t.Parallel()
	big := []byte("GIF89a" + strings.Repeat("x", 3<<20))
	g := &gallery{give: func(string) (*fetch.Response, error) { return &fetch.Response{Status: 200, Body: big}, nil }}
	s := New(shell.New(shell.Options{}), Options{Images: ImagesProxy, Remote: g, ImageKey: []byte("k")})
	for i := range 40 {
		if _, err := s.images.get(t.Context(), s, fmt.Sprintf("https://a.example/%d.gif", i)); err != nil {
			t.Fatal(err)
		}
	}
	size := 0
	for _, m := range []map[string]*cachedImage{s.images.young, s.images.old} {
		for _, p := range m {
			size += len(p.bytes)
		}
	}
	if size > 2*(maxCacheBytes+maxCachedImage) {
		t.Errorf("%d bytes are cached", size)
	}
}

// gallery fetches images by calling the function give.
type gallery struct {
	give func(url string) (*fetch.Response, error)
}

func (g *gallery) Get(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	return g.give(r.URL)
}
