package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// source reads the archive of another program.
type source interface {
	// kind returns the value of Result.Kind.
	kind() string
	// posts calls each for every post, in the order of the archive. The import calls posts twice.
	posts(ctx context.Context, each func(*foreignPost) error) error
	profile() author.Profile
}

// postOrigin distinguishes own posts of an author from replies and boosts.
type postOrigin int

const (
	ownPost     postOrigin = iota
	replyToPost            // reply to another person
	boostedPost            // post of another person that the author passed on
)

// foreignPost is a post of another program before its files are stored.
type foreignPost struct {
	author.Post
	Old    []string      // URLs or paths of the post at the other program
	Files  []foreignFile // files that the post uses
	From   postOrigin    // own post, reply or boost
	ID     string        // identifies the post in its thread; "": the post is in no thread
	Parent string        // ID of the author's own post that this post continues; "": none
	Omit   string        // reason for leaving the post out; "": the post is not left out
	Note   string        // change to the post, counted in the report; "": no change
}

// foreignFile is a file that a post uses.
type foreignFile struct {
	Entry    string // name in the archive
	Mark     string // placeholder in the post that the URL of the stored file replaces; "": the file is attached
	Original string // text of the post that Mark replaced
	Alt      string // alternative text of an attached file
}

// These are reasons for leaving posts out (omit) and for changing posts (note).
const (
	omitReply   = "Replies to other people"
	omitBoost   = "Boosts of other people's posts"
	omitPrivate = "Posts that were not public"
	omitInvalid = "Entries that are not valid"
	omitEmpty   = "Posts without any content"
	noteNoDate  = "Posts without a valid date became drafts"
)

// mark returns the placeholder for the URL of file n of a post.
func mark(n int) string { return fmt.Sprintf("cloudburst-import-file-%d.", n) }

// stableKey returns the key of a post of another program. Every import of the same post has the
// same key.
func stableKey(kind, id string) string {
	sum := sha256.Sum256([]byte(id))
	return kind + "-" + hex.EncodeToString(sum[:16])
}

// threads records which posts continue a reply to another person. It stores only the IDs of posts.
type threads struct {
	parent map[string]string // key: ID of a post that continues an own post; value: ID of the own post
	others map[string]bool   // IDs of replies to other people, and of omitted posts
	at     map[string]int64  // key: ID of a post; value: publication in Unix milliseconds
}

func (t *threads) note(p *foreignPost) {
	if p.ID == "" {
		return
	}
	t.at[p.ID] = p.PublishedAt.UnixMilli()
	switch {
	case p.From == replyToPost || p.Omit != "":
		t.others[p.ID] = true
	case p.Parent != "":
		t.parent[p.ID] = p.Parent
	}
}

// withOthers reports whether a post continues a thread with other people.
func (t *threads) withOthers(id string) bool {
	var seen []string
	for {
		if t.others[id] {
			for _, s := range seen {
				t.others[s] = true
			}
			return true
		}
		up, ok := t.parent[id]
		if !ok || len(seen) > len(t.parent) {
			for _, s := range seen {
				delete(t.parent, s) // this thread has only own posts
			}
			return false
		}
		seen, id = append(seen, id), up
	}
}

// foreignImport imports one archive of another program.
type foreignImport struct {
	*postBatch
	archive *foreignArchive
	kind    string
	threads *threads
	notes   map[string]int
	omitted map[string]int
	done    int
	stored  map[string]author.File // key: name in the archive
}

// importForeign reads the whole archive once before it stores anything.
func (t *Transfer) importForeign(ctx context.Context, user string, a *foreignArchive, src source, opts Options, progress Progress) (Result, error) {
	res := Result{Kind: src.kind(), Preview: opts.Preview}
	th := &threads{parent: map[string]string{}, others: map[string]bool{}, at: map[string]int64{}}
	total := 0
	if err := src.posts(ctx, func(p *foreignPost) error {
		th.note(p)
		if total++; total%100 == 0 {
			progress.at(PhaseCheck, total, 0)
		}
		return nil
	}); err != nil {
		return res, err
	}
	b := t.newBatch(user, &res, progress, total, opts)
	im := &foreignImport{postBatch: b, archive: a, kind: src.kind(), threads: th, notes: map[string]int{}, omitted: map[string]int{}, stored: map[string]author.File{}}
	err := src.posts(ctx, func(p *foreignPost) error { return im.one(ctx, p) })
	if flushed := im.finish(ctx); err == nil {
		err = flushed
	}
	im.report()
	if err != nil || opts.Preview {
		return res, err
	}
	return res, t.importProfile(ctx, user, src.profile(), &res)
}

func (im *foreignImport) report() {
	for _, note := range slices.Sorted(maps.Keys(im.notes)) {
		im.res.problem(fmt.Sprintf("%s: %d.", note, im.notes[note]))
	}
	if im.archive.links > 0 {
		im.res.problem(fmt.Sprintf("Links in the archive were left out: %d.", im.archive.links))
	}
	for _, reason := range slices.Sorted(maps.Keys(im.omitted)) {
		im.res.Omitted = append(im.res.Omitted, Omission{reason, im.omitted[reason]})
	}
}

