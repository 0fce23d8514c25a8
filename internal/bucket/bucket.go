// Package bucket stores objects in a bucket of S3-compatible storage. Such storage keeps bytes under
// keys and is accessed by HTTP requests with signatures (AWS Signature Version 4).
//
// Start with [New] and [Bucket.Put].
package bucket

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"cloudburst/internal/date"
	"cloudburst/internal/fault"
)

const (
	// DefaultRegion is the region in signatures; most S3-compatible servers accept it.
	DefaultRegion = "us-east-1"

	requestTime = time.Minute // of a request with little content
	minRate     = 256 << 10   // bytes per second below which an upload is ended
	attempts    = 2           // of each request
	maxError    = 4 << 10     // bytes of an error document
	// emptyHash is the SHA-256 of no bytes.
	emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// Options are the options of a bucket. URL, KeyID and Secret are required.
type Options struct {
	URL    string // of the bucket: https://s3.example.org/name or https://name.s3.example.org
	Region string // [DefaultRegion]
	KeyID  string // access key ID
	Secret string // secret access key
	HTTP   *http.Client
	Now    func() time.Time // [time.Now]
}

// Bucket is a client of one bucket. It is safe for concurrent use.
type Bucket struct {
	o      Options
	url    *url.URL
	signer *v4.Signer
}

// New returns a client of the bucket with the given options. It sends no request. The error names
// the wrong option.
func New(o Options) (*Bucket, error) {
	u, err := url.Parse(strings.TrimRight(o.URL, "/"))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.User != nil:
		return nil, fmt.Errorf("%q is not the http or https URL of a bucket", o.URL)
	case o.KeyID == "" || o.Secret == "":
		return nil, errors.New("the access key ID or the secret access key of the bucket is missing")
	}
	if o.Region == "" {
		o.Region = DefaultRegion
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport:     &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second, ResponseHeaderTimeout: requestTime},
		}
	}
	// The path of an object is signed as it is sent, as S3 requires.
	signer := v4.NewSigner(func(s *v4.SignerOptions) { s.DisableURIPathEscaping = true })
	return &Bucket{o: o, url: u, signer: signer}, nil
}

// Put stores an object with the given key: size bytes with the SHA-256 hash in hex, which the storage
// verifies. Each attempt reads them from a reader that open returns. An object with this key is
// replaced. Keys have letters, digits, "-" and "/". fault.Unavailable: the object was not stored, or
// it is unknown whether it was.
func (b *Bucket) Put(ctx context.Context, key, contentType string, size int64, hash string, open func() io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime+time.Duration(size/minRate)*time.Second)
	defer cancel()
	_, err := b.do(ctx, key, hash, 0, func() (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, b.url.JoinPath(key).String(), io.NopCloser(open()))
		if err == nil {
			req.ContentLength = size
			req.Header.Set("Content-Type", contentType)
		}
		return req, err
	})
	return err
}

// Read returns n bytes of an object from offset on. fault.NotFound: there is no such object.
// fault.Unavailable: the storage did not return these bytes.
func (b *Bucket) Read(ctx context.Context, key string, offset int64, n int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	got, err := b.do(ctx, key, emptyHash, n, func() (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url.JoinPath(key).String(), nil)
		if err == nil {
			req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+int64(n)-1))
		}
		return req, err
	})
	if err == nil && len(got) != n {
		err = b.unavailable(fmt.Errorf("it sent %d bytes instead of %d", len(got), n))
	}
	return got, err
}

// Delete deletes an object. It is no error if there is none.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	_, err := b.do(ctx, key, emptyHash, 0, func() (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodDelete, b.url.JoinPath(key).String(), nil)
	})
	if fault.CodeOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// Check stores, reads and deletes a small object, to prove that URL, keys and permissions are right.
func (b *Bucket) Check(ctx context.Context) error {
	const key, text, hash = "cloudburst-check", "ok", "2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df"
	if err := b.Put(ctx, key, "text/plain", int64(len(text)), hash, func() io.Reader { return strings.NewReader(text) }); err != nil {
		return err
	}
	if _, err := b.Read(ctx, key, 0, len(text)); err != nil {
		return err
	}
	return b.Delete(ctx, key)
}

// do sends a request that build makes for each attempt, and returns up to limit bytes of the response.
func (b *Bucket) do(ctx context.Context, key, hash string, limit int, build func() (*http.Request, error)) (body []byte, err error) {
	for range attempts {
		var status int
		var req *http.Request
		if req, err = build(); err != nil {
			break
		}
		if status, body, err = b.send(req, hash, limit); err == nil {
			return body, nil
		}
		if e, ok := errors.AsType[*refusalError](err); ok && status == http.StatusNotFound && e.code != noBucket {
			return nil, fault.Wrap(fault.NotFound, err, "The content of this file is missing in the file storage.")
		}
		if ctx.Err() != nil || status != 0 && status < 500 && status != http.StatusTooManyRequests {
			break
		}
	}
	return nil, b.unavailable(err)
}

// unavailable returns a fault whose text for users does not name the storage.
func (b *Bucket) unavailable(err error) error {
	return fault.Wrap(fault.Unavailable, fmt.Errorf("the bucket %s: %w", b.url.Redacted(), err), "The file storage is not available. Try again later.")
}

// send signs and sends one request. status is 0 if there was no response.
func (b *Bucket) send(req *http.Request, hash string, limit int) (status int, body []byte, err error) {
	// Some servers accept a request only with the hash in a header too.
	req.Header.Set("X-Amz-Content-Sha256", hash)
	keys := aws.Credentials{AccessKeyID: b.o.KeyID, SecretAccessKey: b.o.Secret}
	if err := b.signer.SignHTTP(req.Context(), keys, req, hash, "s3", b.o.Region, date.Now(b.o.Now)); err != nil {
		return 0, nil, err
	}
	res, err := b.o.HTTP.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return res.StatusCode, nil, refusal(res)
	}
	var buf bytes.Buffer
	buf.Grow(limit)
	_, err = io.Copy(&buf, io.LimitReader(res.Body, int64(limit)))
	return res.StatusCode, buf.Bytes(), err
}

// refusal returns the error that a response of the storage states.
func refusal(res *http.Response) error {
	var doc struct {
		Code    string
		Message string
	}
	e := &refusalError{status: res.StatusCode}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxError))
	if err == nil && xml.Unmarshal(raw, &doc) == nil { // without a document, the status is all
		e.code, e.message = doc.Code, doc.Message
	}
	return e
}

// noBucket is the code of storage that has no such bucket.
const noBucket = "NoSuchBucket"

// refusalError is an error response of the storage.
type refusalError struct {
	status        int
	code, message string // "": not stated
}

func (e *refusalError) Error() string {
	if e.code == "" {
		return fmt.Sprintf("it responded with status %d", e.status)
	}
	return fmt.Sprintf("it responded with status %d, %s: %s", e.status, e.code, strings.TrimRight(e.message, "."))
}
