package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Ping tells the server that a feed changed, as its author would.
func (c *Client) Ping(ctx context.Context, feed string) (PingResult, error) {
	var r PingResult
	err := c.call(ctx, "POST", "/v1/ping", nil, map[string]string{"url": feed}, &r)
	return r, err
}

// Sweep runs the hourly sweep now.
func (c *Client) Sweep(ctx context.Context) (SweepResult, error) {
	var r SweepResult
	err := c.call(ctx, "POST", "/v1/sweep", nil, nil, &r)
	return r, err
}

// Backup has the server write a consistent copy of its database to a file, which
// must not exist yet. The path is absolute and is the server's.
func (c *Client) Backup(ctx context.Context, file string) (Backup, error) {
	return c.BackupTo(ctx, BackupOptions{File: file})
}

// BackupTo is Backup with more to choose from.
func (c *Client) BackupTo(ctx context.Context, o BackupOptions) (Backup, error) {
	var r Backup
	err := c.call(ctx, "POST", "/v1/backup", nil, o, &r)
	return r, err
}

// Installation has the server look at itself and what it runs on. It takes some seconds.
func (c *Client) Installation(ctx context.Context) (Installation, error) {
	var r Installation
	err := c.call(ctx, "GET", "/v1/doctor", nil, nil, &r)
	return r, err
}

// RemoveQuery names subscriptions by exact values; Topic or Callback must be set,
// and empty fields match all.
type RemoveQuery struct{ Topic, Callback, Protocol string }

// Remove ends the subscriptions that the query names and returns them. None is no error.
func (c *Client) Remove(ctx context.Context, q RemoveQuery) ([]Subscription, error) {
	v := url.Values{}
	set(v, "topic", q.Topic)
	set(v, "callback", q.Callback)
	set(v, "protocol", q.Protocol)
	var r Removed
	err := c.call(ctx, "DELETE", "/v1/subscriptions", v, nil, &r)
	return r.Removed, err
}

// Export writes every live subscription as JSON Lines, in an order that stays
// the same. What is exported can be imported. It returns the number of lines.
func (c *Client) Export(ctx context.Context, w io.Writer, progress func(lines int)) (int, error) {
	count := &lineCounter{w: w, progress: progress}
	err := c.export(ctx, "/v1/subscriptions/export", count, func() string { return fmt.Sprintf("%d lines", count.lines) })
	return count.lines, err
}

// export writes an answer that may be long to w; sofar says how much there was when it broke off.
func (c *Client) export(ctx context.Context, path string, w io.Writer, sofar func() string) error {
	res, err := c.send(ctx, "GET", path, nil, http.Header{}, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(w, res.Body); err != nil {
		return fmt.Errorf("the export broke off after %s: %w", sofar(), err)
	}
	// The trailer is how a server says that it reached the end: a stream has
	// nothing else to say so when its connection ends tidily half-way.
	if res.Trailer.Get("X-Complete") != "true" {
		return fmt.Errorf("the export broke off after %s: the server stopped before the end", sofar())
	}
	return nil
}

type lineCounter struct {
	w        io.Writer
	lines    int
	progress func(int)
}

func (l *lineCounter) Write(p []byte) (int, error) {
	n, err := l.w.Write(p)
	for _, b := range p[:n] {
		if b == '\n' {
			l.lines++
		}
	}
	if l.progress != nil {
		l.progress(l.lines)
	}
	return n, err
}

// ImportOptions says how to import. The zero value refuses a file with a bad line
// whole and reports no progress.
type ImportOptions struct {
	SkipBad  bool
	Progress func(imported, total int) // called now and then, from the calling goroutine
}

// Import reads JSON Lines as Export writes them. Lines whose expiry lies behind
// are left out and counted. Without SkipBad a file with a bad line changes
// nothing, and the error names the line.
func (c *Client) Import(ctx context.Context, lines io.Reader, o ImportOptions) (ImportResult, error) {
	q := url.Values{}
	if o.SkipBad {
		q.Set("skip-bad", "true")
	}
	header := http.Header{"Content-Type": {"application/x-ndjson"}}
	// A plain reader hides what net/http would otherwise close on its own.
	res, err := c.send(ctx, "POST", "/v1/subscriptions/import", q, header, struct{ io.Reader }{lines})
	if err != nil {
		return ImportResult{}, err
	}
	defer res.Body.Close()
	return steps(res, func(at step[ImportResult]) {
		if o.Progress != nil {
			o.Progress(at.Imported, at.Total)
		}
	})
}

// step is a line of the answer to an import: how far it is, or how it ended.
type step[R any] struct {
	Phase    string `json:"phase"`
	Imported int    `json:"imported"`
	Done     int    `json:"done"`
	Total    int    `json:"total"`
	Result   *R     `json:"result"`
	Error    *Error `json:"error"`
}

// steps reads an answer to the result of the import.
func steps[R any](res *http.Response, each func(step[R])) (none R, err error) {
	dec := json.NewDecoder(res.Body)
	for {
		var at step[R]
		if err := dec.Decode(&at); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return none, fmt.Errorf("the import broke off; running it again is safe: %w", err)
		}
		switch {
		case at.Error != nil:
			at.Error.Status = res.StatusCode
			return none, at.Error
		case at.Result != nil:
			return *at.Result, nil
		}
		each(at)
	}
}
