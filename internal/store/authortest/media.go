package authortest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func fileTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"FileIsReadAsWritten":                           fileWhole,
		"IncompleteFileIsRejected":                      fileSevered,
		"SameContentIsStoredOnce":                       fileShared,
		"RepeatedUploadReturnsExistingFile":             fileAgain,
		"QuotaLimitsFilesOfUser":                        fileQuota,
		"UploadCanBeDropped":                            fileDropped,
		"FileBelongsToOneUser":                          fileSeparate,
		"FilesAreListedNewestFirstByPages":              filePages,
		"RemovedFileRemainsForOtherUsers":               fileRemoved,
		"FileOfPrivatePostsOnlyIsPrivate":               filePrivate,
		"SweepDeletesUnusedContent":                     fileSweep,
		"RemovedFileCanReturnBeforeSweep":               fileBack,
		"ObjectHasContentOfFile":                        fileObject,
		"SweepDeletesUnusedObjects":                     objectSweep,
		"ObjectReplacesPieces":                          piecesReplaced,
		"ConcurrentKeepRemoveAndSweepKeepFilesComplete": func(t *testing.T, e *env) { FilesTogether(t, e.Store, e.Store) },
	}
}

// files returns the store as an author.FileStore.
func (e *env) files(t *testing.T) author.FileStore {
	t.Helper()
	s, ok := e.Store.(author.FileStore)
	if !ok {
		t.Fatalf("%T is not an author.FileStore", e.Store)
	}
	return s
}

// file returns a file with a content that is not stored yet.
func (e *env) file(user, content string) author.File {
	return author.File{User: user, Hash: fmt.Sprintf("%x", sha256.Sum256([]byte(content))), Name: "日本'\"☂.png", Type: "image/png",
		Size: int64(len(content)), Width: 640, Height: 480, AddedAt: e.Now}
}

// receive uploads the pieces of a content.
func (e *env) receive(t *testing.T, temp, content string) {
	t.Helper()
	n := 0
	for piece := range slices.Chunk([]byte(content), author.PieceSize) {
		storetest.Must(t, e.files(t).PutFilePiece(e.Ctx, temp, n, piece, e.Now))
		n++
	}
}

// keep uploads and stores a file.
func (e *env) keep(t *testing.T, user, content string) author.File {
	t.Helper()
	temp := fmt.Sprint("begun-", user, len(content), content[:min(len(content), 20)])
	e.receive(t, temp, content)
	f, err := e.files(t).KeepFile(e.Ctx, e.file(user, content), temp, 0)
	storetest.Must(t, err)
	return f
}

// contentOf reads a file; ok is false if it does not exist.
func (e *env) contentOf(t *testing.T, f author.File) (content string, ok bool) {
	t.Helper()
	var b bytes.Buffer
	for n := 0; int64(b.Len()) < f.Size; n++ {
		piece, err := e.files(t).FilePieceAt(e.Ctx, f.Hash, n)
		if err != nil {
			storetest.WantFault(t, err, fault.NotFound)
			return b.String(), false
		}
		b.Write(piece)
	}
	return b.String(), true
}

// large returns a content of n bytes.
func large(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	return string(b)
}

func fileWhole(t *testing.T, e *env) {
	for _, size := range []int{1, 100, author.PieceSize - 1, author.PieceSize, author.PieceSize + 1, 3*author.PieceSize + 7} {
		content := large(size)
		f := e.keep(t, "alice", content)
		storetest.Same(t, "kept", f, e.file("alice", content))
		got, ok := e.contentOf(t, f)
		if !ok || got != content {
			t.Errorf("%d bytes were read as %d", size, len(got))
		}
		_, err := e.files(t).FilePieceAt(e.Ctx, f.Hash, (size+author.PieceSize-1)/author.PieceSize)
		storetest.WantFault(t, err, fault.NotFound)
		for _, hash := range []string{f.Hash, f.Hash[:16], f.Hash[:40]} {
			got, err := e.files(t).File(e.Ctx, "alice", hash)
			storetest.Must(t, err)
			storetest.Same(t, "by "+hash, got, f)
		}
	}
	f := e.file("alice", "")
	f.Name, f.Type = "a\x00\xFF", "b\xFF"
	kept, err := e.files(t).KeepFile(e.Ctx, f, "nothing came", 0)
	storetest.Must(t, err)
	storetest.Same(t, "an empty file with an invalid name", []any{kept.Size, kept.Name, kept.Type}, []any{int64(0), "a\uFFFD\uFFFD", "b\uFFFD"})
	for _, hash := range []string{"", kept.Hash[:15], kept.Hash + "0", "zzzzzzzzzzzzzzzzzzzz"} {
		_, err := e.files(t).File(e.Ctx, "alice", hash)
		storetest.WantFault(t, err, fault.NotFound)
	}
	_, err = e.files(t).FilePieceAt(e.Ctx, "", 0)
	storetest.WantFault(t, err, fault.NotFound)
}

