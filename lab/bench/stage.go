package bench

import (
	"cloudburst/internal/cli/shell"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Common contains the options of all measurements. A zero value means the default in brackets.
type Common struct {
	Hosts       int    // number of quick callback hosts [1,000]
	Concurrent  int    // number of concurrent requests of a loop [256]
	Rounds      int    // number of measured rounds [5]
	Database    string // postgres:// URL of an empty database for this measurement [SQLite in the temporary folder]
	NoFile      int    // limit of open files of the server and the loops [unchanged]
	Profile     string // file for a CPU profile of the server during the first round
	MemProfile  string // file for a heap profile of the server at the end of the measurement
	ServerFlags []string
	Progress    io.Writer // receives the progress display [nothing is printed]
	Exe         string    // path of the program [the running executable]
}

const (
	notifyTimeout = 45 * time.Second // a round fails if no notification arrives for this time
	latencyOf     = 10               // number of subscribers of the feed to measure latency
	stopWithin    = 15 * time.Second
)

// stage contains the processes of one measurement.
type stage struct {
	Common
	dir      string
	progress *shell.Progress
	receiver *receiverProcess
	server   *server
	roots    string // file for the field roots of serverPlan
	loops    map[string]*loopProcess
	report   Report
	begun    time.Time
}

func openStage(name string, c Common, p Plan) (*stage, error) {
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	c.Hosts, c.Concurrent, c.Rounds = orElse(c.Hosts, 1000), orElse(c.Concurrent, 256), orElse(c.Rounds, 5)
	if c.Exe == "" {
		exe, err := os.Executable()
		if err != nil {
			return nil, err
		}
		c.Exe = exe
	}
	dir, err := os.MkdirTemp("", "cloudburst-bench-")
	if err != nil {
		return nil, err
	}
	s := &stage{Common: c, dir: dir, progress: shell.NewProgress(c.Progress, ""), loops: map[string]*loopProcess{}, begun: time.Now()}
	s.report = Report{Bench: name, At: s.begun.UTC(), Machine: ThisMachine(), Options: map[string]string{}}
	s.option("hosts", c.Hosts)
	s.option("rounds", c.Rounds)
	if c.NoFile > 0 {
		s.option("nofile", c.NoFile)
	}
	if c.Database != "" {
		s.report.Options["database"] = "PostgreSQL"
	}
	p.Hosts = c.Hosts
	if s.receiver, err = startReceiver(c.Exe, dir, p); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func orElse(v, standard int) int {
	if v == 0 {
		return standard
	}
	return v
}

func (s *stage) option(name string, v int) { s.report.Options[name] = strconv.Itoa(v) }

// serve starts the server, or restarts it on its existing data.
func (s *stage) serve(ctx context.Context) error {
	data := filepath.Join(s.dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	srv, err := startServer(ctx, s.Exe, s.dir, serverPlan{data: data, database: s.Database, noFile: s.NoFile, extra: s.ServerFlags, roots: s.roots})
	if err != nil {
		return err
	}
	s.server = srv
	return nil
}

// serveEmpty starts the server like serve. It fails if the store already contains subscriptions.
func (s *stage) serveEmpty(ctx context.Context) error {
	if err := s.serve(ctx); err != nil {
		return err
	}
	st, err := s.server.api.Status(ctx)
	if err != nil {
		return err
	}
	if st.Counts != nil && st.Counts.Subscriptions > 0 {
		return fmt.Errorf("the database holds %d subscriptions; a measurement needs an empty database for this measurement", st.Counts.Subscriptions)
	}
	return nil
}

// step returns a function that shows the progress of a step.
func (s *stage) step(label string, total int) func(done int) {
	return func(done int) { s.progress.Step(label, done, total) }
}

// loop returns the loop of a kind, started once. A loop keeps its connections between runs.
func (s *stage) loop(kind string) (*loopProcess, error) {
	if l := s.loops[kind]; l != nil {
		return l, nil
	}
	l, err := startLoop(s.Exe, s.dir, fmt.Sprintf("loop%d", len(s.loops)), s.NoFile)
	if err != nil {
		return nil, err
	}
	s.loops[kind] = l
	return l, nil
}

// run runs a job in its loop and returns the results. rate is in notifications per second, cpu in
// microseconds per notification.
func (s *stage) run(j Job) (a Arrivals, rate, cpu float64, err error) {
	l, err := s.loop(j.Kind)
	if err != nil {
		return a, 0, 0, err
	}
	if err := s.receiver.reset(j.To); err != nil {
		return a, 0, 0, err
	}
	s.progress.Step(fmt.Sprintf("loop (%s)", j.Kind), 0, j.To-j.From)
	before := l.usage().cpu
	var ran Ran
	j.Hosts, j.Port, j.Concurrent, j.Idle = s.Hosts, s.receiver.port, s.Concurrent, idleKept(s.NoFile)
	if err := l.call("run", j, &ran); err != nil {
		return a, 0, 0, err
	}
	most := 0
	if j.Kind == LoopNetHTTP {
		// With few idle connections, net/http sometimes closes a connection before the response
		// is read ("too many idle connections").
		most = ran.Sent / 100
	}
	if ran.Failed > most {
		return a, 0, 0, fmt.Errorf("the loop %s failed to send %d of %d: %s", j.Kind, ran.Failed, ran.Sent, ran.Error)
	}
	cpu = float64((l.usage().cpu - before).Microseconds()) / float64(j.To-j.From)
	a, err = s.receiver.arrivals(j.From, j.To, time.Unix(0, ran.T0))
	if err == nil && a.Wrong > 0 {
		err = fmt.Errorf("of what the loop %s sent, %d were not as they should be", j.Kind, a.Wrong)
	}
	return a, float64(j.To-j.From) / a.Last, cpu, err
}

// close stops all processes and removes the temporary folder.
func (s *stage) close() error {
	s.progress.End()
	var errs []error
	if s.server != nil {
		errs = append(errs, s.server.stop(stopWithin))
	}
	for _, l := range s.loops {
		errs = append(errs, l.stop(stopWithin))
	}
	if s.receiver != nil {
		errs = append(errs, s.receiver.stop(stopWithin))
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

// end closes the stage. It returns the report, or an error if err is not nil or closing fails.
func (s *stage) end(err error) (*Report, error) {
	if err != nil && s.server != nil {
		if text := s.server.stderrTail(); text != "" {
			err = fmt.Errorf("%w\nend of the standard error of the server:\n%s", err, text)
		}
	}
	if cerr := s.close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	s.report.Took = time.Since(s.begun).Seconds()
	return &s.report, nil
}
