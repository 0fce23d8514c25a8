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
	author = "ann" // whom crashtest has made
	pause  = 20 * time.Millisecond
)

// keeper stores data in addition to crashtest, and checks it after each cut: files of an author,
// copies of the database, and posts in a feed file.
type keeper struct {
	binary string
	dir    string
	http   *http.Client

	stop  context.CancelFunc
	group sync.WaitGroup

	mu      sync.Mutex
	n       int
	files   []client.File     // acknowledged
	bytes   map[string][]byte // of them, by hash
	copies  map[string][]byte // acknowledged backups and their keys, by file
	posts   []string          // acknowledged, in the feed that is a file
	checked int
	broken  []string
}

func newKeeper(binary, dir string) *keeper {
	return &keeper{binary: binary, dir: dir, http: outside.Client(time.Minute),
		bytes: map[string][]byte{}, copies: map[string][]byte{}}
}

// live checks what is there, and has more kept until rest.
func (k *keeper) live(ctx context.Context, base, admin string) error {
	k.check(ctx, base)
	if len(k.broken) > 0 {
		return errors.New("what was acknowledged is gone")
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
				time.Sleep(pause) // a real process lives in real time
			}
		})
	}
	return nil
}

// makeFolder makes a folder that is there after a cut.
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

// rest ends what live began.
func (k *keeper) rest() {
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

// backup has a copy of the database made. What was acknowledged stays as it is.
func (k *keeper) backup(ctx context.Context, c *client.Client, n int) {
	b, err := c.BackupTo(ctx, client.BackupOptions{File: filepath.Join(k.dir, "backup", fmt.Sprintf("%d.db", n)), WithKey: true})
	if err != nil {
		return
	}
	for _, name := range []string{b.File, b.Key} {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the disk has failed meanwhile
		}
		k.mu.Lock()
		k.copies[name] = text
		k.mu.Unlock()
	}
	time.Sleep(10 * pause)
}

// publish writes a post into a feed that is a file, with the program's own command.
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

func (k *keeper) say(format string, args ...any) {
	k.broken = append(k.broken, fmt.Sprintf(format, args...))
}

// check looks for everything that was acknowledged.
func (k *keeper) check(ctx context.Context, base string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.files {
		got, answered := k.get(ctx, base+f.Path)
		if !answered {
			continue // the power is gone again
		}
		if k.checked++; !bytes.Equal(got, k.bytes[f.Hash]) {
			k.say("file lost: %s has %d bytes that are not the %d that were kept", f.Path, len(got), len(k.bytes[f.Hash]))
		}
	}
	for name, want := range k.copies {
		k.checked++
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			k.say("backup lost: %s has %d of %d bytes, or others (%v)", name, len(got), len(want), err)
			delete(k.copies, name)
		}
	}
	if len(k.posts) == 0 {
		return
	}
	feed, err := os.ReadFile(filepath.Join(k.dir, "www", "rss.xml"))
	if err != nil || !bytes.HasSuffix(bytes.TrimSpace(feed), []byte("</rss>")) {
		k.say("feed file lost: %d bytes that do not end as a feed does (%v)", len(feed), err)
	}
	for _, text := range k.posts {
		if k.checked++; !strings.Contains(string(feed), text) {
			k.say("feed file lost: it does not have %q", text)
		}
	}
}

// get is what is served at a URL, nothing where there is nothing; answered is false when
// nobody can say.
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
