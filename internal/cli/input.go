package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"cloudburst/protocol/rsscloud"
)

// maxInput is how many bytes of a document are read: more than the limit of what is
// parsed of it, because other encodings take up to four times the room.
const maxInput = 4*maxFeed + 1

// input is a document that a command was told to read.
type input struct {
	Name   string      // as it was named: a file, a URL, or "-" for standard input
	URL    string      // where a URL's redirects ended; "" of others
	Header http.Header // of a URL's answer; nil of others
	Body   []byte      // cut at maxInput bytes
}

// inputs reads files, URLs and standard input, also several at a time. What the
// person who types may read is read.
type inputs struct {
	p    *Program
	http rsscloud.HTTPClient
}

func (p *Program) inputs() *inputs {
	h := p.HTTP
	if h == nil {
		// Two connections to a host are what one reader may have.
		h = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxConnsPerHost: 2}}
	}
	return &inputs{p, decoding{h}}
}

// readOnce finds standard input named twice.
func readOnce(names []string) error {
	if i := slices.Index(names, "-"); i >= 0 && slices.Contains(names[i+1:], "-") {
		return usagef("standard input (-) can be read only once")
	}
	return nil
}

// isURL reports a name that is not a file's.
func isURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// read reads one input into room, which it may have to replace by a larger one.
// Errors are sentences that name the input.
func (r *inputs) read(ctx context.Context, name string, room []byte) (input, error) {
	switch {
	case name == "":
		return input{}, errors.New("an input has an empty name: give a file, a URL, or - for standard input")
	case isURL(name):
		return r.get(ctx, name, room)
	}
	type result struct {
		in  input
		err error
	}
	done := make(chan result, 1)
	// A terminal or a pipe may say nothing for ever, and nothing ends such a wait: who
	// interrupts the program does not wait for it.
	go func() {
		in, err := r.local(name, room)
		done <- result{in, err}
	}()
	select {
	case r := <-done:
		return r.in, r.err
	case <-ctx.Done():
		return input{Name: name}, ctx.Err()
	}
}

// local reads a file or standard input.
func (r *inputs) local(name string, room []byte) (input, error) {
	if name != "-" {
		return readFile(name, room)
	}
	body, err := readSome(r.p.In, room)
	if err != nil {
		return input{Name: name}, fmt.Errorf("standard input cannot be read: %w", err)
	}
	return input{Name: name, Body: body}, nil
}

// unfound says that there is no such file, and what it may be instead.
func unfound(name string) error {
	const no = "%s cannot be read: there is no such file"
	scheme, _, ok := strings.Cut(name, "://")
	host, _, deep := strings.Cut(name, "/")
	switch {
	case ok:
		return fmt.Errorf("%s cannot be read: a URL needs http:// or https://, not %s://, and there is no such file", name, scheme)
	case deep && strings.Contains(strings.Trim(host, "."), "."), strings.HasPrefix(host, "localhost:"):
		return fmt.Errorf(no+"; a URL begins with http:// or https://", name)
	}
	return fmt.Errorf(no, name)
}

func readFile(name string, room []byte) (input, error) {
	in := input{Name: name}
	f, err := os.Open(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return in, unfound(name)
		}
		return in, fmt.Errorf("%s cannot be read: %w", name, plainPathError(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return in, fmt.Errorf("%s cannot be read: %w", name, plainPathError(err))
	}
	if info.IsDir() {
		return in, fmt.Errorf("%s is a folder: name the files in it, such as %s", name, strings.TrimSuffix(name, "/")+"/*.xml")
	}
	if n := min(info.Size(), maxInput) + bytes.MinRead; int64(cap(room)) < n {
		room = make([]byte, 0, n)
	}
	if in.Body, err = readSome(f, room); err != nil {
		return in, fmt.Errorf("%s cannot be read: %w", name, plainPathError(err))
	}
	return in, nil
}

// plainPathError leaves out the name, which the sentence has already.
func plainPathError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

func readSome(r io.Reader, room []byte) ([]byte, error) {
	b := bytes.NewBuffer(room[:0])
	_, err := b.ReadFrom(io.LimitReader(r, maxInput))
	return b.Bytes(), err
}

// get fetches a URL.
func (r *inputs) get(ctx context.Context, name string, room []byte) (input, error) {
	in := input{Name: name}
	if err := checkURL(name); err != nil {
		return in, err
	}
	ctx, cancel := context.WithTimeout(ctx, feedTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", name, nil)
	if err != nil {
		return in, err
	}
	req.Header.Set("User-Agent", r.p.agent())
	req.Header.Set("Accept", "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml, application/xml;q=0.9, */*;q=0.5")
	res, err := r.http.Do(req)
	if err != nil {
		return in, fmt.Errorf("%s cannot be read: %w", name, plainNetError(err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return in, fmt.Errorf("%s cannot be read: its server answers %d %s", name, res.StatusCode, http.StatusText(res.StatusCode))
	}
	in.URL, in.Header = name, res.Header
	if res.Request != nil {
		in.URL = res.Request.URL.String()
	}
	if in.Body, err = readSome(res.Body, room); err != nil {
		return in, fmt.Errorf("%s cannot be read to its end: %w", name, plainNetError(err))
	}
	return in, nil
}

func (p *Program) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(p.In), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the file cannot be read: %w", err)
	}
	return f, nil
}

const (
	maxFeed  = 5 << 20 // bytes of a feed that are read
	feedTime = 20 * time.Second
)
