package writerui

import (
	"context"
	"io"

	"cloudburst/feed/opml"
	"cloudburst/internal/author"
)

// Posts is what the pages ask of what people write here; *author.Posts is one.
type Posts interface {
	PostEditor
	PostList
	Profile
}

// PostEditor changes posts.
type PostEditor interface {
	SaveOnce(ctx context.Context, e author.Edit) (author.Post, error)
	SaveDraft(ctx context.Context, d author.DraftEdit) (author.DraftEdit, error)
	DiscardEditDraft(ctx context.Context, user string, post int64, via string) error
	Delete(ctx context.Context, user string, id, base int64, via string) (author.Post, error)
	Undo(ctx context.Context, user string, id int64, via string) (author.Post, error)
	Preview(c author.Content) (author.Content, author.Measure, error)
}

// PostList reads posts.
type PostList interface {
	Get(ctx context.Context, user string, id int64) (author.Post, error)
	EditDraft(ctx context.Context, user string, post int64) (author.Post, error)
	List(ctx context.Context, q author.PostQuery) ([]author.Post, error)
	Counts(ctx context.Context, user string, what author.CountOf, prefix string, limit int) ([]author.Count, error)
	Path(p author.Post) string
	Warning(p author.Post) string // about a published post that is over the limit; ""
	ToOPML(p author.Post) *opml.Document
}

// Profile is what a writer says of himself.
type Profile interface {
	Writer(ctx context.Context, user string) (author.Writer, error)
	SetProfile(ctx context.Context, user string, change func(*author.Profile) error, via string) (author.Writer, error)
}

// Files is what the pages ask of the files that people put beside their posts.
type Files interface {
	// Put keeps what r gives to its end. fault.TooMany: there is no more room for this
	// user; fault.Invalid: it is larger than files may be, or of a type that is not taken.
	Put(ctx context.Context, user, name, contentType string, r io.Reader) (author.File, error)
	// Describe finds out type and length of a file that is here or elsewhere. The faults are
	// for people.
	Describe(ctx context.Context, address string) (author.Enclosure, error)
	// Path is where the file is read, "/USER/media/<16 hex>/<name>".
	Path(f author.File) string
}
