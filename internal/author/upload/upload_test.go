package upload_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"cloudburst/internal/author"
	"cloudburst/internal/author/upload"
	"cloudburst/internal/fault"
)

const origin = "https://here.example"

func newFiles(t *testing.T) (*upload.Files, *memoryFiles) {
	t.Helper()
	s := newMemoryFiles()
	return &upload.Files{Store: s, Temp: t.TempDir(), Origin: func() string { return origin }}, s
}

// noise returns random bytes in no known format.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b) // cannot fail
	return b
}

func smallPNG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func put(t *testing.T, files *upload.Files, user, name string, b []byte) author.File {
	t.Helper()
	f, err := files.Put(t.Context(), user, name, "", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFileIsReadAsStored(t *testing.T) {
	t.Parallel()
	files, _ := newFiles(t)
	for _, n := range []int{1, author.PieceSize - 1, author.PieceSize, author.PieceSize + 1, 3*author.PieceSize + 17} {
		want := noise(n)
		f := put(t, files, "alice", "data.bin", want)
		sum := sha256.Sum256(want)
		if f.Hash != hex.EncodeToString(sum[:]) || f.Size != int64(n) || f.Name != "data.bin" || n > 1 && f.Type != "application/octet-stream" {
			t.Errorf("%+v", f)
		}
		_, r, err := files.Open(t.Context(), "alice", f.Hash[:16])
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(r, want); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := r.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("a closed file can be read: %v", err)
		}
	}
}

func TestFilesWithEqualContentAreStoredOnce(t *testing.T) {
	t.Parallel()
	files, s := newFiles(t)
	a, b := put(t, files, "alice", "one.png", smallPNG(t)), put(t, files, "alice", "two.png", smallPNG(t))
	if b.Name != "two.png" || files.Path(b) != "/alice/media/"+a.Hash[:16]+"/two.png" {
		t.Errorf("the second upload returned %+v", b)
	}
	if b.Name = a.Name; a != b {
		t.Errorf("%+v and %+v", a, b)
	}
	if kept, err := files.Get(t.Context(), "alice", a.Hash); err != nil || kept.Name != "one.png" {
		t.Errorf("%+v, %v", kept, err)
	}
	bob := put(t, files, "bob", "three.png", smallPNG(t))
	if bob.Name != "three.png" || bob.Hash != a.Hash || bob.Width != 3 || bob.Height != 2 {
		t.Errorf("%+v", bob)
	}
	if files.Path(bob) != "/bob/media/"+a.Hash[:16]+"/three.png" {
		t.Error(files.Path(bob))
	}
	if len(s.pieces) != 1 {
		t.Errorf("%d pieces", len(s.pieces))
	}
}

func TestFailedUploadLeavesNoFile(t *testing.T) {
	t.Parallel()
	files, s := newFiles(t)
	files.MaxSize = 3 << 20
	broken := errors.New("connection reset")
	gone, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		name string
		file string
		ctx  context.Context
		r    io.Reader
		code fault.Code
		want string
	}{
		{"cut off", "x", t.Context(), io.MultiReader(bytes.NewReader(noise(1<<20)), iotest.ErrReader(broken)), fault.Invalid, "upload is incomplete"},
		{"too large", "x", t.Context(), bytes.NewReader(noise(3<<20 + 1)), fault.Invalid, "larger than 3 MiB"},
		{"empty", "x", t.Context(), strings.NewReader(""), fault.Invalid, "empty"},
		{"canceled", "x", gone, readThen(noise(1<<20), cancel), fault.Unavailable, ""},
		{"a page with the name of an image", "x.png", t.Context(), strings.NewReader("<html>"), fault.Invalid, "an HTML page"},
	} {
		_, err := files.Put(c.ctx, "alice", c.file, "", c.r)
		if fault.CodeOf(err) != c.code || !strings.Contains(fault.Message(err), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	s.fail = errors.New("disk full")
	if _, err := files.Put(t.Context(), "alice", "x", "", bytes.NewReader(noise(100))); fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
	if len(s.pieces)+len(s.files) != 0 {
		t.Errorf("%d pieces and %d files are left", len(s.pieces), len(s.files))
	}
	left, err := os.ReadDir(files.Temp)
	if err != nil || len(left) != 0 {
		t.Errorf("%d temporary files are left, %v", len(left), err)
	}
}

// readThen returns a reader of b that calls end just before it returns io.EOF.
func readThen(b []byte, end func()) io.Reader {
	return io.MultiReader(bytes.NewReader(b), readerFunc(func([]byte) (int, error) {
		end()
		return 0, io.EOF
	}))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestFileQuotaIsEnforced(t *testing.T) {
	t.Parallel()
	files, s := newFiles(t)
	files.Quota = 1 << 20
	put(t, files, "alice", "a", noise(700<<10))
	_, err := files.Put(t.Context(), "alice", "b", "", bytes.NewReader(noise(400<<10)))
	if want := "The file has 400 KiB, and your files together would exceed your quota of 1 MiB; it was not stored. Delete files that you do not need."; fault.CodeOf(err) != fault.TooMany || fault.Message(err) != want {
		t.Errorf("%v", err)
	}
	put(t, files, "bob", "b", noise(400<<10))
	if len(s.begun) != 0 {
		t.Error("pieces of the rejected file are left")
	}
}

func TestRefusedUserCannotUpload(t *testing.T) {
	t.Parallel()
	files, _ := newFiles(t)
	files.CheckUser = func(context.Context, string) error { return fault.New(fault.Refused, "No.") }
	if _, err := files.Put(t.Context(), "alice", "a", "", strings.NewReader("words")); fault.CodeOf(err) != fault.Refused {
		t.Error(err)
	}
}

// fakePosts is an [author.PostStore] with a list of posts.
type fakePosts struct {
	author.PostStore
	list []author.Post
}

func (p *fakePosts) Posts(context.Context, author.PostQuery) ([]author.Post, error) {
	return p.list, nil
}

func TestFileUsedByAPostIsDeletedOnlyAfterConfirmation(t *testing.T) {
	t.Parallel()
	files, s := newFiles(t)
	f := put(t, files, "alice", "a.png", smallPNG(t))
	posts := &fakePosts{list: make([]author.Post, 3)}
	posts.list[2].Title, posts.list[2].Enclosures = "With an image", []author.Enclosure{{URL: files.Path(f)}}
	files.Posts = posts
	err := files.Remove(t.Context(), "alice", f.Hash, false)
	if want := "a.png is used in the post “With an image”, which would lose it"; fault.CodeOf(err) != fault.Conflict || !strings.Contains(fault.Message(err), want) {
		t.Errorf("a used file: %v", err)
	}
	posts.list = posts.list[:2]
	if err := files.Remove(t.Context(), "alice", f.Hash[:16], false); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Get(t.Context(), "alice", f.Hash); fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
	if err := files.Sweep(t.Context()); err != nil || len(s.pieces) != 0 {
		t.Errorf("%d pieces are left, %v", len(s.pieces), err)
	}
	for _, hash := range []string{"", "abc", strings.Repeat("g", 64), strings.Repeat("a", 65), "../../etc/passwd0000"} {
		if _, err := files.Get(t.Context(), "alice", hash); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%q: %v", hash, err)
		}
	}
}

// fixedRemote is a Remote with fixed responses.
type fixedRemote map[string]upload.RemoteFile

func (e fixedRemote) About(_ context.Context, url string) (upload.RemoteFile, error) {
	f, ok := e[url]
	if !ok {
		return f, fault.New(fault.Unreadable, "Connection refused.")
	}
	return f, nil
}

func TestEnclosureTypeAndLengthAreDetected(t *testing.T) {
	t.Parallel()
	files, _ := newFiles(t)
	wav := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x40\x1f\x00\x00" + strings.Repeat("x", 8000))
	img, sound := put(t, files, "alice", "a.png", smallPNG(t)), put(t, files, "alice", "b.wav", wav)
	files.Remote = fixedRemote{
		"https://a.example/x":     {Type: "audio/mpeg; x=y", Length: 5},
		"https://a.example/y.mp3": {Type: "text/plain", Length: 7},
		"https://a.example/z":     {Type: "application/octet-stream", Head: smallPNG(t)},
		"https://a.example/none":  {},
	}
	for _, c := range []struct {
		address string
		want    author.Enclosure
	}{
		{files.Path(img), author.Enclosure{URL: files.Path(img), Type: "image/png", Length: img.Size}},
		{origin + files.Path(sound), author.Enclosure{URL: files.Path(sound), Type: "audio/wav", Length: sound.Size, Duration: 1}},
		{"https://a.example/x", author.Enclosure{URL: "https://a.example/x", Type: "audio/mpeg", Length: 5}},
		{"https://a.example/y.mp3", author.Enclosure{URL: "https://a.example/y.mp3", Type: "audio/mpeg", Length: 7}},
		{"https://a.example/z", author.Enclosure{URL: "https://a.example/z", Type: "image/png"}},
		{"https://a.example/none", author.Enclosure{URL: "https://a.example/none", Type: "application/octet-stream"}},
	} {
		if got, err := files.Describe(t.Context(), c.address); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", c.address, got, err)
		}
	}
	for address, code := range map[string]fault.Code{
		"": fault.Invalid, "javascript:x()": fault.Invalid, "/alice/media/0123456789abcdef/x": fault.NotFound, "/etc/passwd": fault.Invalid,
		"https://b.example/": fault.Unreadable, "https://u:p@a.example/x": fault.Invalid,
	} {
		if _, err := files.Describe(t.Context(), address); fault.CodeOf(err) != code {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func (s *memoryFiles) FileInGroup(context.Context, string, string, string) (bool, error) {
	return false, nil
}

// memoryObjects is an [author.Objects] in memory.
type memoryObjects struct {
	sync.Mutex
	of map[string][]byte
}

func (o *memoryObjects) Put(_ context.Context, name, _ string, size int64, hash string, open func() io.Reader) error {
	b, err := io.ReadAll(open())
	if sum := sha256.Sum256(b); err != nil || int64(len(b)) != size || hex.EncodeToString(sum[:]) != hash {
		return fmt.Errorf("%d of %d bytes, hash %s, %w", len(b), size, hash, err)
	}
	o.Lock()
	defer o.Unlock()
	o.of[name] = b
	return nil
}

func (o *memoryObjects) Read(_ context.Context, name string, offset int64, n int) ([]byte, error) {
	o.Lock()
	defer o.Unlock()
	return slices.Clone(o.of[name][offset : offset+int64(n)]), nil
}

func (o *memoryObjects) Delete(_ context.Context, name string) error {
	o.Lock()
	defer o.Unlock()
	delete(o.of, name)
	return nil
}

func TestSweepMovesContentIntoObjectsWhileItIsRead(t *testing.T) {
	t.Parallel()
	files, _ := newFiles(t)
	content := noise(3*author.PieceSize + 5)
	f := put(t, files, "alice", "a.bin", content)
	_, r, err := files.Open(t.Context(), "alice", f.Hash)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got := make([]byte, author.PieceSize+1)
	if _, err := io.ReadFull(r, got); err != nil {
		t.Fatal(err)
	}
	objects := &memoryObjects{of: map[string][]byte{}}
	moved := &upload.Files{Store: files.Store, Objects: objects, Now: files.Now}
	if err := moved.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(objects.of) != 1 {
		t.Fatalf("%d objects", len(objects.of))
	}
	_, after, err := moved.Open(t.Context(), "alice", f.Hash)
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	if all, err := io.ReadAll(after); err != nil || !bytes.Equal(all, content) {
		t.Errorf("%d bytes, %v", len(all), err)
	}
	// The reader r was opened before the content moved to an object, and cannot read objects.
	if _, err := io.ReadAll(r); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a reader without objects: %v", err)
	}
	if err := moved.Remove(t.Context(), "alice", f.Hash, true); err != nil {
		t.Fatal(err)
	}
	if err := moved.Sweep(t.Context()); err != nil || len(objects.of) != 0 {
		t.Errorf("%d objects are left, %v", len(objects.of), err)
	}
}

func TestReaderFollowsContentIntoAnObject(t *testing.T) {
	t.Parallel()
	files, _ := newFiles(t)
	content := noise(3*author.PieceSize + 5)
	f := put(t, files, "alice", "a.bin", content)
	files.Objects = &memoryObjects{of: map[string][]byte{}}
	_, r, err := files.Open(t.Context(), "alice", f.Hash)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got := make([]byte, author.PieceSize+1)
	if _, err := io.ReadFull(r, got); err != nil {
		t.Fatal(err)
	}
	if err := files.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(append(got, rest...), content) {
		t.Errorf("%d and %d bytes, %v", len(got), len(rest), err)
	}
}
