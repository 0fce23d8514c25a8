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

// maxEventLine bounds one line of the event stream.
const maxEventLine = 16 << 20

// Follow calls f with each event that happens from now on, or that happened after
// the event whose ID is after. It ends with f's error, the context's, or
// io.ErrUnexpectedEOF when the server ended the stream (it restarts, or this
// client was too slow): call it again with the ID of the last event.
func (c *Client) Follow(ctx context.Context, q LogQuery, after string, f func(Event) error) error {
	header := http.Header{}
	if after != "" {
		header.Set("Last-Event-ID", after)
	}
	return c.events(ctx, "/v1/log/stream", q.values(), header, func(_ string, data []byte) error {
		var e Event
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("client: an event of the stream cannot be read: %w", err)
		}
		return f(e)
	})
}

// events calls f with each event of a stream, until one of them or the stream ends it.
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
