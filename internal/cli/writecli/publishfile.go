package writecli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/media"
)

// files returns the enclosures of a post, with their types and lengths.
func (g *filePost) files(ctx context.Context) ([]author.Enclosure, error) {
	var all []author.Enclosure
	urls := g.enclosureURLs
	for _, name := range g.enclosures {
		var e author.Enclosure
		var err error
		if shell.IsURL(name) {
			e, err = g.headFile(ctx, name)
		} else {
			e, err = statFile(name)
			e.URL, urls = urls[0], urls[1:] // check has verified that there are enough URLs
		}
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// statFile returns the type and the length of a local file.
func statFile(name string) (author.Enclosure, error) {
	f, err := os.Open(name)
	if err != nil {
		return author.Enclosure{}, fmt.Errorf("%s cannot be read: %w", name, shell.PlainPathError(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return author.Enclosure{}, err
	}
	if !info.Mode().IsRegular() {
		return author.Enclosure{}, fmt.Errorf("%s is not a file", name)
	}
	head := make([]byte, media.HeadSize)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return author.Enclosure{}, fmt.Errorf("%s cannot be read: %w", name, shell.PlainPathError(err))
	}
	kind := media.Detect(head[:n]).Type
	if kind == "application/octet-stream" { // the extension of the name may be more specific
		if named, _, _ := strings.Cut(mime.TypeByExtension(filepath.Ext(name)), ";"); named != "" {
			kind = named
		}
	}
	kind, _, _ = strings.Cut(kind, ";")
	return author.Enclosure{Type: strings.TrimSpace(kind), Length: info.Size()}, nil
}

// headFile asks the server of a file for the type and the length of the file.
func (g *filePost) headFile(ctx context.Context, address string) (author.Enclosure, error) {
	e := author.Enclosure{URL: address}
	if err := shell.CheckURL(address); err != nil {
		return e, err
	}
	ctx, cancel := context.WithTimeout(ctx, shell.FeedTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return e, err
	}
	req.Header.Set("User-Agent", g.p.UserAgent())
	req.Header.Set("Accept-Encoding", "identity") // without compression, the length is the size of the file
	res, err := g.p.Inputs().HTTP.Do(req)
	if err != nil {
		return e, fmt.Errorf("requesting the type and length of %s failed: %w", address, shell.PlainNetError(err))
	}
	defer discard(res)
	if res.StatusCode != http.StatusOK {
		return e, fmt.Errorf("requesting the type and length of %s failed: the server returned %d %s", address, res.StatusCode, http.StatusText(res.StatusCode))
	}
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	e.Type = strings.TrimSpace(kind)
	if e.Length = max(res.ContentLength, 0); e.Length == 0 {
		fmt.Fprintf(g.p.Err, "cloudburst: the server of %s does not report its length; the feed contains 0\n", shell.Clean(address))
	}
	return e, nil
}

// discard reads the rest of a response, so that the connection can be reused.
func discard(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10) // ignore errors: the connection is then not reused
	res.Body.Close()
}
