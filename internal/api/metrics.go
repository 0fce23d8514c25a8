package api

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"cloudburst/internal/hub"
)

// metrics serves the metrics in Prometheus format, from its own registry.
func (s *Server) metrics() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister( // cannot panic at run time: a test registers the same collectors
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{server: s, series: series(), disk: prometheus.NewDesc("cloudburst_disk_free_bytes",
			"Bytes that are free on the file system of the data folder.", nil, nil), info: prometheus.NewDesc("cloudburst_build_info",
			"1; the labels say what is running.", []string{"version", "revision", "go"}, nil),
			up: prometheus.NewDesc("cloudburst_store_up", "1 when the database can be counted.", nil, nil)},
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4})
}

// reading is a snapshot of the values of all series.
type reading struct {
	live   hub.Live
	counts hub.Counts
	traces TraceCounts
}

// TraceCounts holds the number of trace spans by outcome, since the start of the process.
type TraceCounts struct{ Exported, Dropped, Failures, Queued int64 }

type serie struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	stored bool // needs the database
	value  func(reading) float64
}

// series lists all metrics. Counters start at 0 with the process.
func series() []serie {
	count := func(name, help string, value func(reading) int64) serie {
		return serie{prometheus.NewDesc("cloudburst_"+name, help, nil, nil), prometheus.CounterValue, false,
			func(r reading) float64 { return float64(value(r)) }}
	}
	gauge := func(name, help string, value func(reading) float64) serie {
		return serie{prometheus.NewDesc("cloudburst_"+name, help, nil, nil), prometheus.GaugeValue, false, value}
	}
	stored := func(name, help string, value func(hub.Counts) int64) serie {
		g := gauge(name, help, func(r reading) float64 { return float64(value(r.counts)) })
		g.stored = true
		return g
	}
	return []serie{
		count("pings_total", "Pings taken.", func(r reading) int64 { return r.live.Totals.Pings }),
		count("checks_total", "Feeds read.", func(r reading) int64 { return r.live.Totals.Checks }),
		count("changes_total", "Feeds found changed.", func(r reading) int64 { return r.live.Totals.Changes }),
		count("notifications_total", "Notifications that arrived.", func(r reading) int64 { return r.live.Totals.Notified }),
		count("notification_failures_total", "Notifications that did not arrive.", func(r reading) int64 { return r.live.Totals.Failed }),
		count("registrations_total", "Registrations asked for.", func(r reading) int64 { return r.live.Totals.Registers }),
		count("delivery_writes_total", "Write transactions of deliveries.", func(r reading) int64 { return r.live.Writes }),
		count("trace_spans_total", "Spans of traces that the collector took.", func(r reading) int64 { return r.traces.Exported }),
		count("trace_spans_dropped_total", "Spans of traces that are lost.", func(r reading) int64 { return r.traces.Dropped }),
		count("trace_export_failures_total", "Messages to the collector that did not arrive.", func(r reading) int64 { return r.traces.Failures }),
		gauge("trace_spans_queued", "Spans of traces that wait to be sent.", func(r reading) float64 { return float64(r.traces.Queued) }),
		gauge("notifications_in_flight", "Notifications under way.", func(r reading) float64 { return float64(r.live.InFlight) }),
		gauge("notifications_queued", "Notifications in memory, under way or waiting.", func(r reading) float64 { return float64(r.live.Queue) }),
		gauge("checks_in_flight", "Feeds being read.", func(r reading) float64 { return float64(r.live.Checks) }),
		gauge("origins", "Hosts of callbacks known.", func(r reading) float64 { return float64(r.live.Origins) }),
		gauge("origins_slow", "Hosts of callbacks known to be slow.", func(r reading) float64 { return float64(r.live.Slow) }),
		gauge("origins_open", "Hosts of callbacks left alone for a while after errors.", func(r reading) float64 { return float64(r.live.Open) }),
		gauge("latency_p50_seconds", "Half of the notifications arrived within this time of the ping.", func(r reading) float64 { return r.live.Totals.P50 / 1000 }),
		gauge("latency_p99_seconds", "99 of 100 notifications arrived within this time of the ping.", func(r reading) float64 { return r.live.Totals.P99 / 1000 }),
		gauge("start_time_seconds", "When this process began, in Unix time.", func(r reading) float64 { return float64(r.live.Started.UnixMilli()) / 1000 }),
		stored("topics", "Feeds known.", func(c hub.Counts) int64 { return c.Topics }),
		stored("subscriptions", "Live subscriptions.", func(c hub.Counts) int64 { return c.Subscriptions }),
		stored("subscriptions_failing", "Live subscriptions whose last change did not arrive.", func(c hub.Counts) int64 { return c.Failing }),
		stored("notifications_owed", "Notifications that wait for another attempt.", func(c hub.Counts) int64 { return c.Pending }),
		stored("parts_due", "Shares of changes still to tell.", func(c hub.Counts) int64 { return c.ShardsDue }),
		stored("checks_due", "Acknowledged pings not yet checked.", func(c hub.Counts) int64 { return c.ChecksDue }),
		stored("requests_due", "Acknowledged requests for subscriptions not yet decided.", func(c hub.Counts) int64 { return c.Requests }),
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

// Collect implements prometheus.Collector. Without the database it omits the stored series and
// reports cloudburst_store_up 0.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	v := c.server.build
	ch <- prometheus.MustNewConstMetric(c.info, prometheus.GaugeValue, 1, v.Version, v.Revision, v.Go)
	r := reading{live: c.server.Hub.Live()}
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
