// Command planted is cloudburst with a fault in its store, which the harnesses must find. It
// accepts every command line of cloudburst, and is never shipped.
//
// The environment selects the fault: CLOUDBURSTBUG names a bug between the engine and the
// store ([wrap]), CLOUDBURSTDIE selects the commit at which the process ends ([boundary]), and
// CLOUDBURSTWRITES names a file for a record of every write of SQLite ([written]). Without
// these variables, the store is that of cloudburst.
package main

import (
	"context"
	"os"
	"runtime"

	"cloudburst/internal/cli"
	"cloudburst/internal/store"
)

func main() {
	var notes *written
	if name := os.Getenv("CLOUDBURSTWRITES"); name != "" {
		notes = noteTo(name)
	}
	p := cli.New()
	p.Serve = cli.ServeOn(open)
	code := cli.RunProcess(p, cli.Run)
	runtime.KeepAlive(notes)
	os.Exit(code)
}

// open opens the store of the server, with its fault.
func open(ctx context.Context, o store.Options) (store.Store, error) {
	if how := os.Getenv("CLOUDBURSTDIE"); how != "" {
		o.Commit = boundary(how)
	}
	st, err := store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return wrap(st, os.Getenv("CLOUDBURSTBUG"))
}
