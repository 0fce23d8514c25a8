package config

import (
	"errors"
	"fmt"
	"math"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
)

// Trace configures OpenTelemetry traces. The zero Trace sends none.
type Trace struct {
	Endpoint  string            // base URL; "": off
	Headers   map[string]string // nil: none
	Sample    float64           // share of requests that are traced, 0 to 1
	Propagate []string          // hosts that receive the trace context
}

func traceSettings() []Setting {
	return []Setting{
		{Name: "trace.endpoint", Kind: Collector, Default: "",
			Doc: "OpenTelemetry collector for OTLP over HTTP: the URL before /v1/traces, such as http://127.0.0.1:4318. Empty: no traces.",
			set: func(c *Config, p parsed) { c.Trace.Endpoint = p.text }},
		{Name: "trace.headers", Kind: Headers, Default: "", Secret: true,
			Doc: "Header fields for the collector, NAME=value, separated by commas, with special characters in a value as %XX.",
			set: func(c *Config, p parsed) { c.Trace.Headers = p.headers }},
		{Name: "trace.sample", Kind: Share, Default: "1",
			Doc: "Share of the changes to trace, from 0 to 1. Nodes that share a database need the same value.",
			set: func(c *Config, p parsed) { c.Trace.Sample = p.rate }},
		{Name: "trace.propagate", Kind: Domains, Default: "",
			Doc: "Own hosts, separated by commas, that receive the header traceparent with notifications and feed requests. .example.org means all its subdomains, * all hosts. Empty: none.",
			set: func(c *Config, p parsed) { c.Trace.Propagate = words(p.text) }},
	}
}

func parseCollector(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("it must be a URL such as http://127.0.0.1:4318; put credentials in trace.headers")
	}
	return strings.TrimRight(text, "/"), nil
}

func parseShare(text string) (float64, error) {
	share, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(share) || share < 0 || share > 1 {
		return 0, errors.New("it must be a number from 0 to 1")
	}
	return share, nil
}

// parseHeaders parses header fields. Its errors contain no value.
func parseHeaders(text string) (map[string]string, error) {
	var all map[string]string
	for i, part := range strings.Split(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || !headerName(name) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, fmt.Errorf("part %d of it is not NAME=value", i+1)
		}
		if all == nil {
			all = map[string]string{}
		}
		all[textproto.CanonicalMIMEHeaderKey(name)] = value
	}
	return all, nil
}

// headerName reports whether s is a valid name of a header field.
func headerName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~") == ""
}
