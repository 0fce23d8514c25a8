package web

import (
	"context"
	"sync"

	"cloudburst/internal/author"
	"cloudburst/internal/fetch"
	"cloudburst/internal/sanitize"
)

// Posts is what the pages ask of the posts to show them.
type PostLinks interface {
	Writer(ctx context.Context, user string) (author.Writer, error)
	Path(p author.Post) string
	Address(p author.Post) string
}

// RendererOptions say where texts come from and how their images are shown.
type RendererOptions struct {
	Posts PostLinks // nil: nobody writes here
	// FileOf is a file that is hosted here, by the beginning of its hash. nil: nothing is known of files.
	FileOf   func(ctx context.Context, user, hash string) (author.File, error)
	Images   string // of items: ImagesProxy, ImagesDirect or ImagesOff [off, without Remote or ImageKey]
	Remote   Remote // reads images; nil: none
	ImageKey []byte // signs their URLs
}

// Renderer makes texts of posts and items fit for pages.
type Renderer struct {
	*Shell
	RendererOptions
	pictures pictures
	sizes    pictureSizes
	clean    func() *sanitize.Sanitizer // made when it is first needed
}

// NewRenderer makes a renderer for pages in the shell s.
func NewRenderer(s *Shell, o RendererOptions) *Renderer {
	return &Renderer{Shell: s, RendererOptions: o, clean: sync.OnceValue(func() *sanitize.Sanitizer {
		return sanitize.New(sanitize.Options{LinkRel: "nofollow noopener noreferrer ugc", NoClasses: true, NoStyles: true})
	})}
}

// dressing is a renderer of one text. own says that it was written here.
func (s *Renderer) dressing(own bool) *dressing {
	return &dressing{clean: s.clean(), images: s.images(), proxy: s.proxied, size: s.sizes.of, own: own}
}

// Remote reads pictures from where they are; a *fetch.Client is one.
type Remote interface {
	Get(ctx context.Context, r fetch.Request) (*fetch.Response, error)
}

// imageSize is the size of an image that this server has read, as attributes have it; "": it is
// not known.
func (s *Renderer) imageSize(url string) (width, height string) { return s.sizes.of(url) }
