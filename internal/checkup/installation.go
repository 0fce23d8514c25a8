// Package checkup finds problems of an installation and states how to fix them. It covers the
// settings, the data folder, the database, the clock and late work.
//
// It reads nothing itself. The caller collects the facts in an [Installation], and [Check] turns
// them into findings. Tests can thus check each finding with made-up facts.
package checkup

import (
	"io/fs"
	"time"
)

// Installation contains the known facts about an installation. A zero field means unknown
// unless its comment states otherwise.
type Installation struct {
	Now     time.Time
	Running bool // a server is running; otherwise no work is late

	PublicURL   string // the setting; "": not set
	Reach       Reach
	AdminListen string   // address of the operator's listener
	AdminOpen   bool     // the operator's listener is not on a loopback address
	Settings    []string // warnings about settings

	SecretKey  string      // the setting
	KeyFile    string      // path of the key file, used without that setting
	KeyMode    fs.FileMode // mode of that file; 0: it does not exist
	KeyTrouble string      // why the key does not match the stored secrets; "": it matches

	Folder    Folder
	Database  Database
	OpenFiles int           // limit of open files of this process
	ClockOff  time.Duration // how far the clock was set while the program ran
	Backup    time.Time     // time of the last known backup; zero: none
	Copy      Copy          // its file
}

// Copy is the file of a backup.
type Copy struct {
	File    string // "": unknown
	SHA256  string // of its content if it matches the one in the file
	Damaged bool   // its content has changed since it was written
	Err     string // why verification failed, or the damage; "": the file has no SHA-256
}

// Reach is the result of a request to the public URL.
type Reach struct {
	Tried   bool
	Err     string    // "": answered
	Self    bool      // this process answered
	Expires time.Time // expiry of the certificate; zero: none
	Took    time.Duration
}

// Folder is the data folder.
type Folder struct {
	Path string
	Err  string      // why it is not writable; "": it is
	Mode fs.FileMode // permissions
	Free uint64      // bytes available to this user
	Size uint64      // size of the file system in bytes; 0: unknown
	// Min is the number of free bytes below which the server is not ready; 0: no limit.
	Min  uint64
	Kind string        // kind of an unsafe file system, such as nfs; "": safe or unknown
	Sync time.Duration // duration of a small synced write; 0: unknown
}

// Database is the state of the database.
type Database struct {
	Engine string // SQLite or PostgreSQL
	Err    string // why it is unusable; "": it is usable
	Schema int64  // version of the schema
	Newest int64  // version that the program supports
	Took   time.Duration
	Clock  time.Duration     // how far its clock is ahead of ours; 0 also for SQLite
	Knobs  map[string]string // PostgreSQL settings that affect durability

	Late      []Late
	SweepDue  time.Time // when the hourly task is due; zero: it never ran
	LastEvent time.Time // newest event; zero: the log is empty
	Hour      []Kind    // events of the last hour
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

// LateAfter is the time for which work may be due before it counts as late. It is much longer than a lease,
// so that work of a stopped node is not reported.
const LateAfter = 10 * time.Minute
