// Package checkup says what is wrong with an installation of this program, and what to
// do about it: its settings, the folder and the database that it keeps everything in,
// the clock, work that is late.
//
// It looks at nothing itself. Whoever can gathers a [World] of facts, and [Look] turns
// them into findings, so that each of them can be tested with a world that is made up.
package checkup

import (
	"io/fs"
	"time"
)

// World is what is known of an installation. A zero field means that it is not known,
// unless it says something else.
type Installation struct {
	Now     time.Time
	Running bool // a server serves; else nothing is expected to be on time

	PublicURL   string // the setting; "" is not set
	Reach       Reach
	AdminListen string   // address of the operator's listener
	AdminOpen   bool     // which is not on loopback
	Settings    []string // sentences about settings that may not be what was meant

	SecretKey  string      // the setting
	KeyFile    string      // path of the key, where there is no such setting
	KeyMode    fs.FileMode // of that file; 0: there is none
	KeyTrouble string      // the key does not fit the secrets that are kept

	Folder    Folder
	Database  Database
	OpenFiles int           // the limit of this process
	ClockOff  time.Duration // by which the clock was set while the program ran
	Backup    time.Time     // of the last one that is known; zero: none is
	Copy      Copy          // the file of that backup
}

// Copy is the file of a backup.
type Copy struct {
	File    string // "": not known
	SHA256  string // of its content, when it is the one that the file carries
	Damaged bool   // its content is not the one that was written
	Err     string // why it could not be verified, or how it is damaged; "": it carries no SHA-256
}

// Reach is what came of asking the public listener by its public name.
type Reach struct {
	Tried   bool
	Err     string    // "": it answered
	Self    bool      // this very process was asked in the end
	Expires time.Time // of the certificate; zero: there is none
	Took    time.Duration
}

// Folder is the data folder.
type Folder struct {
	Path string
	Err  string      // why it cannot be written to; "": it can
	Mode fs.FileMode // its permissions
	Free uint64      // bytes for this user
	Size uint64      // bytes of the file system; 0: not known
	// Least is how many bytes have to be free for the server to be ready; 0: none.
	Min  uint64
	Kind string        // of the file system, such as nfs; "": nothing to mind
	Sync time.Duration // how long a small write takes to be on disk; 0: not known
}

// Database is what the database says of itself.
type Database struct {
	Engine string // SQLite or PostgreSQL
	Err    string // why it cannot be used; "": it can
	Schema int64  // its version
	Newest int64  // the one that the program works with
	Took   time.Duration
	Clock  time.Duration     // how far its clock is ahead of ours; 0 also where it has none
	Knobs  map[string]string // settings of PostgreSQL that matter

	Late      []Late
	SweepDue  time.Time // when the hourly task is due; zero: it never ran
	LastEvent time.Time // the newest; zero: the log is empty
	Hour      []Kind    // events of the last hour
}

// Late is a kind of work that is due since longer ago than [Patience].
type Late struct {
	What   string // for people, such as "feeds to read"
	N      int64
	Oldest time.Time
}

// Kind is how many events of a kind there were, and how many of those were failures.
type Kind struct {
	Name      string
	N, Failed int64
}

// Patience is how long work may be due before it counts as late: much more than a lease,
// so that what another machine left behind is none.
const Patience = 10 * time.Minute
