package feedfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cloudburst/feed"
)

const small = "<rss version=\"2.0\"><channel><title>x</title>\n<item><title>a</title></item>\n</channel></rss>\n"

func writeFeed(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(small), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

// checkFiles checks that a folder has exactly as many files as names.
func checkFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != len(names) {
		t.Errorf("the folder has %v, %v; want %v", list, err, names)
	}
}

func TestConcurrentWritersLoseNoItem(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "rss.xml")
	const many = 20
	var group sync.WaitGroup
	for i := range many {
		group.Go(func() {
			it := post()
			it.ID = fmt.Sprint("http://me.example/", i)
			o := options()
			o.New = &feed.Feed{Title: feed.Text{Value: "x"}, Link: "http://me.example/"}
			if _, err := Write(t.Context(), name, it, o); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	b, err := os.ReadFile(name)
	if err != nil || strings.Count(string(b), "<item>") != many {
		t.Errorf("%d items, %v", strings.Count(string(b), "<item>"), err)
	}
	checkFiles(t, filepath.Dir(name), "rss.xml")
}

func TestFileModeAndSymlinkArePreserved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real := filepath.Join(dir, "real.xml")
	writeFeed(t, real, 0o640)
	link := filepath.Join(t.TempDir(), "link.xml")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	if _, err := Write(t.Context(), link, post(), options()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	checkFiles(t, dir, "real.xml")
}

func TestRejectedFeedFileIsUnchanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.xml")
	if err := os.WriteFile(broken, []byte("<rss><channel>"), 0o644); err != nil {
		t.Fatal(err)
	}
	dangling := filepath.Join(dir, "dangling.xml")
	if err := os.Symlink(filepath.Join(dir, "nothing.xml"), dangling); err != nil {
		t.Skip(err)
	}
	empty := filepath.Join(dir, "empty.xml")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		broken: "broken", dangling: "a link to a file that is not there", empty: "is empty", dir: "not a file",
		filepath.Join(dir, "none.xml"): "there is no file", filepath.Join(dir, "no", "x.xml"): "no folder",
	} {
		if _, err := Write(t.Context(), name, post(), options()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
	}
	if b, err := os.ReadFile(broken); err != nil || string(b) != "<rss><channel>" {
		t.Errorf("the broken file is %q, %v", b, err)
	}
	checkFiles(t, dir, "broken.xml", "dangling.xml", "empty.xml")
}

func TestReadOnlyFeedFileIsNotReplaced(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root can write all files")
	}
	name := filepath.Join(t.TempDir(), "rss.xml")
	writeFeed(t, name, 0o444)
	if _, err := Write(t.Context(), name, post(), options()); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("%v", err)
	}
}

func TestWaitForFileLockEndsIfTheContextIsCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lock(ctx, dir); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

func TestFileChangedConcurrentlyIsNotReplaced(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "rss.xml")
	writeFeed(t, name, 0o644)
	_, info, err := readFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(small+"<!-- theirs -->"), 0o644); err != nil {
		t.Fatal(err)
	}
	if done, err := replace(name, []byte("ours"), info); done || err != nil {
		t.Errorf("replaced: %v, %v", done, err)
	}
	if b, _ := os.ReadFile(name); !strings.HasSuffix(string(b), "<!-- theirs -->") {
		t.Errorf("the file is %q", b)
	}
	checkFiles(t, filepath.Dir(name), "rss.xml")
}
