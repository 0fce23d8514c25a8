package transfer

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"cloudburst/internal/fault"
)

// These limits apply to archives that other programs wrote.
const (
	maxTarPacking = 20       // maximum compression factor of a whole tar.gz
	tarFrom       = 64 << 20 // bytes that every tar.gz may have after unpacking
)

// foreignArchive is an archive that another program wrote, as a list of its files.
type foreignArchive struct {
	names  []string // names of the files in lexical order
	byName map[string]archived
	byBase map[string]string // key: last segment of a name; value: the name, "" if several names have this segment
	links  int               // entries that are neither files nor folders
	spool  *os.File          // unpacked tar; nil for ZIP
}

// archived is one file of an archive.
type archived struct {
	size int64
	open func() (io.ReadCloser, error)
}

// listZIP lists the files of a ZIP archive. It rejects names that lead out of the archive and sizes
// that are implausible.
func listZIP(r io.ReaderAt, size int64) (*foreignArchive, error) {
	z, err := openZIP(r, size)
	if err != nil {
		return nil, err
	}
	a := &foreignArchive{byName: map[string]archived{}}
	var total uint64
	for _, f := range z.File {
		if total += f.UncompressedSize64; f.UncompressedSize64 > maxTotal || total > uint64(min(maxTotal, packedFrom+size*maxPacking)) {
			return nil, damaged("the uncompressed archive is larger than %d MiB, which is implausible for its size", total>>20)
		}
		if f.UncompressedSize64 > packedFrom && f.UncompressedSize64/maxPacking > f.CompressedSize64 {
			return nil, damaged("%q is compressed by a factor of %d, which real content never reaches", clip(f.Name, 100), f.UncompressedSize64/max(f.CompressedSize64, 1))
		}
		if strings.HasSuffix(f.Name, "/") && fs.ValidPath(strings.TrimSuffix(f.Name, "/")) {
			continue
		}
		one := archived{size: int64(f.UncompressedSize64), open: f.Open}
		if err := a.add(f.Name, f.Mode().IsRegular(), one); err != nil {
			return nil, err
		}
	}
	a.index()
	return a, nil
}

// listTar unpacks a compressed tar archive to a temporary file and lists its files. The caller must
// close the archive.
func listTar(ctx context.Context, r io.ReaderAt, size int64) (_ *foreignArchive, err error) {
	packed, err := gzip.NewReader(bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 64<<10))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "Nothing was imported: the file starts like a gzip file but is damaged.")
	}
	spool, err := os.CreateTemp("", "cloudburst-tar-*")
	if err != nil {
		return nil, fault.Unstored(err, "The archive cannot be unpacked to a temporary file.")
	}
	a := &foreignArchive{byName: map[string]archived{}, spool: spool}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	limit := min(maxTotal, tarFrom+size*maxTarPacking)
	from := &errReader{r: io.LimitReader(packed, limit+1), ctx: ctx}
	n, err := io.Copy(spool, from)
	switch {
	case from.err != nil:
		return nil, fault.Wrap(fault.Invalid, from.err, "Nothing was imported: the archive is damaged or incomplete after %d bytes of its content.", n)
	case err != nil:
		return nil, fault.Unstored(err, "The archive cannot be unpacked to a temporary file.")
	case n > limit:
		return nil, damaged("the uncompressed archive is larger than %d MiB, which is implausible for its size", limit>>20)
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "The unpacked archive cannot be read.")
	}
	if err := a.readTar(tar.NewReader(spool)); err != nil {
		return nil, err
	}
	a.index()
	return a, nil
}

func (a *foreignArchive) readTar(in *tar.Reader) error {
	for n := 0; ; n++ {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fault.Wrap(fault.Invalid, err, "Nothing was imported: the archive is damaged after %d entries.", n)
		}
		if n >= maxEntries {
			return damaged("the archive has too many entries; at most %d are accepted", maxEntries)
		}
		if h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		at, err := a.spool.Seek(0, io.SeekCurrent) // in does not read ahead, so the content of the file begins here
		if err != nil {
			return fault.Wrap(fault.Unavailable, err, "The unpacked archive cannot be read.")
		}
		size := h.Size
		one := archived{size: size, open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.NewSectionReader(a.spool, at, size)), nil
		}}
		if err := a.add(strings.TrimPrefix(h.Name, "./"), h.Typeflag == tar.TypeReg, one); err != nil {
			return err
		}
	}
}

// errReader records a read error other than io.EOF. After its context ends, reads fail.
type errReader struct {
	r   io.Reader
	ctx context.Context
	err error
}

func (e *errReader) Read(p []byte) (int, error) {
	if e.err = e.ctx.Err(); e.err != nil {
		return 0, e.err
	}
	n, err := e.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		e.err = err
	}
	return n, err
}

// add records a file. Files that operating systems add are ignored.
func (a *foreignArchive) add(name string, regular bool, one archived) error {
	switch {
	case !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00"):
		return damaged("the entry name %q leads out of the archive", clip(name, 100))
	case !regular:
		a.links++
		return nil
	case strings.HasPrefix(name, "__MACOSX/") || strings.HasPrefix(path.Base(name), "._") || path.Base(name) == ".DS_Store":
		return nil
	case len(a.names) >= maxEntries:
		return damaged("the archive has too many entries; at most %d are accepted", maxEntries)
	}
	if _, twice := a.byName[name]; twice {
		return damaged("the archive has two entries named %q", clip(name, 100))
	}
	a.byName[name] = one
	a.names = append(a.names, name)
	return nil
}

func (a *foreignArchive) index() {
	slices.Sort(a.names)
	a.byBase = make(map[string]string, len(a.names))
	for _, name := range a.names {
		base := path.Base(name)
		if _, several := a.byBase[base]; several {
			a.byBase[base] = ""
			continue
		}
		a.byBase[base] = name
	}
}

func (a *foreignArchive) close() {
	if a.spool != nil {
		_ = a.spool.Close()
		_ = os.Remove(a.spool.Name()) // after an error, the system deletes the file later
	}
}

// has reports whether the archive has a file with this name.
func (a *foreignArchive) has(name string) bool {
	_, ok := a.byName[name]
	return ok
}

// top returns the folder that contains all files, with a slash at the end; "" if there is none.
func (a *foreignArchive) top() string {
	if len(a.names) == 0 {
		return ""
	}
	first, _, ok := strings.Cut(a.names[0], "/")
	if !ok || !strings.HasPrefix(a.names[len(a.names)-1], first+"/") {
		return ""
	}
	return first + "/"
}

// atTop returns the name of the file called base in the root or in the folder that contains all
// files; "" if there is none. Deeper files are ignored: the folder of a web site may contain a
// feed.json that is not the archive's.
func (a *foreignArchive) atTop(base string) string {
	for _, name := range []string{base, a.top() + base} {
		if a.has(name) {
			return name
		}
	}
	return ""
}

// read calls each with the content of a file, bounded by the size that the archive declares.
func (a *foreignArchive) read(name string, each func(io.Reader) error) error {
	r, err := a.byName[name].open()
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%q is damaged in the archive.", clip(name, 100))
	}
	defer r.Close()
	return each(r)
}

// text returns the content of a file. It returns an error if the file has more than limit bytes.
func (a *foreignArchive) text(name string, limit int64) (b []byte, err error) {
	if a.byName[name].size > limit {
		return nil, fmt.Errorf("the file has more than %d KiB", limit>>10)
	}
	err = a.read(name, func(r io.Reader) error {
		b, err = io.ReadAll(io.LimitReader(r, limit+1))
		return err
	})
	return b, err
}
