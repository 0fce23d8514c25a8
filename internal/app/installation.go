package app

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cloudburst/client"
	"cloudburst/internal/checkup"
	"cloudburst/internal/config"
	"cloudburst/internal/fault"
	"cloudburst/internal/store"
)

// examiner is a store that can report the state of its database.
type examiner interface {
	Checkup(ctx context.Context, now time.Time) (checkup.Database, error)
}

// probes records the requests that this process has sent to its own public URL. A secret token
// identifies each request.
type probes struct {
	mu   sync.Mutex
	sent map[string]bool // key: token; value: whether the request arrived
}

// probeParam is the query parameter of /healthz that contains a probe's token.
const probeParam = "probe"

func (p *probes) send() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent == nil {
		p.sent = map[string]bool{}
	}
	token := rand.Text()
	p.sent[token] = false
	return token
}

// arrive records that a probe arrived. It reports whether this process sent the probe.
func (p *probes) arrive(token string) (ours bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ours = p.sent[token]; ours {
		p.sent[token] = true
	}
	return ours
}

// probeHeader is the response header with which another node of this server proves that it
// received a probe.
const probeHeader = "Cloudburst-Probe"

// examination collects the facts that the doctor command evaluates.
type examination struct{ *App }

// proof returns the proof that this node has the shared key. It answers only tokens in the format
// of send, so that nobody can obtain signatures of other texts.
func (a examination) proof(token string) string {
	if a.accounts == nil || len(token) != len(rand.Text()) {
		return ""
	}
	h := hmac.New(sha256.New, a.accounts.Key)
	h.Write([]byte("cloudburst probe of a public address " + token))
	return hex.EncodeToString(h.Sum(nil))
}

func (p *probes) arrived(token string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer delete(p.sent, token)
	return p.sent[token]
}

// installation returns the findings about the environment of this process.
func (a examination) installation(ctx context.Context, store examiner) (client.Installation, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out := client.Installation{Findings: []client.Finding{}}
	for _, f := range checkup.Check(a.facts(ctx, store)) {
		out.Findings = append(out.Findings, client.Finding{ID: f.ID, Level: string(f.Level), Text: f.Text, Why: f.Why, Fix: f.Fix})
		switch f.Level {
		case checkup.Problem:
			out.Problems++
		case checkup.Warning:
			out.Warnings++
		}
	}
	return out, ctx.Err()
}

// facts collects all facts about the installation.
func (a examination) facts(ctx context.Context, store examiner) checkup.Installation {
	w := a.quickFacts(ctx, store)
	w.Backup, w.Copy = verifyLastBackup(ctx, a.cfg.Data)
	if b := a.bucket(); b != nil {
		w.Bucket = a.cfg.Media.Bucket
		if err := b.Check(ctx); err != nil {
			w.BucketErr = strings.TrimRight(err.Error(), ".")
		}
	}
	return w
}

// quickFacts collects the facts without reading the last backup and without using the bucket,
// because both can take long.
func (a examination) quickFacts(ctx context.Context, store examiner) checkup.Installation {
	now := time.Now() // use the system clock, because its time is one of the facts
	w := checkup.Installation{
		Now: now, Running: a.names.Listeners() != nil, PublicURL: a.cfg.PublicURL, AdminListen: a.cfg.Admin.Listen, AdminOpen: !a.cfg.Admin.Private(),
		SecretKey: a.cfg.Accounts.SecretKey, KeyTrouble: a.keyTrouble,
		OpenFiles: openFiles(), ClockOff: a.clock.Off(),
	}
	w.Backup = knownBackup(a.cfg.Data).At
	w.Folder = examineData(a.cfg, a.command)
	w.Folder.Min = a.freeSpace().least
	// Some settings have their own finding, so they are not listed twice.
	w.Settings = slices.DeleteFunc(a.cfg.Warnings(), func(s string) bool {
		return strings.HasPrefix(s, "public-url ") || strings.HasPrefix(s, "admin.listen ")
	})
	if w.SecretKey == "" {
		w.KeyFile = filepath.Join(a.cfg.Data, keyFile)
		if info, err := os.Stat(w.KeyFile); err == nil {
			w.KeyMode = info.Mode()
		}
	}
	if w.Running && w.PublicURL != "" {
		w.Reach = a.reach(ctx)
	}
	var err error
	if w.Database, err = store.Checkup(ctx, now); err != nil {
		w.Database.Err = fault.Message(err)
		if fault.CodeOf(err) == fault.Internal {
			w.Database.Err = err.Error()
		}
	}
	return w
}

