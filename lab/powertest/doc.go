// Package powertest cuts the power under the real program, and breaks its disk.
//
// The program's data folder lies on a [Disk], a file system in memory that knows what
// was synced. What was written to a file is durable when that file was synced, and a
// name when its folder was. At a power cut the process is killed, and of all that was
// not synced some is kept, some is lost and some is torn at the borders of sectors, as
// the seed says ([Disk.Cut]). The next process finds what is left. The promises are
// those of lab/crashtest, checked from outside, and more are added here: files of
// authors, copies of the database and feeds that are files are there, byte for byte;
// the database is whole; the doctor finds nothing.
//
// The same disk fails when told so ([Disk.Fail]): a write or a sync reports an error,
// there is no room, a sync takes seconds. As on Linux, what a failed sync did not
// write is never written, though it is still read.
//
// The kernel reaches the disk by FUSE, which needs Linux, root and /dev/fuse. Where
// they are missing, the program is the one with planted bugs, which notes what SQLite
// writes, syncs and removes (CLOUDBURSTWRITES, lab/planted); a disk that
// does the same is cut, and what it leaves is put in the folder. Then other files than the
// database and its journal lose nothing, names are lost only by SQLite's own removals, and
// no disk fails: tests of those are skipped, and say so.
//
// A harness that cannot fail proves nothing. A program that forgets to sync something
// and a disk that does not do it when asked are the same seen from after the cut, so
// disks that ignore one kind of sync are the planted bugs here: each is caught.
package powertest
