package transfer

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"regexp"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// Limits of an archive.
const (
	maxEntries  = 200_000
	maxManifest = 64 << 20
	maxTotal    = 256 << 30 // bytes, unpacked
	// A text packs ten times smaller, rarely more. What is so much smaller is made to fill a disk.
	maxPacking = 200
	packedFrom = 16 << 20 // smaller entries may be packed as they like
	maxListing = 48 << 20 // bytes in which the archive lists its entries, each of which takes memory before any is looked at
)

// opened is an archive that was checked.
type verifiedArchive struct {
	zip      *zip.Reader
	byName   map[string]*zip.File
	listed   map[string]bool // by the manifest, which vouches for them
	manifest Manifest
}

// damaged is an archive that cannot be taken in.
func damaged(format string, args ...any) error {
	return fault.New(fault.Invalid, "Nothing was taken in: "+format+".", args...)
}

// openArchive looks whether an archive is what it says, before anything of it counts:
// no name leads elsewhere, nothing is larger than the manifest says, and every sum is right.
func openArchive(ctx context.Context, r io.ReaderAt, size int64, progress Progress) (*verifiedArchive, error) {
	directory := &limitedReaderAt{r: r, left: maxListing}
	z, err := zip.NewReader(directory, size)
	if errors.Is(err, errDirectory) {
		return nil, damaged("the archive has too many entries; at most %d are taken", maxEntries)
	}
	directory.left = math.MaxInt64
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "Nothing was taken in: the file begins like a ZIP archive and is none, or is not whole.")
	}
	if len(z.File) > maxEntries {
		return nil, damaged("the archive has %d entries; at most %d are taken", len(z.File), maxEntries)
	}
	o := &verifiedArchive{zip: z, byName: map[string]*zip.File{}, listed: map[string]bool{}}
	for _, f := range z.File {
		switch {
		case strings.HasSuffix(f.Name, "/") && fs.ValidPath(strings.TrimSuffix(f.Name, "/")):
			continue // a folder, of one who packed it anew
		case !fs.ValidPath(f.Name) || strings.ContainsAny(f.Name, "\\:\x00"):
			return nil, damaged("the archive has an entry called %q, which would lead out of it", clip(f.Name, 100))
		case o.byName[f.Name] != nil:
			return nil, damaged("the archive has two entries called %q", clip(f.Name, 100))
		case f.Mode()&^0o777 != 0:
			return nil, damaged("the entry %q is no file", clip(f.Name, 100))
		}
		o.byName[f.Name] = f
	}
	if err := o.readManifest(); err != nil {
		return nil, err
	}
	return o, o.check(ctx, size, progress)
}

var errDirectory = errors.New("the list of entries is too long")

// atMost reads so much, and not more.
type limitedReaderAt struct {
	r    io.ReaderAt
	left int64
}

func (a *limitedReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if a.left == math.MaxInt64 {
		return a.r.ReadAt(p, off)
	}
	if a.left -= int64(len(p)); a.left < 0 {
		return 0, errDirectory
	}
	return a.r.ReadAt(p, off)
}

func (o *verifiedArchive) readManifest() error {
	f := o.byName[nameManifest]
	if f == nil {
		return damaged("the archive has no %s, so this program did not write it", nameManifest)
	}
	if f.UncompressedSize64 > maxManifest {
		return damaged("%s is larger than it can be", nameManifest)
	}
	r, err := f.Open()
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "Nothing was taken in: %s is damaged.", nameManifest)
	}
	defer r.Close()
	if err := json.NewDecoder(io.LimitReader(r, maxManifest)).Decode(&o.manifest); err != nil {
		return fault.Wrap(fault.Invalid, err, "Nothing was taken in: %s is damaged.", nameManifest)
	}
	switch m := o.manifest; {
	case m.Format != formatName:
		return damaged("%s is of another program", nameManifest)
	case m.Version > formatVersion:
		return damaged("the archive is of version %d, and this program knows version %d; take it in on a newer one", m.Version, formatVersion)
	}
	return nil
}

