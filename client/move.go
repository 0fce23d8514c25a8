package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// MoveResult is what came of taking in a file of an author.
type MoveResult struct {
	Kind     string   `json:"kind"`               // "cloudburst", "wordpress" or the format of a feed
	Found    int      `json:"found"`              // posts in the file
	Added    int      `json:"added"`              // of them
	Existing int      `json:"had"`                // of them: were there already
	Skipped  int      `json:"left"`               // of them: were left out
	Files    int      `json:"files"`              // that were added
	Profile  bool     `json:"profile,omitempty"`  // something of the profile was taken
	Problems []string `json:"problems,omitempty"` // what was left out, at most 20 sentences
}

// ExportUser writes everything of a user to w: posts, files, profile and feeds, as one
// ZIP archive. progress hears how many bytes came; nil: nobody does. What was written
// when it returns an error is no whole archive.
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

// ImportUser takes in a file that ExportUser wrote, an export of WordPress or a feed. What
// is there already stays as it is, so that it can be repeated. progress hears of each
// phase ("files", "posts") how far it is; nil: nobody does.
func (c *Client) ImportUser(ctx context.Context, user string, file io.Reader, progress func(phase string, done, total int)) (MoveResult, error) {
	path, err := userPath("/v1/users/", user, "import")
	if err != nil {
		return MoveResult{}, err
	}
	// A plain reader hides what net/http would otherwise close on its own.
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
