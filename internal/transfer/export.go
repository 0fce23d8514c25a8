package transfer

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// readme explains the archive to people without this program.
const readme = `All posts and files of %s at %s, as of %s.

posts.jsonl    all posts, one JSON object per line, including drafts
media/         the files that the posts use; media.jsonl describes them
profile.json   title, description and design
pages.jsonl    the pages that are not posts, one JSON object per line; style.css is the style sheet
feeds/         the published posts as feeds: rss.xml, atom.xml and feed.json contain the newest,
               archive-0001.* and so on all of them; archives.opml lists these files
manifest.json  the counts, and the SHA-256 of every other file in here

The URLs in the feeds are those of the server. The path of a file in media/ is the end
of its URL there.

Any server that runs Cloudburst can import this file: on the account page, or with
"cloudburst user import NAME FILE".
`

// archive is the ZIP file during an export.
type archive struct {
	zip      *zip.Writer
	manifest Manifest
	name     string // name of the current entry
	sum      hash.Hash
	size     int64
	out      io.Writer
}

// Export writes all data of a user to w: posts in all states, files, profile and feeds. After an
// error w contains an incomplete file. A file that is deleted during the export is left out without
// an error.
func (t *Transfer) Export(ctx context.Context, user string, w io.Writer, progress Progress) (Manifest, error) {
	a := &archive{zip: zip.NewWriter(w), manifest: Manifest{
		Format: formatName, Version: formatVersion, User: user, Origin: t.origin(), ExportedAt: t.now(), Entries: []Entry{},
	}}
	writer, err := t.Posts.Writer(ctx, user)
	if err != nil {
		return a.manifest, err
	}
	profile := writer.Profile
	profile.Page.Draft = nil
	for _, step := range []func() error{
		func() error {
			about := fmt.Sprintf(readme, user, cmp.Or(t.origin(), "an unknown server"), a.manifest.ExportedAt.Format("2 January 2006, 15:04 MST"))
			return a.text(nameReadme, about)
		},
		func() error { return a.json(nameProfile, profile) },
		func() error { return t.exportSite(ctx, a, writer) },
		func() error {
			return a.entry(namePosts, zip.Deflate, func() error { return t.exportPosts(ctx, a, writer, progress) })
		},
		func() error { return t.exportFiles(ctx, a, user, progress) },
		func() error { return t.exportFeeds(ctx, a, writer, progress) },
		func() error { return a.json(nameManifest, a.manifest) },
		a.zip.Close,
	} {
		if err := step(); err != nil {
			return a.manifest, err
		}
	}
	return a.manifest, nil
}

// entry writes one entry with write and adds it to the manifest.
func (a *archive) entry(name string, method uint16, write func() error) (err error) {
	a.out, err = a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: a.manifest.ExportedAt})
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	a.name, a.sum, a.size = name, sha256.New(), 0
	if err := write(); err != nil {
		return err
	}
	if name != nameManifest {
		a.manifest.Entries = append(a.manifest.Entries, Entry{name, a.size, hex.EncodeToString(a.sum.Sum(nil))})
	}
	return nil
}

// Write writes to the current entry.
func (a *archive) Write(b []byte) (int, error) {
	n, err := a.out.Write(b)
	_, _ = a.sum.Write(b[:n]) // a write to a hash never fails
	a.size += int64(n)
	return n, err
}

func (a *archive) json(name string, v any) error {
	return a.entry(name, zip.Deflate, func() error {
		enc := json.NewEncoder(a)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	})
}

func (a *archive) text(name, text string) error {
	return a.entry(name, zip.Deflate, func() error {
		_, err := io.WriteString(a, text)
		return err
	})
}

// exportPosts writes the posts. Published posts come first, in order of publication.
func (t *Transfer) exportPosts(ctx context.Context, a *archive, w author.Writer, progress Progress) error {
	enc := json.NewEncoder(a)
	enc.SetEscapeHTML(false)
	counts := &a.manifest.Counts
	write := func(posts []author.Post) error {
		for _, p := range posts {
			switch p.State {
			case author.Published:
				counts.Published++
			case author.ForGroups:
				counts.Private++
			case author.Draft:
				counts.Drafts++
			case author.Scheduled:
				counts.Scheduled++
			case author.Deleted:
				counts.Deleted++
			}
			if err := enc.Encode(recordOf(p)); err != nil {
				return err
			}
		}
		progress.at(PhasePosts, counts.Posts(), max(int(w.Posts), counts.Posts()))
		return nil
	}
	if err := t.published(ctx, w.User, write); err != nil {
		return err
	}
	for _, state := range []author.State{author.ForGroups, author.Scheduled, author.Draft, author.Deleted} {
		if err := t.unpublished(ctx, w.User, state, write); err != nil {
			return err
		}
	}
	return nil
}

// exportFiles writes the files and then the list of their metadata.
func (t *Transfer) exportFiles(ctx context.Context, a *archive, user string, progress Progress) error {
	var list strings.Builder
	enc := json.NewEncoder(&list)
	enc.SetEscapeHTML(false)
	counts := &a.manifest.Counts
	err := t.files(ctx, user, func(f author.File) error {
		_, r, err := t.Files.Open(ctx, user, f.Hash)
		if fault.CodeOf(err) == fault.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		defer r.Close()
		name := dirMedia + f.Hash[:16] + "/" + f.Name
		// Images and sounds are already compressed.
		if err := a.entry(name, zip.Store, func() error { _, err := io.Copy(a, r); return err }); err != nil {
			return err
		}
		counts.Files++
		counts.FileBytes += f.Size
		progress.at(PhaseFiles, counts.Files, 0)
		return enc.Encode(fileRecord{f.Hash, f.Name, f.Type, f.Size, f.Width, f.Height, f.AddedAt.UTC(), name})
	})
	if err != nil {
		return err
	}
	return a.text(nameFiles, list.String())
}
