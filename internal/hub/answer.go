package hub

import (
	"context"

	"cloudburst/internal/fault"
	"cloudburst/internal/validator"
)

// answer is the result of a read for a check, and how it was requested.
type answer struct {
	Fetched
	conditional bool
}

// read reads a topic after a ping. If the ETag is proven to change with the feed, a 304 of the
// origin counts as unchanged. Otherwise read fetches the whole topic and compares its hash.
//
// spec:cloudburst#ping-decides-by-content
func (h checker) read(ctx context.Context, t Topic, r *round) (answer, error) {
	request := Fetch{URL: t.URL, Revalidate: true}
	if t.Evidence.Doubt(t.ETag, r.receivedAt, h.now()) == validator.NoDoubt {
		request.ETag = t.ETag
	}
	got, err := h.Fetch.Fetch(ctx, request)
	if err == nil && got.NotModified && request.ETag != "" && !validator.Confirms(request.ETag, got.ETag) {
		request.ETag = ""
		got, err = h.Fetch.Fetch(ctx, request)
	}
	if err == nil && got.NotModified && request.ETag == "" {
		err = fault.New(fault.Unreadable, "The feed %s could not be read: its server answered 304 Not Modified to a request without conditions.", clip(t.URL))
	}
	return answer{got, request.ETag != ""}, err
}

// applyAnswer copies the metadata of a successful read into c and updates the evidence for the
// validators.
func applyAnswer(c *Check, t Topic, got answer, r *round) {
	if got.ContentType != "" {
		c.ContentType = got.ContentType
	}
	if c.NotModified = got.NotModified; got.NotModified {
		c.Evidence = t.Evidence.Believe()
		if got.LastModified != "" {
			c.LastModified = got.LastModified
		}
	} else {
		c.ETag, c.LastModified = got.ETag, got.LastModified
		if got.URL != "" && got.URL != t.URL {
			c.ETag, c.LastModified = "", "" // the validators belong to the redirect target, and the redirect may change
		}
		c.Evidence = t.Evidence.Read(validator.FullRead{
			Was: validator.Version{ETag: t.ETag, Hash: string(t.Hash)}, Is: validator.Version{ETag: c.ETag, Hash: string(got.Hash)},
			Conditional: got.conditional, LastModified: got.LastModified, Date: got.Date, At: c.Now,
		})
	}
	c.Again = c.Evidence.NextFullRead(c.Now, !r.pinged)
}
