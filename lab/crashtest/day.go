package crashtest

import (
	"context"
	"fmt"
	"time"

	"cloudburst/client"
	"cloudburst/lab/outside"
)

// scriptedDay runs one process that executes each operation once, through every endpoint, in
// sequence. The process crashes at the commit that the environment variable CLOUDBURSTDIE names,
// or ends normally.
func (r *runner) scriptedDay(ctx context.Context) error {
	for _, s := range r.subs {
		s.calm.Store(true)
	}
	env := r.Env
	r.Env = append(append([]string{}, env...), "CLOUDBURSTDIE="+r.Day)
	p, err := r.start(ctx, false)
	r.Env = env
	if err != nil { // the program crashed during its start, or cannot start at all
		r.history.now(func(l *lifetime, at time.Time) { l.ended = at })
		r.Log(err.Error())
		return r.afterCrash()
	}
	base, s, feed := p.Base, r.subs[0], r.feed(0)
	c := &client.Client{Base: p.Admin, HTTP: r.client}
	l := &line{key: "the post of the day", may: []string{""}}
	for i, step := range []func(){
		func() { r.register(base, feed, s, "/cb0"); r.register(base, feed, s, "/cb1") },
		func() { r.registerCNWS(base, feed, s, "/cn0") },
		func() {
			r.await(r.ask(base, subscribe, feed, s, "/ws0", "the secret", true), r.ask(base, subscribe, feed, s, "/ws1", "", false))
		},
		func() { r.ping(base, feed, overCloud) },
		func() { r.save(base, r.owners[0]); r.save(base, r.owners[1]) },
		func() { r.register(base, r.owners[0].topic(asSaved), s, "/hosted0") },
		func() {
			r.await(r.ask(base, subscribe, r.owners[0].topic(rendered), s, "/ws-hosted0", "another", true))
		},
		func() { r.save(base, r.owners[0]); r.read(base, r.owners[0].name, rendered) },
		func() { r.prove(base) },
		func() { r.posts.lines = append(r.posts.lines, l); r.create(ctx, c, l) },
		func() { r.followAuthor() },
		func() { r.change(ctx, c, l) },
		func() { r.ping(base, feed, ofSite) },
		func() { r.feeds.setSlow(feed, true); r.ping(base, feed, overWebSub); r.feeds.setSlow(feed, false) },
		func() { r.cancel(base, feed, s, "/cb0") },
		func() { r.await(r.ask(base, unsubscribe, feed, s, "/ws0", "", true)) },
		func() { r.ping(base, feed, overCloud) },
	} {
		if p.Ended() {
			r.Log(fmt.Sprintf("crash in step %d", i))
			break
		}
		step()
	}
	if _, err := r.until(ctx, func(n outside.PendingWork) bool { return n.ShardsDue == 0 && n.ChecksDue == 0 }); err != nil {
		r.Log("crash: " + err.Error())
	}
	return r.crash(p)
}
