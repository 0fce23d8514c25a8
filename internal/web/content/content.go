// Package content renders posts and items for pages: it sanitizes their markup, shortens long
// texts, and shows images directly or through this server's proxy, as configured. Start with
// [Renderer].
package content

import (
	"context"
	"sync"

	"cloudburst/internal/author"
	"cloudburst/internal/fetch"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/web/shell"
)

// Posts is the interface to posts that rendering needs.
type Posts interface {
	Writer(ctx context.Context, user string) (author.Writer, error)
	Path(p author.Post) string
	Address(p author.Post) string
}

// Options configure the sources of texts and the display of their images.
type Options struct {
	Posts Posts // nil: users cannot write posts
	// FileOf returns a hosted file by the first digits of its hash. Nil: files
	// are shown without their metadata.
	FileOf   func(ctx context.Context, user, hash string) (author.File, error)
	Images   string // mode for images of items: ImagesProxy, ImagesDirect or ImagesOff [off, without Remote or ImageKey]
	Remote   Remote // fetches images of other servers; nil: no image is fetched
	ImageKey []byte // key that signs proxy URLs of images
}

// Renderer renders the texts of posts and items for pages.
type Renderer struct {
	*shell.Shell
	Options
	images    imageCache
	sizes     imageSizes
	Sanitizer func() *sanitize.Sanitizer // returns the sanitizer, which is created on first use
}

// New returns a renderer for pages in the shell s.
func New(s *shell.Shell, o Options) *Renderer {
	return &Renderer{Shell: s, Options: o, Sanitizer: sync.OnceValue(func() *sanitize.Sanitizer {
		return sanitize.New(sanitize.Options{LinkRel: sanitize.PageRel, NoClasses: true, NoStyles: true})
	})}
}

// NewBodyRenderer returns a renderer for one text. own means that the text was written on this
// server.
func (s *Renderer) NewBodyRenderer(own bool) *BodyRenderer {
	return &BodyRenderer{clean: s.Sanitizer(), images: s.ImageMode(), proxy: s.ProxyURL, size: s.sizes.sizeOf, own: own}
}

// Remote fetches images; *fetch.Client implements it.
type Remote interface {
	Get(ctx context.Context, r fetch.Request) (*fetch.Response, error)
}

// KnownSizes counts the images of other servers whose sizes became known. While this
// number is unchanged, a page renders the images the same way.
func (s *Renderer) KnownSizes() int64 { return s.sizes.learned.Load() }

// ImageSize returns the values of the HTML attributes width and height, in pixels, of an image that
// this server has read. Both are "" if the size is unknown.
func (s *Renderer) ImageSize(url string) (width, height string) { return s.sizes.sizeOf(url) }
