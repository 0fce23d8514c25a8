package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A call is a request to a helper process. The helper reads calls as lines of JSON from standard
// input and writes one line for each to standard output. It ends when its input ends, so a helper
// never outlives its parent.

type call struct {
	Do   string          `json:"do"`
	With json.RawMessage `json:"with,omitempty"`
}

type answer struct {
	Error  string          `json:"error,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// serveCalls answers the calls from in until in ends.
func serveCalls(ctx context.Context, in io.Reader, out io.Writer, handle func(context.Context, call) (any, error)) error {
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var c call
		if err := dec.Decode(&c); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a call: %w", err)
		}
		var a answer
		result, err := handle(ctx, c)
		if err == nil {
			a.Result, err = json.Marshal(result)
		}
		if err != nil {
			a.Error = err.Error()
		}
		if err := enc.Encode(a); err != nil {
			return fmt.Errorf("answer a call: %w", err)
		}
	}
}

// unpack decodes the argument of a call from JSON.
func unpack[T any](c call) (v T, err error) {
	if len(c.With) > 0 {
		err = json.Unmarshal(c.With, &v)
	}
	return v, err
}

// caller sends calls to a helper process. It is not safe for concurrent use.
type caller struct {
	in  io.Writer
	out *bufio.Reader
}

func (c *caller) call(do string, with, result any) error {
	args, err := json.Marshal(with)
	if err != nil {
		return err
	}
	line, err := json.Marshal(call{Do: do, With: args})
	if err != nil {
		return err
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("call %s: %w", do, err)
	}
	text, err := c.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("call %s: the helper went away: %w", do, err)
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("call %s: %w", do, err)
	}
	if a.Error != "" {
		return fmt.Errorf("call %s: %s", do, a.Error)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(a.Result, result)
}
