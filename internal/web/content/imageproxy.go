package content

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/href"
	"cloudburst/internal/web/shell"
)

// Limits of the image proxy.
const (
	MaxImage             = 10 << 20 // maximum size of an image in bytes
	maxCachedImage       = 4 << 20  // maximum size of a cached image in bytes
	maxCacheBytes        = 16 << 20 // size of one generation of the cache in bytes; there are two generations
	maxImageReads        = 16       // maximum number of concurrent fetches
	maxImageReadsPerHost = 4        // maximum number of concurrent fetches from one host
	maxPendingImages     = 256      // maximum number of images that are fetched or wait for a slot
	imageTimeout         = 10 * time.Second
	FailedFor            = time.Minute // a failure is cached for this time
)

// cachedImage is an image, or a failure to read one.
type cachedImage struct {
	kind     string // media type according to the first bytes of the image
	bytes    []byte
	etag     string
	failedAt time.Time // zero: the image is valid
}

// imageCache holds images that were read recently. The zero value is ready.
type imageCache struct {
	mu         sync.Mutex
	young, old map[string]*cachedImage
	size       int // bytes of the young generation
	reading    map[string]*imageRead
	hosts      map[string]*hostSlots
	slots      chan struct{}
}

// imageRead is one fetch of an image. Several requests can wait for the same fetch.
type imageRead struct {
	done chan struct{}
	got  *cachedImage
}

// ProxyURL returns the URL of an image on this server. A file hosted on this server keeps its path.
func (s *Renderer) ProxyURL(address string) string {
	if path, own := strings.CutPrefix(address, s.PublicURL+"/"); own && s.PublicURL != "" {
		if _, file, found := strings.Cut(path, "/"); found && strings.HasPrefix(file, "media/") && !strings.ContainsAny(path, "\\?#\"'<>& ") && !strings.Contains(path, "..") {
			return "/" + path
		}
	}
	return "/river/image?" + url.Values{"u": {address}, "s": {s.imageSignature(address)}}.Encode()
}

// imageSignature proves that a URL appeared in an item; the proxy reads no other URL.
func (s *Renderer) imageSignature(address string) string {
	m := hmac.New(sha256.New, s.ImageKey)
	m.Write([]byte("river picture\x00" + address))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:18])
}

// ServeImage serves an image of an item through this server, so that the publisher of the image
// receives no data about the user.
func (s *Renderer) ServeImage(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	from, sign := q.Get("u"), q.Get("s")
	if s.ImageMode() != ImagesProxy || !shell.IsSafeURL(from) || !hmac.Equal([]byte(sign), []byte(s.imageSignature(from))) {
		s.sendImageError(rw, http.StatusNotFound, "This server shows only images of items on its pages.")
		return
	}
	p, err := s.images.get(r.Context(), s, from)
	switch {
	case err != nil && r.Context().Err() != nil:
		return
	case err != nil:
		shell.SetRetryAfter(rw, err)
		s.sendImageError(rw, http.StatusServiceUnavailable, fault.Message(err))
		return
	case !p.failedAt.IsZero():
		s.sendImageError(rw, http.StatusBadGateway, "The image could not be read, or it is not an image.")
		return
	}
	h := rw.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "private, max-age=86400, immutable")
	h.Set("Content-Disposition", "inline")
	h.Set("Content-Type", p.kind)
	h.Set("ETag", p.etag)
	if r.Header.Get("If-None-Match") == p.etag {
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(p.bytes)))
	if r.Method != http.MethodHead {
		_, _ = rw.Write(p.bytes)
	}
}

func (s *Renderer) sendImageError(rw http.ResponseWriter, status int, words string) {
	h := rw.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "private, max-age=60")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	rw.WriteHeader(status)
	_, _ = rw.Write([]byte(words + "\n"))
}

