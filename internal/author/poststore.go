package author

import (
	"context"
	"io"
	"time"

	"cloudburst/internal/event"
)

// PostStore is the database interface of posts. The rules of [Store] apply.
type PostStore interface {
	PostReadStore
	WriterStore

	// WritePost creates or changes a post of a user, together with all feeds and counts that depend
	// on the post, in one transaction; see [Writing].
	WritePost(ctx context.Context, w Writing) (Written, error)
	// AddPosts adds up to 1,000 imported posts in any state. It assigns ID, Revision and Seq,
	// replaces a Slug that another post has, and leaves the other fields unchanged. It skips posts
	// whose GUID exists in any state. It updates the counts but not the feed: a Writing with
	// Renumber must follow. It returns the number of added posts.
	AddPosts(ctx context.Context, user string, now time.Time, posts []Post) (added int, err error)
	// SweepPosts deletes undo states whose UndoUntil is before now, and posts that were deleted
	// before forget.
	SweepPosts(ctx context.Context, now, forget time.Time) error
}

// PostReadStore reads posts.
type PostReadStore interface {
	// Post returns a post in any state. fault.NotFound: the post does not exist.
	Post(ctx context.Context, user string, id int64) (Post, error)
	// PostBySlug returns a published or deleted post by its slug. fault.NotFound: the post does not
	// exist.
	PostBySlug(ctx context.Context, user, slug string) (Post, error)
	// PostByKey returns a post by its Key, or by its GUID if guid is set. fault.NotFound: the post
	// does not exist.
	PostByKey(ctx context.Context, user, key, guid string) (Post, error)
	// KnownGUIDs returns those of the GUIDs that posts of the user have, in any state.
	KnownGUIDs(ctx context.Context, user string, guids []string) (map[string]bool, error)
	// Posts lists posts; see [PostQuery].
	Posts(ctx context.Context, q PostQuery) ([]Post, error)
	// PostCounts returns the numbers of published posts by month (newest first) or by category (by
	// name). user "" counts the posts of all users who are not disabled. prefix selects folded
	// category names. limit is at most 10,000; 0 means 1,000.
	PostCounts(ctx context.Context, user string, what CountOf, prefix string, limit int) ([]Count, error)
	// DuePosts lists up to limit scheduled posts that are due, oldest first.
	DuePosts(ctx context.Context, now time.Time, limit int) ([]Post, error)
	// NextDuePost returns the DueAt of the next scheduled post; zero: no post is scheduled.
	NextDuePost(ctx context.Context) (time.Time, error)
	// PostsChanged returns the stamp, in microseconds, of the newest change of the published posts
	// of a user ("": all users) in a category ("": all categories). The stamp increases with every
	// public change. The stamp of all users is slightly ahead of the stamps of single users. 0: the
	// posts have never changed.
	PostsChanged(ctx context.Context, user, category string) (int64, error)
}

// WriterStore stores the profiles of users.
type WriterStore interface {
	// Writer returns the profile of a user. For a user without posts, it returns a Writer with
	// Version 0 and no error.
	Writer(ctx context.Context, user string) (Writer, error)
	// SetProfile calls change with the Profile of a user, stores the result and increases Version.
	// The caller rebuilds the feed with a Writing. change may be called several times; SetProfile
	// returns its error.
	SetProfile(ctx context.Context, user string, change func(*Profile) error) (Writer, error)
}

// CountOf selects whether posts are counted by month or by category.
type CountOf string

// Values of CountOf.
const (
	ByMonth    CountOf = "month"
	ByCategory CountOf = "category"
)

// PostQuery selects posts. With FromSeq or ToSeq, the posts are sorted by Seq, ascending.
// Otherwise, published posts are sorted by PublishedAt, and other posts by UpdatedAt, both newest
// first. Posts with equal times are sorted by (User, ID), descending.
type PostQuery struct {
	User     string // "": all users who are not disabled
	State    State  // "": all states except Deleted
	Category string // folded name, see [CategoryName]; selects published posts only
	// Since (inclusive) and Before (exclusive) limit PublishedAt; zero: no limit.
	Since, Before time.Time
	// After is the last post of the previous batch; nil: from the beginning. Only its User, ID,
	// PublishedAt and UpdatedAt are used.
	After *Post
	// FromSeq and ToSeq limit Seq (both inclusive); 0: no limit. They are valid only for the
	// published posts of one user.
	FromSeq, ToSeq int64
	Match          string // words or parts of words that the title or the source contains; "": all posts
	Skip           int    // number of posts to skip; prefer After, which is faster
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
	At   time.Time // time of the change
	// Renumber assigns new Seqs to all published posts of the user, sorted by PublishedAt and ID,
	// before Make is called. It is set after an import.
	Renumber bool

	// Mention makes the links of a post that is or was Published due for webmentions, as a part of
	// the transaction.
	Mention bool

	// Change gets the current post, and the post before a change that can be undone (nil: no such
	// change). It returns the new post and its undo state. Its error aborts the transaction and is
	// returned.
	Change func(now Post, found bool, was *Post, w Writer, free func(slug string) (string, error)) (next, undo *Post, err error)
	// Thread returns the position of the post in a thread; nil: the position does not change.
	Thread func(p Post) ThreadPlace
	// Keep reports whether the store keeps the content of now as an earlier version when next
	// replaces it. last is the time of the newest earlier version of the post; zero: no earlier
	// version. The store keeps the newest MaxVersions versions. nil: no version is kept.
	Keep func(now, next Post, last time.Time) bool
	// Window is the minimum number of posts in the feed.
	Window int
	// Make builds the document of the feed; nil: the feed does not change.
	Make func(w Writer, newest []Post) (Saving, error)
	// MakeGroup builds the feed document of a group from its newest posts, at most [GroupWindow]. It
	// is called for each group that the post was or is for, and for each group in Groups. nil:
	// private feeds do not change.
	MakeGroup func(w Writer, slug string, newest []Post) (Saving, error)
	Groups    []string // slugs of further groups whose feeds are rebuilt
	// Private means that only the feeds of Groups change and nothing public changes. Change must be
	// nil.
	Private bool
	// Events returns the events to store with the change; nil: no events.
	Events func(p Post, w Writer, f Feed, changed bool) []event.Event
}

