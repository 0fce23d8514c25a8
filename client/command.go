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

// Ping reports to the server that a feed changed, like a ping from its author.
func (c *Client) Ping(ctx context.Context, feed string) (PingResult, error) {
	return answer[PingResult](ctx, c, "POST", "/v1/ping", nil, map[string]string{"url": feed})
}

// Sweep makes the server run its hourly cleanup now. The cleanup removes expired and failing
// subscriptions.
func (c *Client) Sweep(ctx context.Context) (SweepResult, error) {
	return answer[SweepResult](ctx, c, "POST", "/v1/sweep", nil, nil)
}

// Backup makes the server write a consistent copy of its database to a file. file is an absolute
// path on the server, and the file must not exist yet.
func (c *Client) Backup(ctx context.Context, file string) (Backup, error) {
	return c.BackupTo(ctx, BackupOptions{File: file})
}

// BackupTo is like [Client.Backup] with more options.
func (c *Client) BackupTo(ctx context.Context, o BackupOptions) (Backup, error) {
	return answer[Backup](ctx, c, "POST", "/v1/backup", nil, o)
}

// Installation makes the server check its own installation and environment. The call takes several
// seconds.
func (c *Client) Installation(ctx context.Context) (Installation, error) {
	return answer[Installation](ctx, c, "GET", "/v1/doctor", nil, nil)
}

// RemoveQuery selects subscriptions by exact values. An empty field matches every value, but Topic
// or Callback must be set.
type RemoveQuery struct{ Topic, Callback, Protocol string }

// Remove ends the selected subscriptions and returns them. It returns no error if no subscription
// matches.
func (c *Client) Remove(ctx context.Context, q RemoveQuery) ([]Subscription, error) {
	v := url.Values{}
	set(v, "topic", q.Topic)
	set(v, "callback", q.Callback)
	set(v, "protocol", q.Protocol)
	var r Removed
	err := c.call(ctx, "DELETE", "/v1/subscriptions", v, nil, &r)
	return r.Removed, err
}

// Export writes all active subscriptions to w as JSON Lines and returns the number of lines. The
// order is the same each time. [Client.Import] reads the same format. If progress is not nil,
// Export calls it with the number of lines written so far.
func (c *Client) Export(ctx context.Context, w io.Writer, progress func(lines int)) (int, error) {
	count := &lineCounter{w: w, progress: progress}
	err := c.export(ctx, "/v1/subscriptions/export", count, func() string { return fmt.Sprintf("%d lines", count.lines) })
	return count.lines, err
}

// export copies a long response to w. sofar describes the amount that was already copied; the error
// of an interrupted export contains that text.
func (c *Client) export(ctx context.Context, path string, w io.Writer, sofar func() string) error {
	res, err := c.send(ctx, "GET", path, nil, http.Header{}, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(w, res.Body); err != nil {
		return fmt.Errorf("the export was interrupted after %s: %w", sofar(), err)
	}
	// The trailer confirms that the export is complete. Without the trailer, a connection that the
	// server closes too early would look like the end of the export.
	if res.Trailer.Get("X-Complete") != "true" {
		return fmt.Errorf("the export was interrupted after %s: the server stopped before the end", sofar())
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

// ImportOptions are the options of an import. With the zero value, one invalid line rejects the
// whole file, and no progress is reported.
type ImportOptions struct {
	SkipBad  bool
	Progress func(imported, total int) // called from time to time by the goroutine that called Import; nil: not called
}

// Import imports JSON Lines in the format of [Client.Export]. It skips and counts expired
// subscriptions. If the file has an invalid line and SkipBad is false, nothing is imported, and the
// error names the line.
func (c *Client) Import(ctx context.Context, lines io.Reader, o ImportOptions) (ImportResult, error) {
	q := url.Values{}
	setTrue(q, "skip-bad", o.SkipBad)
	header := http.Header{"Content-Type": {"application/x-ndjson"}}
	// Hide the type of lines, so that net/http does not close the caller's reader.
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

// step is one line of the response to an import: its progress, its result or its error.
type step[R any] struct {
	Phase    string `json:"phase"`
	Imported int    `json:"imported"`
	Done     int    `json:"done"`
	Total    int    `json:"total"`
	Result   *R     `json:"result"`
	Error    *Error `json:"error"`
}

// steps decodes the response to an import and returns its result; after an error, the result of the
// part that was imported. It calls each for every other line.
func steps[R any](res *http.Response, each func(step[R])) (result R, err error) {
	dec := json.NewDecoder(res.Body)
	for {
		var at step[R]
		if err := dec.Decode(&at); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return result, fmt.Errorf("the import was interrupted; running it again is safe: %w", err)
		}
		if at.Result != nil {
			result = *at.Result
		}
		switch {
		case at.Error != nil:
			at.Error.Status = res.StatusCode
			return result, at.Error
		case at.Result != nil:
			return result, nil
		}
		each(at)
	}
}
