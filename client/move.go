package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// MoveResult is the outcome of [Client.ImportUser].
type MoveResult struct {
	Kind     string   `json:"kind"`               // kind of the file: "cloudburst", "wordpress", "mastodon", "twitter", "microblog", "blogger", "markdown" or the feed format
	Found    int      `json:"found"`              // number of posts in the file
	Added    int      `json:"added"`              // number of added posts
	Existing int      `json:"had"`                // number of posts that were skipped because they already exist
	Skipped  int      `json:"left"`               // number of posts that were skipped for the reasons in Problems
	Files    int      `json:"files"`              // number of added files
	Profile  bool     `json:"profile,omitempty"`  // the profile was updated
	Problems []string `json:"problems,omitempty"` // sentences about skipped content, at most 20

	Preview   bool           `json:"preview,omitempty"`   // nothing was stored; the numbers describe what an import would add
	Drafts    int            `json:"drafts,omitempty"`    // number of drafts among the posts that are not skipped
	Replies   int            `json:"replies,omitempty"`   // number of replies to other people in the file
	Boosts    int            `json:"boosts,omitempty"`    // number of boosts of other people's posts in the file
	FileBytes int64          `json:"fileBytes,omitempty"` // size of all files in bytes
	From      time.Time      `json:"from,omitzero"`       // publication time of the oldest post
	To        time.Time      `json:"to,omitzero"`         // publication time of the newest post
	Omitted   []MoveOmission `json:"omitted,omitempty"`   // numbers of skipped posts by reason
	Moved     []MovedURL     `json:"moved,omitempty"`     // old and new URLs of posts, at most 200,000
}

// MoveOmission is a number of posts that were skipped for the same reason.
type MoveOmission struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// MovedURL has the old URL of an imported post and its URL on this server. From may be a path
// instead of a URL.
type MovedURL struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// ImportUserOptions are the options of [Client.ImportUser].
type ImportUserOptions struct {
	Preview bool // only count the content of the file; nothing is stored
	Replies bool // also import replies to other people
	Boosts  bool // also import boosts of other people's posts
	// Progress is called with the state of each phase ("files", "posts"); nil: not called.
	Progress func(phase string, done, total int)
}

// ExportUser writes all data of a user to w as one ZIP archive: posts, files, profile and feeds. It
// returns the number of bytes written. If progress is not nil, ExportUser calls it with the number
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

// ImportUser imports an archive of [Client.ExportUser], an export of another program (WordPress,
// Mastodon, X, Micro.blog, Blogger, Markdown files) or a feed. It does not change existing content,
// so an import can be repeated.
func (c *Client) ImportUser(ctx context.Context, user string, file io.Reader, o ImportUserOptions) (MoveResult, error) {
	path, err := userPath("/v1/users/", user, "import")
	if err != nil {
		return MoveResult{}, err
	}
	query := url.Values{}
	setTrue(query, "preview", o.Preview)
	setTrue(query, "replies", o.Replies)
	setTrue(query, "boosts", o.Boosts)
	// Hide the type of file, so that net/http does not close the caller's reader.
	res, err := c.send(ctx, "POST", path, query, http.Header{"Content-Type": {"application/octet-stream"}}, struct{ io.Reader }{file})
	if err != nil {
		return MoveResult{}, err
	}
	defer res.Body.Close()
	return steps(res, func(at step[MoveResult]) {
		if o.Progress != nil {
			o.Progress(at.Phase, at.Done, at.Total)
		}
	})
}
