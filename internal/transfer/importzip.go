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

// These are the limits of an archive.
const (
	maxEntries  = 200_000
	maxManifest = 64 << 20
	maxTotal    = 256 << 30 // maximum total of uncompressed bytes
	// Text compresses by a factor of ten, rarely more. A much higher factor indicates an attempt to
	// fill the disk.
	maxPacking = 200
	packedFrom = 16 << 20 // bytes; smaller entries may have any compression factor
	maxListing = 48 << 20 // bytes of the archive's directory, which is read into memory before any entry is checked
)

// verifiedArchive is an archive that was verified.
type verifiedArchive struct {
	zip      *zip.Reader
	byName   map[string]*zip.File
	listed   map[string]bool // names of the entries that the manifest lists with a checksum
	manifest Manifest
}

// damaged returns the error for an archive that cannot be imported.
func damaged(format string, args ...any) error {
	return fault.New(fault.Invalid, "Nothing was imported: "+format+".", args...)
}

// openArchive verifies an archive before any of its content is used: no name leads out of the
// archive, no entry is larger than the manifest declares, and every checksum matches.
func openArchive(ctx context.Context, r io.ReaderAt, size int64, progress Progress) (*verifiedArchive, error) {
	z, err := openZIP(r, size)
	if err != nil {
		return nil, err
	}
	if len(z.File) > maxEntries {
		return nil, damaged("the archive has %d entries; at most %d are accepted", len(z.File), maxEntries)
	}
	o := &verifiedArchive{zip: z, byName: map[string]*zip.File{}, listed: map[string]bool{}}
	for _, f := range z.File {
		switch {
		case strings.HasSuffix(f.Name, "/") && fs.ValidPath(strings.TrimSuffix(f.Name, "/")):
			continue // a folder, added when the archive was repacked
		case !fs.ValidPath(f.Name) || strings.ContainsAny(f.Name, "\\:\x00"):
			return nil, damaged("the entry name %q leads out of the archive", clip(f.Name, 100))
		case o.byName[f.Name] != nil:
			return nil, damaged("the archive has two entries named %q", clip(f.Name, 100))
		case f.Mode()&^0o777 != 0:
			return nil, damaged("the entry %q is not a file", clip(f.Name, 100))
		}
		o.byName[f.Name] = f
	}
	if err := o.readManifest(); err != nil {
		return nil, err
	}
	return o, o.check(ctx, size, progress)
}

// openZIP reads the directory of a ZIP archive.
func openZIP(r io.ReaderAt, size int64) (*zip.Reader, error) {
	directory := &limitedReaderAt{r: r, left: maxListing}
	z, err := zip.NewReader(directory, size)
	if errors.Is(err, errDirectory) {
		return nil, damaged("the archive has too many entries; at most %d are accepted", maxEntries)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "Nothing was imported: the file starts like a ZIP archive but is damaged or incomplete.")
	}
	directory.left = math.MaxInt64
	return z, nil
}

var errDirectory = errors.New("the list of entries is too long")

// limitedReaderAt reads at most left bytes and then returns errDirectory. If left is math.MaxInt64,
// it has no limit.
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
		return damaged("the archive has no %s, so this program did not write it, and it is not an archive of Mastodon, X, Micro.blog or Blogger, and has no Markdown files", nameManifest)
	}
	if f.UncompressedSize64 > maxManifest {
		return damaged("%s is too large", nameManifest)
	}
	r, err := f.Open()
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "Nothing was imported: %s is damaged.", nameManifest)
	}
	defer r.Close()
	if err := json.NewDecoder(io.LimitReader(r, maxManifest)).Decode(&o.manifest); err != nil {
		return fault.Wrap(fault.Invalid, err, "Nothing was imported: %s is damaged.", nameManifest)
	}
	switch m := o.manifest; {
	case m.Format != formatName:
		return damaged("%s was written by another program", nameManifest)
	case m.Version > formatVersion:
		return damaged("the archive has version %d, but this program supports version %d; import it with a newer one", m.Version, formatVersion)
	}
	return nil
}

