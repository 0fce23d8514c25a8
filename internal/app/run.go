package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"cloudburst/internal/config"
	"cloudburst/internal/fault"
	"cloudburst/internal/heap"
	"cloudburst/internal/store"
)

const (
	closeWithin = 1500 * time.Millisecond // maximum time for open responses before the hub stops
	stopsWithin = 15 * time.Second        // maximum time for the whole shutdown, even on a busy machine
)

// Names of the files in the data folder that contain the addresses of a running server.
const (
	AdminAddrFile  = "admin.addr"
	ListenAddrFile = "listen.addr"
)

// Run starts the server and works until ctx ends. It opens the store, unless [Open] has done so.
// After ctx ends, Run waits for shutdown-delay, accepts no new requests, finishes open work and
// returns within stopsWithin. With a networked database, Run listens before the database is open, and
// waits for a slow or unavailable database. Until the database is open, requests get 503.
func (a *App) Run(ctx context.Context) error {
	heap.DelayCollector()
	if a.store == nil && a.cfg.Database == "" {
		if err := a.open(ctx); err != nil {
			return err
		}
	}
	if _, err := secretKey(a.cfg.Accounts.SecretKey, a.cfg.Data); err != nil { // return at once: waiting for the database cannot fix a wrong key
		return err
	}
	a.serverID = rand.Text()
	p := process{a}
	l, err := p.openListeners(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	a.names.Listen(addrPorts(l.all()...))
	tidy, err := p.prepareData(l.pub, l.adm)
	if err != nil {
		return err
	}
	defer tidy()
	var group sync.WaitGroup
	failed := make(chan error, 10)
	answer := sync.OnceFunc(func() { p.serve(l, &group, failed) })
	if err := a.begin(ctx, answer); err != nil {
		p.shut(l)
		group.Wait()
		if ctx.Err() != nil {
			return nil // SIGTERM arrived while the program waited for the database
		}
		return err
	}
	return p.work(ctx, l, answer, &group, failed)
}

// process is a running program with its listeners, its loops and its shutdown.
type process struct{ *App }

// work runs a server whose store is open, until ctx ends. It calls answer to start the listeners
// if they do not serve yet.
func (a process) work(ctx context.Context, l *listeners, answer func(), group *sync.WaitGroup, failed chan error) (err error) {
	defer a.sendTraces(ctx)()
	public := a.cfg.Public(l.pub.Addr().String())
	a.names.Set(a.ownNames(l, public))
	if err := a.unifySources(ctx); err != nil {
		a.log.Warn("cannot unify the subscriptions to this server's own feeds", "err", err)
	}
	a.banner(public, l.adm.Addr().String())
	routes := routing(a).publicRoutes(public) // build the routes first, because the loops below request pages of this server

	hubCtx, stopHub := context.WithCancel(context.WithoutCancel(ctx))
	defer stopHub()
	group.Go(func() { failed <- a.hub.Run(hubCtx) })
	group.Go(func() { failed <- a.upstream.Run(hubCtx) })
	group.Go(func() { failed <- a.river.Run(hubCtx) })
	group.Go(func() { a.full.Run(hubCtx) })
	group.Go(func() { a.beginRiver(hubCtx) })
	group.Go(func() { failed <- a.posts.Run(hubCtx) })
	group.Go(func() { failed <- a.announcer.Run(hubCtx) })
	group.Go(func() { failed <- a.conversation.Run(hubCtx) })
	group.Go(func() { failed <- a.mentionSender.Run(hubCtx) })
	group.Go(func() { failed <- a.threads.Run(hubCtx) })
	group.Go(func() { hosting(a).placeReplies(hubCtx) })
	group.Go(func() { a.testFeed.Run(hubCtx) })
	group.Go(func() { a.followLists(hubCtx) })
	group.Go(func() { hosting(a).maintainHosted(hubCtx) })
	group.Go(func() { hosting(a).indexChanged(hubCtx) })
	group.Go(func() { a.audience.Run(hubCtx) })
	group.Go(func() { administering(a).followAdmin(hubCtx) })
	group.Go(func() { a.watchSpace(hubCtx) })
	if hints, ok := a.store.(store.Hinter); ok {
		group.Go(func() { a.followHints(hubCtx, hints) })
	}
	l.open(routes, routing(a).adminRoutes(), public, a.hosts.Load())
	answer()
	group.Go(func() { l.front.warm(hubCtx, hosting(a).domainNames()) })
	group.Go(func() { a.notifyManager(hubCtx, l) })
	select {
	case <-ctx.Done():
		a.notifyStopping()
		err = a.leave(failed)
	case err = <-failed:
		a.notifyStopping()
	}
	close(a.done)
	a.shut(l)
	stopHub()
	group.Wait()
	return err
}

func (a process) followHints(ctx context.Context, hints store.Hinter) {
	for range hints.Hints(ctx) {
		a.hub.Wake()
		a.upstream.Wake()
		a.river.Wake()
		a.full.Wake()
		a.announcer.Wake()
		a.conversation.Wake()
		a.mentionSender.Wake()
		a.threads.Wake()
	}
}

// leave announces the shutdown and continues to serve for shutdown-delay, so that a load balancer
// can notice it.
func (a process) leave(failed <-chan error) error {
	a.draining.Store(true)
	wait := time.NewTimer(a.cfg.ShutdownDelay)
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case err := <-failed:
		return err
	}
}

