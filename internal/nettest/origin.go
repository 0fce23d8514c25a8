package nettest

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Kinds of an [Origin] determine its validators and which requests get a 304.
const (
	OriginPlain     = "no validators"
	OriginSeconds   = "Last-Modified in whole seconds"
	OriginFile      = "an ETag made of size and modification second" // web servers do this for files
	OriginConstant  = "constant validators"
	OriginWeak      = "weak ETags"
	OriginStrong    = "strong ETags"
	OriginTorn      = "the new ETag with the old body during a change"
	OriginUnasked   = "304 to requests without conditions"
	OriginAlways304 = "304 to each request with a condition"
	OriginOther304  = "304 that names another ETag"
	OriginLater     = "strong ETags that stop changing"
)

// OriginKinds returns all kinds of origins.
func OriginKinds() []string {
	return []string{OriginPlain, OriginSeconds, OriginFile, OriginConstant, OriginWeak, OriginStrong, OriginTorn,
		OriginUnasked, OriginAlways304, OriginOther304, OriginLater}
}

// lastETagChange is the version at which the ETags of OriginLater stop changing.
const lastETagChange = 4

// Origin serves one document, which a test changes. The kind of the origin determines its
// validators, which can be correct, imprecise or wrong.
type Origin struct {
	Kind  string
	Delay time.Duration // delay between reading the document and sending it

	mu       sync.Mutex
	body     []byte
	version  int
	at       time.Time // time of the last change
	requests int
	full     int
}

// Set replaces the document for later requests.
func (o *Origin) Set(body []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.body, o.at = body, time.Now()
	o.version++
}

// Requests returns the number of requests, and the number of requests with a full response.
func (o *Origin) Requests() (all, full int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.requests, o.full
}

// ServeHTTP responds with the document or a 304, depending on the kind.
func (o *Origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.requests++
	n, body, h := o.requests, o.body, o.validators()
	o.mu.Unlock()
	if o.Delay > 0 {
		<-time.After(o.Delay)
	}
	if o.Kind == OriginTorn {
		o.mu.Lock()
		h = o.validators()
		o.mu.Unlock()
	}
	same := o.same(r, h, n)
	maps.Copy(w.Header(), h)
	if same {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/rss+xml")
	o.mu.Lock()
	o.full++
	o.mu.Unlock()
	_, _ = w.Write(body) // the client may have closed the connection
}

// validators returns the validators of the current document.
func (o *Origin) validators() http.Header {
	h, tag, modified := http.Header{}, "", o.at
	switch o.Kind {
	case OriginSeconds:
	case OriginFile:
		tag = fmt.Sprintf(`"%x-%x"`, o.at.Unix(), len(o.body))
	case OriginConstant:
		tag, modified = `"1"`, time.Date(2010, 5, 4, 0, 0, 0, 0, time.UTC)
	case OriginWeak:
		tag, modified = fmt.Sprintf(`W/"%d"`, o.at.Unix()), time.Time{}
	case OriginLater:
		tag, modified = strconv.Quote(strconv.Itoa(min(o.version, lastETagChange))), time.Time{}
	case OriginPlain:
		return h
	default:
		sum := sha256.Sum256(o.body)
		tag, modified = fmt.Sprintf(`"%x"`, sum[:8]), time.Time{}
	}
	if tag != "" {
		h["Etag"] = []string{tag}
	}
	if !modified.IsZero() {
		h["Last-Modified"] = []string{modified.UTC().Format(http.TimeFormat)}
	}
	return h
}

// same reports whether the origin responds with 304; it may delete the ETag from h.
func (o *Origin) same(r *http.Request, h http.Header, n int) bool {
	tag, since := r.Header.Get("If-None-Match"), r.Header.Get("If-Modified-Since")
	switch {
	case o.Kind == OriginUnasked && n%3 == 0:
		return true
	case tag == "" && since == "":
		return false
	case o.Kind == OriginAlways304:
		delete(h, "Etag")
		return true
	case o.Kind == OriginOther304:
		return true
	case tag != "":
		return tag == h.Get("Etag")
	}
	at, err := http.ParseTime(since)
	modified, bad := http.ParseTime(h.Get("Last-Modified"))
	return err == nil && bad == nil && !modified.After(at)
}

// Cache is a shared HTTP cache in front of an origin. It responds without the origin while its
// stored response is fresh, unless the request demands revalidation.
type Cache struct {
	Origin http.Handler
	Fresh  time.Duration

	mu     sync.Mutex
	stored *recordedResponse
}

// recordedResponse records a response for the cache.
type recordedResponse struct {
	header http.Header
	status int
	body   []byte
	at     time.Time
}

// Header implements http.ResponseWriter.
func (k *recordedResponse) Header() http.Header { return k.header }

// WriteHeader records the status.
func (k *recordedResponse) WriteHeader(status int) {
	if k.status == 0 {
		k.status = status
	}
}

// Write records b.
func (k *recordedResponse) Write(b []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	k.body = append(k.body, b...)
	return len(b), nil
}

// ServeHTTP responds from the stored response or from the origin.
func (c *Cache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	k := c.stored
	c.mu.Unlock()
	if k == nil || time.Since(k.at) >= c.Fresh || r.Header.Get("Cache-Control") == "no-cache" || r.Header.Get("Pragma") == "no-cache" {
		k = &recordedResponse{header: http.Header{}, at: time.Now()}
		k.header.Set("Date", k.at.UTC().Format(http.TimeFormat))
		c.Origin.ServeHTTP(k, r)
		if k.status == http.StatusOK {
			c.mu.Lock()
			c.stored = k
			c.mu.Unlock()
		}
	}
	maps.Copy(w.Header(), k.header)
	w.Header().Set("Cache-Control", fmt.Sprintf("max-age=%d", int(c.Fresh.Seconds())))
	w.Header().Set("Age", strconv.Itoa(int(time.Since(k.at).Seconds())))
	status, body := k.status, k.body
	if tag := k.header.Get("Etag"); status == http.StatusOK && tag != "" && r.Header.Get("If-None-Match") == tag {
		status, body = http.StatusNotModified, nil
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have closed the connection
}