func fileSevered(t *testing.T, e *env) {
	content := large(2*author.PieceSize + 5)
	e.receive(t, "short", content[:2*author.PieceSize])
	_, err := e.files(t).KeepFile(e.Ctx, e.file("alice", content), "short", 0)
	storetest.WantFault(t, err, fault.Conflict)
	e.receive(t, "hole", content[:author.PieceSize])
	storetest.Must(t, e.files(t).PutFilePiece(e.Ctx, "hole", 2, []byte(content[2*author.PieceSize:]), e.Now))
	storetest.Must(t, e.files(t).PutFilePiece(e.Ctx, "hole", 3, []byte(content[author.PieceSize:2*author.PieceSize]), e.Now))
	_, err = e.files(t).KeepFile(e.Ctx, e.file("alice", content), "hole", 0)
	storetest.WantFault(t, err, fault.Conflict)
	_, err = e.files(t).KeepFile(e.Ctx, e.file("alice", content), "never", 0)
	storetest.WantFault(t, err, fault.Conflict)
	_, err = e.files(t).File(e.Ctx, "alice", e.file("alice", content).Hash)
	storetest.WantFault(t, err, fault.NotFound)
	e.receive(t, "hole", content) // a piece that is uploaded again replaces the earlier one
	_, err = e.files(t).KeepFile(e.Ctx, e.file("alice", content), "hole", 0)
	storetest.WantFault(t, err, fault.Conflict)
	storetest.Must(t, e.files(t).DropFilePieces(e.Ctx, "hole"))
	e.receive(t, "hole", large(author.PieceSize))
	e.receive(t, "hole", content)
	f, err := e.files(t).KeepFile(e.Ctx, e.file("alice", content), "hole", 0)
	storetest.Must(t, err)
	if got, ok := e.contentOf(t, f); !ok || got != content {
		t.Error("the content differs")
	}
	storetest.WantFault(t, e.files(t).PutFilePiece(e.Ctx, "long", 0, make([]byte, author.PieceSize+1), e.Now), fault.Invalid)
	storetest.WantFault(t, e.files(t).PutFilePiece(e.Ctx, "", 0, []byte("x"), e.Now), fault.Invalid)
	storetest.WantFault(t, e.files(t).PutFilePiece(e.Ctx, "x", -1, []byte("x"), e.Now), fault.Invalid)
}

func fileShared(t *testing.T, e *env) {
	content := large(author.PieceSize + 1)
	a := e.keep(t, "alice", content)
	b := e.keep(t, "bob", content)
	storetest.Same(t, "hash", a.Hash, b.Hash)
	for _, f := range []author.File{a, b} {
		if got, ok := e.contentOf(t, f); !ok || got != content {
			t.Error("the content differs")
		}
	}
	// The second upload was deleted, so it cannot be stored again.
	f := e.file("carol", content)
	f.Hash = "f00"
	_, err := e.files(t).KeepFile(e.Ctx, f, fmt.Sprint("begun-bob", len(content), content[:20]), 0)
	storetest.WantFault(t, err, fault.Conflict)
}

