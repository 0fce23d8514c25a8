package api

import (
	"context"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/author"
)

// Groups stores the groups of users. [author.Groups] implements it.
type Groups interface {
	Groups(ctx context.Context, user string) ([]author.Group, error)
	Group(ctx context.Context, user, slug string) (author.Group, error)
	AddGroup(ctx context.Context, user string, g author.Group) (author.Group, error)
	ChangeGroup(ctx context.Context, user, slug string, change func(*author.Group)) (author.Group, error)
	RemoveGroup(ctx context.Context, user, slug string) (author.Group, error)
	RestoreGroup(ctx context.Context, user, slug string) (author.Group, error)
}

func (s *Server) groupOf(user string, g author.Group) client.Group {
	return client.Group{Slug: g.Slug, Name: g.Name, Description: g.Description, URL: s.feedURL(user, author.GroupFeed(g.Slug)), DeletedAt: form.When(g.DeletedAt)}
}

func (s postAPI) groups(c *postCall) error {
	all, err := s.Posts.Groups(c.ctx(), c.user)
	if err != nil {
		return err
	}
	list := make([]client.Group, len(all))
	for i, g := range all {
		list[i] = s.groupOf(c.user, g)
	}
	return exchange.OK(c.w, map[string][]client.Group{"groups": list})
}

// groupCall returns an endpoint that changes one group. If body is set, the body of the request
// contains the group.
func groupCall(body bool, do func(s postAPI, c *postCall, slug string, in author.Group) (author.Group, error)) func(postAPI, *postCall) error {
	return plainPost(func(s postAPI, c *postCall) error {
		var in client.Group
		if body {
			if err := exchange.ReadJSON(c.w, c.r, &in); err != nil {
				return err
			}
		}
		g, err := do(s, c, c.r.PathValue("slug"), author.Group{Slug: in.Slug, Name: in.Name, Description: in.Description})
		return exchange.Answer(c.w, s.groupOf(c.user, g), err)
	})
}
