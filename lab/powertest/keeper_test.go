package powertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cloudburst/client"
	"cloudburst/lab/outside"
)

const (
	author = "ann" // a user that package crashtest creates
	pause  = 20 * time.Millisecond
)

// keeper stores more kinds of data than crashtest, and checks the data after each power cut. It
// stores files of an author, backups of the database, and posts in a feed file.
type keeper struct {
	binary string
	dir    string
	http   *http.Client

	stop  context.CancelFunc
	group sync.WaitGroup

	mu      sync.Mutex
	n       int
	files   []client.File     // acknowledged files
	bytes   map[string][]byte // key: hash of a file; value: content
	copies  map[string][]byte // acknowledged backups and their keys; key: path; value: content
	posts   []string          // acknowledged posts in the feed file
	checked int
	broken  []string
}

func newKeeper(binary, dir string) *keeper {
	return &keeper{binary: binary, dir: dir, http: outside.Client(time.Minute),
		bytes: map[string][]byte{}, copies: map[string][]byte{}}
}

// start checks the acknowledged data, and then stores more data until finish is called.
func (k *keeper) start(ctx context.Context, base, admin string) error {
	k.check(ctx, base)
	if len(k.broken) > 0 {
		return errors.New("acknowledged data is lost")
	}
	for _, dir := range []string{"www", "backup"} {
		if err := makeFolder(k.dir, dir); err != nil {
			return err
		}
	}
	ctx, k.stop = context.WithCancel(ctx)
	c := &client.Client{Base: admin, HTTP: k.http}
	for _, work := range []func(context.Context, *client.Client, int){k.upload, k.backup, k.publish} {
		k.group.Go(func() {
			for ctx.Err() == nil {
				k.mu.Lock()
				k.n++
				n := k.n
				k.mu.Unlock()
				work(ctx, c, n)
				time.Sleep(pause) // the program is a real process, so this is real time
			}
		})
	}
	return nil
}

// makeFolder creates a folder, and syncs its name so that the folder survives a power cut.
func makeFolder(dir, name string) error {
	if err := os.Mkdir(filepath.Join(dir, name), 0o700); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// finish stops the work of start and waits for its end.
func (k *keeper) finish() {
	if k.stop != nil {
		k.stop()
	}
	k.group.Wait()
}

func (k *keeper) upload(ctx context.Context, c *client.Client, n int) {
	text := bytes.Repeat(fmt.Appendf(nil, "file %d.\n", n), 1+n*37%4000)
	f, err := c.Upload(ctx, author, fmt.Sprintf("file-%d.txt", n), "text/plain", int64(len(text)), bytes.NewReader(text))
	if err != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.files, k.bytes[f.Hash] = append(k.files, f), text
}

// backup creates a backup of the database. The backup must not change after it is acknowledged.
func (k *keeper) backup(ctx context.Context, c *client.Client, n int) {
	b, err := c.BackupTo(ctx, client.BackupOptions{File: filepath.Join(k.dir, "backup", fmt.Sprintf("%d.db", n)), WithKey: true})
	if err != nil {
		return
	}
	for _, name := range []string{b.File, b.Key} {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the power cut made the disk unreadable
		}
		k.mu.Lock()
		k.copies[name] = text
		k.mu.Unlock()
	}
	time.Sleep(10 * pause)
}

// publish adds a post to a feed file with the publish command.
func (k *keeper) publish(ctx context.Context, _ *client.Client, n int) {
	text := fmt.Sprintf("Post number %d.", n)
	cmd := exec.CommandContext(ctx, k.binary, "publish", "--to", filepath.Join(k.dir, "www", "rss.xml"), "--url", "http://example.invalid/rss.xml", "--no-ping", text)
	if cmd.Run() != nil {
		return
	}
	k.mu.Lock()
	k.posts = append(k.posts, text)
	k.mu.Unlock()
	time.Sleep(5 * pause)
}

func (k *keeper) violation(format string, args ...any) {
	k.broken = append(k.broken, fmt.Sprintf(format, args...))
}

// check compares the stored data with the acknowledged files, backups and posts.
func (k *keeper) check(ctx context.Context, base string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.files {
		got, answered := k.get(ctx, base+f.Path)
		if !answered {
			continue // the next power cut has begun
		}
		if k.checked++; !bytes.Equal(got, k.bytes[f.Hash]) {
			k.violation("file lost: %s has %d bytes that differ from the %d acknowledged bytes", f.Path, len(got), len(k.bytes[f.Hash]))
		}
	}
	for name, want := range k.copies {
		k.checked++
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			k.violation("backup lost: %s has %d of %d bytes, or different bytes (%v)", name, len(got), len(want), err)
			delete(k.copies, name)
		}
	}
	if len(k.posts) == 0 {
		return
	}
	feed, err := os.ReadFile(filepath.Join(k.dir, "www", "rss.xml"))
	if err != nil || !bytes.HasSuffix(bytes.TrimSpace(feed), []byte("</rss>")) {
		k.violation("feed file lost: %d bytes that do not end with </rss> (%v)", len(feed), err)
	}
	for _, text := range k.posts {
		if k.checked++; !strings.Contains(string(feed), text) {
			k.violation("feed file lost: %q is missing", text)
		}
	}
}

// get returns the body at a URL, or nil for status 404. answered is false if there is no usable
// response.
func (k *keeper) get(ctx context.Context, url string) (body []byte, answered bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, false
	}
	res, err := k.http.Do(req)
	if err != nil {
		return nil, false
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	switch {
	case err != nil:
		return nil, false
	case res.StatusCode == http.StatusNotFound:
		return nil, true
	}
	return body, res.StatusCode == http.StatusOK
}
