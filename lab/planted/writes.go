package main

import (
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"cloudburst/internal/store/sqlite"
)

// written records the system calls that SQLite makes for the database and its journal, in order.
// It writes them to the file that CLOUDBURSTWRITES names. The record shows which data a power cut
// can leave.
//
// A line contains an operation, the length of the file name, the file name, an offset in the
// file, the length of the data, and the data. The operations are: o opened, w written, t
// truncated, s synced, d deleted, D deleted with a sync of the folder. The first line about a
// file contains its content.
type written struct {
	mu      sync.Mutex
	to      *os.File
	names   map[uintptr]string // names of open files
	known   map[string]bool    // key: path of a file that this process has opened before
	methods map[uintptr]*sqlite3.Tsqlite3_io_methods

	open   func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	remove func(tls *libc.TLS, vfs, name uintptr, folder int32) int32

	kept []any // values that only SQLite points to, so the garbage collector cannot see them
}

// noteTo replaces some of SQLite's system calls in this process. The caller must call it before
// it opens a database, and must keep the result reachable.
func noteTo(name string) *written {
	to, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	first, err := sql.Open("sqlite", ":memory:") // this initializes SQLite, which must precede the changes below
	if err == nil {
		err = first.Ping()
	}
	if err != nil {
		panic(err)
	}
	tls := libc.NewTLS()
	vfs := at[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(tls, 0))
	w := &written{to: to, names: map[uintptr]string{}, known: map[string]bool{}, methods: map[uintptr]*sqlite3.Tsqlite3_io_methods{}}
	w.open = *(*func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32)(unsafe.Pointer(&struct{ uintptr }{vfs.FxOpen}))
	w.remove = *(*func(*libc.TLS, uintptr, uintptr, int32) int32)(unsafe.Pointer(&struct{ uintptr }{vfs.FxDelete}))
	opens, removes := w.opens, w.removes
	*(*func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32)(unsafe.Pointer(&vfs.FxOpen)) = opens
	*(*func(*libc.TLS, uintptr, uintptr, int32) int32)(unsafe.Pointer(&vfs.FxDelete)) = removes
	w.kept = append(w.kept, opens, removes)
	return w
}

// at returns a pointer to the value at an address in SQLite's memory.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// ours reports whether a file is recorded, that is, whether it is the database or its journal.
func ours(name string) bool {
	base := filepath.Base(name)
	return base == sqlite.File || strings.HasPrefix(base, sqlite.File+"-")
}

// note writes one line of the record. The caller holds the lock.
func (w *written) note(what byte, name string, at int64, data []byte) int32 {
	line := append([]byte{what}, binary.BigEndian.AppendUint16(nil, uint16(len(name)))...)
	line = append(line, name...)
	line = binary.BigEndian.AppendUint64(line, uint64(at))
	line = binary.BigEndian.AppendUint32(line, uint32(len(data)))
	if _, err := w.to.Write(append(line, data...)); err != nil {
		return sqlite3.SQLITE_IOERR
	}
	return sqlite3.SQLITE_OK
}

func (w *written) opens(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if name == 0 || !ours(libc.GoString(name)) {
		return w.open(tls, vfs, name, file, flags, out)
	}
	var before []byte // content that an earlier process left
	if path := libc.GoString(name); !w.known[path] {
		before, _ = os.ReadFile(path) // an error means that the file does not exist
		w.known[path] = true
	}
	if rc := w.open(tls, vfs, name, file, flags, out); rc != sqlite3.SQLITE_OK {
		return rc
	}
	of := at[sqlite3.Tsqlite3_file](file)
	w.names[file] = libc.GoString(name)
	if w.methods[of.FpMethods] == nil {
		w.methods[of.FpMethods] = w.noting(at[sqlite3.Tsqlite3_io_methods](of.FpMethods))
	}
	of.FpMethods = uintptr(unsafe.Pointer(w.methods[of.FpMethods]))
	return w.note('o', w.names[file], 0, before)
}

func (w *written) removes(tls *libc.TLS, vfs, name uintptr, folder int32) int32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	rc := w.remove(tls, vfs, name, folder)
	what := byte('d')
	if folder != 0 {
		what = 'D'
	}
	if rc == sqlite3.SQLITE_OK && ours(libc.GoString(name)) {
		rc = w.note(what, libc.GoString(name), 0, nil)
	}
	return rc
}

// noting returns the methods of a file. The methods that change the file also record the change.
func (w *written) noting(of *sqlite3.Tsqlite3_io_methods) *sqlite3.Tsqlite3_io_methods {
	m := *of
	write := *(*func(*libc.TLS, uintptr, uintptr, int32, int64) int32)(unsafe.Pointer(&of.FxWrite))
	truncate := *(*func(*libc.TLS, uintptr, int64) int32)(unsafe.Pointer(&of.FxTruncate))
	sync := *(*func(*libc.TLS, uintptr, int32) int32)(unsafe.Pointer(&of.FxSync))
	writes := func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
		return w.do('w', file, at, libc.GoBytes(data, int(n)), func() int32 { return write(tls, file, data, n, at) })
	}
	truncates := func(tls *libc.TLS, file uintptr, size int64) int32 {
		return w.do('t', file, size, nil, func() int32 { return truncate(tls, file, size) })
	}
	syncs := func(tls *libc.TLS, file uintptr, flags int32) int32 {
		return w.do('s', file, 0, nil, func() int32 { return sync(tls, file, flags) })
	}
	*(*func(*libc.TLS, uintptr, uintptr, int32, int64) int32)(unsafe.Pointer(&m.FxWrite)) = writes
	*(*func(*libc.TLS, uintptr, int64) int32)(unsafe.Pointer(&m.FxTruncate)) = truncates
	*(*func(*libc.TLS, uintptr, int32) int32)(unsafe.Pointer(&m.FxSync)) = syncs
	w.kept = append(w.kept, writes, truncates, syncs)
	return &m
}

// do changes a file and records the change. The lock ensures that the order in the record is the
// order of the changes.
func (w *written) do(what byte, file uintptr, at int64, data []byte, f func() int32) int32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if rc := f(); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return w.note(what, w.names[file], at, data)
}
