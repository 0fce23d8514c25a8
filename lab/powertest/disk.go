package powertest

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Disk is a file system in memory that records which data survives a power cut. Create it with
// [NewDisk].
type Disk struct {
	mu       sync.Mutex
	root     *node
	last     uint64
	fail     func(Op) Failure
	capacity int64 // maximum total size of all files in bytes; 0 means no limit
	used     int64
	ops      int // number of changes and syncs so far
	stopAt   int // operations with this or a later number fail; 0 means none
	stopped  chan struct{}
	recent   []string // the last operations as text, for messages
}

// Op is an operation that a process requests from the disk.
type Op struct {
	Kind string // one of: write, truncate, sync, create, link, unlink, rename, mkdir
	Path string // last path of the file; "" is the root
	Size int    // bytes of a write; otherwise 0
}

// Failure is the result of an operation. The zero value is success.
type Failure struct {
	Errno  syscall.Errno
	Ignore bool          // only for a sync: the sync reports success without an effect
	Delay  time.Duration // time to wait before the operation
}

// node is a file or a folder.
type node struct {
	id       uint64
	dir      bool
	mode     uint32
	uid, gid uint32
	modified time.Time
	name     string // last path of the node, for messages and for Op
	links    int

	data    []byte             // current content
	durable []byte             // content after the last sync
	pending []change           // changes since the last sync, in order
	names   map[string]*node   // current names in a folder
	synced  map[string]*node   // names in a folder after the last sync
	moves   []map[string]*node // name changes in a folder since the last sync; each is atomic, and nil removes a name
}

// change is a write at an offset. If data is nil, the change sets the file size to at.
type change struct {
	at   int64
	data []byte
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	d := &Disk{last: 1, stopped: make(chan struct{})}
	d.root = &node{id: 1, dir: true, mode: 0o755, modified: time.Now(), names: map[string]*node{}, synced: map[string]*node{}}
	return d
}

// Fail sets the function that decides the result of every operation. With nil, all operations
// succeed.
func (d *Disk) Fail(f func(Op) Failure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = f
}

// LimitSpace limits the total size of all files to the current size plus more bytes. If more is
// 0, there is no limit.
func (d *Disk) LimitSpace(more int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.capacity = 0; more > 0 {
		d.capacity = d.used + more
	}
}

// StopAfter lets n more operations succeed. At the next operation the power fails: the returned
// channel is closed, and this and all later operations return EIO.
func (d *Disk) StopAfter(n int) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopAt, d.stopped = d.ops+n, make(chan struct{})
	return d.stopped
}

// Ops returns the number of changes and syncs.
func (d *Disk) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// Recent returns the last operations as text, at most 40.
func (d *Disk) Recent() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.recent)
}

var errStopped = syscall.EIO

// begin counts an operation and returns its failure. If it returns no error, it holds the lock,
// and the caller must unlock it. An error of a sync is only in the Failure.
func (d *Disk) begin(kind string, n *node, name string, size int) (Failure, syscall.Errno) {
	d.mu.Lock()
	op, ask := Op{kind, path.Join(n.name, name), size}, d.fail
	d.mu.Unlock()
	var f Failure
	if ask != nil {
		f = ask(op)
	}
	if f.Delay > 0 {
		time.Sleep(f.Delay) // the program is a real process, so this is real time
	}
	d.mu.Lock()
	if d.stopAt > 0 && d.ops >= d.stopAt {
		select {
		case <-d.stopped:
		default:
			close(d.stopped)
		}
		d.mu.Unlock()
		return f, errStopped
	}
	d.ops++
	if d.recent = append(d.recent, op.Kind+" "+op.Path); len(d.recent) > 40 {
		d.recent = slices.Delete(d.recent, 0, 1)
	}
	if f.Errno != 0 && op.Kind != "sync" {
		d.mu.Unlock()
		return f, f.Errno
	}
	return f, 0
}

// write writes data to a file at an offset. The change is durable after the next sync.
func (d *Disk) write(n *node, data []byte, at int64) syscall.Errno {
	if _, errno := d.begin("write", n, "", len(data)); errno != 0 {
		return errno
	}
	defer d.mu.Unlock()
	if errno := d.grow(n, max(int64(len(n.data)), at+int64(len(data)))); errno != 0 {
		return errno
	}
	copy(n.data[at:], data)
	n.pending = append(n.pending, change{at, slices.Clone(data)})
	n.modified = time.Now()
	return 0
}

