package shell

import (
	"bytes"
	"compress/gzip"
	"net/http"

	documents "cloudburst/internal/serve"
)

func acceptsGzip(r *http.Request) bool {
	return documents.Weight(r.Header.Values("Accept-Encoding"), "gzip") > 0
}

// pack compresses at the fastest level with a pooled writer, because a new writer needs much more
// memory than a page.
func (s *Shell) pack(b []byte) []byte {
	z, ok := s.packers.Get().(*gzip.Writer)
	if !ok {
		return compress(b, gzip.BestSpeed)
	}
	defer s.packers.Put(z)
	var out bytes.Buffer
	out.Grow(len(b)/4 + 512)
	z.Reset(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

// compress compresses b with gzip. It cannot fail: it writes to memory with a valid level.
func compress(b []byte, level int) []byte {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		return b
	}
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}
