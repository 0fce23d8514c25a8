package author

import (
	"context"
	"time"

	"cloudburst/internal/event"
)

// PostStore is what posts need of a database, under the same rules as [Store].
type PostStore interface {
	PostReadStore
	WriterStore

	// WritePost changes one post of a user, or makes one, and with it whatever follows
	// from the change, in one transaction: see [Writing].
	WritePost(ctx context.Context, w Writing) (Written, error)
	// AddPosts adds posts that come from elsewhere, at most 1,000, Published or not, as they
	// are but for ID, Revision, Seq and a Slug that is taken; one whose GUID the user has already (in any
	// state) is left out. They count, but the feed is not made anew: a Writing with Renumber follows. It
	// returns how many were added.
	AddPosts(ctx context.Context, user string, now time.Time, posts []Post) (added int, err error)
	// SweepPosts forgets what can no longer be taken back: changes whose UndoUntil is over,
	// and posts that were deleted before forget.
	SweepPosts(ctx context.Context, now, forget time.Time) error
}

// PostReadStore reads posts.
type PostReadStore interface {
	// Post returns a post in any state. fault.NotFound.
	Post(ctx context.Context, user string, id int64) (Post, error)
	// PostBySlug returns a published or deleted post by its slug. fault.NotFound.
	PostBySlug(ctx context.Context, user, slug string) (Post, error)
	// PostByKey returns a post by its Key, by its GUID if that is given. fault.NotFound.
	PostByKey(ctx context.Context, user, key, guid string) (Post, error)
	// Posts lists posts; see [PostQuery].
	Posts(ctx context.Context, q PostQuery) ([]Post, error)
	// PostCounts are the numbers of published posts of a user, or of everyone who is not
	// disabled (""), by month, newest first, or by
	// category, by name. prefix, if any, is that of the folded category names wanted.
	// limit is at most 10,000; 0 means 1,000.
	PostCounts(ctx context.Context, user string, what CountOf, prefix string, limit int) ([]Count, error)
	// DuePosts lists scheduled posts whose time has come, the oldest first.
	DuePosts(ctx context.Context, now time.Time, limit int) ([]Post, error)
	// NextDuePost is when the next scheduled post is due; the zero time: none is.
	NextDuePost(ctx context.Context) (time.Time, error)
	// PostsChanged is the stamp of the newest change of any published post of a user, of all
	// users if user is "", within a category if that is not "". It grows with every change that
	// readers see (microseconds, of all users a little ahead of them); 0: there was none.
	PostsChanged(ctx context.Context, user, category string) (int64, error)
}

// WriterStore keeps what users said of themselves.
type WriterStore interface {
	// Writer returns what a user said of himself. One who never wrote is a Writer of
	// Version 0, and no error.
	Writer(ctx context.Context, user string) (Writer, error)
	// SetProfile changes a Profile and raises Version; the feed is made anew by a Writing
	// afterwards. change may be called more than once; its error is returned.
	SetProfile(ctx context.Context, user string, change func(*Profile) error) (Writer, error)
}

// CountOf says what posts are counted by.
type CountOf string

// What posts are counted by.
const (
	ByMonth    CountOf = "month"
	ByCategory CountOf = "category"
)

// PostQuery asks for posts. Published ones come by PublishedAt, the newest first; those in
// other states by UpdatedAt, likewise; with FromSeq or ToSeq by Seq, ascending. Equal times are in the order of (User, ID), descending.
type PostQuery struct {
	User     string // "": of everyone who is not disabled
	State    State  // "": all but Deleted
	Category string // folded, see [CategoryName]; published posts only
	// Since and Before bound PublishedAt, the latter excluded; zero: no bound.
	Since, Before time.Time
	// After is the last post of the page before; nil: from the beginning. Its User, ID,
	// PublishedAt and UpdatedAt count.
	After *Post
	// FromSeq and ToSeq bound Seq, both included; 0: no bound. Published posts of one user only.
	FromSeq, ToSeq int64
	Match          string // words or pieces of the title or the source; "": all
	Skip           int    // so many at the beginning are left out; After is quicker
	Limit          int    // at most 1,000; 0 means 100
}

