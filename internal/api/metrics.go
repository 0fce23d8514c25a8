package api

import (
	"cmp"
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"cloudburst/internal/cache"
	"cloudburst/internal/hub"
)

// metrics serves the metrics in the Prometheus format. It has a registry of its own.
func (s *Server) metrics() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister( // cannot panic, because a test registers the same collectors
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{server: s, series: series(), disk: prometheus.NewDesc("cloudburst_disk_free_bytes",
			"Free bytes on the file system of the data folder.", nil, nil), info: prometheus.NewDesc("cloudburst_build_info",
			"Always 1; the labels describe the running program.", []string{"version", "revision", "go"}, nil),
			up: prometheus.NewDesc("cloudburst_store_up", "1 if the database can be queried, else 0.", nil, nil)},
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4})
}

// metricValues is a snapshot of the values of all series.
type metricValues struct {
	live   hub.Live
	counts hub.Counts
	traces TraceCounts
	pages  *cache.Counts
}

// TraceCounts holds the number of trace spans by outcome, since the start of the process.
type TraceCounts struct{ Exported, Dropped, Failures, Queued int64 }

type serie struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	stored bool // the value comes from the database
	value  func(metricValues) float64
}

// series lists all metrics. Counters start at 0 when the process starts.
func series() []serie {
	count := func(name, help string, value func(metricValues) int64) serie {
		return serie{prometheus.NewDesc("cloudburst_"+name, help, nil, nil), prometheus.CounterValue, false,
			func(r metricValues) float64 { return float64(value(r)) }}
	}
	gauge := func(name, help string, value func(metricValues) float64) serie {
		return serie{prometheus.NewDesc("cloudburst_"+name, help, nil, nil), prometheus.GaugeValue, false, value}
	}
	stored := func(name, help string, value func(hub.Counts) int64) serie {
		g := gauge(name, help, func(r metricValues) float64 { return float64(value(r.counts)) })
		g.stored = true
		return g
	}
	return []serie{
		count("pings_total", "Pings accepted.", func(r metricValues) int64 { return r.live.Totals.Pings }),
		count("checks_total", "Feeds read.", func(r metricValues) int64 { return r.live.Totals.Checks }),
		count("changes_total", "Feeds found changed.", func(r metricValues) int64 { return r.live.Totals.Changes }),
		count("notifications_total", "Notifications delivered.", func(r metricValues) int64 { return r.live.Totals.Notified }),
		count("notification_failures_total", "Notifications not delivered.", func(r metricValues) int64 { return r.live.Totals.Failed }),
		count("registrations_total", "Registrations requested.", func(r metricValues) int64 { return r.live.Totals.Registers }),
		count("delivery_writes_total", "Write transactions of deliveries.", func(r metricValues) int64 { return r.live.Writes }),
		count("trace_spans_total", "Trace spans accepted by the collector.", func(r metricValues) int64 { return r.traces.Exported }),
		count("trace_spans_dropped_total", "Trace spans lost.", func(r metricValues) int64 { return r.traces.Dropped }),
		count("trace_export_failures_total", "Failed requests to the trace collector.", func(r metricValues) int64 { return r.traces.Failures }),
		gauge("trace_spans_queued", "Trace spans waiting to be sent.", func(r metricValues) float64 { return float64(r.traces.Queued) }),
		count("page_cache_hits_total", "Requests of author pages answered from memory.", func(r metricValues) int64 { return r.pages.Hits.Load() }),
		count("page_cache_misses_total", "Requests of author pages that rendered the page.", func(r metricValues) int64 { return r.pages.Misses.Load() }),
		gauge("page_cache_pages", "Author pages in memory.", func(r metricValues) float64 { return float64(r.pages.Values.Load()) }),
		gauge("page_cache_bytes", "Bytes of the author pages in memory.", func(r metricValues) float64 { return float64(r.pages.Bytes.Load()) }),
		gauge("notifications_in_flight", "Notifications being sent.", func(r metricValues) float64 { return float64(r.live.InFlight) }),
		gauge("notifications_queued", "Notifications in memory, being sent or waiting.", func(r metricValues) float64 { return float64(r.live.Queue) }),
		gauge("checks_in_flight", "Feeds being read.", func(r metricValues) float64 { return float64(r.live.Checks) }),
		gauge("origins", "Known callback hosts.", func(r metricValues) float64 { return float64(r.live.Origins) }),
		gauge("origins_slow", "Slow callback hosts.", func(r metricValues) float64 { return float64(r.live.Slow) }),
		gauge("origins_open", "Callback hosts paused after errors.", func(r metricValues) float64 { return float64(r.live.Open) }),
		gauge("latency_p50_seconds", "Median time from ping to delivery.", func(r metricValues) float64 { return r.live.Totals.P50 / 1000 }),
		gauge("latency_p99_seconds", "99th percentile of the time from ping to delivery.", func(r metricValues) float64 { return r.live.Totals.P99 / 1000 }),
		gauge("start_time_seconds", "Start time of the process in Unix time.", func(r metricValues) float64 { return float64(r.live.Started.UnixMilli()) / 1000 }),
		stored("topics", "Known feeds.", func(c hub.Counts) int64 { return c.Topics }),
		stored("subscriptions", "Active subscriptions.", func(c hub.Counts) int64 { return c.Subscriptions }),
		stored("subscriptions_failing", "Active subscriptions whose last notification was not delivered.", func(c hub.Counts) int64 { return c.Failing }),
		stored("notifications_owed", "Notifications waiting for another attempt.", func(c hub.Counts) int64 { return c.Pending }),
		stored("parts_due", "Shards of subscribers still to be notified.", func(c hub.Counts) int64 { return c.ShardsDue }),
		stored("checks_due", "Acknowledged pings not yet verified.", func(c hub.Counts) int64 { return c.ChecksDue }),
		stored("requests_due", "Acknowledged subscription requests not yet decided.", func(c hub.Counts) int64 { return c.Requests }),
		stored("log_rows", "Rows of the hub's log.", func(c hub.Counts) int64 { return c.Events }),
	}
}

type collector struct {
	server         *Server
	series         []serie
	info, up, disk *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.info
	ch <- c.up
	ch <- c.disk
	for _, s := range c.series {
		ch <- s.desc
	}
}

// Collect implements prometheus.Collector. If the database is not available, it omits the metrics
// from the database and reports cloudburst_store_up 0.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	v := c.server.build
	ch <- prometheus.MustNewConstMetric(c.info, prometheus.GaugeValue, 1, v.Version, v.Revision, v.Go)
	r := metricValues{live: c.server.Hub.Live(), pages: cmp.Or(c.server.PageCache, new(cache.Counts))}
	counts, err := c.server.metricsCounts(context.Background())
	up := 1.0
	if err != nil {
		up = 0
	}
	r.counts = counts
	if c.server.Traces != nil {
		r.traces = c.server.Traces()
	}
	ch <- prometheus.MustNewConstMetric(c.up, prometheus.GaugeValue, up)
	if c.server.DiskFree != nil {
		if free, known := c.server.DiskFree(); known {
			ch <- prometheus.MustNewConstMetric(c.disk, prometheus.GaugeValue, float64(free))
		}
	}
	for _, s := range c.series {
		if !s.stored || err == nil {
			ch <- prometheus.MustNewConstMetric(s.desc, s.kind, s.value(r))
		}
	}
}
