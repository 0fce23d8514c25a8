package publishhttp

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"cloudburst/internal/author"
)

// Posts is what people write here, for the doors by which programs write for them;
// *author.Posts is one.
type Posts interface {
	Save(ctx context.Context, e author.Edit) (author.Post, error)
	Delete(ctx context.Context, user string, id, base int64, door string) (author.Post, error)
	Undo(ctx context.Context, user string, id int64, door string) (author.Post, error)
	Get(ctx context.Context, user string, id int64) (author.Post, error)
	BySlug(ctx context.Context, user, slug string) (author.Post, error)
	ByKey(ctx context.Context, user, key, guid string) (author.Post, error)
	List(ctx context.Context, q author.PostQuery) ([]author.Post, error)
	// Categories are those of published posts, and those created ahead of their first post.
	Categories(ctx context.Context, user string) ([]author.Count, error)
	AddCategory(ctx context.Context, user, label string) error
	Counts(ctx context.Context, user string, what author.CountOf, prefix string, limit int) ([]author.Count, error)
	Writer(ctx context.Context, user string) (author.Writer, error)
	Path(p author.Post) string
	Address(p author.Post) string
	Warning(p author.Post) string // about a published post that is over the limit; ""
}

// addWarning adds a sentence about a request that succeeded to the header of its response,
// as a Warning field. Such a field has code 299 and - for an unnamed server.
func addWarning(header http.Header, sentence string) {
	if header != nil && sentence != "" {
		header.Add("Warning", "299 - "+strconv.Quote(sentence))
	}
}

// Files are what people put beside their posts: pictures, sounds and anything else;
// *author.Files is one.
type Files interface {
	// Put keeps what r gives to its end. fault.TooMany: there is no more room for this
	// user; fault.Invalid: it is larger than files may be, or of a type that is not taken.
	Put(ctx context.Context, user, name, contentType string, r io.Reader) (author.File, error)
	// Get returns a file by at least the first 16 digits of its hash. fault.NotFound.
	Get(ctx context.Context, user, hash string) (author.File, error)
	// Path is where the file is read, "/USER/media/<16 hex>/<name>".
	Path(f author.File) string
}
