package powertest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// mount mounts a disk on a folder over FUSE.
//
// While this process has open files on the disk, it must not start another process, because it
// would wait for itself. Use Disk.ReadFile to read a file.
func mount(d *Disk, dir string) (unmount func() error, err error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("only root may mount")
	}
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		return nil, err
	} else if err := f.Close(); err != nil {
		return nil, err
	}
	forever := time.Hour // the kernel may cache names and attributes, because only the kernel changes the disk
	server, err := fs.Mount(dir, &inode{disk: d, node: d.root}, &fs.Options{
		EntryTimeout: &forever, AttrTimeout: &forever, NullPermissions: true,
		MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "powertest", DisableXAttrs: true, AllowOther: true},
	})
	if err != nil {
		return nil, err
	}
	return func() error {
		for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) { // repeat until the kernel has closed the files of the crashed process
			err := syscall.Unmount(dir, 0)
			if err == nil || time.Now().After(end) {
				server.Wait()
				return err
			}
		}
	}, nil
}

// inode provides a node to FUSE.
type inode struct {
	fs.Inode
	disk *Disk
	node *node
}

var _ interface {
	fs.NodeLookuper
	fs.NodeReaddirer
	fs.NodeCreater
	fs.NodeMkdirer
	fs.NodeUnlinker
	fs.NodeRmdirer
	fs.NodeRenamer
	fs.NodeLinker
	fs.NodeOpener
	fs.NodeReader
	fs.NodeWriter
	fs.NodeFsyncer
	fs.NodeFlusher
	fs.NodeGetattrer
	fs.NodeSetattrer
	fs.NodeStatfser
} = (*inode)(nil)

func (n *node) kind() uint32 {
	if n.dir {
		return syscall.S_IFDIR
	}
	return syscall.S_IFREG
}

// attr fills out with the attributes of n. The caller holds the lock of the disk.
func (n *node) attr(out *fuse.Attr) {
	out.Ino, out.Mode, out.Size, out.Nlink = n.id, n.mode|n.kind(), uint64(len(n.data)), uint32(max(n.links, 1))
	out.Uid, out.Gid, out.Blksize, out.Blocks = n.uid, n.gid, 4096, uint64(len(n.data)+511)/512
	out.SetTimes(&n.modified, &n.modified, &n.modified)
}

// child returns the inode of a node. All names of a node have the same inode.
func (i *inode) child(ctx context.Context, n *node, out *fuse.EntryOut) *fs.Inode {
	i.disk.mu.Lock()
	n.attr(&out.Attr)
	i.disk.mu.Unlock()
	return i.NewInode(ctx, &inode{disk: i.disk, node: n}, fs.StableAttr{Mode: n.kind(), Ino: n.id})
}

func (i *inode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	i.disk.mu.Lock()
	n := i.node.names[name]
	i.disk.mu.Unlock()
	if n == nil {
		return nil, syscall.ENOENT
	}
	return i.child(ctx, n, out), 0
}

func (i *inode) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	i.disk.mu.Lock()
	defer i.disk.mu.Unlock()
	var list []fuse.DirEntry
	for _, name := range slices.Sorted(maps.Keys(i.node.names)) {
		n := i.node.names[name]
		list = append(list, fuse.DirEntry{Name: name, Ino: n.id, Mode: n.kind()})
	}
	return fs.NewListDirStream(list), 0
}

func (i *inode) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	n, errno := i.disk.make(i.node, name, false, mode)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	return i.child(ctx, n, out), nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (i *inode) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n, errno := i.disk.make(i.node, name, true, mode)
	if errno != 0 {
		return nil, errno
	}
	return i.child(ctx, n, out), 0
}

func (i *inode) Unlink(_ context.Context, name string) syscall.Errno {
	return i.disk.remove(i.node, name)
}

func (i *inode) Rmdir(_ context.Context, name string) syscall.Errno {
	return i.disk.remove(i.node, name)
}

func (i *inode) Rename(_ context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if flags != 0 {
		return syscall.EINVAL
	}
	return i.disk.rename(i.node, name, to.(*inode).node, newName)
}

func (i *inode) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	of := target.(*inode).node
	if errno := i.disk.link(of, i.node, name); errno != 0 {
		return nil, errno
	}
	return i.child(ctx, of, out), 0
}

func (i *inode) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (i *inode) Read(_ context.Context, _ fs.FileHandle, dest []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	i.disk.mu.Lock()
	defer i.disk.mu.Unlock()
	if at >= int64(len(i.node.data)) {
		return fuse.ReadResultData(nil), 0
	}
	return fuse.ReadResultData(dest[:copy(dest, i.node.data[at:])]), 0
}

func (i *inode) Write(_ context.Context, _ fs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	if errno := i.disk.write(i.node, data, at); errno != 0 {
		return 0, errno
	}
	return uint32(len(data)), 0
}

func (i *inode) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	return i.disk.sync(i.node)
}

// Flush is called when a file is closed. It makes no data durable. After ENOSYS the kernel stops
// calling it, so that a process started during a read does not block.
func (i *inode) Flush(context.Context, fs.FileHandle) syscall.Errno { return syscall.ENOSYS }

func (i *inode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	i.disk.mu.Lock()
	defer i.disk.mu.Unlock()
	i.node.attr(&out.Attr)
	return 0
}

func (i *inode) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if size, ok := in.GetSize(); ok {
		if errno := i.disk.truncate(i.node, int64(size)); errno != 0 {
			return errno
		}
	}
	i.disk.mu.Lock()
	if mode, ok := in.GetMode(); ok {
		i.node.mode = mode & 0o7777
	}
	if uid, ok := in.GetUID(); ok {
		i.node.uid = uid
	}
	if gid, ok := in.GetGID(); ok {
		i.node.gid = gid
	}
	if at, ok := in.GetMTime(); ok {
		i.node.modified = at
	}
	i.disk.mu.Unlock()
	return i.Getattr(ctx, f, out)
}

func (i *inode) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	i.disk.mu.Lock()
	defer i.disk.mu.Unlock()
	total := int64(64 << 30)
	if i.disk.capacity > 0 {
		total = i.disk.capacity
	}
	free := uint64(max(total-i.disk.used, 0)) / 4096
	out.Bsize, out.Frsize, out.Blocks, out.Bfree, out.Bavail, out.NameLen = 4096, 4096, uint64(total)/4096, free, free, 255
	return 0
}
