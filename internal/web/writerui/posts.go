package writerui

import (
	"context"
	"io"

	"cloudburst/feed/opml"
	"cloudburst/internal/author"
)

// Posts is the interface to posts for the pages; *author.Posts implements it.
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
	RestoreEditDraft(ctx context.Context, deleted author.Post, via string) error
	Delete(ctx context.Context, user string, id, base int64, via string) (author.Post, error)
	Undo(ctx context.Context, user string, id int64, via string) (author.Post, error)
	Composer(ctx context.Context, user string) (author.Composer, error)
}

// PostList reads posts.
type PostList interface {
	Get(ctx context.Context, user string, id int64) (author.Post, error)
	EditDraft(ctx context.Context, user string, post int64) (author.Post, error)
	List(ctx context.Context, q author.PostQuery) ([]author.Post, error)
	Counts(ctx context.Context, user string, what author.CountOf, prefix string, limit int) ([]author.Count, error)
	Path(p author.Post) string
	Warning(ctx context.Context, p author.Post) string // message about a published post over the length limit; "": none
	ToOPML(p author.Post) *opml.Document
}

// Profile reads and changes the profile of an author.
type Profile interface {
	Writer(ctx context.Context, user string) (author.Writer, error)
	SetProfile(ctx context.Context, user string, change func(*author.Profile) error, via string) (author.Writer, error)
}

// Files is the interface to the files of posts for the pages.
type Files interface {
	// Put stores the content of r. fault.TooMany: the user's quota is used up; fault.Invalid: the
	// file is too large or its type is not allowed.
	Put(ctx context.Context, user, name, contentType string, r io.Reader) (author.File, error)
	// Describe returns type and length of a file on this server or another one. The messages of its
	// faults are for users.
	Describe(ctx context.Context, address string) (author.Enclosure, error)
	// Path returns the path of the file, "/USER/media/<16 hex>/<name>".
	Path(f author.File) string
}
