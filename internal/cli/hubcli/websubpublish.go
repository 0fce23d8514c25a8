package hubcli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/websub"
)

// publishing is one run of the command websub publish.
type publishing struct {
	p    *commands
	hub  string
	json bool
}

func (p *commands) websubPublish() *cobra.Command {
	u := &publishing{p: p}
	c := &cobra.Command{
		Use:   "publish TOPIC…",
		Short: "Notify hubs that topics changed",
		Long: `Notifies hubs that topics changed, as an author's program does after it saves a topic.
Without --hub the command reads each topic and notifies all of its hubs, with the
canonical URL of the topic. One request contains all topics of a hub.

If a hub accepts the request, it checks afterwards whether the topic changed.

--json prints one object per line: topic, hub, success, msg, took_ms.`,
		Example: "  cloudburst websub publish https://example.org/feed.xml\n  cloudburst websub publish --hub http://localhost:5337/websub http://example.org/a.xml http://example.org/b.xml",
		Args:    shell.Between(1, -1, "the URL of at least one TOPIC"),
		RunE: func(c *cobra.Command, topics []string) error {
			return u.run(c.Context(), topics)
		},
	}
	c.Flags().StringVar(&u.hub, "hub", "", "`URL` of the hub, or of its server (default: the hubs that each topic names)")
	c.Flags().BoolVar(&u.json, "json", false, "print one JSON object per line")
	return c
}

// published is a hub's response for one topic, as --json prints it.
type published struct {
	Topic   string  `json:"topic"`
	Hub     string  `json:"hub,omitempty"`
	Success bool    `json:"success"`
	Msg     string  `json:"msg"`
	TookMS  float64 `json:"took_ms"`
}

// hubTopics is one hub and the topics to ping the hub for.
type hubTopics struct {
	hub    string
	topics []string
}

func (u *publishing) run(ctx context.Context, topics []string) error {
	if u.hub != "" {
		if err := hubclient.CheckURL("--hub", u.hub); err != nil {
			return err
		}
	}
	for _, t := range topics {
		if err := hubclient.CheckURL("The topic", t); err != nil {
			return err
		}
	}
	requests, failed, err := u.groupByHub(ctx, topics)
	if err != nil {
		return err
	}
	for _, e := range requests {
		for some := range slices.Chunk(e.topics, websub.MaxURLs) {
			ok, err := u.report(ctx, e.hub, some)
			if err != nil {
				return err
			}
			failed = failed || !ok
		}
	}
	if failed {
		return shell.ErrReported
	}
	return nil
}

// readTopicsAtOnce is the maximum number of topics that are read at the same time.
const readTopicsAtOnce = 4

// groupByHub groups the topics by hub. failed reports that some topics could not be read;
// groupByHub has already printed their errors.
func (u *publishing) groupByHub(ctx context.Context, topics []string) (list []hubTopics, failed bool, err error) {
	if u.hub != "" {
		return []hubTopics{{u.hub, compacted(topics)}}, false, nil
	}
	type found struct {
		websub.Discovery
		err error
	}
	add := func(hub, topic string) {
		i := slices.IndexFunc(list, func(e hubTopics) bool { return e.hub == hub })
		if i < 0 {
			i = len(list)
			list = append(list, hubTopics{hub: hub})
		}
		list[i].topics = append(list[i].topics, topic)
	}
	err = shell.InOrder[found]{N: len(topics), Workers: readTopicsAtOnce,
		Work: func(ctx context.Context, i int) found {
			d, err := u.p.FindHubs(ctx, topics[i])
			return found{d, err}
		},
		Take: func(i int, d found) error {
			if d.err != nil {
				failed = true
				return u.print(published{Topic: topics[i], Msg: shell.Sentence(d.err)})
			}
			for _, hub := range d.Hubs {
				add(hub, d.Topic())
			}
			return nil
		}}.Run(ctx)
	for i := range list {
		list[i].topics = compacted(list[i].topics)
	}
	return list, failed, err
}

// compacted returns a list without duplicates, in the same order.
func compacted(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}

// report pings a hub for some topics and prints the response. If the hub rejects the request,
// report repeats the request for each topic, because the hub may reject only one topic, or may
// accept only one topic in a request.
func (u *publishing) report(ctx context.Context, hub string, topics []string) (ok bool, err error) {
	client := u.p.WebSubClient()
	begun := time.Now()
	err = client.Publish(ctx, hub, topics...)
	took := float64(time.Since(begun).Microseconds()) / 1000
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if endpoints := namedHub(hub); hubclient.IsNoHub(err) && u.hub != "" && len(endpoints) > 1 {
		return u.report(ctx, endpoints[1], topics)
	}
	if e, refused := errors.AsType[*websub.Error](err); refused && len(topics) > 1 && e.Status < 500 && e.Status != http.StatusTooManyRequests {
		ok = true
		for _, t := range topics {
			one, err := u.report(ctx, hub, []string{t})
			if err != nil {
				return false, err
			}
			ok = ok && one
		}
		return ok, nil
	}
	for _, t := range topics {
		out := published{Topic: t, Hub: hub, Success: err == nil, Msg: "The hub accepted the ping.", TookMS: took}
		if err != nil {
			out.Msg = shell.Sentence(hubclient.WebSubError(hub, err))
		}
		if err := u.print(out); err != nil {
			return false, err
		}
	}
	return err == nil, nil
}

// print prints the result for one topic.
func (u *publishing) print(out published) error {
	switch {
	case u.json:
		return shell.JSONLines(u.p.Out).Encode(out)
	case out.Success:
		_, err := fmt.Fprintf(u.p.Out, "%s  %s  (%s by %s)\n", shell.Clean(out.Topic), out.Msg, shell.FormatDuration(time.Duration(out.TookMS*float64(time.Millisecond))), shell.Clean(out.Hub))
		return err
	case out.Hub != "":
		fmt.Fprintf(u.p.Err, "cloudburst: %s: %s\n", shell.Clean(out.Topic), out.Msg)
	default:
		fmt.Fprintf(u.p.Err, "cloudburst: %s\n", out.Msg)
	}
	return nil
}
