package web

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"cloudburst/internal/fetch"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

func TestImagesOfItemsAreProxied(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t)
	path := newSite(x.Web).texts.ProxyURL("https://a.example/cat.png")
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
	if n := x.fakeImages.asked["https://a.example/cat.png"]; n != 1 {
		t.Errorf("it was read %d times", n)
	}
}

func TestImageProxyRequestsOnlyImagesOfItems(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t)
	good := newSite(x.Web).texts.ProxyURL("https://a.example/cat.png")
	for _, path := range []string{"/river/image", "/river/image?u=https%3A%2F%2Fa.example%2Fcat.png", strings.Replace(good, "cat.png", "dog.png", 1), strings.Replace(good, "s=", "s=A", 1),
		newSite(x.Web).texts.ProxyURL("file:///etc/passwd"), newSite(x.Web).texts.ProxyURL("https://a.example/" + strings.Repeat("x", shell.MaxURL))} {
		if rec := x.open(path); rec.Code != 404 {
			t.Errorf("%.80s: %d", path, rec.Code)
		}
	}
	if len(x.fakeImages.asked) != 0 {
		t.Errorf("something was read: %v", x.fakeImages.asked)
	}
	x.Images = content.ImagesDirect
	x.pages = x.Routes()
	if rec := x.open(good); rec.Code != 404 {
		t.Errorf("with the setting direct: %d", rec.Code)
	}
}

func TestImageProxyRejectsOtherContentTypes(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t)
	for i, body := range []string{"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "<html><script>alert(1)</script>", "", "GIF", "%PDF-1.7", "RIFF\x00\x00\x00\x00WAVEfmt xxxxxxxx", "BM<script>alert(1)</script>xxxxxxx", strings.Repeat("\x89PNG\r\n\x1a\n", content.MaxImage/8+1)} {
		x.fakeImages.give = func(string) (*fetch.Response, error) {
			return &fetch.Response{Status: 200, Body: []byte(body), Header: map[string][]string{"Content-Type": {"image/png"}}}, nil
		}
		rec := x.open(newSite(x.Web).texts.ProxyURL(fmt.Sprintf("https://a.example/%d.png", i)))
		if rec.Code != 502 || !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/plain") || strings.Contains(rec.Body.String(), "alert") {
			t.Errorf("%.20q: %d %s", body, rec.Code, rec.Header().Get("Content-Type"))
		}
	}
	x.fakeImages.give = func(string) (*fetch.Response, error) {
		return &fetch.Response{Status: 404, Body: []byte("\xff\xd8\xff")}, nil
	}
	path := newSite(x.Web).texts.ProxyURL("https://a.example/gone.png")
	for range 3 {
		if rec := x.open(path); rec.Code != 502 {
			t.Error(rec.Code)
		}
	}
	if n := x.fakeImages.asked["https://a.example/gone.png"]; n != 1 {
		t.Errorf("what is gone was asked for %d times within a minute", n)
	}
	x.fake.now = x.fake.now.Add(2 * content.FailedFor)
	_ = x.open(path)
	if n := x.fakeImages.asked["https://a.example/gone.png"]; n != 2 {
		t.Errorf("and after it %d times", n)
	}
}

func TestImagesAreReplacedByLinksIfImagesAreDisabled(t *testing.T) {
	t.Parallel()
	for images, want := range map[string]string{content.ImagesOff: `class="pic"`, content.ImagesDirect: `src="https://imgs.xkcd.com/comics/cloud.png"`, "": `class="pic"`} {
		x := newRiverHarness(t).as("alice")
		x.Images = images
		x.pages = x.Routes()
		rec := x.open("/river")
		body := rec.Body.String()
		if !strings.Contains(body, want) || strings.Contains(body, "/river/image?") {
			t.Errorf("%q: the page has no %s", images, want)
		}
		if direct := strings.Contains(rec.Header().Get("Content-Security-Policy"), "img-src 'self' data: http: https:"); direct != (images == content.ImagesDirect) {
			t.Errorf("%q: %s", images, rec.Header().Get("Content-Security-Policy"))
		}
	}
	x := newRiverHarness(t)
	x.Remote = nil
	if s := newSite(x.Web); s.texts.ImageMode() != content.ImagesOff {
		t.Error("there is no image fetcher")
	}
}