// check reads every entry that the manifest names and compares size and sum.
func (o *verifiedArchive) check(ctx context.Context, size int64, progress Progress) error {
	var total, done int64
	limit := min(maxTotal, packedFrom+size*maxPacking) // also where entries share their bytes
	for _, e := range o.manifest.Entries {
		f := o.byName[e.Name]
		switch {
		case f == nil:
			return damaged("%q is missing in the archive", clip(e.Name, 100))
		case o.listed[e.Name]:
			return damaged("%q is listed twice", clip(e.Name, 100))
		case e.Size < 0 || int64(f.UncompressedSize64) != e.Size:
			return damaged("%q has not the size that the manifest says", clip(e.Name, 100))
		case e.Size > packedFrom && uint64(e.Size)/maxPacking > f.CompressedSize64:
			return damaged("%q is packed %d times smaller than it is, as nothing that was written by people", clip(e.Name, 100), uint64(e.Size)/max(f.CompressedSize64, 1))
		}
		o.listed[e.Name] = true
		if total += e.Size; total > limit {
			return damaged("the archive is larger than %d MiB when it is unpacked, as nothing of its size that was written by people", limit>>20)
		}
	}
	for _, e := range o.manifest.Entries {
		if ctx.Err() != nil {
			return fault.Wrap(fault.Unavailable, ctx.Err(), "The import was given up; nothing was taken in.")
		}
		if err := o.checkSum(e); err != nil {
			return err
		}
		done += e.Size
		progress.at(PhaseCheck, int(done>>10), int(total>>10))
	}
	return nil
}

func (o *verifiedArchive) checkSum(e Entry) error {
	sum := sha256.New()
	r, err := o.open(e.Name)
	if err == nil {
		_, err = io.Copy(sum, io.LimitReader(r, e.Size+1))
		err = errors.Join(err, r.Close())
	}
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "Nothing was taken in: %q is damaged in the archive.", clip(e.Name, 100))
	}
	if hex.EncodeToString(sum.Sum(nil)) != e.SHA256 {
		return damaged("%q is not what it was when the archive was written", clip(e.Name, 100))
	}
	return nil
}

// open opens an entry that the manifest names.
func (o *verifiedArchive) open(name string) (io.ReadCloser, error) {
	if !o.listed[name] {
		return nil, fs.ErrNotExist
	}
	return o.byName[name].Open()
}

// lines calls each with the lines of an entry; one that is not there has none.
func (o *verifiedArchive) lines(name string, each func(n int, line []byte) error) error {
	r, err := o.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%s is damaged in the archive.", name)
	}
	defer r.Close()
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	for n := 1; in.Scan(); n++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		if err := each(n, in.Bytes()); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return fault.Wrap(fault.Invalid, err, "%s has a line that is longer than %d MiB.", name, maxLine>>20)
	}
	return nil
}

// importArchive takes in what Export wrote: files first, so that posts find them.
func (t *Transfer) importArchive(ctx context.Context, user string, r io.ReaderAt, size int64, progress Progress) (Result, error) {
	res := Result{Kind: "cloudburst"}
	o, err := openArchive(ctx, r, size, progress)
	if err != nil {
		return res, err
	}
	if err := o.eachPost(nil); err != nil { // before anything is written
		return res, err
	}
	if err := t.importFiles(ctx, user, o, &res, progress); err != nil {
		return res, err
	}
	move := o.mover(user)
	b := t.newBatch(user, &res, progress, o.manifest.Counts.Posts())
	err = o.eachPost(func(rec record, size int) error {
		if rec.State == author.Deleted {
			b.res.Found++
			b.res.Left++
			return nil
		}
		p := rec.post()
		move.content(&p.Content)
		if p.GUID == "" && p.Key == "" {
			p.Key = o.key(rec)
		}
		b.bytes += size // an outline may have much beside its words
		return b.add(ctx, p)
	})
	if err == nil {
		err = b.flush(ctx)
	}
	if err != nil {
		return res, err
	}
	if n := o.manifest.Counts.Deleted; n > 0 {
		res.problem(fmt.Sprintf("%d deleted posts stay deleted.", n))
	}
	profile, err := o.profile()
	if err != nil {
		return res, err
	}
	profile.Avatar = move.address(profile.Avatar)
	return res, t.importProfile(ctx, user, profile, &res)
}