// reach requests the public URL as other clients do. It does not use the guarded client, because
// that client never connects to this server's own listeners. The request is safe, because the
// operator configured the URL.
func (a examination) reach(ctx context.Context) checkup.Reach {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	token := a.probes.send()
	r := checkup.Reach{Tried: true}
	var proof string
	begin := time.Now()
	err := func() error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.cfg.PublicURL+"/healthz?"+probeParam+"="+token, nil)
		if err != nil {
			return err
		}
		h := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext}}
		res, err := h.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.TLS != nil && len(res.TLS.PeerCertificates) > 0 {
			r.Expires = res.TLS.PeerCertificates[0].NotAfter
		}
		proof = res.Header.Get(probeHeader)
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("it answers %s", res.Status)
		}
		return nil
	}()
	r.Took = time.Since(begin)
	other := a.proof(token)
	r.Self = a.probes.arrived(token) || other != "" && hmac.Equal([]byte(proof), []byte(other))
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // the inner error does not contain the URL, which includes the secret token
	}
	if err != nil {
		r.Err = strings.TrimRight(err.Error(), ".")
	}
	return r
}

// examineData examines the data folder. A command on a shared database needs none.
func examineData(cfg config.Config, command bool) checkup.Folder {
	if _, err := os.Stat(cfg.Data); command && cfg.Database != "" && errors.Is(err, fs.ErrNotExist) {
		return checkup.Folder{}
	}
	return examineFolder(cfg.Data)
}

// examineFolder tests a data folder by writing to it several times.
func examineFolder(dir string) checkup.Folder {
	f := checkup.Folder{Path: dir}
	info, err := os.Stat(dir)
	if err != nil {
		f.Err = plainError(err)
		return f
	}
	f.Mode = info.Mode()
	f.Free, f.Size, f.Kind = diskOf(dir)
	var all []time.Duration
	for range 5 {
		took, err := writeOnce(dir)
		if err != nil {
			f.Err = plainError(err)
			return f
		}
		all = append(all, took)
	}
	slices.Sort(all)
	f.Sync = all[len(all)/2]
	return f
}

func plainError(err error) string {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// writeOnce measures how long it takes to write one page to a file and sync it to disk.
func writeOnce(dir string) (time.Duration, error) {
	file, err := os.CreateTemp(dir, "doctor-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	begin := time.Now()
	if _, err := file.Write(make([]byte, 4096)); err != nil {
		return 0, err
	}
	err = file.Sync()
	return time.Since(begin), err
}

// copyWithin is the maximum time for verifying a backup. A large backup on a slow disk can take
// longer and is then not verified.
const copyWithin = 15 * time.Second

// verifyLastBackup returns the time of the last recorded backup of a data folder, and the result
// of verifying the backup's file.
func verifyLastBackup(ctx context.Context, dir string) (at time.Time, c checkup.Copy) {
	b := knownBackup(dir)
	if b.File == "" {
		return b.At, c
	}
	ctx, cancel := context.WithTimeout(ctx, copyWithin)
	defer cancel()
	c.File = b.File
	sum, err := store.VerifyBackup(ctx, b.File)
	switch {
	case err == nil:
		c.SHA256 = sum
	case ctx.Err() != nil:
		c.Err = fmt.Sprintf("reading %s took longer than %s.", b.File, copyWithin)
	case fault.CodeOf(err) == fault.Internal:
		c.Err = "reading " + b.File + " failed: " + err.Error()
	default:
		c.Err, c.Damaged = fault.Message(err), fault.CodeOf(err) == fault.Unavailable
	}
	return b.At, c
}

// FolderOnly returns the facts about an installation whose store cannot be opened. The facts
// cover only the settings and the data folder.
func FolderOnly(cfg config.Config, opening error) checkup.Installation {
	w := checkup.Installation{Now: time.Now(), PublicURL: cfg.PublicURL, AdminListen: cfg.Admin.Listen, AdminOpen: !cfg.Admin.Private(),
		SecretKey: cfg.Accounts.SecretKey, Folder: examineData(cfg, true), OpenFiles: openFiles()}
	w.Backup, w.Copy = verifyLastBackup(context.Background(), cfg.Data)
	w.Database.Err = opening.Error()
	return w
}
