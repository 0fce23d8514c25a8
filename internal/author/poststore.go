package author

import (
	"context"
	"io"
	"time"

	"cloudburst/internal/event"
)

// PostStore is the database interface of posts, with the rules of [Store].
type PostStore interface {
	PostReadStore
	WriterStore

	// WritePost creates or changes a post of a user, with all consequences, in one transaction: see
	// [Writing].
	WritePost(ctx context.Context, w Writing) (Written, error)
	// AddPosts adds up to 1,000 imported posts in any state. Only ID, Revision, Seq and a
	// conflicting Slug are changed. Posts with an existing GUID (in any state) are skipped. Posts
	// are counted, but the feed is not rebuilt: a Writing with Renumber follows. It returns the
	// number of added posts.
	AddPosts(ctx context.Context, user string, now time.Time, posts []Post) (added int, err error)
	// SweepPosts deletes undo states whose UndoUntil has passed and posts that were deleted before
	// forget.
	SweepPosts(ctx context.Context, now, forget time.Time) error
}

// PostReadStore reads posts.
type PostReadStore interface {
	// Post returns a post in any state. fault.NotFound.
	Post(ctx context.Context, user string, id int64) (Post, error)
	// PostBySlug returns a published or deleted post by its slug. fault.NotFound.
	PostBySlug(ctx context.Context, user, slug string) (Post, error)
	// PostByKey returns a post by its Key, or by its GUID if guid is set. fault.NotFound.
	PostByKey(ctx context.Context, user, key, guid string) (Post, error)
	// Posts lists posts; see [PostQuery].
	Posts(ctx context.Context, q PostQuery) ([]Post, error)
	// PostCounts returns the numbers of published posts of a user, or of all users who are not
	// disabled (""): by month, newest first, or by category, by name. prefix selects folded
	// category names. limit is at most 10,000; 0 means 1,000.
	PostCounts(ctx context.Context, user string, what CountOf, prefix string, limit int) ([]Count, error)
	// DuePosts lists due scheduled posts, oldest first.
	DuePosts(ctx context.Context, now time.Time, limit int) ([]Post, error)
	// NextDuePost returns the time of the next scheduled post, or the zero time.
	NextDuePost(ctx context.Context) (time.Time, error)
	// PostsChanged returns the stamp of the newest change of a published post: of a user, or of all
	// users (""), in a category, or in all (""). It increases with every public change
	// (microseconds; for all users slightly ahead of each user). 0: no changes.
	PostsChanged(ctx context.Context, user, category string) (int64, error)
}

// WriterStore stores the profiles of users.
type WriterStore interface {
	// Writer returns the profile of a user. A user without posts is a Writer of Version 0, not an
	// error.
	Writer(ctx context.Context, user string) (Writer, error)
	// SetProfile changes a Profile and increases Version; a Writing rebuilds the feed afterwards.
	// change may be called several times; its error is returned.
	SetProfile(ctx context.Context, user string, change func(*Profile) error) (Writer, error)
}

// CountOf is the criterion by which posts are counted.
type CountOf string

// Values of CountOf.
const (
	ByMonth    CountOf = "month"
	ByCategory CountOf = "category"
)

// PostQuery selects posts. Published posts are sorted by PublishedAt, newest first; other states by
// UpdatedAt, newest first; with FromSeq or ToSeq by Seq, ascending. Equal times are sorted by
// (User, ID), descending.
type PostQuery struct {
	User     string // "": all users who are not disabled
	State    State  // "": all but Deleted
	Category string // folded, see [CategoryName]; published posts only
	// Since (included) and Before (excluded) limit PublishedAt; zero: no limit.
	Since, Before time.Time
	// After is the last post of the previous batch; nil: from the beginning. Its User, ID,
	// PublishedAt and UpdatedAt are used.
	After *Post
	// FromSeq and ToSeq limit Seq, both included; 0: no limit. For published posts of one user
	// only.
	FromSeq, ToSeq int64
	Match          string // words or parts of words in the title or the source; "": all
	Skip           int    // number of posts to skip; After is faster
	Limit          int    // at most 1,000; 0 means 100
}

// Writing is a change of a post. The store executes it in one transaction:
//
//  1. Lock the user's Writer, so changes of one user are serialized.
//  2. Read the post with this ID; if there is none, return fault.NotFound. For ID 0, use the
//     user's post with this Key or GUID in any state except Deleted (then found is true), or
//     else a new Draft with the next ID and no other fields.
//  3. Call Change and store the post that it returns, with Revision increased by one. If
//     its Seq is greater than LastSeq of the Writer, update LastSeq. If Change returns nil,
//     store nothing. Keep decides whether the replaced content becomes an earlier version.
//  4. Store the undo post that Change returns until the post's UndoUntil. Delete it if
//     UndoUntil is zero.
//  5. If the post is or was Published, or Change is nil, increase Writer.Version and the
//     counts. If Make is set, read the user's published posts with the greatest Seq: at least
//     Window posts, and further down to an archive page's end. Archive pages are Seq 1 to
//     Window, Window+1 to 2·Window, and so on. Call Make with the posts, newest PublishedAt
//     first. Store the document that it returns as the next version of the public feed, as
//     SaveDocument does, and mark it as written.
//  6. Rebuild the feeds of groups with MakeGroup, and set which files only private posts use.
//
// The functions may be called several times; only the results of the last call are stored.
type Writing struct {
	User string
	ID   int64
	Key  string
	GUID string
	At   time.Time // now
	// Renumber assigns new Seqs to all published posts of the user, by PublishedAt and ID, before
	// Make. Used after an import.
	Renumber bool

	// Mention makes the links of a post that is or was Published due for webmentions, in the same
	// transaction.
	Mention bool

	// Change gets the current post and the state before a change that can be undone (nil: none). It
	// returns the new post and its undo state; its error aborts the transaction and is returned.
	// free makes a slug unique among the user's posts by a number at its end ("-2"). nil: no post
	// changes, but the feed is rebuilt.
	Change func(now Post, found bool, was *Post, w Writer, free func(slug string) (string, error)) (next, undo *Post, err error)
	// Thread returns the place of the post in a thread; nil: the place is not changed.
	Thread func(p Post) ThreadPlace
	// Keep reports whether the content of now becomes an earlier version of its post, as the
	// change to next replaces it. last is the time of that post's newest earlier version; zero:
	// none. The store keeps the newest MaxVersions. nil: nothing is kept.
	Keep func(now, next Post, last time.Time) bool
	// Window is the minimum number of posts in the feed.
	Window int
	// Make builds the document of the feed; nil: the feed is not changed.
	Make func(w Writer, newest []Post) (Saving, error)
	// MakeGroup builds the document of the feed of a group from its newest posts, at most
	// [GroupWindow]. It is called for each group that the post was or is for, and for Groups. nil:
	// private feeds are not changed.
	MakeGroup func(w Writer, slug string, newest []Post) (Saving, error)
	Groups    []string // slugs of further groups whose feeds are rebuilt
	// Private means that only the feeds of Groups change, and nothing that is public. Change is nil.
	Private bool
	// Events returns the events to store with the change; nil: none.
	Events func(p Post, w Writer, f Feed, changed bool) []event.Event
}