// get returns an image from the cache, from a fetch in progress or from a new one. The fetch
// continues if the first request ends, because other requests can wait for it.
func (c *imageCache) get(ctx context.Context, s *Renderer, address string) (*cachedImage, error) {
	c.mu.Lock()
	if p := c.lookup(address, s.CurrentTime()); p != nil {
		c.mu.Unlock()
		return p, nil
	}
	run := c.reading[address]
	if run == nil {
		if len(c.reading) >= maxPendingImages {
			c.mu.Unlock()
			return nil, &fault.Error{Code: fault.Unavailable, Msg: "Too many images are requested at once. Try again in a moment.", RetryAfter: 5 * time.Second}
		}
		if c.reading == nil {
			c.reading, c.hosts, c.slots = map[string]*imageRead{}, map[string]*hostSlots{}, make(chan struct{}, maxImageReads)
		}
		run = &imageRead{done: make(chan struct{})}
		c.reading[address] = run
		go c.read(context.WithoutCancel(ctx), s, address, run)
	}
	c.mu.Unlock()
	select {
	case <-run.done:
		return run.got, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *imageCache) lookup(address string, now time.Time) *cachedImage {
	p := c.young[address]
	if p == nil {
		if p = c.old[address]; p != nil {
			c.store(address, p)
		}
	}
	if p != nil && !p.failedAt.IsZero() && now.Sub(p.failedAt) > FailedFor {
		delete(c.young, address)
		delete(c.old, address)
		return nil
	}
	return p
}

func (c *imageCache) store(address string, p *cachedImage) {
	if c.size > maxCacheBytes || c.young == nil {
		c.old, c.young, c.size = c.young, map[string]*cachedImage{}, 0
	}
	if c.young[address] == nil {
		c.size += len(p.bytes) + len(address) + 200
	}
	c.young[address] = p
}

// read fetches one image after it has acquired a slot.
func (c *imageCache) read(ctx context.Context, s *Renderer, address string, run *imageRead) {
	ctx, cancel := context.WithTimeout(ctx, imageTimeout)
	defer cancel()
	p := &cachedImage{failedAt: s.CurrentTime()}
	if leave, ok := c.acquire(ctx, address); ok {
		if got := s.fetchImage(ctx, address); got != nil {
			p = got
		}
		leave()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	run.got = p
	delete(c.reading, address)
	if len(p.bytes) <= maxCachedImage {
		c.store(address, p)
	}
	close(run.done)
}

// hostSlots limits the concurrent fetches from one host.
type hostSlots struct {
	slots chan struct{}
	users int // fetches that hold a slot or wait for one
}

// acquire waits for a slot of the host, then for a slot of the whole cache. The caller must call leave if
// ok is true.
func (c *imageCache) acquire(ctx context.Context, address string) (leave func(), ok bool) {
	host := href.Host(address)
	c.mu.Lock()
	h := c.hosts[host]
	if h == nil {
		h = &hostSlots{slots: make(chan struct{}, maxImageReadsPerHost)}
		c.hosts[host] = h
	}
	h.users++
	c.mu.Unlock()
	gone := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if h.users--; h.users == 0 {
			delete(c.hosts, host)
		}
	}
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		gone()
		return nil, false
	}
	select {
	case c.slots <- struct{}{}:
		return func() { <-c.slots; <-h.slots; gone() }, true
	case <-ctx.Done():
		<-h.slots
		gone()
		return nil, false
	}
}

// fetchImage fetches an image; nil: the fetch failed, or the content is not an image.
func (s *Renderer) fetchImage(ctx context.Context, address string) *cachedImage {
	res, err := s.Remote.Get(ctx, fetch.Request{URL: address, Accept: "image/avif,image/webp,image/png,image/jpeg,image/gif;q=0.9,*/*;q=0.1"})
	if err != nil || !res.OK() || len(res.Body) > MaxImage {
		return nil
	}
	kind := imageType(res.Body)
	if kind == "" {
		return nil
	}
	s.sizes.learn(address, res.Body)
	sum := sha256.Sum256(res.Body)
	return &cachedImage{kind: kind, bytes: res.Body, etag: `"` + hex.EncodeToString(sum[:12]) + `"`}
}

// imageType returns the media type of a raster image according to its first bytes, or "" for other
// content. It ignores the declared type.
func imageType(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return "image/gif"
	case len(b) > 16 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return "image/webp"
	case len(b) > 16 && string(b[4:8]) == "ftyp" && (strings.HasPrefix(string(b[8:12]), "avi") || string(b[8:12]) == "mif1" || string(b[8:12]) == "msf1"):
		return "image/avif"
	case len(b) > 26 && string(b[:2]) == "BM" && b[6]|b[7]|b[8]|b[9] == 0:
		return "image/bmp"
	case len(b) > 22 && string(b[:4]) == "\x00\x00\x01\x00" && b[5] == 0 && b[4] > 0:
		return "image/x-icon"
	}
	return ""
}

// AllowMedia extends the policy of a page for items: media from any server, because they load only
// on request, and images if the setting is ImagesDirect.
func (s *Renderer) AllowMedia(rw http.ResponseWriter) {
	p := strings.Replace(shell.Policy, "media-src 'self'", "media-src 'self' http: https:", 1)
	if s.ImageMode() == ImagesDirect {
		p = strings.Replace(p, "img-src 'self' data:", "img-src 'self' data: http: https:", 1)
	}
	rw.Header().Set("Content-Security-Policy", p)
}

// ImageMode returns the mode in force. ImagesProxy without Remote or ImageKey counts as ImagesOff.
func (s *Renderer) ImageMode() string {
	switch {
	case s.Images == ImagesDirect:
		return ImagesDirect
	case s.Images == ImagesProxy && s.Remote != nil && len(s.ImageKey) > 0:
		return ImagesProxy
	}
	return ImagesOff
}

const (
	ImagesProxy  = "proxy"  // this server reads the images for all readers
	ImagesDirect = "direct" // browsers load the images from their servers
)

const ImagesOff = "off" // links replace the images
