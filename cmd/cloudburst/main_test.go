package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"cloudburst/internal/cli"
	"cloudburst/internal/nettest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"cloudburst": func() { os.Exit(cli.Main()) },
	})
}

// TestCommandScriptsPass runs testdata/script/*.txt. It adds these commands:
//
//	feed NAME         serves $WORK/NAME as a feed and sets $FEED
//	await FILE RE     waits until a line of FILE matches
//	await-file FILE   waits until FILE exists
//	json FILE KEY V   the last line of FILE has this value at this key
//	oldhub FILE       writes a subscriptions.json with future expiry times
//	feeds N           serves N feeds, sets $FEEDS to their URL, and writes list.opml
//	post I TITLE      adds an item to the Ith of those feeds
//	get URL RE [FILE] reads URL, with the token in FILE, until the answer matches
//	until RE COMMAND… runs the command until its output matches
//	silent            sets $SILENT to an address where nothing listens
func TestCommandScriptsPass(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			// Remove the settings in the environment, so that they do not affect the tests.
			for _, kv := range os.Environ() {
				if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "CLOUDBURST_") {
					e.Setenv(name, "")
				}
			}
			e.Values[feedsKey{}] = &manyFeeds{}
			e.Setenv("SERVE", "--listen=127.0.0.1:0 --admin.listen=127.0.0.1:0")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"feed": serveFeed, "await": await, "await-file": awaitFile, "json": checkJSON, "subst": subst, "silent": silent,
			"feeds": serveFeeds, "post": post, "get": get, "until": until,
		},
	})
}

// feedServer serves a file as a feed and reads it for each request.
type feedServer struct {
	file string
	mu   sync.Mutex
}

func (f *feedServer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, err := os.ReadFile(f.file)
	if err != nil {
		http.Error(w, "there is no feed", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/rss+xml")
	w.Write(b)
}

func serveFeed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: feed NAME")
	}
	srv := httptest.NewServer(&feedServer{file: ts.MkAbs(args[0])})
	ts.Defer(srv.Close)
	ts.Setenv("FEED", srv.URL+"/rss.xml")
	ts.Setenv("FEEDHOST", srv.URL)
}

// patience is the maximum duration of each wait. A correct program needs much less.
const patience = 5 * time.Minute

func poll(ts *testscript.TestScript, what string, done func() bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline.C:
			ts.Fatalf("%s did not happen", what)
		}
	}
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE REGEXP")
	}
	re := regexp.MustCompile("(?m)" + args[1])
	var last []byte
	defer func() { ts.Logf("%s:\n%s", args[0], last) }()
	poll(ts, args[1]+" in "+args[0], func() bool {
		b, err := os.ReadFile(ts.MkAbs(args[0]))
		last = b
		return err == nil && re.Match(b)
	})
}

// awaitFile waits for a file and sets $LAST to its content.
func awaitFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await-file FILE VARIABLE")
	}
	poll(ts, args[0], func() bool {
		b, err := os.ReadFile(ts.MkAbs(args[0]))
		ts.Setenv(args[1], strings.TrimSpace(string(b)))
		return err == nil && strings.HasSuffix(string(b), "\n")
	})
	// Scripts also need the host and the port of an address separately.
	if host, port, err := net.SplitHostPort(ts.Getenv(args[1])); err == nil {
		ts.Setenv(args[1]+"_HOST", host)
		ts.Setenv(args[1]+"_PORT", port)
	}
}

func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE KEY VALUE")
	}
	rows := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	var row map[string]any
	if err := json.Unmarshal([]byte(rows[len(rows)-1]), &row); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	got := ""
	switch v := row[args[1]].(type) {
	case string:
		got = v
	case float64:
		got = strconv.FormatFloat(v, 'f', -1, 64)
	case nil:
	default:
		got = fmt.Sprint(v)
	}
	if (got == args[2]) == neg {
		ts.Fatalf("%s is %q in %s", args[1], got, rows[len(rows)-1])
	}
}

// subst copies a file. In the copy, $NAME is replaced with the variable, and {+2h} with the time in
// two hours.
func subst(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: subst FROM TO")
	}
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	moment := regexp.MustCompile(`\{([+-][0-9hms]+)\}`)
	now := time.Now().UTC().Truncate(time.Second)
	text = moment.ReplaceAllStringFunc(text, func(m string) string {
		d, err := time.ParseDuration(strings.Trim(m, "{+}"))
		ts.Check(err)
		return now.Add(d).Format("2006-01-02T15:04:05Z")
	})
	ts.Check(os.WriteFile(ts.MkAbs(filepath.Clean(args[1])), []byte(text), 0o600))
}

func silent(ts *testscript.TestScript, _ bool, _ []string) {
	addr, end, err := nettest.ReserveRefusingAddr("127.0.0.1")
	ts.Check(err)
	ts.Defer(end)
	ts.Setenv("SILENT", addr)
}
