package api

import (
	"context"

	"cloudburst/client"
	"cloudburst/internal/api/form"
	"cloudburst/internal/author"
)

// maxPost is the maximum size in bytes of a request with a post. Most of it is the text, and the
// outline with all attributes.
const maxPost = 6 << 20

// editOf converts a request to an edit of a post.
func editOf(c *postCall, in *client.PostChange) author.Edit {
	e := author.Edit{User: c.user, Via: c.via(), Change: func(to *author.Content) error {
		form.ChangeContent(to, in)
		return nil
	}}
	if in.State != nil {
		e.To = author.State(*in.State)
	}
	if in.At != nil {
		e.At = *in.At
	}
	if in.Slug != nil {
		e.Slug = *in.Slug
	}
	return e
}

func (s *Server) postOf(ctx context.Context, p author.Post) client.Post {
	return form.Post(p, s.Posts.Address(p), s.Posts.Warning(ctx, p))
}