// check reads every entry in the manifest and compares its size and checksum.
func (o *verifiedArchive) check(ctx context.Context, size int64, progress Progress) error {
	var total, done int64
	limit := min(maxTotal, packedFrom+size*maxPacking) // also limits entries that share their bytes
	for _, e := range o.manifest.Entries {
		f := o.byName[e.Name]
		switch {
		case f == nil:
			return damaged("%q is missing from the archive", clip(e.Name, 100))
		case o.listed[e.Name]:
			return damaged("%q is listed twice", clip(e.Name, 100))
		case e.Size < 0 || int64(f.UncompressedSize64) != e.Size:
			return damaged("%q does not have the size in the manifest", clip(e.Name, 100))
		case e.Size > packedFrom && uint64(e.Size)/maxPacking > f.CompressedSize64:
			return damaged("%q is compressed by a factor of %d, which real content never reaches", clip(e.Name, 100), uint64(e.Size)/max(f.CompressedSize64, 1))
		}
		o.listed[e.Name] = true
		if total += e.Size; total > limit {
			return damaged("the uncompressed archive is larger than %d MiB, which is implausible for its size", limit>>20)
		}
	}
	for _, e := range o.manifest.Entries {
		if ctx.Err() != nil {
			return fault.Wrap(fault.Unavailable, ctx.Err(), "The import was cancelled; nothing was imported.")
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
		return fault.Wrap(fault.Invalid, err, "Nothing was imported: %q is damaged in the archive.", clip(e.Name, 100))
	}
	if hex.EncodeToString(sum.Sum(nil)) != e.SHA256 {
		return damaged("%q has changed since the archive was written", clip(e.Name, 100))
	}
	return nil
}

// open opens an entry that the manifest lists.
func (o *verifiedArchive) open(name string) (io.ReadCloser, error) {
	if !o.listed[name] {
		return nil, fs.ErrNotExist
	}
	return o.byName[name].Open()
}

// lines calls each for every line of an entry; a missing entry has no lines.
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
		return fault.Wrap(fault.Invalid, err, "%s has a line longer than %d MiB.", name, maxLine>>20)
	}
	return nil
}

// importZIP imports an archive of this program or of another program.
func (t *Transfer) importZIP(ctx context.Context, user string, r io.ReaderAt, size int64, opts Options, progress Progress) (Result, error) {
	a, err := listZIP(r, size)
	if err != nil {
		return Result{}, err
	}
	if !a.has(namePosts) {
		if src, err := openForeign(a); err == nil {
			return t.importForeign(ctx, user, a, src, opts, progress)
		}
	}
	return t.importArchive(ctx, user, r, size, opts, progress)
}

// importTar imports an archive that another program compressed with gzip.
func (t *Transfer) importTar(ctx context.Context, user string, r io.ReaderAt, size int64, opts Options, progress Progress) (Result, error) {
	a, err := listTar(ctx, r, size)
	if err != nil {
		return Result{}, err
	}
	defer a.close()
	src, err := openForeign(a)
	if err != nil {
		return Result{}, fault.Wrap(fault.Invalid, err, "Nothing was imported: the archive is not one of Mastodon, X, Micro.blog or Blogger, and has no Markdown files.")
	}
	return t.importForeign(ctx, user, a, src, opts, progress)
}

