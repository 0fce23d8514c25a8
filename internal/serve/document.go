package serve

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
)

// Options add headers to a document. The zero value sends only the body and its ETag.
type Options struct {
	Type     string    // Content-Type, with charset
	Modified time.Time // Last-Modified, truncated to seconds; zero: none
	Cache    string    // Cache-Control; "" keeps the value that the caller set
	Tags     string    // Cache-Tag, which shared caches use to purge responses, see AuthorTag; "": none
	Vary     string    // names of request headers to add to Vary, after Accept-Encoding
	Link     []string  // values of Link headers
	Feed     bool      // allows pages of other origins to read the document, and forbids scripts in it
	Policy   string    // Content-Security-Policy if Feed is true; "": sandbox
	Brotli   bool      // also offers a brotli representation

	Level  int  // level of gzip, 1 to 9 [6]
	Packed bool // stores only the gzip bytes; plain responses are decompressed each time
	// NoSince ignores If-Modified-Since. Set NoSince for a document that was modified in the same
	// second as its previous version, because that header cannot distinguish the two.
	NoSince bool
	// If Delta is not empty, responses have status 226 (RFC 3229) and the IM header Delta. Tag must
	// then be the Tag of the whole document.
	Delta, Tag string
	// Now is the clock for detecting dates in the future [time.Now].
	Now func() time.Time
}

// MinGzipSize is the size in bytes from which answers are compressed. Smaller ones fit into one
// packet anyway.
const MinGzipSize = 1400

const (
	brotliQuality  = 5 // output as small as with gzip level 9, in about the time of gzip level 6
	suffixGzip     = "-gz"
	suffixBrotli   = "-br"
	overhead       = 2048 // bytes of memory for headers etc.
	feedPolicy     = "sandbox; default-src 'none'"
	methods        = "GET, HEAD, OPTIONS"
	corsHeaders    = "Accept, A-IM, Authorization, If-Modified-Since, If-None-Match, X-WSSE"
	exposedHeaders = "ETag, IM, Link, Last-Modified, Content-Length"
)

// Document is an immutable response for many requests. It is safe for concurrent use.
type Document struct {
	o          Options
	size       int    // bytes of the uncompressed document
	tag        string // tag of the plain bytes, without quotes
	modified   time.Time
	plain      representation
	packed     representation
	preferGzip bool // gzip is smaller than the plain bytes, so it is preferred
	pack       sync.Once
	squeezed   representation
	squeeze    sync.Once

	// These header values are made once. Nil values are not sent.
	cache, tags, vary, since, kind, link, policy, delta, nosniff, any, exposed, ranges []string
}

// representation is one encoding of the document.
type representation struct {
	body     []byte // bytes in this encoding; nil: not stored, or not made yet
	tag      string // tag with quotes
	tags     []string
	length   []string
	encoding []string // value of Content-Encoding; nil: no encoding
}

// New returns a document with this body, which must not be modified afterwards.
func New(body []byte, o Options) *Document {
	tag := o.Tag
	if tag == "" {
		tag = TagOf(body)
	}
	d := &Document{o: o, size: len(body), tag: tag}
	d.plain = newRepresentation(tag, "", body)
	d.packed = newRepresentation(tag, "gzip", nil)
	d.squeezed = newRepresentation(tag, "br", nil)
	if len(body) >= MinGzipSize {
		d.pack.Do(func() { d.packed.fill(gzipped(body, o.Level)) })
		d.preferGzip = len(d.packed.body) < len(body)
	}
	if o.Packed && d.preferGzip {
		d.plain.body = nil
	}
	d.headers()
	return d
}

// TagOf returns the tag of a document with this body, see [Document.Tag].
func TagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:16])
}