// eachPost reads the posts. With nil it only looks whether they can be read.
func (o *verifiedArchive) eachPost(each func(rec record, size int) error) error {
	return o.lines(namePosts, func(n int, line []byte) error {
		var rec record
		if err := json.Unmarshal(line, &rec); err != nil {
			return fault.Wrap(fault.Invalid, err, "Nothing was taken in: line %d of %s is no post.", n, namePosts)
		}
		switch rec.State {
		case author.Published, author.Draft, author.Scheduled, author.Deleted:
		default:
			return damaged("the post in line %d of %s is %q, which posts never are", n, namePosts, clip(string(rec.State), 40))
		}
		if each == nil {
			return nil
		}
		return each(rec, len(line))
	})
}

// key is what a post without GUID is known by, when the same file is taken in again.
func (o *verifiedArchive) key(rec record) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %d", o.manifest.Origin, o.manifest.User, rec.ID, rec.CreatedAt.UnixMilli()))
	return "moved-" + hex.EncodeToString(sum[:16])
}

func (o *verifiedArchive) profile() (p author.Profile, err error) {
	r, err := o.open(nameProfile)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	defer r.Close()
	if err := json.NewDecoder(io.LimitReader(r, 1<<20)).Decode(&p); err != nil {
		return p, fault.Wrap(fault.Invalid, err, "%s in the archive cannot be read; all else was taken in.", nameProfile)
	}
	return p, nil
}

// importFiles takes in the files. One that is not taken here any more is left out and told.
func (t *Transfer) importFiles(ctx context.Context, user string, o *verifiedArchive, res *Result, progress Progress) error {
	done := 0
	return o.lines(nameFiles, func(n int, line []byte) error {
		var rec fileRecord
		if err := json.Unmarshal(line, &rec); err != nil {
			return fault.Wrap(fault.Invalid, err, "Line %d of %s is no file.", n, nameFiles)
		}
		done++
		progress.at(PhaseFiles, done, max(o.manifest.Counts.Files, done))
		switch _, err := t.Files.Get(ctx, user, rec.Hash); {
		case err == nil && len(rec.Hash) == 64:
			return nil // of an earlier try
		case err != nil && fault.CodeOf(err) != fault.NotFound:
			return err
		}
		r, err := o.open(rec.Path)
		if err != nil {
			res.problem(fmt.Sprintf("The file %s is not in the archive.", clip(rec.Name, 100)))
			return nil
		}
		defer r.Close()
		f, err := t.Files.Put(ctx, user, rec.Name, rec.Type, r)
		switch {
		case fault.CodeOf(err) == fault.Invalid:
			res.problem(fmt.Sprintf("The file %s was left out. %s", clip(rec.Name, 100), fault.Message(err)))
			return nil
		case err != nil:
			return err
		}
		if f.Hash != rec.Hash {
			res.problem(fmt.Sprintf("The file %s is kept without what it told of its place; posts that show it have the old address.", clip(rec.Name, 100)))
		}
		res.Files++
		return nil
	})
}

// mover turns addresses of files of one user into those of another.
type mover struct {
	from *regexp.Regexp
	to   string
}

// mover knows the addresses that files have where the archive comes from: with the origin
// and without.
func (o *verifiedArchive) mover(user string) mover {
	origin := ""
	if o.manifest.Origin != "" {
		origin = "(?:" + regexp.QuoteMeta(o.manifest.Origin) + ")?"
	}
	return mover{regexp.MustCompile(origin + "/" + regexp.QuoteMeta(o.manifest.User) + "/media/([0-9a-f]{16,64}/)"), "/" + user + "/media/$1"}
}

// address is one address, which may be of such a file.
func (m mover) address(s string) string {
	if at := m.from.FindStringIndex(s); at == nil || at[0] != 0 {
		return s
	}
	return m.text(s)
}

func (m mover) text(s string) string {
	if !strings.Contains(s, "/media/") {
		return s
	}
	return m.from.ReplaceAllString(s, m.to)
}

func (m mover) content(c *author.Content) {
	c.Source = m.text(c.Source)
	m.enclosures(c.Enclosures)
	m.nodes(c.Outline)
}

func (m mover) enclosures(list []author.Enclosure) {
	for i := range list {
		list[i].URL = m.address(list[i].URL)
	}
}

func (m mover) nodes(list []author.Node) {
	for i := range list {
		list[i].Text = m.text(list[i].Text)
		m.enclosures(list[i].Enclosures)
		m.nodes(list[i].Nodes)
	}
}
