package publishhttp

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"cloudburst/internal/author"
)

// Posts stores the posts of users, for the publishing interfaces. [*author.Posts] implements it.
type Posts interface {
	Save(ctx context.Context, e author.Edit) (author.Post, error)
	Delete(ctx context.Context, user string, id, base int64, via string) (author.Post, error)
	Undo(ctx context.Context, user string, id int64, via string) (author.Post, error)
	Get(ctx context.Context, user string, id int64) (author.Post, error)
	BySlug(ctx context.Context, user, slug string) (author.Post, error)
	ByKey(ctx context.Context, user, key, guid string) (author.Post, error)
	List(ctx context.Context, q author.PostQuery) ([]author.Post, error)
	// Categories returns the categories of published posts, and those that were created before
	// their first post.
	Categories(ctx context.Context, user string) ([]author.Count, error)
	AddCategory(ctx context.Context, user, label string) error
	Counts(ctx context.Context, user string, what author.CountOf, prefix string, limit int) ([]author.Count, error)
	Writer(ctx context.Context, user string) (author.Writer, error)
	Path(p author.Post) string
	Address(p author.Post) string
	Warning(ctx context.Context, p author.Post) string // warning about a published post that exceeds a limit; "": none
}

// addWarning adds a Warning header to a successful response. Its code is 299, and "-" stands for
// the unnamed server.
func addWarning(header http.Header, sentence string) {
	if header != nil && sentence != "" {
		header.Add("Warning", "299 - "+strconv.Quote(sentence))
	}
}

// Files stores the files of users: images, audio and others. [*upload.Files] implements it.
type Files interface {
	// Put reads r to the end and stores the content. Errors: fault.TooMany if the user's storage
	// quota is used up, fault.Invalid for a file that is too large or of an unsupported type.
	Put(ctx context.Context, user, name, contentType string, r io.Reader) (author.File, error)
	// Get returns a file by at least the first 16 digits of its hash. It returns fault.NotFound for
	// an unknown file.
	Get(ctx context.Context, user, hash string) (author.File, error)
	// Path returns the path of a file, "/USER/media/<16 hex>/<name>".
	Path(f author.File) string
}
