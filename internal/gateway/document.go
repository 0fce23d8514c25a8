package gateway

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// document is an answer that is made once and served to many.
type document struct {
	plain    []byte // nil: only the packed bytes are kept
	packed   []byte // gzip; nil: it would be no smaller
	size     int    // of the plain bytes
	tag      string // of the plain bytes, without quotes
	modified time.Time

	// Header values, made once.
	plainTag, packedTag, plainLength, packedLength, lastModified string
}

// packMin is the least size at which packing is worth it.
const packMin = 1400

// newDocument packs the bytes. Unless keep is set the plain ones are let go.
func newDocument(plain []byte, modified time.Time, keep bool) *document {
	sum := sha256.Sum256(plain)
	d := &document{plain: plain, size: len(plain), tag: hex.EncodeToString(sum[:16]), modified: modified.UTC().Truncate(time.Second)}
	if len(plain) >= packMin {
		level := gzip.BestSpeed
		if !keep {
			level = gzip.DefaultCompression
		}
		var out bytes.Buffer
		// The level exists and memory takes all: neither can fail.
		z, _ := gzip.NewWriterLevel(&out, level)
		_, _ = z.Write(plain)
		_ = z.Close()
		if out.Len() < len(plain) {
			d.packed = bytes.Clone(out.Bytes())
		}
	}
	if !keep && d.packed != nil {
		d.plain = nil
	}
	d.plainTag, d.packedTag = `"`+d.tag+`"`, `"`+d.tag+`-gz"`
	d.plainLength, d.packedLength = strconv.Itoa(d.size), strconv.Itoa(len(d.packed))
	d.lastModified = d.modified.Format(http.TimeFormat)
	return d
}

// memory is about how many bytes it holds.
func (d *document) memory() int { return len(d.plain) + len(d.packed) + 1024 }

// serve answers r, conditionally, packed for those who understand that.
//
// spec:cloudburst#changes-cached
func (d *document) serve(w http.ResponseWriter, r *http.Request, cache string) {
	head := w.Header()
	head.Set("Cache-Control", cache)
	head.Set("Vary", "Accept-Encoding")
	head.Set("Last-Modified", d.lastModified)
	packed := d.packed != nil && acceptsGzip(r.Header)
	tag, length := d.plainTag, d.plainLength
	if packed {
		tag, length = d.packedTag, d.packedLength
	}
	head.Set("ETag", tag)
	if d.unchanged(r.Header) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	head.Set("Content-Type", "text/xml; charset=utf-8")
	head.Set("Content-Length", length)
	if packed {
		head.Set("Content-Encoding", "gzip")
	}
	if r.Method == http.MethodHead {
		return
	}
	// Nobody is left to tell when the reader has gone.
	switch {
	case packed:
		_, _ = w.Write(d.packed)
	case d.plain != nil:
		_, _ = w.Write(d.plain)
	default:
		z, err := gzip.NewReader(bytes.NewReader(d.packed))
		if err == nil {
			_, _ = io.Copy(w, z)
		}
	}
}

// unchanged reports that the reader has this document already, packed or not.
func (d *document) unchanged(h http.Header) bool {
	if tags := h.Values("If-None-Match"); len(tags) > 0 {
		for _, list := range tags {
			for tag := range strings.SplitSeq(list, ",") {
				switch strings.TrimPrefix(strings.TrimSpace(tag), "W/") {
				case "*", d.plainTag, d.packedTag:
					return true
				}
			}
		}
		return false
	}
	since, err := http.ParseTime(h.Get("If-Modified-Since"))
	return err == nil && !d.modified.After(since)
}

// acceptsGzip reads Accept-Encoding: gzip, x-gzip or *, unless its weight is 0.
func acceptsGzip(h http.Header) bool {
	others := false
	for _, list := range h.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(list, ",") {
			name, params, _ := strings.Cut(part, ";")
			yes := weight(params) > 0
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, "gzip"), strings.EqualFold(name, "x-gzip"):
				return yes
			case name == "*":
				others = yes
			}
		}
	}
	return others
}

// weight is the q of a list's element: 1 when there is none, 0 when it is no number.
func weight(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				return 0
			}
			return q
		}
	}
	return 1
}
