package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxEventLine is the maximum length of one line of an event stream in bytes.
const maxEventLine = 16 << 20

// Follow calls f with each new event. If after is not "", Follow starts with the events after the
// event with that ID. It returns the error of f or of the context, or [io.ErrUnexpectedEOF] if the
// server ended the stream because it restarts or because this client is too slow. To continue, call
// Follow again with the ID of the last event.
func (c *Client) Follow(ctx context.Context, q LogQuery, after string, f func(Event) error) error {
	header := http.Header{}
	if after != "" {
		header.Set("Last-Event-ID", after)
	}
	return c.events(ctx, "/v1/log/stream", q.values(), header, func(_ string, data []byte) error {
		var e Event
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("client: cannot decode an event of the stream: %w", err)
		}
		return f(e)
	})
}

// events calls f with each event of a stream until f returns an error or the stream ends.
func (c *Client) events(ctx context.Context, path string, query url.Values, header http.Header, f func(kind string, data []byte) error) error {
	res, err := c.send(ctx, "GET", path, query, header, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, maxEventLine)
	var kind string
	var data []byte
	for lines.Scan() {
		line := lines.Text()
		if field, ok := strings.CutPrefix(line, "event:"); ok {
			kind = strings.TrimSpace(field)
		}
		if field, ok := strings.CutPrefix(line, "data:"); ok {
			data = append(data, field...)
		}
		if line != "" {
			continue
		}
		if len(data) > 0 {
			if err := f(kind, data); err != nil {
				return err
			}
		}
		kind, data = "", data[:0]
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("client: an event of the stream is longer than %d bytes", maxEventLine)
	}
	return io.ErrUnexpectedEOF
}
