package compare

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"cloudburst/lab/bench"
)

const (
	notifiedSoon = 60 * time.Second // a round fails if a change is not completely notified within this time
)

// startHub starts a program that serves /pleaseNotify and /ping for rssCloud over REST.
type startHub func(ctx context.Context, dir string) (*program, error)

func (o Options) ourHub(ctx context.Context, dir string) (*program, error) {
	return o.cloudburst(ctx, dir, "")
}

// cloudburst starts this program with a data folder in dir. admin is the listen address of the
// admin API.
func (o Options) cloudburst(ctx context.Context, dir, admin string) (*program, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	argv := []string{
		o.Exe, "serve", "--listen", "127.0.0.1:" + port, "--data", filepath.Join(dir, "data"), "--log.level", "warn",
		"--egress.allow-fetch", "127.0.0.0/8", "--egress.allow-callback", "127.0.0.0/8", "--river.unpaced-hosts", "127.0.0.1",
		"--hub.client-rate", "0", "--hub.host-rate", "0", "--hub.ping-interval", "1ms",
	}
	if admin == "" {
		admin = "127.0.0.1:0"
	}
	return launch(ctx, ours, dir, "http://127.0.0.1:"+port, nil, append(argv, "--admin.listen", admin)...)
}

func (o Options) rsscloudServer(ctx context.Context, dir string) (*program, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	env := []string{
		"PORT=" + port, "DOMAIN=127.0.0.1", "DATA_FILE_PATH=" + filepath.Join(dir, "subscriptions.json"), "STATS_FILE_PATH=" + filepath.Join(dir, "stats.json"),
		"WEBSUB_FETCH_ALLOW_CIDRS=127.0.0.0/8", "WEBSUB_CALLBACK_ALLOW_CIDRS=127.0.0.0/8",
	}
	return launch(ctx, "rsscloud-server", dir, "http://127.0.0.1:"+port, env, strings.Fields(o.RSSCloudServer)...)
}

// hub runs one round of a hub on an empty folder. It measures registrations, and the
// notifications of changes of one feed.
func (o Options) hub(ctx context.Context, start startHub, add func(figure string, value float64)) error {
	return inFolder(func(dir string) error {
		receiver, err := bench.OpenReceiver(ctx, bench.Plan{Hosts: o.Subscribers, Feeds: 1})
		if err != nil {
			return err
		}
		defer receiver.Close()
		p, err := start(ctx, dir)
		if err != nil {
			return err
		}
		defer p.stop()
		begun := time.Now()
		if err := registerAll(ctx, p, receiver, o.Subscribers); err != nil {
			return fmt.Errorf("register at %s: %w", p.name, err)
		}
		add(registered, float64(o.Subscribers)/time.Since(begun).Seconds())
		var rate, first, cpu []float64
		for i := range o.Pings + 1 { // the first change opens connections and is not measured
			a, used, err := notifyAll(ctx, p, receiver, o.Subscribers)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if i > 0 {
				rate, first, cpu = append(rate, float64(o.Subscribers)/a.Last), append(first, a.First*1e3), append(cpu, used/float64(o.Subscribers))
			}
		}
		add(notified, bench.Median(rate))
		add(firstNotified, bench.Median(first))
		add(notifyCPU, bench.Median(cpu))
		return nil
	})
}

func feedOf(r *bench.Receiver) string {
	return fmt.Sprintf("http://%s:%d/f/0", bench.Host(false, 0), r.Port)
}

// registerAll registers n callbacks, each on its own host. Each request comes from the address of
// its callback host. The requests are sent one after the other, because rsscloud-server 4.0.0
// loses some of concurrent requests.
func registerAll(ctx context.Context, p *program, r *bench.Receiver, n int) error {
	for i := range n {
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: bench.Host(false, i).AsSlice()}}
		caller := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
		form := url.Values{"notifyProcedure": {""}, "protocol": {"http-post"}, "port": {fmt.Sprint(r.Port)}, "path": {fmt.Sprintf("/c/%d", i)}, "url1": {feedOf(r)}}
		if err := ask(ctx, caller, p, "/pleaseNotify", form); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a form to a hub. It returns an error unless the response contains success="true".
func ask(ctx context.Context, by *http.Client, p *program, path string, form url.Values) error {
	text, err := request(ctx, by, "POST", p.base+path, "application/x-www-form-urlencoded", []byte(form.Encode()))
	if err == nil && !strings.Contains(string(text), `success="true"`) {
		err = fmt.Errorf("%s: %.300s", path, text)
	}
	return err
}

// notifyAll changes the feed, pings the hub, and waits until all n callbacks are notified. used
// is the CPU time of the hub in microseconds.
func notifyAll(ctx context.Context, p *program, r *bench.Receiver, n int) (a bench.Arrivals, used float64, err error) {
	r.Reset(n)
	r.Change(0, 1)
	before, begun := p.cpu(), time.Now()
	if err := ask(ctx, http.DefaultClient, p, "/ping", url.Values{"url": {feedOf(r)}}); err != nil {
		return a, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, notifiedSoon)
	defer cancel()
	if err := poll(ctx, tick, func() (bool, error) { return r.Count() >= n, nil }); err != nil {
		return a, 0, fmt.Errorf("%d of %d callbacks were notified within %s:\n%s", r.Count(), n, notifiedSoon, p.output())
	}
	return r.Arrivals(0, n, begun), float64((p.cpu() - before).Microseconds()), nil
}