func fileAgain(t *testing.T, e *env) {
	first := e.keep(t, "alice", "one")
	again := e.file("alice", "one")
	again.Name, again.AddedAt = "other", e.In(time.Hour)
	e.receive(t, "again", "one")
	got, err := e.files(t).KeepFile(e.Ctx, again, "again", 3)
	storetest.Must(t, err)
	storetest.Same(t, "kept", got, first)
	got, err = e.files(t).KeepFile(e.Ctx, again, "begun-alice3one", 3) // repeats a call whose reply was lost
	storetest.Must(t, err)
	storetest.Same(t, "kept again", got, first)
	storetest.Must(t, e.files(t).DropFilePieces(e.Ctx, "begun-alice3one"))
	if content, ok := e.contentOf(t, first); !ok || content != "one" {
		t.Errorf("the content is %q, %v", content, ok)
	}
}

func fileQuota(t *testing.T, e *env) {
	keep := func(user, content string, quota int64) error {
		e.receive(t, content, content)
		_, err := e.files(t).KeepFile(e.Ctx, e.file(user, content), content, quota)
		return err
	}
	storetest.Must(t, keep("alice", "12345", 10))
	storetest.Must(t, keep("bob", "1234567890", 10))
	storetest.Must(t, keep("alice", "54321", 10))
	storetest.WantFault(t, keep("alice", "x", 10), fault.TooMany)
	_, err := e.files(t).File(e.Ctx, "alice", e.file("alice", "x").Hash)
	storetest.WantFault(t, err, fault.NotFound)
	_, ok := e.contentOf(t, e.file("alice", "x"))
	storetest.Same(t, "content of the refused", ok, false)
	storetest.Must(t, keep("alice", "12345", 10))
	storetest.Must(t, e.files(t).RemoveFile(e.Ctx, "alice", e.file("alice", "12345").Hash))
	storetest.Must(t, keep("alice", "x", 10))
	storetest.Must(t, keep("alice", "a long text without any bound", 0))
}

func fileDropped(t *testing.T, e *env) {
	e.receive(t, "temp", "one")
	storetest.Must(t, e.files(t).DropFilePieces(e.Ctx, "temp"))
	storetest.Must(t, e.files(t).DropFilePieces(e.Ctx, "temp"))
	_, err := e.files(t).KeepFile(e.Ctx, e.file("alice", "one"), "temp", 0)
	storetest.WantFault(t, err, fault.Conflict)
}

func fileSeparate(t *testing.T, e *env) {
	f := e.keep(t, "alice", "one")
	_, err := e.files(t).File(e.Ctx, "bob", f.Hash)
	storetest.WantFault(t, err, fault.NotFound)
	storetest.WantFault(t, e.files(t).RemoveFile(e.Ctx, "bob", f.Hash), fault.NotFound)
	storetest.WantFault(t, e.files(t).RemoveFile(e.Ctx, "alice", f.Hash[:16]), fault.NotFound)
	list, err := e.files(t).Files(e.Ctx, "bob", nil, 10)
	storetest.Must(t, err)
	storetest.Same(t, "files of another", len(list), 0)
	_, ok := e.contentOf(t, f)
	storetest.Same(t, "its content", ok, true)
}

func filePages(t *testing.T, e *env) {
	var want []author.File
	start := e.Now
	for i := range 10 {
		e.Now = start.Add(time.Duration(i/4) * time.Second)
		want = append(want, e.keep(t, "alice", fmt.Sprint("file ", i)))
		e.keep(t, "bob", fmt.Sprint("other ", i))
	}
	slices.SortFunc(want, func(a, b author.File) int {
		if c := b.AddedAt.Compare(a.AddedAt); c != 0 {
			return c
		}
		return bytes.Compare([]byte(b.Hash), []byte(a.Hash))
	})
	var got []author.File
	var after *author.File
	for {
		page, err := e.files(t).Files(e.Ctx, "alice", after, 3)
		storetest.Must(t, err)
		if len(page) == 0 {
			break
		}
		got = append(got, page...)
		after = &page[len(page)-1]
	}
	storetest.Same(t, "files", got, want)
}

