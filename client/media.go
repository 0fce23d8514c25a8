package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// File is a picture, a sound or anything else that a user keeps on the server.
type File struct {
	URL     string    `json:"url"`  // whole
	Path    string    `json:"path"` // of URL; what enclosures of posts may have as their URL
	Hash    string    `json:"hash"` // SHA-256 of the bytes, in hex
	Name    string    `json:"name"`
	Type    string    `json:"type"`
	Size    int64     `json:"size"`             // bytes
	Width   int       `json:"width,omitempty"`  // of pictures
	Height  int       `json:"height,omitempty"` // of pictures
	AddedAt time.Time `json:"added_at"`
}

// Upload keeps what r gives to its end as a file of a user. contentType may be empty; size
// is the number of bytes, -1 if it is not known. What is kept may be a little less than
// what was sent: pictures lose the place where they were taken.
func (c *Client) Upload(ctx context.Context, user, name, contentType string, size int64, r io.Reader) (File, error) {
	var out File
	path, err := userPath("/v1/users/", user, "media")
	if err != nil {
		return out, err
	}
	header := http.Header{}
	if contentType == "" {
		contentType = "application/octet-stream"
	}
	header.Set("Content-Type", contentType)
	res, err := c.send(ctx, "POST", path, url.Values{"name": {name}}, header, &sized{r, size})
	if err != nil {
		return out, err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&out); err != nil {
		return out, fmt.Errorf("client: the answer of POST %s cannot be read: %w", path, err)
	}
	return out, nil
}

// sized is a body whose length is known before it was read.
type sized struct {
	io.Reader
	size int64
}

// Files lists a user's files, the newest first; limit 0 is all of them.
func (c *Client) Files(ctx context.Context, user string, limit int) iter.Seq2[File, error] {
	return pages(limit, url.Values{}, func(v url.Values) ([]File, string, error) {
		var page struct {
			Files []File `json:"files"`
			Next  string `json:"next"`
		}
		path, err := userPath("/v1/users/", user, "media")
		if err == nil {
			err = c.call(ctx, "GET", path, v, nil, &page)
		}
		return page.Files, page.Next, err
	})
}

// RemoveFile removes a file. While a post uses it that is refused, unless sure.
func (c *Client) RemoveFile(ctx context.Context, user, hash string, sure bool) error {
	path, err := userPath("/v1/users/", user, "media", hash)
	if err != nil {
		return err
	}
	v := url.Values{}
	if sure {
		v.Set("sure", "true")
	}
	return c.call(ctx, "DELETE", path, v, nil, nil)
}
