package fetch

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"cloudburst/internal/fulltest"
)

// maxAllocated is the maximum number of allocated bytes per byte of a compressed body. Never raise
// it.
const maxAllocated = 1.2

func TestCompressedBodyAllocatesItsSizeOnce(t *testing.T) {
	fulltest.SkipUnderRace(t) // under the race detector, sync.Pool drops buffers at random
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the pool holds one decompressor for each processor
	body := strings.Repeat("<item><title>An item of a feed</title></item>\n", 1000)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, body) // writes to memory, so there is no error
	z.Close()
	var unpack sync.Pool
	const runs = 50
	read := func() {
		res := &http.Response{Header: http.Header{"Content-Encoding": {"gzip"}}, ContentLength: int64(packed.Len()), Body: io.NopCloser(bytes.NewReader(packed.Bytes()))}
		if got, err := readBody(res, 5<<20, &unpack); err != nil || string(got) != body {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	read()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		read()
	}
	runtime.ReadMemStats(&after)
	if each := float64(after.TotalAlloc-before.TotalAlloc) / runs / float64(len(body)); each > maxAllocated {
		t.Errorf("%.2f bytes for each byte of the body; want at most %v", each, maxAllocated)
	} else {
		t.Logf("%.2f bytes for each byte of the body", each)
	}
}
