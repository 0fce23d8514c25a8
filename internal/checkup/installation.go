// Package checkup finds problems of an installation and states how to fix them. It checks the
// settings, the data folder, the database, the clock and overdue work.
//
// The package reads nothing itself. The caller collects the facts in an [Installation], and [Check]
// turns them into findings. Tests can therefore check each finding with made-up facts.
package checkup

import (
	"io/fs"
	"time"
)

// Installation contains the known facts about an installation. A zero field means unknown, unless
// the field's comment states another meaning.
type Installation struct {
	Now     time.Time
	Running bool // a server is running; if not, no work counts as late

	PublicURL   string // the setting public-url; "": not set
	Reach       Reach
	AdminListen string   // address of the operator's listener
	AdminOpen   bool     // the operator's listener is not on a loopback address
	Settings    []string // warnings about settings

	SecretKey  string      // the setting accounts.secret-key
	KeyFile    string      // path of the key file, which is used if SecretKey is ""
	KeyMode    fs.FileMode // permissions of KeyFile; 0: the file does not exist
	KeyTrouble string      // why the key does not match the stored secrets; "": it matches

	Bucket    string // the setting media.bucket; "": not set
	BucketErr string // why the bucket is not usable; "": it is usable

	Folder    Folder
	Database  Database
	OpenFiles int           // limit of open files of this process
	ClockOff  time.Duration // total adjustment of the system clock while the program ran
	Backup    time.Time     // time of the last known backup; zero: none
	Copy      Copy          // result of verifying the file of that backup
}

// Copy is the result of verifying a backup file.
type Copy struct {
	File    string // path of the file; "": unknown
	SHA256  string // SHA-256 of the content if it equals the hash in the file; otherwise ""
	Damaged bool   // the content has changed since the backup was written
	Err     string // why verification failed, or what is damaged; "": the file contains no SHA-256
}

// Reach is the result of a request to the public URL.
type Reach struct {
	Tried   bool
	Err     string    // why the request failed; "": it succeeded
	Self    bool      // this process answered the request
	Expires time.Time // expiry of the certificate; zero: none
	Took    time.Duration
}

// Folder is the data folder.
type Folder struct {
	Path string      // "": not examined
	Err  string      // why the folder is not writable; "": it is writable
	Mode fs.FileMode // permissions
	Free uint64      // number of bytes available to this user
	Size uint64      // size of the file system in bytes; 0: unknown
	// Min is the number of free bytes below which the server is not ready; 0: no limit.
	Min  uint64
	Kind string        // kind of an unsafe file system, such as nfs; "": safe or unknown
	Sync time.Duration // duration of a small synced write; 0: unknown
}

// Database is the state of the database.
type Database struct {
	Engine string // SQLite or PostgreSQL
	Err    string // why the database is unusable; "": it is usable
	Schema int64  // version of the schema
	Newest int64  // newest schema version that this program supports
	Took   time.Duration
	Clock  time.Duration     // how far the database's clock is ahead of this machine; 0 for SQLite
	Knobs  map[string]string // PostgreSQL settings that affect durability

	Late      []Late
	SweepDue  time.Time // when the hourly task is due; zero: it never ran
	LastEvent time.Time // newest event; zero: the log is empty
	Hour      []Kind    // events of the last hour, by kind
}

// Late is a kind of work that has been due for longer than [LateAfter].
type Late struct {
	What   string // description for people, such as "feeds to read"
	N      int64
	Oldest time.Time
}

// Kind counts the events and the failures of a kind.
type Kind struct {
	Name      string
	N, Failed int64
}

// LateAfter is the time after which due work counts as late. It is much longer than a lease, so that
// work of a stopped node is not reported.
const LateAfter = 10 * time.Minute
