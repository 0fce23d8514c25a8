package api

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
	"cloudburst/internal/people"
)

// People lists the authors of this server. [*people.Directory] implements it.
type People interface {
	Range(ctx context.Context, words string, from, limit int) (people.Page, error)
	Followed(author string, following map[int64]bool) int64
}

// Threads reads the replies to posts. [*conversation.Threads] implements it.
type Threads interface {
	NameOf(url string) string
	Open(ctx context.Context, url string) error
	Readable(ctx context.Context, url string) (conversation.Brief, error)
	Thread(ctx context.Context, q conversation.ThreadQuery) (conversation.Thread, error)
	Above(ctx context.Context, name string) ([]conversation.Node, error)
}

func (s riverAPI) people(c *riverCall) error {
	p := c.params(exchange.Paged("match")...)
	words, cursor, limit := p.Text("match"), p.Cursor(), p.Limit()
	if p.Err != nil {
		return p.Err
	}
	if s.Options.People == nil {
		return fault.New(fault.Unsupported, "This server has no list of its authors.")
	}
	from := 0
	if cursor != "" {
		var err error
		if from, err = strconv.Atoi(cursor); err != nil || from < 1 || from > people.MaxAuthors {
			return exchange.BadCursor(cursor)
		}
	}
	list, err := s.Options.People.Range(c.ctx(), words, from, limit)
	if err != nil {
		return err
	}
	following, err := s.River.Following(c.ctx(), c.reader)
	if err != nil {
		return err
	}
	page := struct {
		People []client.Person `json:"people"`
		Total  int             `json:"total"`
		Next   string          `json:"next,omitempty"`
	}{People: make([]client.Person, len(list.Authors)), Total: list.Total}
	for i, a := range list.Authors {
		at := s.origin() + "/" + url.PathEscape(a.User) + "/"
		page.People[i] = client.Person{User: a.User, Name: a.Name, About: a.About, Avatar: s.whole(a.Avatar), Page: at, Feed: at + "rss.xml",
			Posts: a.Posts, LastAt: form.When(a.LastAt), Following: client.ID(s.Options.People.Followed(a.User, following))}
	}
	if list.More {
		page.Next = strconv.Itoa(from + limit)
	}
	return exchange.OK(c.w, page)
}

// whole returns the URL of a path on this server. It returns other URLs unchanged.
func (s *Server) whole(name string) string {
	if strings.HasPrefix(name, "/") {
		return s.origin() + name
	}
	return name
}

// thread sends the replies to a post. The post is a published post on this server, or a post on
// another server that this server knows.
//
// spec:cloudburst#thread-page
func (s riverAPI) thread(c *riverCall) error {
	p := c.params("url", "cursor", "limit")
	at := p.Text("url")
	q := conversation.ThreadQuery{After: p.Text("cursor"), Limit: p.LimitTo(conversation.MaxNodes), All: true}
	if p.Err != nil {
		return p.Err
	}
	if s.Options.Threads == nil {
		return fault.New(fault.Unsupported, "This server has no threads.")
	}
	if err := exchange.CheckURL("url", at, exchange.MaxURL); err != nil {
		return err
	}
	if _, err := s.Options.Threads.Readable(c.ctx(), at); err != nil {
		return err
	}
	if err := s.Options.Threads.Open(c.ctx(), at); err != nil {
		return err
	}
	name := s.Options.Threads.NameOf(at)
	q.ID = conversation.KeyOf(name)
	found, err := s.Options.Threads.Thread(c.ctx(), q)
	if err != nil {
		return err
	}
	out := client.Thread{URL: s.whole(name), Replies: make([]client.ThreadReply, len(found.Nodes))}
	if out.Above, err = s.above(c, name); err != nil {
		return err
	}
	for i := range found.Nodes {
		out.Replies[i] = s.replyOf(&found.Nodes[i], found.Depth())
	}
	if found.More {
		out.Next = found.Nodes[len(found.Nodes)-1].Path
	}
	return exchange.OK(c.w, out)
}

// above returns the posts above a reply in its thread, from the first post down. A post that the
// user may not read is hidden and has no content.
func (s riverAPI) above(c *riverCall, name string) ([]client.ThreadReply, error) {
	list := []client.ThreadReply{}
	nodes, err := s.Options.Threads.Above(c.ctx(), name)
	if err != nil || len(nodes) == 0 {
		return list, err
	}
	top := s.whole(nodes[0].ParentName)
	one := client.ThreadReply{ID: client.ID(nodes[0].Root), Hidden: true}
	switch b, err := s.Options.Threads.Readable(c.ctx(), top); {
	case err == nil:
		one.Hidden, one.URL, one.Name, one.Title = false, top, b.Name, b.Line
	case fault.CodeOf(err) != fault.NotFound:
		return nil, err
	}
	list = append(list, one)
	for i := range nodes[:len(nodes)-1] {
		list = append(list, s.replyOf(&nodes[i], 0))
	}
	return list, nil
}

// replyOf converts a reply. above is the depth of the post whose replies are sent.
func (s *Server) replyOf(n *conversation.Node, above int) client.ThreadReply {
	one := client.ThreadReply{ID: client.ID(n.ID), Parent: client.ID(n.Parent), Depth: n.Depth() - above, Hidden: n.Hidden}
	if n.Hidden {
		return one
	}
	one.URL, one.At, one.User, one.Name, one.AuthorURL = s.whole(n.Name), form.When(n.At), n.User, cmp.Or(n.Author, n.User), s.whole(n.AuthorURL)
	one.Title, one.HTML, one.Text = n.Title, n.HTML, n.Text
	return one
}
