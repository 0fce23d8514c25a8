package transfer

import (
	"context"
	"io"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/date"
)

// Files is the interface to the stored files; *upload.Files implements it.
type Files interface {
	Put(ctx context.Context, user, name, contentType string, r io.Reader) (author.File, error)
	Get(ctx context.Context, user, hash string) (author.File, error)
	Open(ctx context.Context, user, hash string) (author.File, io.ReadSeekCloser, error)
	List(ctx context.Context, user string, after *author.File, limit int) ([]author.File, error)
	Path(f author.File) string
}

// Transfer exports and imports the data of authors. Posts and Files are required. Do not copy a
// Transfer.
type Transfer struct {
	Posts  author.Groups
	Files  Files
	Site   Site             // pages, style sheet and pinned post; nil: not exported and not imported
	Origin func() string    // public URL of this server; nil: unknown
	Now    func() time.Time // nil: time.Now

	batchSize int // maximum number of posts in memory [250]; tests set a smaller number
}

// Progress is called with the progress of a phase. total is 0 while unknown.
type Progress func(phase string, done, total int)

// These are the phases of an import and of an export. Each comment states the unit of done and
// total.
const (
	PhaseCheck = "checked"  // KiB of the file; posts if another program wrote the archive
	PhaseFiles = "files"    // files of posts; posts if another program wrote the archive
	PhasePosts = "posts"    // posts
	PhaseFeeds = "archived" // posts in the feeds of an export
)

func (p Progress) at(phase string, done, total int) {
	if p != nil {
		p(phase, done, total)
	}
}

func (t *Transfer) now() time.Time {
	return date.Now(t.Now).UTC()
}

func (t *Transfer) origin() string {
	if t.Origin != nil {
		return t.Origin()
	}
	return ""
}

func (t *Transfer) batchLimit() int {
	if t.batchSize > 0 {
		return t.batchSize
	}
	return 250
}

// published calls each with batches of a user's published posts, in order of publication.
func (t *Transfer) published(ctx context.Context, user string, each func([]author.Post) error) error {
	for from := int64(1); ; {
		posts, err := t.Posts.List(ctx, author.PostQuery{User: user, State: author.Published, FromSeq: from, Limit: t.batchLimit()})
		if err != nil || len(posts) == 0 {
			return err
		}
		if err := each(posts); err != nil {
			return err
		}
		from = posts[len(posts)-1].Seq + 1
	}
}

// unpublished calls each with batches of a user's posts in a state other than author.Published.
func (t *Transfer) unpublished(ctx context.Context, user string, state author.State, each func([]author.Post) error) error {
	var after *author.Post
	for {
		posts, err := t.Posts.List(ctx, author.PostQuery{User: user, State: state, After: after, Limit: t.batchLimit()})
		if err != nil || len(posts) == 0 {
			return err
		}
		if err := each(posts); err != nil {
			return err
		}
		after = &posts[len(posts)-1]
	}
}

// files calls each for every file of a user.
func (t *Transfer) files(ctx context.Context, user string, each func(author.File) error) error {
	var after *author.File
	for {
		files, err := t.Files.List(ctx, user, after, t.batchLimit())
		if err != nil || len(files) == 0 {
			return err
		}
		for _, f := range files {
			if err := each(f); err != nil {
				return err
			}
		}
		after = &files[len(files)-1]
	}
}