// shut waits up to closeWithin for open requests. During this time the server accepts no
// connections, and each response closes its connection. All other connections are idle.
func (a process) shut(l *listeners) {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	a.draining.Store(true)
	accepting, stop := context.WithTimeout(ctx, closeWithin/3) // open requests need the rest of the time if the server cannot accept connections
	defer stop()
	for _, c := range l.counted {
		if own, ok := c.Listener.(ownSocket); ok {
			own.empty(accepting)
		}
		c.pause()
	}
	if a.hub != nil { // hub is nil if the server stopped while it waited for its store
		a.hub.AnswerPings()
	}
	var group sync.WaitGroup
	for i, s := range l.servers {
		group.Go(func() {
			l.counted[i].drained(ctx)
			if s.Shutdown(ctx) != nil {
				_ = s.Close() // close the remaining connections; the error does not matter
			}
		})
	}
	group.Wait()
}

// TemporaryFolder is a folder in the data folder. A server deletes its files when it starts.
const TemporaryFolder = "tmp"

// prepareData empties the folder of temporary files, and writes the ID of this run and the actual
// addresses of the listeners to files in the data folder, where commands read them. It returns a
// function that removes the files.
func (a process) prepareData(pub, adm net.Listener) (func(), error) {
	if err := os.MkdirAll(a.cfg.Data, 0o700); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "Cannot create the data folder %s.", a.cfg.Data)
	}
	temporary := filepath.Join(a.cfg.Data, TemporaryFolder)
	if err := errors.Join(os.RemoveAll(temporary), os.Mkdir(temporary, 0o700)); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "Cannot empty the folder %s of temporary files.", temporary)
	}
	files := [...][2]string{{config.ServerIDFile, a.serverID}, {AdminAddrFile, adm.Addr().String()}, {ListenAddrFile, pub.Addr().String()}}
	remove := func() {
		for _, f := range files {
			_ = os.Remove(filepath.Join(a.cfg.Data, f[0])) // an error does not matter: commands detect that no server answers at the old address
		}
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(a.cfg.Data, f[0]), []byte(f[1]+"\n"), 0o600); err != nil {
			remove()
			return nil, fault.Wrap(fault.Unavailable, err, "Cannot write to the data folder %s.", a.cfg.Data)
		}
	}
	return remove, nil
}

// banner prints the URLs to open, the endpoints to publish, and the warnings.
func (a process) banner(public, admin string) {
	if a.Out == nil {
		return
	}
	fmt.Fprintf(a.Out, "Cloudburst %s\n\n  Pages     %s/\n  Admin API http://%s/v1/ (this machine only, unless you changed admin.listen)\n  Data      %s\n\n", Version, public, admin, a.where())
	fmt.Fprintf(a.Out, "Put this into your feed's <channel>, and ping after each change:\n\n  %s\n  <atom:link xmlns:atom=\"http://www.w3.org/2005/Atom\" rel=\"hub\" href=\"%s/websub\"/>\n\n  cloudburst ping --hub %s FEED\n\n", a.cloudAt(public), public, public)
	if token := a.accounts.SetupToken(); token != "" {
		fmt.Fprintf(a.Out, "Nobody has an account yet. Make the first one here, or with cloudburst user add NAME:\n\n  %s/setup?token=%s\n\n", public, token)
	}
	for _, w := range a.operatorWarnings() {
		fmt.Fprintf(a.Out, "Warning: %s\n", w)
	}
}

func (a process) where() string {
	if a.cfg.Database != "" {
		return "PostgreSQL"
	}
	dir, err := filepath.Abs(a.cfg.Data)
	if err != nil {
		dir = a.cfg.Data
	}
	return "SQLite in " + dir
}