func fileRemoved(t *testing.T, e *env) {
	f := e.keep(t, "alice", "one")
	e.keep(t, "bob", "one")
	storetest.Must(t, e.files(t).RemoveFile(e.Ctx, "alice", f.Hash))
	_, err := e.files(t).File(e.Ctx, "alice", f.Hash)
	storetest.WantFault(t, err, fault.NotFound)
	storetest.Must(t, e.files(t).SweepFiles(e.Ctx, e.In(time.Hour), nil))
	content, ok := e.contentOf(t, f)
	storetest.Same(t, "content of the other", []any{content, ok}, []any{"one", true})
	storetest.Must(t, e.files(t).RemoveFile(e.Ctx, "bob", f.Hash))
	storetest.WantFault(t, e.files(t).RemoveFile(e.Ctx, "bob", f.Hash), fault.NotFound)
	_, ok = e.contentOf(t, f)
	storetest.Same(t, "content without users", ok, false)
}

func fileSweep(t *testing.T, e *env) {
	kept := e.keep(t, "alice", "kept")
	removed := e.keep(t, "alice", "removed")
	storetest.Must(t, e.files(t).RemoveFile(e.Ctx, "alice", removed.Hash))
	e.receive(t, "old", "old")
	e.Now = e.In(time.Hour)
	e.receive(t, "new", "new")
	storetest.Must(t, e.files(t).SweepFiles(e.Ctx, e.Now, nil))
	_, ok := e.contentOf(t, kept)
	storetest.Same(t, "content of the kept file", ok, true)
	_, err := e.files(t).KeepFile(e.Ctx, e.file("alice", "old"), "old", 0)
	storetest.WantFault(t, err, fault.Conflict)
	_, err = e.files(t).KeepFile(e.Ctx, e.file("alice", "new"), "new", 0)
	storetest.Must(t, err)
	_, err = e.files(t).KeepFile(e.Ctx, e.file("alice", "removed"), "none", 0)
	storetest.WantFault(t, err, fault.Conflict)
	storetest.Must(t, e.files(t).SweepFiles(e.Ctx, time.Time{}, nil))
}

func fileBack(t *testing.T, e *env) {
	content := large(author.PieceSize + 9)
	f := e.keep(t, "alice", content)
	storetest.Must(t, e.files(t).RemoveFile(e.Ctx, "alice", f.Hash))
	f = e.keep(t, "bob", content)
	storetest.Must(t, e.files(t).SweepFiles(e.Ctx, e.In(time.Hour), nil))
	if got, ok := e.contentOf(t, f); !ok || got != content {
		t.Errorf("read %d of %d bytes", len(got), len(content))
	}
}

// FilesTogether checks that a stored file remains complete while other callers store, delete and
// sweep the same content concurrently.
func FilesTogether(t *testing.T, a, b hub.Store) {
	const workers, rounds = 6, 25
	stores := []*env{newEnv(t, a), newEnv(t, b)}
	var objects sync.Map // contents by name
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			e := &env{&storetest.Case{Store: stores[worker%2].Store, Ctx: stores[0].Ctx, Now: stores[0].Now}}
			user := fmt.Sprint("user", worker)
			for round := range rounds {
				temp := fmt.Sprint(user, "-", round)
				f := e.file(user, "shared")
				if err := e.putShared(t, &objects, temp, round%2 == 0); err != nil {
					t.Errorf("uploading: %v", err)
					return
				}
				if _, err := e.files(t).KeepFile(e.Ctx, f, temp, 100); err != nil {
					t.Errorf("keeping: %v", err)
					return
				}
				if got, err := e.readShared(t, &objects, f); err != nil || got != "shared" {
					t.Errorf("a stored file reads %q, %v", got, err)
				}
				if err := e.files(t).RemoveFile(e.Ctx, user, f.Hash); err != nil {
					t.Errorf("removing: %v", err)
				}
				if err := e.files(t).SweepFiles(e.Ctx, e.Now, deleteFrom(&objects)); err != nil {
					t.Errorf("sweeping: %v", err)
				}
			}
		})
	}
	group.Wait()
	e := stores[0]
	storetest.Must(t, e.files(t).SweepFiles(e.Ctx, e.In(time.Hour), deleteFrom(&objects)))
	_, ok := e.contentOf(t, e.file("", "shared"))
	storetest.Same(t, "content without users", ok, false)
	objects.Range(func(name, _ any) bool { t.Errorf("the object %v is left", name); return true })
}
