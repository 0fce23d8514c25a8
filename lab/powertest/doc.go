// Package powertest cuts the power under the real program, and breaks its disk.
//
// The program's data folder is on a [Disk], a file system in memory that records syncs. Data of
// a file is durable after a sync of the file, and a name after a sync of its folder. At a power
// cut the process is killed. Of the unsynced data, some is kept, some is lost and some is torn at
// sector boundaries, as the seed decides ([Disk.Cut]). The next process gets the rest. The
// checks are the ones of lab/crashtest, from outside, and further ones: files of authors, copies
// of the database and feed files are there, byte for byte; the database is intact; the doctor
// finds nothing.
//
// The same disk can fail ([Disk.Fail]): a write or a sync returns an error, the disk is full, a
// sync takes seconds. As on Linux, data of a failed sync is never written, although reads still
// return it.
//
// The kernel accesses the disk by FUSE, which needs Linux, root and /dev/fuse. Without them, the
// tests use the program with planted bugs, which records the writes, syncs and removals of
// SQLite (CLOUDBURSTWRITES, lab/planted). A simulated disk repeats them, is cut, and its rest is
// written to the folder. In this mode other files than the database and its journal lose
// nothing, names are lost only by SQLite's own removals, and the disk does not fail; the tests
// for these are skipped with a message.
//
// A harness that cannot fail proves nothing. After a cut, a program that forgets a sync looks
// like a disk that ignores it, so the planted bugs are disks that ignore one kind of sync. The
// tests show that each is found.
package powertest
