package formatcli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
	"cloudburst/internal/fault"
	"cloudburst/internal/readercheck"
)

func (p *commands) politeness() *cobra.Command {
	c := shell.Group("politeness", "Score programs that read feeds", "Serves feeds that test how programs read them: validators, redirects, delays, failures, connections.")
	c.AddCommand(p.politenessServe())
	return c
}

// probeServer is one run of the command that scores feed readers.
type probeServer struct {
	p              *commands
	listen, public string
	report         string
	limit          time.Duration

	mu sync.Mutex
}

func (p *commands) politenessServe() *cobra.Command {
	s := probeServer{p: p}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve probe feeds and score the programs that read them",
		Long: `Serves about thirty feeds. Each feed tests one or two of thirty polite fetching rules,
and the server scores every program that requests them. Let a feed reader follow the
printed OPML list, wait three or four days, and open the page: it shows which rules the
reader follows, which it breaks, and which are not tested yet.

On Ctrl-C the command prints the score. --report also writes the score as JSON, at most
once a minute and at the end. The exit status is 1 if a reader broke a rule.`,
		Example: "  cloudburst politeness serve --listen :5340 --public-url http://probe.example.org:5340\n  cloudburst politeness serve --report score.json",
		Args:    shell.Between(0, 0, ""),
		RunE:    func(c *cobra.Command, _ []string) error { return s.run(c.Context()) },
	}
	c.Flags().StringVar(&s.listen, "listen", "127.0.0.1:5340", "address to listen on")
	c.Flags().StringVar(&s.public, "public-url", "", "public URL of this server; empty: the host of each request")
	c.Flags().StringVar(&s.report, "report", "", "`file` for the score, as JSON")
	c.Flags().DurationVar(&s.limit, "for", 0, "stop after this time; 0: at Ctrl-C")
	return c
}

func (s *probeServer) run(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.listen)
	if err != nil {
		return fault.Wrap(fault.Conflict, err, "Cannot listen on %s; another server may be running there. Set another address with --listen.", s.listen)
	}
	if s.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.limit)
		defer cancel()
	}
	probes := &readercheck.Server{Public: s.public, Seen: func(name, addr string) {
		s.printf("%s  first request of %s at %s\n", time.Now().Format("15:04:05"), shell.Clean(name), addr)
	}}
	base := "http://" + l.Addr().String()
	if s.public != "" {
		base = s.public
	}
	s.printf("Score     %s/\nProbes    %s/probes.opml\n", base, base)
	server := &http.Server{Handler: probes, ConnContext: probes.ConnContext, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case err := <-failed:
			return err
		case <-tick.C:
			if err := s.write(probes.Reports()); err != nil {
				return errors.Join(err, server.Close())
			}
			continue
		case <-ctx.Done():
		}
		return s.end(probes, server.Close())
	}
}

// end prints the scores.
func (s *probeServer) end(probes *readercheck.Server, closed error) error {
	list := probes.Reports()
	bad := false
	for _, r := range list {
		s.printf("\n%s", r)
		bad = bad || r.Broken > 0
	}
	if len(list) == 0 {
		s.printf("No reader requested a probe feed.\n")
	}
	if err := errors.Join(closed, s.write(list)); err != nil {
		return err
	}
	if bad {
		return shell.ErrReported
	}
	return nil
}

func (s *probeServer) printf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.p.Out, format, args...)
}

// write replaces the score file atomically.
func (s *probeServer) write(list []readercheck.Report) error {
	if s.report == "" {
		return nil
	}
	b, err := json.MarshalIndent(struct {
		Readers []readercheck.Report `json:"readers"`
	}{list}, "", "  ")
	if err == nil {
		err = os.WriteFile(s.report+".new", append(b, '\n'), 0o644)
	}
	if err == nil {
		err = os.Rename(s.report+".new", s.report)
	}
	if err != nil {
		return fmt.Errorf("the score cannot be written: %w", err)
	}
	return nil
}
