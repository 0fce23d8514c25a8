package transfer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"

	"cloudburst/internal/fault"
)

// maxValue is the maximum size of one post in a JSON file, in bytes.
const maxValue = 8 << 20

// errValue is the error for a value larger than maxValue.
var errValue = errors.New("one value is larger than 8 MiB")

// valueLimit stops the decoder at a value that would take too much memory.
type valueLimit struct {
	r    io.Reader
	left int
}

func (l *valueLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errValue
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// eachJSON calls each for every element of a JSON array: the member named list of the root object,
// or the root itself if list is "". Text before the root, such as an assignment of JavaScript, is
// skipped. It holds one element in memory. n is the number of the element, from 1. bad is not nil
// if the element does not have the type T. fault.Invalid: the file is not valid JSON; the message
// names the file and the position. fault.Unavailable: ctx has ended.
func eachJSON[T any](ctx context.Context, a *foreignArchive, name, list string, each func(n int, v *T, bad error) error) error {
	return a.read(name, func(r io.Reader) error {
		in := bufio.NewReaderSize(r, 64<<10)
		skipped, err := skipTo(in, list)
		if err != nil {
			return fault.Wrap(fault.Invalid, err, "Nothing was imported: %q does not start like a list of posts.", clip(name, 100))
		}
		limit := &valueLimit{r: in, left: maxValue}
		dec := json.NewDecoder(limit)
		n := 0
		err = decodeList(dec, limit, list, func() error {
			var v T
			err := dec.Decode(&v)
			if _, typed := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !typed {
				return err
			}
			n++
			if err := ctx.Err(); err != nil {
				return eachError{fault.Wrap(fault.Unavailable, err, "The import was cancelled.")}
			}
			if err := each(n, &v, err); err != nil {
				return eachError{err}
			}
			return nil
		})
		if own, ok := errors.AsType[eachError](err); ok {
			return own.error
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fault.Wrap(fault.Invalid, err, "Nothing was imported: %q is damaged or incomplete near byte %d, after %d entries. Download the archive again.", clip(name, 100), skipped+dec.InputOffset(), n)
		}
		return nil
	})
}

// eachError marks an error of the callback, as opposed to an error of the file.
type eachError struct{ error }

// skipTo discards the text before the root and returns its length in bytes. It returns an error if
// the text has more than 1,000 bytes.
func skipTo(in *bufio.Reader, list string) (n int64, err error) {
	root := byte('[')
	if list != "" {
		root = '{'
	}
	for {
		b, err := in.ReadByte()
		if err != nil || n > 1000 {
			return n, errors.Join(err, errors.New("the root is missing"))
		}
		if b == root {
			return n, in.UnreadByte()
		}
		n++
	}
}

// decodeList moves the decoder to the list and calls each once per element.
func decodeList(dec *json.Decoder, limit *valueLimit, list string, each func() error) error {
	if _, err := dec.Token(); err != nil {
		return err
	}
	elements := func() error {
		for dec.More() {
			if err := each(); err != nil {
				return err
			}
			limit.left = maxValue
		}
		_, err := dec.Token()
		return err
	}
	if list == "" {
		return elements()
	}
	for dec.More() {
		limit.left = maxValue
		key, err := dec.Token()
		if err != nil {
			return err
		}
		if key != list {
			var rest json.RawMessage
			if err := dec.Decode(&rest); err != nil {
				return err
			}
			continue
		}
		open, err := dec.Token()
		if err != nil {
			return err
		}
		if open == json.Delim('[') {
			if err := elements(); err != nil {
				return err
			}
		}
	}
	_, err := dec.Token()
	return err
}