// ThreadPlace is the place of a post in a thread. Names are paths of posts of this server, and URLs
// or guids of other posts.
type ThreadPlace struct {
	Path    string   // of the post's page
	Parents []string // names of the post that it replies to, the most precise first; none: it is no reply
}

// Written is the result of a Writing.
type Written struct {
	Post   Post
	Found  bool // the post existed already, by its Key or GUID
	Writer Writer
	Feed   Feed // Version is 0 if Make was not called
	// Groups are the private feeds that were rebuilt.
	Groups []Feed
	// Changed means that the feed has a new version.
	Changed bool
}

// File is an uploaded image, sound or other file of an author, identified by its content.
type File struct {
	User    string
	Hash    string // SHA-256 of the bytes, in hex
	Name    string // name of the uploaded file
	Type    string // media type
	Size    int64  // bytes
	Width   int    // width and height of images; 0: unknown
	Height  int
	AddedAt time.Time
	Private bool // only private posts use it
}

// FileStore stores files, with the rules of [Store]. Content is divided into pieces of [PieceSize]
// bytes (the last one may be shorter) and stored once for all users.
type FileStore interface {
	// PutFilePiece stores piece n, from 0, of the upload with the unique name temp.
	PutFilePiece(ctx context.Context, temp string, n int, piece []byte, now time.Time) error
	// KeepFile assigns an upload to a user and names its pieces by Hash. If pieces with this Hash
	// exist, the uploaded ones are deleted. quota limits the sum of Size of the user's files in
	// bytes; 0: no limit. fault.TooMany: the quota is exceeded.
	KeepFile(ctx context.Context, f File, temp string, quota int64) (File, error)
	// BeginObject begins an upload with the unique name temp whose content becomes the object temp in
	// [Objects] instead of pieces.
	BeginObject(ctx context.Context, temp string, now time.Time) error
	// DropFilePieces deletes the pieces of an upload. An object is left to SweepFiles.
	DropFilePieces(ctx context.Context, temp string) error
	// File returns a file of a user; hash may be cut to 16 or more digits. fault.NotFound.
	File(ctx context.Context, user, hash string) (File, error)
	// FilePieceAt returns piece n of a file by its complete hash. fault.NotFound.
	FilePieceAt(ctx context.Context, hash string, n int) ([]byte, error)
	// FileObject returns the name of the object with the content of a file, by its complete hash; "":
	// the content is in pieces. fault.NotFound.
	FileObject(ctx context.Context, hash string) (name string, err error)
	// FilesInPieces returns up to limit files whose content is in pieces, each content once.
	FilesInPieces(ctx context.Context, limit int) ([]File, error)
	// ReplacePieces replaces the pieces of a file, by its complete hash, with the object of the upload
	// temp. If the content is not in pieces any more, it leaves the object to SweepFiles.
	ReplacePieces(ctx context.Context, hash, temp string) error
	// Files lists a user's files, newest first, after the given one (nil: from the beginning).
	Files(ctx context.Context, user string, after *File, limit int) ([]File, error)
	// FileInGroup reports whether a private post for a group uses a file of the user.
	FileInGroup(ctx context.Context, user, slug, hash string) (bool, error)
	// RemoveFile deletes a file of the user. fault.NotFound.
	RemoveFile(ctx context.Context, user, hash string) error
	// SweepFiles deletes content without a user: of deleted files, and of uploads started before the
	// given time. remove deletes the object with a name; nil: objects are left. If it fails, the sweep
	// ends, and the next one tries the object again.
	SweepFiles(ctx context.Context, before time.Time, remove func(ctx context.Context, name string) error) error
}

// Objects stores the content of files outside of the database, each as one object with a unique name
// that is never used twice.
type Objects interface {
	// Put stores size bytes, whose SHA-256 is hash in hex. Each attempt reads them from a reader that
	// open returns.
	Put(ctx context.Context, name, contentType string, size int64, hash string, open func() io.Reader) error
	// Read returns n bytes of an object from offset on.
	Read(ctx context.Context, name string, offset int64, n int) ([]byte, error)
	// Delete deletes an object; it is no error if there is none.
	Delete(ctx context.Context, name string) error
}

// PieceSize is the size of a file's pieces in bytes.
const PieceSize = 256 << 10
