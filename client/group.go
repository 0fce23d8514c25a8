package client

import (
	"context"
	"time"
)

// Group is a list of readers that a user defines. The readers get the posts for the group in a
// private feed.
type Group struct {
	Slug        string     `json:"slug"` // identifies the group; never changes
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	URL         string     `json:"url,omitempty"`        // URL of the group's feed, without a secret
	DeletedAt   *time.Time `json:"deleted_at,omitempty"` // time when the group was deleted; [Groups.Restore] restores it; nil: not deleted
}

// Groups calls the endpoints for the groups of one user.
type Groups struct {
	Client *Client
	User   string
}

// List returns the groups, including deleted groups. The default group, private, is first.
func (g Groups) List(ctx context.Context) ([]Group, error) {
	return userMember[[]Group](ctx, g.Client, "groups", g.User, "groups")
}

// Add creates a group. If Slug is "", the server derives the slug from Name.
func (g Groups) Add(ctx context.Context, add Group) (Group, error) {
	return userCall[Group](ctx, g.Client, "POST", Group{Slug: add.Slug, Name: add.Name, Description: add.Description}, g.User, "groups")
}

// Change changes the name and the description of a group.
func (g Groups) Change(ctx context.Context, slug, name, description string) (Group, error) {
	return userCall[Group](ctx, g.Client, "PUT", Group{Slug: slug, Name: name, Description: description}, g.User, "groups", slug)
}

// Remove deletes a group: its feed is no longer served. Its secrets and posts stay stored.
func (g Groups) Remove(ctx context.Context, slug string) error {
	_, err := userCall[struct{}](ctx, g.Client, "DELETE", nil, g.User, "groups", slug)
	return err
}

// Restore reverts [Groups.Remove].
func (g Groups) Restore(ctx context.Context, slug string) (Group, error) {
	return userCall[Group](ctx, g.Client, "POST", nil, g.User, "groups", slug, "restore")
}

// NewSecret is like [Client.NewSecret] for the group with this slug; "": the default group.
func (g Groups) NewSecret(ctx context.Context, slug, reader string) (Secret, error) {
	in := map[string]string{"reader": reader}
	if slug != "" {
		in["group"] = slug
	}
	return feedCall[Secret](ctx, g.Client, "POST", in, g.User, PrivateFeed, "secrets")
}
