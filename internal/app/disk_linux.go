package app

import "syscall"

// diskOf returns the bytes that this user can still write, and the size of the file system in
// bytes. kind names the kind of file system if a database is not safe on it; "" otherwise.
func diskOf(dir string) (free, size uint64, kind string) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, 0, ""
	}
	kinds := map[uint32]string{0x6969: "nfs", 0x517b: "smb", 0xff534d42: "cifs", 0xfe534d42: "smb2", 0x01021997: "9p", 0x65735546: "fuse", 0x5346414f: "afs", 0x00c36400: "ceph"}
	unit := uint64(s.Bsize)
	return s.Bavail * unit, s.Blocks * unit, kinds[uint32(s.Type)]
}
