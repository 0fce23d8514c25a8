package metaweblog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/protocol/metaweblog"
	"cloudburst/protocol/xmlrpc"
)

// site is a weblog in memory of the user alice with the password "secret".
type site struct {
	created []string
	posts   map[int]metaweblog.Post
	files   []metaweblog.Media
	want    []metaweblog.Access
	fail    error
}

func newSite() *site { return &site{posts: map[int]metaweblog.Post{}} }

var errWrong = &xmlrpc.Fault{Code: metaweblog.CodeLogin, String: "The name or the password is wrong."}

func (s *site) LogIn(_ context.Context, name, password string, to metaweblog.Access) (metaweblog.Session, error) {
	if s.want = append(s.want, to); name != "alice" || password != "secret" {
		return nil, errWrong
	}
	return s, nil
}

func (s *site) Blogs(context.Context) ([]metaweblog.Blog, error) {
	return []metaweblog.Blog{{ID: "alice", Name: "Alice & friends", URL: "https://w.example/alice/", RPCURL: "https://w.example/RPC2"}}, s.fail
}

func (s *site) User(context.Context) (metaweblog.User, error) {
	return metaweblog.User{ID: "alice", Nickname: "alice", FirstName: "Alice", URL: "https://w.example/alice/"}, s.fail
}

func (s *site) NewPost(_ context.Context, _ string, e metaweblog.Edit) (string, error) {
	if s.fail != nil {
		return "", s.fail
	}
	id := strconv.Itoa(len(s.posts) + 1)
	p := metaweblog.Post{ID: id, UserID: "alice", Created: time.Date(2004, 2, 1, 10, 0, len(s.posts), 0, time.UTC), Status: "draft"}
	s.posts[len(s.posts)+1] = edited(p, e)
	return id, nil
}

// edited applies an edit to a post.
func edited(p metaweblog.Post, e metaweblog.Edit) metaweblog.Post {
	for _, f := range []struct {
		to   *string
		from *string
	}{{&p.Title, e.Title}, {&p.Description, e.Description}, {&p.More, e.More}, {&p.Excerpt, e.Excerpt}, {&p.Link, e.Link}, {&p.Slug, e.Slug}, {&p.Filter, e.Filter}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if e.Categories != nil {
		p.Categories = e.Categories
	}
	if e.Keywords != nil {
		p.Keywords = e.Keywords
	}
	if e.Enclosure != nil {
		p.Enclosure = e.Enclosure
	}
	if !e.Created.IsZero() {
		p.Created = e.Created
	}
	if e.AllowComments != nil {
		p.AllowComments = *e.AllowComments
	}
	if e.AllowPings != nil {
		p.AllowPings = *e.AllowPings
	}
	if public := e.Public(); public != nil {
		p.Status = map[bool]string{true: "publish", false: "draft"}[*public]
	}
	if p.Status == "publish" {
		p.PermaLink = "https://w.example/alice/" + p.ID
	}
	return p
}

func (s *site) at(id string) (int, error) {
	n, _ := strconv.Atoi(id)
	if _, ok := s.posts[n]; !ok {
		return 0, &xmlrpc.Fault{Code: metaweblog.CodeNotFound, String: fmt.Sprintf("There is no post %q.", id)}
	}
	return n, s.fail
}

func (s *site) EditPost(_ context.Context, id string, e metaweblog.Edit) error {
	n, err := s.at(id)
	if err == nil {
		s.posts[n] = edited(s.posts[n], e)
	}
	return err
}

func (s *site) DeletePost(_ context.Context, id string) error {
	n, err := s.at(id)
	if err == nil {
		delete(s.posts, n)
	}
	return err
}

func (s *site) Publish(ctx context.Context, id string) error {
	return s.EditPost(ctx, id, metaweblog.Edit{Publish: new(true)})
}

func (s *site) Post(_ context.Context, id string) (metaweblog.Post, error) {
	n, err := s.at(id)
	return s.posts[n], err
}

func (s *site) Posts(_ context.Context, _ string, q metaweblog.PostQuery) ([]metaweblog.Post, error) {
	var all []metaweblog.Post
	for n := len(s.posts); n > 0 && len(all) < q.Limit; n-- {
		if len(q.Statuses) == 0 || slices.Contains(q.Statuses, s.posts[n].Status) {
			all = append(all, s.posts[n])
		}
	}
	return all, s.fail
}

func (s *site) Categories(context.Context, string) ([]metaweblog.Category, error) {
	var all []metaweblog.Category
	for _, p := range s.posts {
		for _, c := range p.Categories {
			one := category(c)
			if !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	for i := range all {
		all[i].Posts = 1
	}
	for _, c := range s.created {
		if !slices.ContainsFunc(all, func(k metaweblog.Category) bool { return k.Name == c }) {
			all = append(all, category(c))
		}
	}
	slices.SortFunc(all, func(a, b metaweblog.Category) int { return strings.Compare(a.ID, b.ID) })
	return all, s.fail
}

func category(name string) metaweblog.Category {
	id := strings.ToLower(strings.ReplaceAll(name, " ", "-"))
	return metaweblog.Category{ID: id, Name: name, HTMLURL: "https://w.example/alice/category/" + id + "/", RSSURL: "https://w.example/alice/category/" + id + "/rss.xml"}
}

func (s *site) NewCategory(_ context.Context, _, name string) (metaweblog.Category, error) {
	if !slices.Contains(s.created, name) {
		s.created = append(s.created, name)
	}
	return category(name), s.fail
}

func (s *site) File(_ context.Context, _, id string) (metaweblog.File, error) {
	n, err := strconv.Atoi(id)
	if err != nil || n < 1 || n > len(s.files) {
		return metaweblog.File{}, &xmlrpc.Fault{Code: metaweblog.CodeNotFound, String: fmt.Sprintf("There is no file %q.", id)}
	}
	m := s.files[n-1]
	return metaweblog.File{ID: id, Name: m.Name, Type: m.Type, URL: "https://w.example/alice/media/" + m.Name}, s.fail
}

func (s *site) PostCategories(ctx context.Context, id string) ([]metaweblog.Category, error) {
	p, err := s.Post(ctx, id)
	var all []metaweblog.Category
	for i, c := range p.Categories {
		one := category(c)
		one.Primary = i == 0
		all = append(all, one)
	}
	return all, err
}

func (s *site) SetCategories(ctx context.Context, id string, ids []string) error {
	return s.EditPost(ctx, id, metaweblog.Edit{Categories: ids})
}

func (s *site) Upload(_ context.Context, _ string, m metaweblog.Media) (metaweblog.File, error) {
	s.files = append(s.files, m)
	return metaweblog.File{ID: strconv.Itoa(len(s.files)), Name: m.Name, Type: m.Type, URL: "https://w.example/alice/media/" + m.Name}, s.fail
}

var errBoom = errors.New("boom")
