package web

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/fetch"
	"cloudburst/internal/href"
	"cloudburst/internal/nettest"
)

func TestPicturesAreReadByThisServerForItsReaders(t *testing.T) {
	t.Parallel()
	x := newBank(t)
	path := newSite(x.Web).texts.proxied("https://a.example/cat.png")
	rec := x.open(path)
	h := rec.Header()
	if rec.Code != 200 || h.Get("Content-Type") != "image/png" || h.Get("Content-Security-Policy") != "default-src 'none'; sandbox" || h.Get("X-Content-Type-Options") != "nosniff" ||
		h.Get("Cache-Control") != "private, max-age=86400, immutable" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" || rec.Body.Len() < 100 {
		t.Fatalf("%d %v", rec.Code, h)
	}
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("If-None-Match", h.Get("ETag"))
	if rec := x.do(r); rec.Code != 304 || rec.Body.Len() != 0 {
		t.Errorf("the second time: %d", rec.Code)
	}
	if n := x.gallery.asked["https://a.example/cat.png"]; n != 1 {
		t.Errorf("it was read %d times", n)
	}
}

func TestPicturesBesidePostsOfThisServerAreWhereTheyAre(t *testing.T) {
	t.Parallel()
	s := NewRenderer(NewShell(Options{PublicURL: "https://here.example"}), RendererOptions{ImageKey: []byte("x")})
	for address, want := range map[string]string{
		"https://here.example/alice/media/0123456789abcdef/hill.png":  "/alice/media/0123456789abcdef/hill.png",
		"https://here.example/alice/media/../../account":              "/river/image",
		"https://here.example/alice/media/0123456789abcdef/a\"b.png":  "/river/image",
		"https://here.example/alice/rss.xml":                          "/river/image",
		"https://here.example.org/alice/media/0123456789abcdef/a.png": "/river/image",
		"https://other.example/alice/media/0123456789abcdef/hill.png": "/river/image",
	} {
		if got, _, _ := strings.Cut(s.proxied(address), "?"); got != want {
			t.Errorf("%s is shown from %s, not from %s", address, got, want)
		}
	}
}

func TestOnlyPicturesOfItemsAreRead(t *testing.T) {
	t.Parallel()
	x := newBank(t)
	good := newSite(x.Web).texts.proxied("https://a.example/cat.png")
	for _, path := range []string{"/river/image", "/river/image?u=https%3A%2F%2Fa.example%2Fcat.png", strings.Replace(good, "cat.png", "dog.png", 1), strings.Replace(good, "s=", "s=A", 1),
		newSite(x.Web).texts.proxied("file:///etc/passwd"), newSite(x.Web).texts.proxied("https://a.example/" + strings.Repeat("x", longestAddress))} {
		if rec := x.open(path); rec.Code != 404 {
			t.Errorf("%.80s: %d", path, rec.Code)
		}
	}
	if len(x.gallery.asked) != 0 {
		t.Errorf("something was read: %v", x.gallery.asked)
	}
	x.Images = ImagesDirect
	x.pages = x.Routes()
	if rec := x.open(good); rec.Code != 404 {
		t.Errorf("with the setting direct: %d", rec.Code)
	}
}

func TestWhatIsNoPictureIsNotPassedOn(t *testing.T) {
	t.Parallel()
	x := newBank(t)
	for i, body := range []string{"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "<html><script>alert(1)</script>", "", "GIF", "%PDF-1.7", "RIFF\x00\x00\x00\x00WAVEfmt xxxxxxxx", "BM<script>alert(1)</script>xxxxxxx", strings.Repeat("\x89PNG\r\n\x1a\n", largestPicture/8+1)} {
		x.gallery.give = func(string) (*fetch.Response, error) {
			return &fetch.Response{Status: 200, Body: []byte(body), Header: map[string][]string{"Content-Type": {"image/png"}}}, nil
		}
		rec := x.open(newSite(x.Web).texts.proxied(fmt.Sprintf("https://a.example/%d.png", i)))
		if rec.Code != 502 || !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/plain") || strings.Contains(rec.Body.String(), "alert") {
			t.Errorf("%.20q: %d %s", body, rec.Code, rec.Header().Get("Content-Type"))
		}
	}
	x.gallery.give = func(string) (*fetch.Response, error) {
		return &fetch.Response{Status: 404, Body: []byte("\xff\xd8\xff")}, nil
	}
	path := newSite(x.Web).texts.proxied("https://a.example/gone.png")
	for range 3 {
		if rec := x.open(path); rec.Code != 502 {
			t.Error(rec.Code)
		}
	}
	if n := x.gallery.asked["https://a.example/gone.png"]; n != 1 {
		t.Errorf("what is gone was asked for %d times within a minute", n)
	}
	x.fake.now = x.fake.now.Add(2 * failedFor)
	_ = x.open(path)
	if n := x.gallery.asked["https://a.example/gone.png"]; n != 2 {
		t.Errorf("and after it %d times", n)
	}
}

