// Command planted is cloudburst with a bug or fault in its store. The test harnesses must detect
// it. The command accepts every command line of cloudburst, and is not part of a release.
//
// Environment variables select the fault. CLOUDBURSTBUG names a bug between the engine and the
// store ([wrap]). CLOUDBURSTDIE selects the commit at which the process ends ([boundary]).
// CLOUDBURSTWRITES names a file that records every write of SQLite ([written]). Without these
// variables, the store is the same as in cloudburst.
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

// open opens the store of the server with the selected fault.
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
