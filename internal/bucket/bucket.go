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

	requestTime = time.Minute // time limit of a request that transfers little content
	minRate     = 256 << 10   // minimum speed of an upload in bytes per second
	attempts    = 2           // maximum number of attempts of each request
	maxError    = 4 << 10     // maximum length of an error document, in bytes
	// emptyHash is the SHA-256 of no bytes.
	emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// Options are the options of a bucket. URL, KeyID and Secret are required.
type Options struct {
	URL    string // URL of the bucket: https://s3.example.org/name or https://name.s3.example.org
	Region string // region in signatures [DefaultRegion]
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

// New returns a client of the bucket with the given options. It sends no request. An error names the
// invalid option.
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
	// S3 requires that the signature covers the path exactly as the request sends it.
	signer := v4.NewSigner(func(s *v4.SignerOptions) { s.DisableURIPathEscaping = true })
	return &Bucket{o: o, url: u, signer: signer}, nil
}

// Put stores an object under the given key and replaces an existing object. The object has size
// bytes. hash is their SHA-256 in hex, which the storage verifies. Put calls open for each attempt
// and reads the bytes from the returned reader. Keys consist of letters, digits, "-" and "/".
// fault.Unavailable: the object was not stored, or the result is unknown.
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

// Read returns n bytes of an object, starting at offset. fault.NotFound: the object does not exist.
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

// Delete deletes an object. A missing object is not an error.
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

// Check verifies the URL, the access keys and the permissions: it stores, reads and deletes a small
// object.
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

// do sends a request, with one more attempt after a temporary failure. build makes the request for
// each attempt. do returns up to limit bytes of the response.
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
	// Some servers require the hash in a header field in addition to the signature.
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

// refusal returns the error that an error response describes.
func refusal(res *http.Response) error {
	var doc struct {
		Code    string
		Message string
	}
	e := &refusalError{status: res.StatusCode}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxError))
	if err == nil && xml.Unmarshal(raw, &doc) == nil { // without a document, the error has only the status
		e.code, e.message = doc.Code, doc.Message
	}
	return e
}

// noBucket is the error code that S3 storage returns when the bucket does not exist.
const noBucket = "NoSuchBucket"

// refusalError is an error response of the storage.
type refusalError struct {
	status        int
	code, message string // "": the response has none
}

func (e *refusalError) Error() string {
	if e.code == "" {
		return fmt.Sprintf("it responded with status %d", e.status)
	}
	return fmt.Sprintf("it responded with status %d, %s: %s", e.status, e.code, strings.TrimRight(e.message, "."))
}
