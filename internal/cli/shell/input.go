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

// MaxInput is the maximum number of bytes that are read of a document. It exceeds the limit of the
// parser, because a document in another encoding can have up to four times as many bytes.
const MaxInput = 4*MaxFeed + 1

// Input is a document named on the command line.
type Input struct {
	Name   string      // the argument: a file, a URL, or "-" for standard input
	URL    string      // the URL after redirects; "" for a file or standard input
	Header http.Header // header of the HTTP response; nil for a file or standard input
	Body   []byte      // content, at most MaxInput bytes
}

// Inputs reads files, URLs and standard input. It is safe for concurrent use. It may connect to
// private addresses, because it has the rights of the user who runs the command.
type Inputs struct {
	p    *Shell
	HTTP rsscloud.HTTPClient
}

// Inputs returns the Inputs of one run of a command.
func (p *Shell) Inputs() *Inputs {
	h := p.HTTP
	if h == nil {
		// The polite fetching rules allow two connections per host.
		h = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxConnsPerHost: 2}}
	}
	return &Inputs{p, decoding{h}}
}

// CheckStdinOnce returns an error if names contains "-", standard input, more than once.
func CheckStdinOnce(names []string) error {
	if i := slices.Index(names, "-"); i >= 0 && slices.Contains(names[i+1:], "-") {
		return Usagef("standard input (-) can be read only once")
	}
	return nil
}

// IsURL reports whether name is an http or https URL, not a file.
func IsURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// Read reads one input into the memory of buf, or into a new slice if buf is too small. Errors are
// sentences that name the input.
func (r *Inputs) Read(ctx context.Context, name string, buf []byte) (Input, error) {
	switch {
	case name == "":
		return Input{}, errors.New("an input has an empty name: give a file, a URL, or - for standard input")
	case IsURL(name):
		return r.get(ctx, name, buf)
	}
	type result struct {
		in  Input
		err error
	}
	done := make(chan result, 1)
	// A read of a terminal or a pipe can block forever and cannot be canceled. An interrupt
	// therefore ends only the wait for the goroutine.
	go func() {
		in, err := r.local(name, buf)
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
func (r *Inputs) local(name string, buf []byte) (Input, error) {
	if name != "-" {
		return ReadFile(name, buf)
	}
	body, err := ReadLimited(r.p.In, buf)
	if err != nil {
		return Input{Name: name}, fmt.Errorf("standard input cannot be read: %w", err)
	}
	return Input{Name: name, Body: body}, nil
}

// NoSuchFile returns the error for a missing file. If the name resembles a URL, the error contains
// a hint.
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

// ReadFile reads at most MaxInput bytes of a file into buf, or into a new slice if buf is too
// small.
func ReadFile(name string, buf []byte) (Input, error) {
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
	if n := min(info.Size(), MaxInput) + bytes.MinRead; int64(cap(buf)) < n {
		buf = make([]byte, 0, n)
	}
	if in.Body, err = ReadLimited(f, buf); err != nil {
		return in, fmt.Errorf("%s cannot be read: %w", name, PlainPathError(err))
	}
	return in, nil
}

// PlainPathError returns the error without the file name, because the caller's message already
// contains the name.
func PlainPathError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// ReadLimited reads at most MaxInput bytes of r into buf, or into a new slice if buf is too small.
func ReadLimited(r io.Reader, buf []byte) ([]byte, error) {
	b := bytes.NewBuffer(buf[:0])
	_, err := b.ReadFrom(io.LimitReader(r, MaxInput))
	return b.Bytes(), err
}

// get reads a URL with an HTTP request.
func (r *Inputs) get(ctx context.Context, name string, buf []byte) (Input, error) {
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
		return in, fmt.Errorf("%s cannot be read: the server returned %d %s", name, res.StatusCode, http.StatusText(res.StatusCode))
	}
	in.URL, in.Header = name, res.Header
	if res.Request != nil {
		in.URL = res.Request.URL.String()
	}
	if in.Body, err = ReadLimited(res.Body, buf); err != nil {
		return in, fmt.Errorf("%s cannot be read completely: %w", name, PlainNetError(err))
	}
	return in, nil
}

// OpenInput opens the file called name, or standard input if name is "-".
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
	MaxFeed     = 5 << 20 // maximum number of bytes of a feed
	FeedTimeout = 20 * time.Second
)
