package shell

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

// MaxInput is how many bytes of a document are read: more than the limit of what is
// parsed of it, because other encodings take up to four times the room.
const MaxInput = 4*MaxFeed + 1

// Input is a document named on the command line.
type Input struct {
	Name   string      // as it was named: a file, a URL, or "-" for standard input
	URL    string      // where a URL's redirects ended; "" of others
	Header http.Header // of a URL's answer; nil of others
	Body   []byte      // cut at maxInput bytes
}

// Inputs reads files, URLs and standard input, also several at a time. What the
// person who types may read is read.
type Inputs struct {
	p    *Shell
	HTTP rsscloud.HTTPClient
}

// Inputs reads the inputs of one command.
func (p *Shell) Inputs() *Inputs {
	h := p.HTTP
	if h == nil {
		// Two connections to a host are what one reader may have.
		h = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxConnsPerHost: 2}}
	}
	return &Inputs{p, decoding{h}}
}

// CheckStdinOnce finds standard input named twice.
func CheckStdinOnce(names []string) error {
	if i := slices.Index(names, "-"); i >= 0 && slices.Contains(names[i+1:], "-") {
		return Usagef("standard input (-) can be read only once")
	}
	return nil
}

// IsURL reports a name that is not a file's.
func IsURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// Read reads one input into room, which it may have to replace by a larger one.
// Errors are sentences that name the input.
func (r *Inputs) Read(ctx context.Context, name string, room []byte) (Input, error) {
	switch {
	case name == "":
		return Input{}, errors.New("an input has an empty name: give a file, a URL, or - for standard input")
	case IsURL(name):
		return r.get(ctx, name, room)
	}
	type result struct {
		in  Input
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
		return Input{Name: name}, ctx.Err()
	}
}

// local reads a file or standard input.
func (r *Inputs) local(name string, room []byte) (Input, error) {
	if name != "-" {
		return ReadFile(name, room)
	}
	body, err := ReadLimited(r.p.In, room)
	if err != nil {
		return Input{Name: name}, fmt.Errorf("standard input cannot be read: %w", err)
	}
	return Input{Name: name, Body: body}, nil
}

// NoSuchFile says that there is no such file, and what it may be instead.
func NoSuchFile(name string) error {
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

// ReadFile reads a file, at most MaxInput bytes, into room or into a larger slice.
func ReadFile(name string, room []byte) (Input, error) {
	in := Input{Name: name}
	f, err := os.Open(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return in, NoSuchFile(name)
		}
		return in, fmt.Errorf("%s cannot be read: %w", name, PlainPathError(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return in, fmt.Errorf("%s cannot be read: %w", name, PlainPathError(err))
	}
	if info.IsDir() {
		return in, fmt.Errorf("%s is a folder: name the files in it, such as %s", name, strings.TrimSuffix(name, "/")+"/*.xml")
	}
	if n := min(info.Size(), MaxInput) + bytes.MinRead; int64(cap(room)) < n {
		room = make([]byte, 0, n)
	}
	if in.Body, err = ReadLimited(f, room); err != nil {
		return in, fmt.Errorf("%s cannot be read: %w", name, PlainPathError(err))
	}
	return in, nil
}

// PlainPathError leaves out the name, which the sentence has already.
func PlainPathError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// ReadLimited reads at most MaxInput bytes of r into room.
func ReadLimited(r io.Reader, room []byte) ([]byte, error) {
	b := bytes.NewBuffer(room[:0])
	_, err := b.ReadFrom(io.LimitReader(r, MaxInput))
	return b.Bytes(), err
}

// get fetches a URL.
func (r *Inputs) get(ctx context.Context, name string, room []byte) (Input, error) {
	in := Input{Name: name}
	if err := CheckURL(name); err != nil {
		return in, err
	}
	ctx, cancel := context.WithTimeout(ctx, FeedTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", name, nil)
	if err != nil {
		return in, err
	}
	req.Header.Set("User-Agent", r.p.UserAgent())
	req.Header.Set("Accept", "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml, application/xml;q=0.9, */*;q=0.5")
	res, err := r.HTTP.Do(req)
	if err != nil {
		return in, fmt.Errorf("%s cannot be read: %w", name, PlainNetError(err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return in, fmt.Errorf("%s cannot be read: its server answers %d %s", name, res.StatusCode, http.StatusText(res.StatusCode))
	}
	in.URL, in.Header = name, res.Header
	if res.Request != nil {
		in.URL = res.Request.URL.String()
	}
	if in.Body, err = ReadLimited(res.Body, room); err != nil {
		return in, fmt.Errorf("%s cannot be read to its end: %w", name, PlainNetError(err))
	}
	return in, nil
}

// OpenInput opens a file, or standard input for -.
func (p *Shell) OpenInput(name string) (io.ReadCloser, error) {
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
	MaxFeed     = 5 << 20 // bytes of a feed that are read
	FeedTimeout = 20 * time.Second
)