func newRepresentation(tag, encoding string, body []byte) representation {
	f := representation{tag: `"` + tag + `"`}
	switch encoding {
	case "gzip":
		f.tag = `"` + tag + suffixGzip + `"`
	case "br":
		f.tag = `"` + tag + suffixBrotli + `"`
	}
	f.tags = []string{f.tag}
	if encoding != "" {
		f.encoding = []string{encoding}
	}
	f.fill(body)
	return f
}

func (f *representation) fill(body []byte) {
	f.body, f.length = body, []string{strconv.Itoa(len(body))}
}

// headers prepares the header values that all responses share.
func (d *Document) headers() {
	o := &d.o
	vary := "Accept-Encoding"
	if o.Vary != "" {
		vary += ", " + o.Vary
	}
	d.vary = []string{vary}
	d.ranges = []string{"none"} // clients never need a range of a feed
	d.cache, d.tags, d.kind, d.delta = one(o.Cache), one(o.Tags), one(o.Type), one(o.Delta)
	if !o.Modified.IsZero() {
		d.modified = o.Modified.UTC().Truncate(time.Second)
		d.since = one(d.modified.Format(http.TimeFormat))
	}
	if len(o.Link) > 0 {
		d.link = append([]string(nil), o.Link...)
		d.link = d.link[:len(d.link):len(d.link)] // limit the capacity, so that append makes a copy
	}
	if o.Feed {
		d.nosniff, d.any, d.exposed = one("nosniff"), one("*"), one(exposedHeaders)
		d.policy = one(feedPolicy)
		if o.Policy != "" {
			d.policy = one(o.Policy)
		}
	}
}

func one(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// gzip returns the gzip representation. Small documents are compressed only on demand.
func (d *Document) gzip() *representation {
	d.pack.Do(func() { d.packed.fill(gzipped(d.Bytes(), d.o.Level)) })
	return &d.packed
}

// brotli returns the brotli representation. The first call makes it; concurrent calls wait.
func (d *Document) brotli() *representation {
	d.squeeze.Do(func() {
		var out bytes.Buffer
		// A bytes.Buffer returns no errors.
		z := brotli.NewWriterLevel(&out, brotliQuality)
		_, _ = z.Write(d.Bytes())
		_ = z.Close()
		d.squeezed.fill(bytes.Clone(out.Bytes()))
	})
	return &d.squeezed
}

func gzipped(body []byte, level int) []byte {
	if level < gzip.BestSpeed || level > gzip.BestCompression {
		level = gzip.DefaultCompression
	}
	var out bytes.Buffer
	// The level is valid, and a bytes.Buffer returns no errors.
	z, _ := gzip.NewWriterLevel(&out, level)
	_, _ = z.Write(body)
	_ = z.Close()
	return bytes.Clone(out.Bytes())
}

// Bytes returns the plain bytes, which must not be modified. If only the gzip bytes are stored,
// each call decompresses them.
func (d *Document) Bytes() []byte {
	if d.plain.body != nil || d.size == 0 {
		return d.plain.body
	}
	out := bytes.NewBuffer(make([]byte, 0, d.size+bytes.MinRead))
	_ = d.unpack(out)
	return out.Bytes()
}

// unpack writes the plain bytes, decompressed from the gzip bytes.
func (d *Document) unpack(w io.Writer) error {
	z, err := gzip.NewReader(bytes.NewReader(d.packed.body))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, z)
	return err
}

// Tag identifies the content: 32 hexadecimal digits, or Options.Tag. It is the ETag of the plain
// representation without quotes; the tags of the other representations end in -gz and -br.
func (d *Document) Tag() string { return d.tag }

// Type returns the Content-Type.
func (d *Document) Type() string { return d.o.Type }

// Size returns the approximate memory use in bytes, including a possible brotli representation.
func (d *Document) Size() int {
	n := len(d.plain.body) + overhead
	packed := MinGzipSize // upper limit for a small document that is compressed on demand
	if d.size >= MinGzipSize {
		packed = len(d.packed.body)
	}
	if d.o.Brotli {
		packed *= 2
	}
	return n + packed
}