func (d *Disk) truncate(n *node, size int64) syscall.Errno {
	if _, errno := d.begin("truncate", n, "", 0); errno != 0 {
		return errno
	}
	defer d.mu.Unlock()
	if errno := d.grow(n, size); errno != 0 {
		return errno
	}
	n.pending = append(n.pending, change{at: size})
	n.modified = time.Now()
	return 0
}

// grow changes the size of a file's current content. It returns ENOSPC if the capacity is not
// enough.
func (d *Disk) grow(n *node, size int64) syscall.Errno {
	more := size - int64(len(n.data))
	if more > 0 && d.capacity > 0 && d.used+more > d.capacity {
		return syscall.ENOSPC
	}
	d.used += more
	n.data = sized(n.data, size)
	return 0
}

func sized(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

// apply returns the content b with the change applied.
func (c change) apply(b []byte) []byte {
	if c.data == nil {
		return sized(b, c.at)
	}
	if end := c.at + int64(len(c.data)); end > int64(len(b)) {
		b = sized(b, end)
	}
	copy(b[c.at:], c.data)
	return b
}

// sync makes the content of a file, or the names in a folder, durable. As on Linux, a failed sync
// discards the pending changes, so the next sync does not write them.
func (d *Disk) sync(n *node) syscall.Errno {
	f, errno := d.begin("sync", n, "", 0)
	if errno != 0 {
		return errno
	}
	defer d.mu.Unlock()
	if f.Ignore {
		return 0
	}
	if f.Errno == 0 {
		n.settle(func(int) bool { return true })
	}
	n.pending, n.moves = nil, nil
	return f.Errno
}

// settle applies the pending changes for which keep returns true to the durable state.
func (n *node) settle(keep func(i int) bool) {
	for i, c := range n.pending {
		if keep(i) {
			n.durable = c.apply(n.durable)
		}
	}
	for i, m := range n.moves {
		if keep(i) {
			maps.Copy(n.synced, m)
		}
	}
	maps.DeleteFunc(n.synced, func(_ string, of *node) bool { return of == nil })
}

// make creates a file or a folder. It returns an error if the name exists.
func (d *Disk) make(parent *node, name string, dir bool, mode uint32) (*node, syscall.Errno) {
	kind := "create"
	if dir {
		kind = "mkdir"
	}
	if _, errno := d.begin(kind, parent, name, 0); errno != 0 {
		return nil, errno
	}
	defer d.mu.Unlock()
	if parent.names[name] != nil {
		return nil, syscall.EEXIST
	}
	d.last++
	n := &node{id: d.last, dir: dir, mode: mode & 0o7777, modified: time.Now()}
	if dir {
		n.names, n.synced = map[string]*node{}, map[string]*node{}
	}
	d.place(parent, map[string]*node{name: n})
	return n, 0
}

// place changes names in a folder in one atomic step. A nil node removes the name.
func (d *Disk) place(parent *node, m map[string]*node) {
	for name, n := range m {
		if old := parent.names[name]; old != nil {
			old.links--
		}
		if n == nil {
			delete(parent.names, name)
			continue
		}
		n.links++
		n.name = path.Join(parent.name, name)
		parent.names[name] = n
	}
	parent.moves = append(parent.moves, m)
	parent.modified = time.Now()
}

func (d *Disk) remove(parent *node, name string) syscall.Errno {
	if _, errno := d.begin("unlink", parent, name, 0); errno != 0 {
		return errno
	}
	defer d.mu.Unlock()
	n := parent.names[name]
	switch {
	case n == nil:
		return syscall.ENOENT
	case n.dir && len(n.names) > 0:
		return syscall.ENOTEMPTY
	}
	d.place(parent, map[string]*node{name: nil})
	if n.links == 0 {
		d.used -= int64(len(n.data))
	}
	return 0
}

func (d *Disk) link(n, parent *node, name string) syscall.Errno {
	if _, errno := d.begin("link", parent, name, 0); errno != 0 {
		return errno
	}
	defer d.mu.Unlock()
	if parent.names[name] != nil {
		return syscall.EEXIST
	}
	d.place(parent, map[string]*node{name: n})
	return 0
}

// rename moves a name within a folder or to another folder. With two folders, each needs its own
// sync to be durable.
func (d *Disk) rename(from *node, old string, to *node, name string) syscall.Errno {
	if _, errno := d.begin("rename", to, name, 0); errno != 0 {
		return errno
	}
	defer d.mu.Unlock()
	n := from.names[old]
	if n == nil {
		return syscall.ENOENT
	}
	if from == to {
		d.place(to, map[string]*node{old: nil, name: n})
		n.name = path.Join(to.name, name)
		return 0
	}
	d.place(from, map[string]*node{old: nil})
	d.place(to, map[string]*node{name: n})
	return 0
}

// ReadFile returns the current content of a file, as a process on the disk would read it.
func (d *Disk) ReadFile(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.root
	for part := range strings.SplitSeq(name, "/") {
		if n = n.names[part]; n == nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
	}
	if n.dir {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a folder")}
	}
	return slices.Clone(n.data), nil
}

// Files returns the paths of all files, sorted.
func (d *Disk) Files() (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var walk func(dir *node, prefix string)
	walk = func(dir *node, prefix string) {
		for name, n := range dir.names {
			if n.dir {
				walk(n, prefix+name+"/")
			} else {
				all = append(all, prefix+name)
			}
		}
	}
	walk(d.root, "")
	slices.Sort(all)
	return all
}

// Cut returns the disk after a power cut. It contains all synced data, and a random part of the
// changes without a sync.
func (d *Disk) Cut(rng *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := NewDisk()
	next.last = d.last
	seen := map[*node]*node{}
	next.root = survivor(d.root, rng, seen)
	for _, n := range seen {
		next.used += int64(len(n.data))
	}
	return next
}

// survivor returns the copy of a node after the power cut. seen contains the nodes that are
// already copied.
func survivor(n *node, rng *rand.Rand, seen map[*node]*node) *node {
	if left := seen[n]; left != nil {
		left.links++
		return left
	}
	left := &node{id: n.id, dir: n.dir, mode: n.mode, uid: n.uid, gid: n.gid, modified: n.modified, name: n.name, links: 1}
	seen[n] = left
	if !n.dir {
		left.durable = survivingData(n, rng)
		left.data = slices.Clone(left.durable)
		return left
	}
	was := &node{synced: maps.Clone(n.synced), moves: n.moves}
	was.settle(survivingChanges(rng, len(n.moves)))
	left.names, left.synced = map[string]*node{}, map[string]*node{}
	for _, name := range slices.Sorted(maps.Keys(was.synced)) {
		child := survivor(was.synced[name], rng, seen)
		left.names[name], left.synced[name] = child, child
	}
	return left
}

// survivingChanges chooses which of n changes without a sync survive: none, all, the first ones,
// or a random subset.
func survivingChanges(rng *rand.Rand, n int) func(int) bool {
	how, end := rng.IntN(4), rng.IntN(n+1)
	return func(i int) bool {
		switch how {
		case 0:
			return false
		case 1:
			return true
		case 2:
			return i < end
		}
		return rng.IntN(2) == 0
	}
}

// survivingData returns the content of a file after a power cut. A write can also be torn, which
// means that only some of its sectors survive.
func survivingData(n *node, rng *rand.Rand) []byte {
	b := slices.Clone(n.durable)
	keep := survivingChanges(rng, len(n.pending))
	sector := int64(512)
	if rng.IntN(2) == 0 {
		sector = 4096
	}
	for i, c := range n.pending {
		switch {
		case c.data != nil && rng.IntN(4) == 0:
			b = c.torn(b, sector, rng)
		case keep(i):
			b = c.apply(b)
		}
	}
	return b
}

// torn applies a random subset of the sectors of a write to b. sector is the size of a sector in
// bytes.
func (c change) torn(b []byte, sector int64, rng *rand.Rand) []byte {
	end := c.at + int64(len(c.data))
	for at := c.at; at < end; {
		next := min((at/sector+1)*sector, end)
		if rng.IntN(2) == 0 {
			b = change{at, c.data[at-c.at : next-c.at]}.apply(b)
		}
		at = next
	}
	return b
}
