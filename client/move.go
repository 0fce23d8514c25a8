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
	Kind     string   `json:"kind"`               // "cloudburst", "wordpress", "mastodon", "twitter", "microblog", "blogger", "markdown" or the feed format
	Found    int      `json:"found"`              // posts in the file
	Added    int      `json:"added"`              // posts added
	Existing int      `json:"had"`                // posts skipped because they already exist
	Skipped  int      `json:"left"`               // posts skipped for the reasons in Problems
	Files    int      `json:"files"`              // files added
	Profile  bool     `json:"profile,omitempty"`  // the profile was updated
	Problems []string `json:"problems,omitempty"` // at most 20 sentences about skipped content

	Preview   bool           `json:"preview,omitempty"`   // nothing was stored; the numbers are what an import would add
	Drafts    int            `json:"drafts,omitempty"`    // drafts among the posts that are not skipped
	Replies   int            `json:"replies,omitempty"`   // replies to other people in the file
	Boosts    int            `json:"boosts,omitempty"`    // boosts of other people's posts in the file
	FileBytes int64          `json:"fileBytes,omitempty"` // bytes of the files
	From      time.Time      `json:"from,omitzero"`       // publication of the oldest post
	To        time.Time      `json:"to,omitzero"`         // publication of the newest post
	Omitted   []MoveOmission `json:"omitted,omitempty"`   // skipped posts by reason
	Moved     []MovedURL     `json:"moved,omitempty"`     // old and new URLs, at most 200,000
}

// MoveOmission is a number of posts that were skipped for the same reason.
type MoveOmission struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// MovedURL is the old URL of an imported post, and its URL on this server. From may be a path.
type MovedURL struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// ImportUserOptions selects what [Client.ImportUser] does.
type ImportUserOptions struct {
	Preview bool // only counts; nothing is stored
	Replies bool // also imports replies to other people
	Boosts  bool // also imports boosts of other people's posts
	// Progress is called, unless it is nil, with the state of each phase ("files", "posts").
	Progress func(phase string, done, total int)
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

// ImportUser imports an archive written by [Client.ExportUser], an export of another program
// (WordPress, Mastodon, X, Micro.blog, Blogger, Markdown files) or a feed. Existing content is not
// changed, so an import can be repeated.
func (c *Client) ImportUser(ctx context.Context, user string, file io.Reader, o ImportUserOptions) (MoveResult, error) {
	path, err := userPath("/v1/users/", user, "import")
	if err != nil {
		return MoveResult{}, err
	}
	query := url.Values{}
	for name, set := range map[string]bool{"preview": o.Preview, "replies": o.Replies, "boosts": o.Boosts} {
		if set {
			query.Set(name, "true")
		}
	}
	// A plain io.Reader keeps net/http from closing the caller's reader.
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
