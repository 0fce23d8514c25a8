package authorsql

import (
	"context"
	"maps"
	"strconv"

	"cloudburst/internal/store/sqldb"
)

// slugs finds free slugs for many new posts of one user.
type slugs struct {
	store *postStore
	c     sqldb.Conn
	user  string
	taken map[string]bool
	next  map[string]numbers // by wanted slug
}

// numbers are the numbers of slugs with the same wanted slug: those below free are taken, and those
// below read are in slugs.taken if they are taken.
type numbers struct{ free, read int }

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
	next := s.next[wish]
	if next.free > 0 && next.free >= next.read {
		if err := s.read(ctx, wish, next.free); err != nil {
			return "", err
		}
		next.read = next.free + knownBatch
	}
	n, err := numbered(max(next.free, 2), func(n int) (bool, error) {
		slug := withNumber(wish, n)
		if n < next.read || s.taken[slug] {
			return s.taken[slug], nil
		}
		return slugTaken(ctx, s.c, s.user, slug, 0)
	})
	slug := withNumber(wish, n)
	next.free = n + 1
	s.taken[slug], s.next[wish] = true, next
	return slug, err
}

// read reads which slugs with the wish and a number are taken, for knownBatch numbers from n. It is
// faster than to look up each number, and is done from the second number of a wish on.
func (s *slugs) read(ctx context.Context, wish string, n int) error {
	some := make([]string, knownBatch)
	for i := range some {
		some[i] = withNumber(wish, n+i)
	}
	known, err := s.store.known(ctx, s.c, "slug", s.user, some)
	maps.Copy(s.taken, known)
	return err
}

func withNumber(wish string, n int) string { return wish + "-" + strconv.Itoa(n) }

// freeSlug implements author.Writing's free: it returns a slug that no other post of the user has.
func freeSlug(ctx context.Context, c sqldb.Conn, user, wish string, id int64) (string, error) {
	wish = sqldb.Clean(wish)
	taken, err := slugTaken(ctx, c, user, wish, id)
	if err != nil || !taken || wish == "" {
		return wish, err
	}
	n, err := numbered(2, func(n int) (bool, error) { return slugTaken(ctx, c, user, withNumber(wish, n), id) })
	return withNumber(wish, n), err
}

func slugTaken(ctx context.Context, c sqldb.Conn, user, slug string, id int64) (bool, error) {
	n, err := sqldb.Count(ctx, c, `SELECT p.id FROM post AS p WHERE p.owner = $1 AND p.slug = $2 AND p.slug <> ''`, user, slug)
	return n != 0 && n != id, err
}

// numbered returns a free number of at least n. Often many of the first numbers are taken, so
// numbered doubles the step until a number is free, and then searches by bisection.
func numbered(n int, taken func(n int) (bool, error)) (int, error) {
	low, step := n-1, 1 // low is taken, or is one less than the first number
	for {
		is, err := taken(low + step)
		if err != nil {
			return 0, err
		}
		if !is {
			break
		}
		low, step = low+step, 2*step
	}
	high := low + step // high is free
	for high-low > 1 {
		middle := low + (high-low)/2
		is, err := taken(middle)
		if err != nil {
			return 0, err
		}
		if is {
			low = middle
		} else {
			high = middle
		}
	}
	return high, nil
}