// ThreadPlace is the position of a post in a thread. The names of posts on this server are their
// paths. The names of other posts are their URLs or guids.
type ThreadPlace struct {
	Path    string   // path of the post's page
	Parents []string // names of the post that this post replies to, the most precise name first; empty: this post is not a reply
}

// Written is the result of a Writing.
type Written struct {
	Post   Post
	Found  bool // a post with this Key or GUID already existed
	Writer Writer
	Feed   Feed // Version is 0 if Make was not called
	// Groups are the private feeds that were rebuilt.
	Groups []Feed
	// Changed means that the public feed has a new version.
	Changed bool
}

// File is an uploaded image, sound or other file of an author, identified by its content.
type File struct {
	User    string
	Hash    string // SHA-256 of the bytes, in hex
	Name    string // file name that the uploading program sent
	Type    string // media type of the content
	Size    int64  // size of the content in bytes
	Width   int    // width and height of an image in pixels; 0: unknown
	Height  int
	AddedAt time.Time
	Private bool // only private posts use the file
}

// FileStore stores files. The rules of [Store] apply. Content is divided into pieces of [PieceSize]
// bytes; the last piece may be shorter. Content that several users upload is stored once.
type FileStore interface {
	// PutFilePiece stores piece n, from 0, of the upload with the unique name temp.
	PutFilePiece(ctx context.Context, temp string, n int, piece []byte, now time.Time) error
	// KeepFile assigns an upload to a user and names its pieces by Hash. If pieces with this Hash
	// exist, KeepFile deletes the uploaded pieces. quota limits the sum of Size of the user's files
	// in bytes; 0: no limit. fault.TooMany: the quota is exceeded.
	KeepFile(ctx context.Context, f File, temp string, quota int64) (File, error)
	// BeginObject begins an upload with the unique name temp. Its content becomes the object temp in
	// [Objects], not pieces.
	BeginObject(ctx context.Context, temp string, now time.Time) error
	// DropFilePieces deletes the pieces of an upload. If the upload has an object, SweepFiles
	// deletes the object later.
	DropFilePieces(ctx context.Context, temp string) error
	// File returns a file of a user. hash is the Hash or its first digits, at least 16.
	// fault.NotFound: the user has no such file.
	File(ctx context.Context, user, hash string) (File, error)
	// FilePieceAt returns piece n of the file with this complete hash. fault.NotFound: the piece
	// does not exist.
	FilePieceAt(ctx context.Context, hash string, n int) ([]byte, error)
	// FileObject returns the name of the object with the content of the file with this complete
	// hash; "": the content is in pieces. fault.NotFound: the file does not exist.
	FileObject(ctx context.Context, hash string) (name string, err error)
	// FilesInPieces returns up to limit files whose content is in pieces. Of several files with the
	// same content, it returns one.
	FilesInPieces(ctx context.Context, limit int) ([]File, error)
	// ReplacePieces replaces the pieces of the file with this complete hash with the object of the
	// upload temp. If the content is no longer in pieces, SweepFiles deletes the object later.
	ReplacePieces(ctx context.Context, hash, temp string) error
	// Files lists up to limit files of a user, newest first. It begins with the file that follows
	// after; nil: from the beginning.
	Files(ctx context.Context, user string, after *File, limit int) ([]File, error)
	// FileInGroup reports whether a private post for a group uses a file of the user.
	FileInGroup(ctx context.Context, user, slug, hash string) (bool, error)
	// RemoveFile deletes a file of the user. fault.NotFound: the user has no such file.
	RemoveFile(ctx context.Context, user, hash string) error
	// SweepFiles deletes content that no file uses: the content of deleted files, and of uploads
	// that started before the given time. remove deletes the object with this name; nil: objects are
	// not deleted. If remove fails, the sweep ends, and the next sweep tries the object again.
	SweepFiles(ctx context.Context, before time.Time, remove func(ctx context.Context, name string) error) error
}

// Objects stores the content of files outside of the database. Each content is one object with a
// unique name that is never used again.
type Objects interface {
	// Put stores an object of size bytes. hash is the SHA-256 of the bytes in hex. Each attempt to
	// store the object reads the bytes from a new reader that open returns.
	Put(ctx context.Context, name, contentType string, size int64, hash string, open func() io.Reader) error
	// Read returns n bytes of an object, starting at offset.
	Read(ctx context.Context, name string, offset int64, n int) ([]byte, error)
	// Delete deletes an object. It returns nil if the object does not exist.
	Delete(ctx context.Context, name string) error
}

// PieceSize is the size of a file's pieces in bytes.
const PieceSize = 256 << 10
