package crashtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"cloudburst/lab/program"
)

// start starts the program and waits until it is ready. With strike it may be killed
// before, and is started again.
func (r *runner) start(ctx context.Context, strike bool) (*program.Process, error) {
	for {
		if r.struck = nil; strike && r.Strike != nil {
			r.struck = r.Strike()
		}
		p, err := r.startOnce(ctx)
		if !errors.Is(err, program.ErrStruck) {
			return p, err
		}
		r.history.now(func(l *life, at time.Time) { l.died = at })
		if err := r.dead(); err != nil {
			return nil, err
		}
		strike = false
	}
}

func (r *runner) startOnce(ctx context.Context) (*program.Process, error) {
	r.history.born()
	p, err := program.Start(ctx, program.Command{Binary: r.Binary, Dir: r.Dir, Data: r.Data, Strike: r.struck, Env: r.Env, Args: append([]string{
		"--public-url", publicURL,
		"--hub.retry", "100ms,200ms,400ms,400ms,400ms,400ms,400ms,400ms", // what comes after is hours away in WebSub
		"--hub.max-errors", "1000", "--hub.ping-interval", "20ms",
		"--hub.callback-timeout", "6s",
		"--hub.source-rate", "0", "--hub.host-rate", "0"}, r.Args...)})
	if err != nil {
		return nil, err
	}
	r.history.now(func(l *life, at time.Time) { l.ready = at })
	if r.Alive != nil {
		if err := r.Alive(ctx, p.Base, p.Admin); err != nil {
			p.Kill()
			return nil, err
		}
	}
	// Before anybody saves again: what the dead one left.
	r.readAll(p.Base, slices.Concat(r.owners, r.fresh), asSaved)
	r.fresh = nil
	r.mu.Lock()
	r.base, r.admin = p.Base, p.Admin
	r.mu.Unlock()
	return p, nil
}

func (r *runner) gone() {
	r.mu.Lock()
	r.base, r.admin = "", ""
	r.mu.Unlock()
}

func (r *runner) where() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base
}

// left is the program's own count of what it has still to do.
type left struct {
	Owed      int64 `json:"owed"`
	PartsDue  int64 `json:"parts_due"`
	ChecksDue int64 `json:"checks_due"`
	Requests  int64 `json:"requests"`
}

// stored is a subscription in the program's own words.
type stored struct{ Topic, Callback, Protocol, Secret string }

// settle waits until the program has nothing left to do; false: it always had.
func (r *runner) settle(ctx context.Context) (bool, error) {
	return r.until(ctx, func(l left) bool { return l == left{} })
}

// until waits until done says so, for a while on end.
func (r *runner) until(ctx context.Context, done func(left) bool) (bool, error) {
	calm, began, last := 0, time.Now(), left{Owed: -1}
	for end := began.Add(r.Settle); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var now left
		if err := r.rest(ctx, &now); err != nil {
			return false, err
		}
		if now != last {
			r.Log(fmt.Sprintf("after %s there is left: %+v", time.Since(began).Round(time.Millisecond), now))
		}
		if last = now; !done(now) {
			calm = 0
		} else if calm++; calm >= 5 {
			return true, nil
		}
	}
	return false, nil
}

// rest reads what is left to do from the store's own numbers.
func (r *runner) rest(ctx context.Context, to any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.admin+"/v1/status", nil)
	if err != nil {
		return err
	}
	res, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var status struct {
		Counts json.RawMessage `json:"counts"`
	}
	if err := json.NewDecoder(res.Body).Decode(&status); err != nil {
		return err
	}
	return json.Unmarshal(status.Counts, to)
}

// export is what the program says it has.
func (r *runner) export(ctx context.Context) (map[pair]stored, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.admin+"/v1/subscriptions/export", nil)
	if err != nil {
		return nil, err
	}
	res, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	all := map[pair]stored{}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		var s stored
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, err
		}
		all[pair{s.Topic, s.Callback}] = s
	}
	return all, lines.Err()
}
