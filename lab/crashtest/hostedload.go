package crashtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cloudburst/client"
)

const (
	writers     = 3 // number of concurrent clients that write hosted feeds
	writersRest = 10 * time.Millisecond
	saveTakes   = 200 * time.Millisecond // longer than most saves take
	password    = "correct horse battery"
)

// settleIn creates the owners of hosted feeds before the program runs. One owner saves with a
// token, and has a reader of a private feed. The other owner saves with a password.
func (r *runner) settleIn(ctx context.Context) error {
	file := filepath.Join(r.Dir, "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	// On PostgreSQL, a command creates the key for the secret only in an existing folder.
	if err := os.MkdirAll(r.Data, 0o700); err != nil {
		return err
	}
	for _, name := range []string{"ann", "bob"} {
		if _, err := r.command(ctx, "user", "add", name, "--password-file", file); err != nil {
			return err
		}
		r.owners = append(r.owners, owner{name, password})
	}
	if _, err := r.command(ctx, "user", "add", postAuthor, "--password-file", file); err != nil {
		return err
	}
	token, err := r.command(ctx, "user", "token", "ann", "--scope", "create,update")
	if err != nil {
		return err
	}
	r.owners[0].password = strings.TrimSpace(token)
	made, err := r.command(ctx, "feed", "secret", "add", "--user", "ann", "cal", "--json")
	if err != nil {
		return err
	}
	var secret client.Secret
	if err := json.Unmarshal([]byte(made), &secret); err != nil || secret.Access == nil {
		return fmt.Errorf("parse the output of \"feed secret add\": %w", err)
	}
	r.reader = owner{secret.Access.Name, secret.Access.Password}
	return nil
}

// command runs a command of the program on the data folder of the run.
func (r *runner) command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, r.Binary, append(append(args, "--data", r.Data), r.Args...)...)
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, failed.Stderr)
	}
	return string(out), err
}

// writerLoop saves, reads and subscribes to hosted feeds until ctx ends.
func (r *runner) writerLoop(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(writersRest) { // the program is a real process, so this pause is real time
		base := r.where()
		if base == "" {
			continue
		}
		o := r.owners[r.rng.IntN(len(r.owners))]
		form := asSaved
		if r.rng.IntN(3) == 0 {
			form = rendered
		}
		switch n := r.rng.IntN(24); {
		case n < 8:
			r.save(base, o)
		case n < 16:
			r.read(base, o.name, form)
		case n < 19:
			r.prove(base)
		case n < 22:
			r.replay(base)
		case r.history.kept(o.name):
			r.follow(base, o.topic(form))
		}
	}
}

// follow subscribes to a hosted feed or cancels a subscription, at random.
func (r *runner) follow(base, topic string) {
	s, n := r.subs[r.rng.IntN(len(r.subs))], r.rng.IntN(3)
	cloud, websub := fmt.Sprintf("/hosted%d", n), fmt.Sprintf("/ws-hosted%d", n)
	switch n := r.rng.IntN(12); {
	case n < 5:
		r.register(base, topic, s, cloud)
	case n < 6:
		r.cancel(base, topic, s, cloud)
	case n < 11:
		r.ask(base, subscribe, topic, s, websub, r.secret(), r.rng.IntN(4) > 0)
	default:
		r.ask(base, unsubscribe, topic, s, websub, "", true)
	}
}

// newOwners creates n users for hosted feeds while the program runs.
func (r *runner) newOwners(ctx context.Context, n int, name string) ([]owner, error) {
	c := &client.Client{Base: r.admin, HTTP: r.client}
	var all []owner
	for i := range n {
		o := owner{name: fmt.Sprintf("%s-%d", name, i)}
		if _, err := c.AddUser(ctx, o.name, password); err != nil {
			return nil, err
		}
		t, err := c.NewToken(ctx, o.name, client.TokenRequest{Scopes: []string{"create", "update"}})
		if err != nil {
			return nil, err
		}
		o.password = t.Token
		all = append(all, o)
	}
	return all, nil
}

// host creates the hosted feeds for a targeted crash, each with a first version and subscribers.
func (r *runner) host(ctx context.Context, t *targetedCrash) error {
	var err error
	if t.owners, err = r.newOwners(ctx, len(t.feeds), t.name); err != nil {
		return err
	}
	r.fresh = t.owners
	var group sync.WaitGroup
	for i, o := range t.owners {
		group.Go(func() {
			r.save(t.base, o)
			forms := []string{asSaved, rendered}
			r.register(t.base, o.topic(forms[i%2]), t.s, fmt.Sprintf("/hosted-%s-%d", t.name, i))
			r.await(r.ask(t.base, subscribe, o.topic(forms[(i+1)%2]), t.s, fmt.Sprintf("/ws-hosted-%s-%d", t.name, i), r.secret(), true))
		})
	}
	group.Wait()
	return nil
}

// lastSaves saves the hosted feeds of a targeted crash. It returns after the first response or a
// timeout, and the caller then kills the process. The feeds do not change afterwards.
func (r *runner) lastSaves(t *targetedCrash, in time.Duration) {
	saved := make(chan struct{}, len(t.owners))
	for _, o := range t.owners {
		wait := in - time.Duration(r.rng.IntN(int(20*time.Millisecond)))
		t.last.Go(func() {
			time.Sleep(wait)
			r.save(t.base, o)
			saved <- struct{}{}
		})
	}
	t.last.Go(func() {
		time.Sleep(in)
		r.prove(t.base)
	})
	select {
	case <-saved:
	case <-time.After(in + saveTakes):
	}
}

// readAll reads the feeds of all owners in list, each in all given formats.
func (r *runner) readAll(base string, list []owner, forms ...string) {
	for _, o := range list {
		for _, form := range forms {
			r.read(base, o.name, form)
		}
	}
}

// readKept reads every hosted feed at the end of the run, and sends each accepted header again.
func (r *runner) readKept(base string) {
	var all []owner
	r.history.do(func() {
		for name := range r.history.saves {
			all = append(all, owner{name: name})
		}
	})
	r.readAll(base, all, asSaved, rendered)
	for r.replay(base) {
	}
}
