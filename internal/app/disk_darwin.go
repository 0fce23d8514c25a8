package app

import "syscall"

// diskOf returns the bytes that this user can still write, and the size of the file system in
// bytes. kind names the kind of file system if a database is not safe on it; "" otherwise.
func diskOf(dir string) (free, size uint64, kind string) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, 0, ""
	}
	var name []byte
	for _, c := range s.Fstypename {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	unit := uint64(s.Bsize)
	switch string(name) {
	case "nfs", "smbfs", "afpfs", "webdav":
		kind = string(name)
	}
	return s.Bavail * unit, s.Blocks * unit, kind
}