func TestPictureTypesAreThoseOfTheirBytes(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]string{"image/jpeg": "\xff\xd8\xff\xe0", "image/png": "\x89PNG\r\n\x1a\nx", "image/gif": "GIF89a..", "image/webp": "RIFF\x10\x00\x00\x00WEBPVP8 x",
		"image/avif": "\x00\x00\x00\x20ftypavif\x00\x00\x00\x00xx", "image/x-icon": "\x00\x00\x01\x00\x01\x00" + strings.Repeat("x", 20), "image/bmp": "BM\x10\x00\x00\x00\x00\x00\x00\x00" + strings.Repeat("x", 20)} {
		if got := pictureType([]byte(b)); got != want {
			t.Errorf("%q: %q, not %q", b, got, want)
		}
	}
}

func TestFewPicturesAreReadAtOnceAndFewerOfOneHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most, hosts, mostOfHost := 0, 0, map[string]int{}, 0
		g := &gallery{give: func(u string) (*fetch.Response, error) {
			mu.Lock()
			now++
			hosts[href.Host(u)]++
			most, mostOfHost = max(most, now), max(mostOfHost, hosts[href.Host(u)])
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			hosts[href.Host(u)]--
			mu.Unlock()
			return &fetch.Response{Status: 200, Body: []byte("GIF89a......")}, nil
		}}
		s := NewRenderer(NewShell(Options{Now: time.Now}), RendererOptions{Images: ImagesProxy, Remote: g, ImageKey: []byte("k")})
		var group sync.WaitGroup
		results := make(chan error, 400)
		for i := range 200 {
			group.Go(func() {
				address := fmt.Sprintf("https://host%d.example/%d.gif", i%20, i)
				if i%2 == 0 {
					address = fmt.Sprintf("%s/%d.gif", nettest.Spellings("host0.example")[i/2%8], i)
				}
				p, err := s.pictures.get(t.Context(), s, address)
				if err == nil && !p.failed.IsZero() {
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
		if most > pictureAtOnce || mostOfHost > pictureOfHost || most < 8 {
			t.Errorf("%d at once, %d of one host", most, mostOfHost)
		}
		// A hundred are of one host, which gives four a second for ten seconds.
		if failed < 50 || failed > 85 || len(s.pictures.reading) != 0 || len(s.pictures.hosts) != 0 {
			t.Errorf("%d failed, %d are being read, %d hosts", failed, len(s.pictures.reading), len(s.pictures.hosts))
		}
	})
}

func TestKeptPicturesHaveABound(t *testing.T) {
	t.Parallel()
	big := []byte("GIF89a" + strings.Repeat("x", 3<<20))
	g := &gallery{give: func(string) (*fetch.Response, error) { return &fetch.Response{Status: 200, Body: big}, nil }}
	s := NewRenderer(NewShell(Options{}), RendererOptions{Images: ImagesProxy, Remote: g, ImageKey: []byte("k")})
	for i := range 40 {
		if _, err := s.pictures.get(t.Context(), s, fmt.Sprintf("https://a.example/%d.gif", i)); err != nil {
			t.Fatal(err)
		}
	}
	size := 0
	for _, m := range []map[string]*picture{s.pictures.young, s.pictures.old} {
		for _, p := range m {
			size += len(p.bytes)
		}
	}
	if size > 2*(keptPictures+keptPicture) {
		t.Errorf("%d bytes are kept", size)
	}
}

func TestPicturesAreLinksWhereTheyAreOff(t *testing.T) {
	t.Parallel()
	for images, want := range map[string]string{ImagesOff: `class="pic"`, ImagesDirect: `src="https://imgs.xkcd.com/comics/cloud.png"`, "": `class="pic"`} {
		x := newBank(t).as("alice")
		x.Images = images
		x.pages = x.Routes()
		rec := x.open("/river")
		body := rec.Body.String()
		if !strings.Contains(body, want) || strings.Contains(body, "/river/image?") {
			t.Errorf("%q: the page has no %s", images, want)
		}
		if direct := strings.Contains(rec.Header().Get("Content-Security-Policy"), "img-src 'self' data: http: https:"); direct != (images == ImagesDirect) {
			t.Errorf("%q: %s", images, rec.Header().Get("Content-Security-Policy"))
		}
	}
	x := newBank(t)
	x.Remote = nil
	if s := newSite(x.Web); s.texts.images() != ImagesOff {
		t.Error("there is nothing that could read pictures")
	}
}