// Writing is a change of a post on its way to the store, which does in one transaction:
//
//  1. It takes the user's Writer, so that his changes happen one after the other.
//  2. It reads the post with this ID; fault.NotFound. For ID 0 it is a new
//     Draft, with the next ID and nothing else; but where the user has a post with this Key or GUID, in any state but Deleted, it is that one,
//     and found is true.
//  3. It calls Change, and writes the Post that Change returns, its Revision raised by
//     one, and LastSeq of the Writer when its Seq is beyond that. Nil: nothing is written.
//  4. What Change returns as undo is kept with the post until the UndoUntil of the post.
//     It goes when UndoUntil is zero.
//  5. When the post is Published, or was, or Change is nil, it raises Writer.Version and
//     counts; with Make it reads the user's published posts with the greatest Seq, Window of
//     them and then down to where an archive page ends (of Window places each: Seq 1 to
//     Window, and so on), and calls Make with them, the newest PublishedAt first.
//     The document that Make returns becomes the next version of the public feed as by
//     SaveDocument, and is marked as written.
//
// The functions may be called more than once, of which the last counts.
type Writing struct {
	User string
	ID   int64
	Key  string
	GUID string
	At   time.Time // now
	// Renumber gives all published posts of the user their Seq anew, by PublishedAt and
	// ID, before Make: after an import.
	Renumber bool

	// Change looks at the post as it is, and at what it was before a change that can still
	// be taken back (nil: there is none), and returns what it shall be, with what is kept
	// for taking that back; its error ends the transaction and is returned. free makes of a slug
	// one that no other post of the user has, by a number at its end ("-2").
	// Change is nil where no post changes, but the feed is made anew.
	Change func(now Post, found bool, was *Post, w Writer, free func(slug string) (string, error)) (next, undo *Post, err error)
	// Window is how many posts the feed has at least.
	Window int
	// Make makes the document of the feed; nil: it stays as it is.
	Make func(w Writer, newest []Post) (Saving, error)
	// Events makes what is written with the change in the log; nil: none.
	Events func(p Post, w Writer, f Feed, changed bool) []event.Event
}

// Written is what became of a Writing.
type Written struct {
	Post   Post
	Found  bool // the post was there already by its Key or GUID
	Writer Writer
	Feed   Feed // of Version 0 where Make was not called
	// Changed means that the feed has a new version.
	Changed bool
}

// File is a picture, a sound or anything else that an author keeps here, known by its
// content.
type File struct {
	User    string
	Hash    string // SHA-256 of the bytes, in hex
	Name    string // as it was called where it came from
	Type    string // media type
	Size    int64  // bytes
	Width   int    // of pictures, 0: not known
	Height  int
	AddedAt time.Time
}

// FileStore keeps files, under the same rules as [Store]. Their bytes are in pieces of
// [FilePiece] bytes, the last one shorter, and are there once whoever keeps them.
type FileStore interface {
	// PutFilePiece stores piece n, from 0, of the file being received that is called by temp, which nobody else uses.
	PutFilePiece(ctx context.Context, temp string, n int, piece []byte, now time.Time) error
	// KeepFile makes a received file a user's: its pieces are those of Hash from now on. Where that Hash is there
	// already the pieces go. quota bounds the sum of Size of his files, in bytes; fault.TooMany over it... 0: no bound.
	KeepFile(ctx context.Context, f File, temp string, quota int64) (File, error)
	// DropFilePieces forgets what was received as temp.
	DropFilePieces(ctx context.Context, temp string) error
	// File returns a file of a user; hash may be the first 16 or more digits. fault.NotFound.
	File(ctx context.Context, user, hash string) (File, error)
	// FilePieceAt reads piece n of a file by its whole hash. fault.NotFound.
	FilePieceAt(ctx context.Context, hash string, n int) ([]byte, error)
	// Files lists a user's files, the newest first, those after the file given (nil: from the beginning).
	Files(ctx context.Context, user string, after *File, limit int) ([]File, error)
	// RemoveFile ends that the file is this user's. fault.NotFound.
	RemoveFile(ctx context.Context, user, hash string) error
	// SweepFiles removes pieces that nobody keeps: of removed files, and of those that were begun before this moment.
	SweepFiles(ctx context.Context, before time.Time) error
}

// FilePiece is the size of the pieces of a file, in bytes.
const PieceSize = 256 << 10
