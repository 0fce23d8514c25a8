package content

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"cloudburst/internal/media"
)

// maxCachedSizes is the number of image sizes in one generation of the cache; there are two
// generations.
const maxCachedSizes = 20_000

// imageSizes caches the sizes of images, so that pages can reserve the space of an image. The keys
// of the maps are hashes of URLs. The older generation is dropped first. The zero value is ready.
type imageSizes struct {
	mu         sync.Mutex
	young, old map[[16]byte]dimensions
	learned    atomic.Int64 // number of images whose size became known
}

// dimensions are the width and height of an image in pixels, after its rotation.
type dimensions struct{ width, height int }

func sizeKey(address string) [16]byte {
	sum := sha256.Sum256([]byte(address))
	return [16]byte(sum[:])
}

// learn stores the size of the image at a URL, unless it cannot be read.
func (c *imageSizes) learn(address string, image []byte) {
	size, ok := dimensionsOf(image)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(sizeKey(address), size)
	c.learned.Add(1)
}

func dimensionsOf(image []byte) (d dimensions, ok bool) {
	f, err := media.Inspect(bytes.NewReader(image), int64(len(image)))
	if err != nil || f.Width <= 0 || f.Height <= 0 {
		return d, false
	}
	return dimensions{f.Width, f.Height}, true
}

// dataImageSize returns the size of the image in a data URL, as HTML attributes; "": the data is
// not in base64, or is not a readable image.
func dataImageSize(src string) (width, height string) {
	_, text, found := strings.Cut(src, ";base64,")
	if !found {
		return "", ""
	}
	image, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", ""
	}
	d, ok := dimensionsOf(image)
	if !ok {
		return "", ""
	}
	return strconv.Itoa(d.width), strconv.Itoa(d.height)
}

func (c *imageSizes) put(k [16]byte, s dimensions) {
	if c.young == nil || len(c.young) >= maxCachedSizes {
		c.old, c.young = c.young, map[[16]byte]dimensions{}
	}
	c.young[k] = s
}

// sizeOf returns the size of the image at a URL, as HTML attributes; "" if unknown.
func (c *imageSizes) sizeOf(address string) (width, height string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := sizeKey(address)
	s, ok := c.young[k]
	if !ok {
		if s, ok = c.old[k]; !ok {
			return "", ""
		}
		c.put(k, s)
	}
	return strconv.Itoa(s.width), strconv.Itoa(s.height)
}
