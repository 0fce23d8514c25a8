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

// Options say what is sent along with a document. The zero value sends the bytes and
// their tag, and no more.
type Options struct {
	Type     string    // Content-Type, with its charset
	Modified time.Time // Last-Modified, cut to the second; zero: none
	Cache    string    // Cache-Control; "" leaves what the caller has set
	Vary     string    // request headers that it depends on, beside Accept-Encoding
	Link     []string  // Link headers, one each
	Feed     bool      // others may read it from a page, and no script in it may run
	Policy   string    // Content-Security-Policy of a Feed instead of the sandbox
	Brotli   bool      // there is a brotli form for those who ask for it

	Level  int  // of gzip, 1 to 9 [6]
	Packed bool // only the packed bytes are kept: who wants the plain ones waits for them to be unpacked
	// NoSince is for a document of the same second as the one before it: then
	// If-Modified-Since cannot tell them apart, and is not asked.
	NoSince bool
	// Delta makes an answer of status 226 (RFC 3229) with this as its IM header. Tag
	// is then that of the whole document, as Tag gives it.
	Delta, Tag string
	// Now is the clock that dates of the future are known by [time.Now].
	Now func() time.Time
}

const (
	minGzipSize    = 1400 // bytes at which packing is worth it: less is one packet anyway
	brotliQuality  = 5    // as small as gzip's best, in about the time of gzip's 6
	suffixGzip     = "-gz"
	suffixBrotli   = "-br"
	overhead       = 2048 // headers and the like, in memory
	feedPolicy     = "sandbox; default-src 'none'"
	methods        = "GET, HEAD, OPTIONS"
	corsHeaders    = "Accept, A-IM, Authorization, If-Modified-Since, If-None-Match, X-WSSE"
	exposedHeaders = "ETag, IM, Link, Last-Modified, Content-Length"
)

// Document is an answer that many get. It never changes; its methods may be called
// at the same time.
type Document struct {
	o          Options
	size       int    // of the plain bytes
	tag        string // of the plain bytes, without quotes
	modified   time.Time
	plain      representation
	packed     representation
	preferGzip bool // the gzip form is what is sent if the reader leaves the choice
	pack       sync.Once
	squeezed   representation
	squeeze    sync.Once

	// Header values, made once; nil is not sent.
	cache, vary, since, kind, link, policy, delta, nosniff, any, exposed, ranges []string
}

// form is one way in which the bytes are written.
type representation struct {
	body     []byte // nil: not kept, or not made yet
	tag      string // with its quotes
	tags     []string
	length   []string
	encoding []string // nil: none
}

// New makes a document of body, which may not be changed afterwards.
func New(body []byte, o Options) *Document {
	tag := o.Tag
	if tag == "" {
		tag = TagOf(body)
	}
	d := &Document{o: o, size: len(body), tag: tag}
	d.plain = newRepresentation(tag, "", body)
	d.packed = newRepresentation(tag, "gzip", nil)
	d.squeezed = newRepresentation(tag, "br", nil)
	if len(body) >= minGzipSize {
		d.pack.Do(func() { d.packed.fill(gzipped(body, o.Level)) })
		d.preferGzip = len(d.packed.body) < len(body)
	}
	if o.Packed && d.preferGzip {
		d.plain.body = nil
	}
	d.headers()
	return d
}

// TagOf is the tag that New gives to a document of body, see [Document.Tag].
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

// headers makes the values that all answers share.
func (d *Document) headers() {
	o := &d.o
	vary := "Accept-Encoding"
	if o.Vary != "" {
		vary += ", " + o.Vary
	}
	d.vary = []string{vary}
	d.ranges = []string{"none"} // parts of a feed are of no use
	d.cache, d.kind, d.delta = one(o.Cache), one(o.Type), one(o.Delta)
	if !o.Modified.IsZero() {
		d.modified = o.Modified.UTC().Truncate(time.Second)
		d.since = one(d.modified.Format(http.TimeFormat))
	}
	if len(o.Link) > 0 {
		d.link = append([]string(nil), o.Link...)
		d.link = d.link[:len(d.link):len(d.link)] // who adds to it gets a copy
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

// gzip is the packed form. Small documents are packed when somebody insists.
func (d *Document) gzip() *representation {
	d.pack.Do(func() { d.packed.fill(gzipped(d.Bytes(), d.o.Level)) })
	return &d.packed
}

// brotli is the brotli form, made once while all who want it wait.
func (d *Document) brotli() *representation {
	d.squeeze.Do(func() {
		var out bytes.Buffer
		// Memory takes all: it cannot fail.
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
	// The level exists and memory takes all: neither can fail.
	z, _ := gzip.NewWriterLevel(&out, level)
	_, _ = z.Write(body)
	_ = z.Close()
	return bytes.Clone(out.Bytes())
}

// Bytes are the plain ones; do not change them. Where only the packed ones are kept
// they are unpacked each time.
func (d *Document) Bytes() []byte {
	if d.plain.body != nil || d.size == 0 {
		return d.plain.body
	}
	out := bytes.NewBuffer(make([]byte, 0, d.size+bytes.MinRead))
	_ = d.unpack(out)
	return out.Bytes()
}

// unpack writes the plain bytes from the packed ones.
func (d *Document) unpack(w io.Writer) error {
	z, err := gzip.NewReader(bytes.NewReader(d.packed.body))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, z)
	return err
}

// Tag tells these bytes from others: 32 hexadecimal digits, or what Options.Tag was.
// It is the plain form's ETag without quotes; the others end in -gz and -br.
func (d *Document) Tag() string { return d.tag }

// Type is its Content-Type.
func (d *Document) Type() string { return d.o.Type }

// Size is about how many bytes of memory it holds, with room for a brotli form if
// there may be one.
func (d *Document) Size() int {
	n := len(d.plain.body) + overhead
	packed := minGzipSize // when somebody insists
	if d.size >= minGzipSize {
		packed = len(d.packed.body)
	}
	if d.o.Brotli {
		packed *= 2
	}
	return n + packed
}
