package form

import (
	"cloudburst/client"
	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/audience"
	"cloudburst/internal/author"
	"cloudburst/internal/transfer"
)

// User converts a user.
func User(u account.User) client.User {
	return client.User{Name: u.Name, CreatedAt: Milli(u.CreatedAt), PasswordAt: When(u.PasswordAt), SeenAt: When(u.SeenAt), Disabled: u.Disabled, Administrator: u.Administrator}
}

// Token converts a token. The result does not contain the token itself.
func Token(t account.Token) client.Token {
	return client.Token{ID: t.ID, User: t.User, Label: t.Label, Scopes: append([]string{}, t.Scopes...), CreatedAt: Milli(t.CreatedAt), UsedAt: When(t.UsedAt)}
}

// Readers converts a report about the readers of a user's hosted feeds.
func Readers(r audience.Report) client.Readers {
	out := client.Readers{
		User: r.User, At: Milli(r.At), WindowDays: r.WindowDays, Count: r.Readers,
		Services: r.Services.Readers, Programs: r.Programs.Readers, Once: r.Programs.Once, Push: r.Push.Readers,
		Subscriptions: r.Push.Subscriptions, Private: r.Private.Readers,
		Browsers: r.NotCounted.Browsers, Robots: r.NotCounted.Robots, Partial: r.Partial,
		Here: r.Here.Followers, HereNames: append([]string{}, r.Here.Names...), Mail: client.MailReaders(r.Mail),
		ServiceList: make([]client.Service, len(r.Services.List)), Days: make([]client.Day, len(r.Days)),
		ProgramList: counts(r.Programs.List), PushList: counts(r.Push.List), Formats: counts(r.Formats),
	}
	for i, s := range r.Services.List {
		out.ServiceList[i] = client.Service{Name: s.Name, Format: s.Format, Subscribers: s.Subscribers, LastAt: Milli(s.LastAt)}
	}
	for i, d := range r.Days {
		out.Days[i] = client.Day{Day: Milli(d.Day), Readers: d.Readers, Services: d.Services, Programs: d.Programs, Push: d.Push, Private: d.Private, Requests: d.Requests, NotModified: d.NotModified}
	}
	return out
}

func counts(list []audience.Count) []client.NamedCount {
	out := make([]client.NamedCount, len(list))
	for i, c := range list {
		out[i] = client.NamedCount{Name: c.Name, Count: c.N}
	}
	return out
}

// Invite converts an invitation. The result does not contain the invitation's secret.
func Invite(i account.Invite) client.Invite {
	return client.Invite{ID: i.ID, Note: i.Note, CreatedAt: Milli(i.CreatedAt), CreatedBy: i.CreatedBy, ExpiresAt: Milli(i.ExpiresAt), UsedAt: When(i.UsedAt), UsedBy: i.UsedBy}
}

// Block converts a block.
func Block(b admin.Block) client.Block {
	return client.Block{Kind: b.Kind, Value: b.Value, Reason: b.Reason, CreatedAt: Milli(b.CreatedAt), CreatedBy: b.CreatedBy}
}

// Secret converts the secret of a private feed. The result does not contain the secret itself.
func Secret(s account.Secret) client.Secret {
	group, _ := author.GroupOf(s.Feed)
	return client.Secret{Group: group, Selector: s.Selector, User: s.User, Reader: s.Reader, CreatedAt: Milli(s.CreatedAt), UsedAt: When(s.UsedAt)}
}

// MoveResult converts the result of an import.
func MoveResult(r *transfer.Result) client.MoveResult {
	res := client.MoveResult{
		Kind: r.Kind, Found: r.Found, Added: r.Added, Existing: r.Existing, Skipped: r.Skipped, Files: r.Files, Profile: r.Profile, Problems: r.Problems,
		Preview: r.Preview, Drafts: r.Drafts, Replies: r.Replies, Boosts: r.Boosts, FileBytes: r.FileBytes, From: r.From, To: r.To,
	}
	for _, o := range r.Omitted {
		res.Omitted = append(res.Omitted, client.MoveOmission(o))
	}
	for _, m := range r.Moved {
		res.Moved = append(res.Moved, client.MovedURL(m))
	}
	return res
}
