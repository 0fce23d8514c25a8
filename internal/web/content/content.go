// Package content makes posts and items fit for pages: it sanitizes their markup, cuts long
// texts, and shows images from where the settings want them, also through this server. Start
// with [Renderer].
package content

import (
	"context"
	"sync"

	"cloudburst/internal/author"
	"cloudburst/internal/fetch"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/web/shell"
)

// Posts is what the pages ask of the posts to show them.
type Posts interface {
	Writer(ctx context.Context, user string) (author.Writer, error)
	Path(p author.Post) string
	Address(p author.Post) string
}

// Options say where texts come from and how their images are shown.
type Options struct {
	Posts Posts // nil: nobody writes here
	// FileOf is a file that is hosted here, by the beginning of its hash. nil: nothing is known of files.
	FileOf   func(ctx context.Context, user, hash string) (author.File, error)
	Images   string // of items: ImagesProxy, ImagesDirect or ImagesOff [off, without Remote or ImageKey]
	Remote   Remote // reads images; nil: none
	ImageKey []byte // signs their URLs
}

// Renderer makes texts of posts and items fit for pages.
type Renderer struct {
	*shell.Shell
	Options
	images    imageCache
	sizes     imageSizes
	Sanitizer func() *sanitize.Sanitizer // made when it is first needed
}

// New makes a renderer for pages in the shell s.
func New(s *shell.Shell, o Options) *Renderer {
	return &Renderer{Shell: s, Options: o, Sanitizer: sync.OnceValue(func() *sanitize.Sanitizer {
		return sanitize.New(sanitize.Options{LinkRel: "nofollow noopener noreferrer ugc", NoClasses: true, NoStyles: true})
	})}
}

// NewBodyRenderer is a renderer of one text. own says that it was written here.
func (s *Renderer) NewBodyRenderer(own bool) *BodyRenderer {
	return &BodyRenderer{clean: s.Sanitizer(), images: s.ImageMode(), proxy: s.ProxyURL, size: s.sizes.sizeOf, own: own}
}

// Remote reads pictures from where they are; a *fetch.Client is one.
type Remote interface {
	Get(ctx context.Context, r fetch.Request) (*fetch.Response, error)
}

// ImageSize is the size of an image that this server has read, as attributes have it; "": it is
// not known.
func (s *Renderer) ImageSize(url string) (width, height string) { return s.sizes.sizeOf(url) }
