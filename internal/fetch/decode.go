package fetch

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

// readBody reads and decodes a whole body. The body may have at most limit bytes, both before and
// after decoding.
func readBody(res *http.Response, limit int64, unpack *sync.Pool) ([]byte, error) {
	if res.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	raw := &io.LimitedReader{R: res.Body, N: limit + 1}
	plain, err := decoder(raw, res.Header.Values("Content-Encoding"), unpack)
	if err != nil {
		return nil, wrongCoding(err)
	}
	body, err := readAll(io.LimitReader(plain, limit+1))
	if g, ok := plain.(*gzipMembers); ok {
		unpack.Put(g.Reader) // reuse the gzip.Reader, which is larger than most bodies
	}
	if int64(len(body)) > limit || raw.N == 0 {
		return nil, tooLarge(limit)
	}
	if err != nil {
		return nil, wrongCoding(err)
	}
	return body, nil
}

// scratch contains buffers for bodies of unknown size. A buffer larger than maxScratch is not kept.
// A response gets a copy of the exact size.
var scratch = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxScratch = 1 << 20

// readAll is like io.ReadAll, for a result without spare capacity.
func readAll(r io.Reader) ([]byte, error) {
	b := scratch.Get().(*bytes.Buffer)
	defer func() {
		if b.Cap() <= maxScratch {
			b.Reset()
			scratch.Put(b)
		}
	}()
	_, err := b.ReadFrom(r)
	return bytes.Clone(b.Bytes()), err
}

func tooLarge(limit int64) error {
	return &Error{Kind: TooLarge, Text: fmt.Sprintf("answered with more than %d bytes", limit)}
}

// wrongCoding returns err as Malformed, unless err is a timeout.
func wrongCoding(err error) error {
	if isTimeout(err) {
		return err
	}
	return malformed("body: %w", err)
}

// gzipMembers reads all members of a gzip stream. Unlike [gzip.Reader], it ignores bytes after a
// member that do not begin another one, as other programs do: many servers send a line break there.
type gzipMembers struct {
	*gzip.Reader // of one member
	from         *bufio.Reader
}

func (g *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := g.Reader.Read(p)
		if err != io.EOF {
			return n, err
		}
		switch err := g.Reset(g.from); {
		case err == nil:
			g.Multistream(false)
		case errors.Is(err, gzip.ErrHeader), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return n, io.EOF
		default:
			return n, err
		}
		if n > 0 {
			return n, nil
		}
	}
}

// decoder undoes one content coding. Lists of several codings are rejected: only decompression
// bombs use them. It takes gzip readers from the pool unpack.
func decoder(r io.Reader, codings []string, unpack *sync.Pool) (io.Reader, error) {
	switch coding := strings.ToLower(strings.TrimSpace(strings.Join(codings, ","))); coding {
	case "", "identity", "none", "utf-8":
		return r, nil
	case "gzip", "x-gzip":
		b := bufio.NewReader(r)
		if _, err := b.Peek(1); err == io.EOF {
			return b, nil // the body is empty
		}
		z, ok := unpack.Get().(*gzip.Reader)
		if !ok {
			z = new(gzip.Reader)
		}
		err := z.Reset(b)
		z.Multistream(false)
		return &gzipMembers{z, b}, err
	case "deflate":
		// By the standard, deflate means the zlib format, but many servers send raw deflate data.
		b := bufio.NewReader(r)
		head, err := b.Peek(2)
		if err == io.EOF && len(head) == 0 {
			return b, nil
		}
		if len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			return zlib.NewReader(b)
		}
		return flate.NewReader(b), nil
	case "br":
		b := bufio.NewReader(r)
		if _, err := b.Peek(1); err == io.EOF {
			return b, nil
		}
		return brotli.NewReader(b), nil
	default:
		if strings.Contains(coding, ",") {
			return nil, fmt.Errorf("content coding %.40q: only one coding is accepted", coding)
		}
		return nil, fmt.Errorf("content coding %.40q was not requested", coding)
	}
}
