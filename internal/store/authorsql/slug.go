package authorsql

import (
	"context"
	"strconv"

	"cloudburst/internal/store/sqldb"
)

// slugs finds free slugs for many new posts of one user.
type slugs struct {
	store *postStore
	c     sqldb.Conn
	user  string
	taken map[string]bool
	next  map[string]int // the first number with which a slug may be free
}

// load reads which of the wanted slugs other posts of the user have.
func (s *slugs) load(ctx context.Context, posts []postRow) error {
	wishes := make([]string, len(posts))
	for i := range posts {
		wishes[i] = posts[i].Slug
	}
	var err error
	s.taken, err = s.store.known(ctx, s.c, "slug", s.user, wishes)
	return err
}

// free returns the wanted slug or a similar free one, and marks it as taken.
func (s *slugs) free(ctx context.Context, wish string) (string, error) {
	if wish == "" || !s.taken[wish] {
		s.taken[wish] = true
		return wish, nil
	}
	slug, n, err := numbered(wish, max(s.next[wish], 2), func(slug string) (bool, error) {
		if s.taken[slug] {
			return true, nil
		}
		return slugTaken(ctx, s.c, s.user, slug, 0)
	})
	s.taken[slug], s.next[wish] = true, n+1
	return slug, err
}

// freeSlug implements author.Writing's free: it returns a slug that no other post of the user has.
func freeSlug(ctx context.Context, c sqldb.Conn, user, wish string, id int64) (string, error) {
	wish = sqldb.Clean(wish)
	taken, err := slugTaken(ctx, c, user, wish, id)
	if err != nil || !taken || wish == "" {
		return wish, err
	}
	slug, _, err := numbered(wish, 2, func(slug string) (bool, error) { return slugTaken(ctx, c, user, slug, id) })
	return slug, err
}

func slugTaken(ctx context.Context, c sqldb.Conn, user, slug string, id int64) (bool, error) {
	n, err := sqldb.Count(ctx, c, `SELECT p.id FROM post AS p WHERE p.owner = $1 AND p.slug = $2 AND p.slug <> ''`, user, slug)
	return n != 0 && n != id, err
}

// numbered returns a slug with a free number of at least n. Often many of the first numbers are
// taken, so numbered doubles the step until a number is free, and then searches by bisection.
func numbered(wish string, n int, taken func(slug string) (bool, error)) (string, int, error) {
	at := func(n int) string { return wish + "-" + strconv.Itoa(n) }
	low, step := n-1, 1 // low is taken, or is one less than the first number
	for {
		is, err := taken(at(low + step))
		if err != nil {
			return "", 0, err
		}
		if !is {
			break
		}
		low, step = low+step, 2*step
	}
	high := low + step // high is free
	for high-low > 1 {
		middle := low + (high-low)/2
		is, err := taken(at(middle))
		if err != nil {
			return "", 0, err
		}
		if is {
			low = middle
		} else {
			high = middle
		}
	}
	return at(high), high, nil
}