func (im *foreignImport) omit(reason string) {
	im.res.Found++
	im.res.Skipped++
	im.omitted[reason]++
}

// one imports a post, or counts the reason for leaving the post out.
func (im *foreignImport) one(ctx context.Context, p *foreignPost) error {
	if im.done++; im.done%50 == 0 {
		im.progress.at(PhaseFiles, im.done, max(im.total, im.done))
	}
	if p.From == ownPost && p.Omit == "" && p.Parent != "" && im.threads.withOthers(p.Parent) {
		p.From = replyToPost
	}
	switch p.From {
	case replyToPost:
		im.res.Replies++
	case boostedPost:
		im.res.Boosts++
	}
	switch {
	case p.Omit != "":
		im.omit(p.Omit)
		return nil
	case p.From == replyToPost && !im.opts.Replies:
		im.omit(omitReply)
		return nil
	case p.From == boostedPost && !im.opts.Boosts:
		im.omit(omitBoost)
		return nil
	}
	if p.Note != "" {
		im.notes[p.Note]++
	}
	im.pending = append(im.pending, pendingMove{p.Old, p.Key, p.GUID})
	old, err := im.Posts.ByKey(ctx, im.user, p.Key, p.GUID)
	switch {
	case err == nil && old.State != author.Deleted:
		im.res.Found++
		im.res.Existing++
		im.res.span(p.Post)
		return im.resolveLarge(ctx)
	case err != nil && fault.CodeOf(err) != fault.NotFound:
		return err
	}
	if err := im.attach(ctx, p); err != nil {
		return err
	}
	im.answer(p)
	if strings.TrimSpace(p.Source) == "" && p.Title == "" && len(p.Enclosures) == 0 && p.Link == "" {
		im.omit(omitEmpty)
		return nil
	}
	if err := im.add(ctx, p.Post); err != nil {
		return err
	}
	return im.resolveLarge(ctx)
}

// answer makes a post of an own thread a reply to the post before it.
func (im *foreignImport) answer(p *foreignPost) {
	at, known := im.threads.at[p.Parent]
	if p.Parent == "" || !known || p.Reply != nil {
		return
	}
	before := author.Post{User: im.user, Slug: p.Parent, PublishedAt: time.UnixMilli(at)}
	if to := im.Posts.Address(before); to != "" {
		p.Reply = &author.Reply{URL: to}
	}
}

// attach stores the files of a post and inserts their URLs. A file that this server does not accept
// is reported, and the post keeps the old URL of the file.
func (im *foreignImport) attach(ctx context.Context, p *foreignPost) error {
	for _, f := range p.Files {
		stored, err := im.store(ctx, f.Entry)
		var to string
		switch {
		case err == nil:
			to = im.Files.Path(stored)
		case fault.CodeOf(err) == fault.Invalid:
			im.res.problem(fmt.Sprintf("The file %s was left out. %s", clip(f.Entry, 150), fault.Message(err)))
			im.notes["Files that were left out"]++
		default:
			return err
		}
		if f.Mark != "" {
			to = cmp.Or(to, f.Original)
			p.Source = strings.ReplaceAll(p.Source, f.Mark, to)
			continue
		}
		if to != "" {
			p.Enclosures = append(p.Enclosures, author.Enclosure{URL: to, Type: stored.Type, Length: stored.Size, Alt: clip(f.Alt, 1500)})
		}
	}
	return nil
}

// store stores a file of the archive once. A preview only counts the file.
func (im *foreignImport) store(ctx context.Context, entry string) (author.File, error) {
	if f, ok := im.stored[entry]; ok {
		return f, nil
	}
	one := im.archive.byName[entry]
	if im.opts.Preview {
		f := author.File{User: im.user, Name: path.Base(entry), Size: one.size}
		im.keep(entry, f)
		im.res.Files++
		im.res.FileBytes += one.size
		return f, nil
	}
	r, err := one.open()
	if err != nil {
		return author.File{}, fault.Wrap(fault.Invalid, err, "It is damaged in the archive.")
	}
	defer r.Close()
	f, err := im.Files.Put(ctx, im.user, path.Base(entry), "", r)
	if err != nil {
		return f, err
	}
	im.keep(entry, f)
	im.res.Files++
	im.res.FileBytes += f.Size
	return f, nil
}

// keep records a stored file. During an import, it drops all records when there are 20,000, to
// limit memory.
func (im *foreignImport) keep(entry string, f author.File) {
	if !im.opts.Preview && len(im.stored) >= 20_000 {
		clear(im.stored) // Put finds a stored file again by its content
	}
	im.stored[entry] = f
}

// openForeign returns the source for the program that wrote an archive. It identifies the program
// by the content of the archive, and returns an error if the program is unknown.
func openForeign(a *foreignArchive) (source, error) {
	for _, find := range []func(*foreignArchive) source{openMastodon, openTwitter, openBlogArchive, openBlogger, openMarkdown} {
		if src := find(a); src != nil {
			return src, nil
		}
	}
	return nil, errors.New("unknown archive")
}
