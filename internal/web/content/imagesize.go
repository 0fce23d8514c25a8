package content

import (
	"bytes"
	"crypto/sha256"
	"strconv"
	"sync"

	"cloudburst/internal/media"
)

// keptSizes is how many sizes of images are kept in memory, twice.
const maxCachedSizes = 20_000

// imageSizes are the sizes of images that were read lately, by a hash of their addresses, so
// that pages can reserve their space. Those that were not asked for go first. The zero value is
// ready.
type imageSizes struct {
	mu         sync.Mutex
	young, old map[[16]byte]dimensions
}

// pictureSize is in pixels, with the image the right way up.
type dimensions struct{ width, height int }

func sizeKey(address string) [16]byte {
	sum := sha256.Sum256([]byte(address))
	return [16]byte(sum[:])
}

// learn keeps the size of the image at an address. An image whose size cannot be read has none.
func (c *imageSizes) learn(address string, image []byte) {
	f, err := media.Inspect(bytes.NewReader(image), int64(len(image)))
	if err != nil || f.Width <= 0 || f.Height <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(sizeKey(address), dimensions{f.Width, f.Height})
}

func (c *imageSizes) put(k [16]byte, s dimensions) {
	if c.young == nil || len(c.young) >= maxCachedSizes {
		c.old, c.young = c.young, map[[16]byte]dimensions{}
	}
	c.young[k] = s
}

// sizeOf is the size of the image at an address, as attributes have it; "": it is not known.
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