// importArchive imports a file that Export wrote: files first, because posts refer to them.
func (t *Transfer) importArchive(ctx context.Context, user string, r io.ReaderAt, size int64, opts Options, progress Progress) (Result, error) {
	res := Result{Kind: "cloudburst", Preview: opts.Preview}
	o, err := openArchive(ctx, r, size, progress)
	if err != nil {
		return res, err
	}
	if err := o.eachPost(nil); err != nil { // check all posts before anything is written
		return res, err
	}
	if opts.Preview {
		res.Files, res.FileBytes = o.manifest.Counts.Files, o.manifest.Counts.FileBytes
	} else if err := t.importFiles(ctx, user, o, &res, progress); err != nil {
		return res, err
	}
	profile, unreadable := o.profile()
	if unreadable == nil && !opts.Preview {
		if err := t.importSettings(ctx, user, profile, &res); err != nil {
			return res, err
		}
	}
	move := o.mover(user)
	b := t.newBatch(user, &res, progress, o.manifest.Counts.Posts(), opts)
	err = o.eachPost(func(rec record, size int) error {
		if rec.State == author.Deleted {
			b.res.Found++
			b.res.Skipped++
			return nil
		}
		p := rec.post()
		move.content(&p.Content)
		if p.GUID == "" && p.Key == "" {
			p.Key = o.key(rec)
		}
		b.bytes += size // an outline may contain much text in addition to its titles
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
	if opts.Preview || unreadable != nil {
		return res, unreadable
	}
	profile.Avatar = move.address(profile.Avatar)
	profile.Page.Header = move.address(profile.Page.Header)
	if err := t.importProfile(ctx, user, profile, &res); err != nil {
		return res, err
	}
	return res, t.importSite(ctx, user, o, move, profile, &res)
}

// eachPost reads the posts. If each is nil, it only checks that they can be read.
func (o *verifiedArchive) eachPost(each func(rec record, size int) error) error {
	return o.lines(namePosts, func(n int, line []byte) error {
		var rec record
		if err := json.Unmarshal(line, &rec); err != nil {
			return fault.Wrap(fault.Invalid, err, "Nothing was imported: line %d of %s is not a post.", n, namePosts)
		}
		switch rec.State {
		case author.Published, author.ForGroups, author.Draft, author.Scheduled, author.Deleted:
		default:
			return damaged("the post in line %d of %s has the invalid state %q", n, namePosts, clip(string(rec.State), 40))
		}
		if each == nil {
			return nil
		}
		return each(rec, len(line))
	})
}

// key returns the key of a post without a GUID. The key is the same if the same file is imported
// again.
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
		return p, fault.Wrap(fault.Invalid, err, "%s in the archive cannot be read; everything else was imported.", nameProfile)
	}
	return p, nil
}

// importFiles imports the files. It leaves out files that this server does not accept and reports
// them.
func (t *Transfer) importFiles(ctx context.Context, user string, o *verifiedArchive, res *Result, progress Progress) error {
	done := 0
	return o.lines(nameFiles, func(n int, line []byte) error {
		var rec fileRecord
		if err := json.Unmarshal(line, &rec); err != nil {
			return fault.Wrap(fault.Invalid, err, "Line %d of %s does not describe a file.", n, nameFiles)
		}
		done++
		progress.at(PhaseFiles, done, max(o.manifest.Counts.Files, done))
		switch _, err := t.Files.Get(ctx, user, rec.Hash); {
		case err == nil && len(rec.Hash) == 64:
			return nil // an earlier import stored the file
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
			res.problem(fmt.Sprintf("The file %s was imported without its location data; posts that show it still use the old URL.", clip(rec.Name, 100)))
		}
		res.Files++
		return nil
	})
}

// mover replaces URLs of one user's files with those of another user.
type mover struct {
	from *regexp.Regexp
	to   string
}

// mover returns a mover for the URLs that files have on the exporting server, with and without the
// origin.
func (o *verifiedArchive) mover(user string) mover {
	origin := ""
	if o.manifest.Origin != "" {
		origin = "(?:" + regexp.QuoteMeta(o.manifest.Origin) + ")?"
	}
	return mover{regexp.MustCompile(origin + "/" + regexp.QuoteMeta(o.manifest.User) + "/media/([0-9a-f]{16,64}/)"), "/" + user + "/media/$1"}
}

// address returns s, or the new URL if s is the URL of a file on the exporting server.
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
