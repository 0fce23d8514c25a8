package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxEventLine bounds one line of the event stream.
const maxEventLine = 1 << 20

// Follow calls f with each event that happens from now on, or that happened after
// the event whose ID is after. It ends with f's error, the context's, or
// io.ErrUnexpectedEOF when the server ended the stream (it restarts, or this
// client was too slow): call it again with the ID of the last event.
func (c *Client) Follow(ctx context.Context, q LogQuery, after string, f func(Event) error) error {
	header := http.Header{}
	if after != "" {
		header.Set("Last-Event-ID", after)
	}
	res, err := c.send(ctx, "GET", "/v1/log/stream", q.values(), header, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, maxEventLine)
	var data strings.Builder
	for lines.Scan() {
		line := lines.Text()
		if field, ok := strings.CutPrefix(line, "data:"); ok {
			data.WriteString(field)
		}
		if line != "" || data.Len() == 0 {
			continue
		}
		var e Event
		if err := json.Unmarshal([]byte(data.String()), &e); err != nil {
			return fmt.Errorf("client: an event of the stream cannot be read: %w", err)
		}
		data.Reset()
		if err := f(e); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("client: an event of the stream is longer than %d bytes", maxEventLine)
	}
	return io.ErrUnexpectedEOF
}
