package authortest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/storetest"
)

// keepObject stores a file whose content is the object temp.
func (e *env) keepObject(t *testing.T, user, content, temp string) author.File {
	t.Helper()
	storetest.Must(t, e.files(t).BeginObject(e.Ctx, temp, e.Now))
	f, err := e.files(t).KeepFile(e.Ctx, e.file(user, content), temp, 0)
	storetest.Must(t, err)
	return f
}

// wantObject checks the name of the object of a file. "" means that the content is in pieces.
func (e *env) wantObject(t *testing.T, f author.File, want string) {
	t.Helper()
	got, err := e.files(t).FileObject(e.Ctx, f.Hash)
	storetest.Must(t, err)
	storetest.Same(t, "object", got, want)
}

// sweepObjects sweeps and returns the names of the deleted objects.
func (e *env) sweepObjects(t *testing.T, before time.Time) (deleted []string) {
	t.Helper()
	storetest.Must(t, e.files(t).SweepFiles(e.Ctx, before, func(_ context.Context, name string) error {
		deleted = append(deleted, name)
		return nil
	}))
	slices.Sort(deleted)
	return deleted
}

func fileObject(t *testing.T, e *env) {
	f := e.keepObject(t, "alice", "one", "o1")
	e.wantObject(t, f, "o1")
	_, err := e.files(t).FilePieceAt(e.Ctx, f.Hash, 0)
	storetest.WantFault(t, err, fault.NotFound)
	_, err = e.files(t).FileObject(e.Ctx, e.file("", "unknown").Hash)
	storetest.WantFault(t, err, fault.NotFound)
	// A second upload of the same content uses the first object.
	e.wantObject(t, e.keepObject(t, "bob", "one", "o2"), "o1")
	storetest.Same(t, "deleted", e.sweepObjects(t, e.Now), []string{"o2"})
	e.wantObject(t, e.keep(t, "carol", "one"), "o1")
	e.wantObject(t, e.keep(t, "alice", "in pieces"), "")
	e.wantObject(t, e.keepObject(t, "bob", "in pieces", "o3"), "")
	storetest.Must(t, e.files(t).BeginObject(e.Ctx, "o4", e.Now))
	storetest.Must(t, e.files(t).DropFilePieces(e.Ctx, "o4"))
	storetest.Same(t, "deleted", e.sweepObjects(t, e.Now), []string{"o3", "o4"})
}

func objectSweep(t *testing.T, e *env) {
	f := e.keepObject(t, "alice", "one", "o1")
	e.keepObject(t, "bob", "one", "o2")
	storetest.Must(t, e.files(t).BeginObject(e.Ctx, "abandoned", e.Now))
	storetest.Same(t, "deleted", e.sweepObjects(t, e.Now), []string{"o2"})
	storetest.Must(t, e.files(t).RemoveFile(e.Ctx, "alice", f.Hash))
	storetest.Same(t, "deleted", e.sweepObjects(t, e.Now), []string(nil))
	storetest.Must(t, e.files(t).RemoveFile(e.Ctx, "bob", f.Hash))
	// Without access to the objects, and while they cannot be deleted, their names are kept.
	storetest.Must(t, e.files(t).SweepFiles(e.Ctx, e.In(time.Hour), nil))
	broken := errors.New("broken")
	if err := e.files(t).SweepFiles(e.Ctx, e.In(time.Hour), func(context.Context, string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	storetest.Same(t, "deleted", e.sweepObjects(t, e.In(time.Hour)), []string{"abandoned", "o1"})
	_, err := e.files(t).KeepFile(e.Ctx, e.file("alice", "late"), "abandoned", 0)
	storetest.WantFault(t, err, fault.Conflict)
}

func piecesReplaced(t *testing.T, e *env) {
	store := e.files(t)
	content := large(author.PieceSize + 9)
	f := e.keep(t, "bob", content)
	e.keep(t, "alice", content)
	e.keepObject(t, "alice", "object", "o1")
	list, err := store.FilesInPieces(e.Ctx, 10)
	storetest.Must(t, err)
	alice := f
	alice.User = "alice"
	storetest.Same(t, "files in pieces", list, []author.File{alice})
	storetest.WantFault(t, store.ReplacePieces(e.Ctx, f.Hash, "never begun"), fault.Conflict)
	for _, temp := range []string{"o2", "o3"} {
		storetest.Must(t, store.BeginObject(e.Ctx, temp, e.Now))
		storetest.Must(t, store.ReplacePieces(e.Ctx, f.Hash, temp))
		e.wantObject(t, f, "o2")
	}
	_, err = store.FilePieceAt(e.Ctx, f.Hash, 0)
	storetest.WantFault(t, err, fault.NotFound)
	list, err = store.FilesInPieces(e.Ctx, 10)
	storetest.Must(t, err)
	storetest.Same(t, "files in pieces", list, []author.File(nil))
	storetest.Same(t, "deleted", e.sweepObjects(t, e.Now), []string{"o3"})
}

// putShared uploads the content "shared", as an object or in one piece.
func (e *env) putShared(t *testing.T, objects *sync.Map, temp string, object bool) error {
	if !object {
		return e.files(t).PutFilePiece(e.Ctx, temp, 0, []byte("shared"), e.Now)
	}
	err := e.files(t).BeginObject(e.Ctx, temp, e.Now)
	objects.Store(temp, "shared")
	return err
}

// readShared reads the content of a file, wherever it is.
func (e *env) readShared(t *testing.T, objects *sync.Map, f author.File) (string, error) {
	name, err := e.files(t).FileObject(e.Ctx, f.Hash)
	if err != nil || name == "" {
		piece, err := e.files(t).FilePieceAt(e.Ctx, f.Hash, 0)
		return string(piece), err
	}
	content, _ := objects.Load(name)
	s, _ := content.(string)
	return s, nil
}

func deleteFrom(objects *sync.Map) func(context.Context, string) error {
	return func(_ context.Context, name string) error {
		objects.Delete(name)
		return nil
	}
}
