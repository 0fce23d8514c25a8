package client

import (
	"cmp"
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// File is an image, audio or other file that a user stores on the server.
type File struct {
	URL     string    `json:"url"`  // absolute URL
	Path    string    `json:"path"` // path of URL, also accepted as the URL of a post's enclosure
	Hash    string    `json:"hash"` // SHA-256 of the content in hexadecimal
	Name    string    `json:"name"`
	Type    string    `json:"type"`
	Size    int64     `json:"size"`             // size in bytes
	Width   int       `json:"width,omitempty"`  // width in pixels; only for images
	Height  int       `json:"height,omitempty"` // height in pixels; only for images
	AddedAt time.Time `json:"added_at"`
}

// Upload reads r to its end and stores the content as a file of a user. contentType may be empty.
// size is the number of bytes; -1: unknown. The stored file can be slightly smaller than the
// upload, because the server removes location data from images.
func (c *Client) Upload(ctx context.Context, user, name, contentType string, size int64, r io.Reader) (File, error) {
	var out File
	path, err := userPath("/v1/users/", user, "media")
	if err != nil {
		return out, err
	}
	header := http.Header{"Content-Type": {cmp.Or(contentType, "application/octet-stream")}}
	err = c.callBody(ctx, "POST", path, url.Values{"name": {name}}, header, &sized{r, size}, &out)
	return out, err
}

// sized is a request body with a known length.
type sized struct {
	io.Reader
	size int64
}

// Files lists a user's files, newest first. limit is the maximum number of files; 0: all.
func (c *Client) Files(ctx context.Context, user string, limit int) iter.Seq2[File, error] {
	return userPages[File](ctx, c, url.Values{}, "files", limit, user, "media")
}

// RemoveFile deletes a file. If a post uses the file, the server deletes it only if sure is true.
func (c *Client) RemoveFile(ctx context.Context, user, hash string, sure bool) error {
	path, err := userPath("/v1/users/", user, "media", hash)
	if err != nil {
		return err
	}
	v := url.Values{}
	setTrue(v, "sure", sure)
	return c.call(ctx, "DELETE", path, v, nil, nil)
}
