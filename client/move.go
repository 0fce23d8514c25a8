package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// MoveResult is the outcome of [Client.ImportUser].
type MoveResult struct {
	Kind     string   `json:"kind"`               // "cloudburst", "wordpress" or the feed format
	Found    int      `json:"found"`              // posts in the file
	Added    int      `json:"added"`              // posts added
	Existing int      `json:"had"`                // posts skipped because they already exist
	Skipped  int      `json:"left"`               // posts skipped for the reasons in Problems
	Files    int      `json:"files"`              // files added
	Profile  bool     `json:"profile,omitempty"`  // the profile was updated
	Problems []string `json:"problems,omitempty"` // at most 20 sentences about skipped content
}

// ExportUser writes all data of a user to w as one ZIP archive: posts, files, profile and feeds. It
// returns the number of bytes written. ExportUser calls progress, unless it is nil, with the number
// of bytes so far. After an error, the archive is incomplete.
func (c *Client) ExportUser(ctx context.Context, user string, w io.Writer, progress func(bytes int64)) (int64, error) {
	path, err := userPath("/v1/users/", user, "export")
	if err != nil {
		return 0, err
	}
	out := &byteCounter{w: w, progress: progress}
	err = c.export(ctx, path, out, func() string { return fmt.Sprintf("%d bytes", out.n) })
	return out.n, err
}

type byteCounter struct {
	w        io.Writer
	n        int64
	progress func(int64)
}

func (b *byteCounter) Write(p []byte) (int, error) {
	n, err := b.w.Write(p)
	if b.n += int64(n); b.progress != nil {
		b.progress(b.n)
	}
	return n, err
}

// ImportUser imports an archive written by [Client.ExportUser], a WordPress export or a feed.
// Existing content is not changed, so an import can be repeated. ImportUser calls progress, unless
// it is nil, with the state of each phase ("files", "posts").
func (c *Client) ImportUser(ctx context.Context, user string, file io.Reader, progress func(phase string, done, total int)) (MoveResult, error) {
	path, err := userPath("/v1/users/", user, "import")
	if err != nil {
		return MoveResult{}, err
	}
	// A plain io.Reader keeps net/http from closing the caller's reader.
	res, err := c.send(ctx, "POST", path, nil, http.Header{"Content-Type": {"application/octet-stream"}}, struct{ io.Reader }{file})
	if err != nil {
		return MoveResult{}, err
	}
	defer res.Body.Close()
	return steps(res, func(at step[MoveResult]) {
		if progress != nil {
			progress(at.Phase, at.Done, at.Total)
		}
	})
}
