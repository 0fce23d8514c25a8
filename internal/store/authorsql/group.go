package authorsql

import (
	"context"
	"regexp"
	"slices"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// groups rebuilds the feeds of the groups that a change concerns, in a fixed order.
func (t *writing) groups(ctx context.Context, done *author.Written) error {
	if t.MakeGroup == nil {
		return nil
	}
	slugs := slices.Concat(t.Groups, t.left, t.joined)
	slices.Sort(slugs)
	for _, slug := range slices.Compact(slugs) {
		f, err := t.group(ctx, sqldb.Clean(slug))
		if err != nil {
			return err
		}
		if f.Version > 0 {
			done.Groups = append(done.Groups, f)
		}
	}
	return nil
}

// group stores the next version of the feed of a group.
func (t *writing) group(ctx context.Context, slug string) (author.Feed, error) {
	feed, err := lockSaved(ctx, t.c, t.writer.User, author.GroupFeed(slug))
	if err != nil {
		return author.Feed{}, err
	}
	if feed.Version > 0 && !feed.written { // a document that the user uploaded
		if slices.Contains(t.joined, slug) && !slices.Contains(t.left, slug) {
			return author.Feed{}, fault.In(fault.New(fault.Conflict, "The private feed of the group %q is a document that you uploaded, so it cannot have posts; nothing was published. Choose another group.", slug), "groups")
		}
		return author.Feed{}, nil
	}
	newest, err := postsOf(sqldb.Collect(ctx, t.c, scanPost, `SELECT `+postColumns+` FROM post_group AS k CROSS JOIN post AS p
		WHERE k.owner = $1 AND k.name = $2 AND p.owner = k.owner AND p.id = k.id ORDER BY k.published_at DESC, k.id DESC LIMIT $3`,
		t.writer.User, slug, author.GroupWindow))
	if err != nil {
		return author.Feed{}, err
	}
	if feed.Version == 0 && len(newest) == 0 && slug == author.DefaultGroup { // the default group has no feed of its own before its first post; its readers get the public feed
		_, err := t.c.Exec(ctx, `DELETE FROM saved WHERE owner = $1 AND name = $2 AND version = 0`, t.writer.User, author.Private)
		return author.Feed{}, err
	}
	d, err := t.MakeGroup(t.writer.Writer, slug, newest)
	if err != nil {
		return author.Feed{}, err
	}
	d.User, d.Name, d.Events = t.writer.User, author.GroupFeed(slug), nil
	f, _, err := saveDocument(ctx, t.c, feed, d, true)
	return f, err
}

var mediaInPost = regexp.MustCompile(`/media/([0-9a-f]{16})`)

// filesOf returns the leading digits of the hashes of the files that texts link to.
func filesOf(texts ...string) []string {
	var all []string
	for _, text := range texts {
		for _, m := range mediaInPost.FindAllStringSubmatch(text, -1) {
			all = append(all, m[1])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// hideFilesOf is like hideFiles for the files of posts.
func hideFilesOf(ctx context.Context, c sqldb.Conn, user string, posts ...author.Post) error {
	var texts []string
	for _, p := range posts {
		body, err := sqldb.JSON(&p.Content)
		if err != nil {
			return err
		}
		texts = append(texts, body)
	}
	return hideFiles(ctx, c, user, texts...)
}

// hideFiles sets which files of changed texts are private: a private post uses them, and no public
// post, page, style sheet or profile does. A file stays private when its private post becomes a draft
// or is deleted. It looks at other texts only if the file is private or a private post uses it.
//
// spec:cloudburst#private-files
func hideFiles(ctx context.Context, c sqldb.Conn, user string, texts ...string) error {
	for _, hash := range filesOf(texts...) {
		_, err := c.Exec(ctx, `UPDATE media SET private = NOT EXISTS (SELECT 1 FROM post AS p WHERE p.owner = $1 AND p.state = 'published' AND p.body LIKE $2)
				AND NOT EXISTS (SELECT 1 FROM writer AS w WHERE w.owner = $1 AND w.profile LIKE $2)
				AND NOT EXISTS (SELECT 1 FROM author_page AS a WHERE a.owner = $1 AND a.source LIKE $2)
				AND NOT EXISTS (SELECT 1 FROM author_style AS y WHERE y.owner = $1 AND y.source LIKE $2)
			WHERE owner = $1 AND hash >= $3 AND hash < $4 AND (private
				OR EXISTS (SELECT 1 FROM post AS p WHERE p.owner = $1 AND p.state = 'private' AND p.state <> 'published' AND p.body LIKE $2))`,
			user, "%/media/"+hash+"%", hash, hash+"g")
		if err != nil {
			return err
		}
	}
	return nil
}

// FileInGroup implements author.FileStore.
func (s *fileStore) FileInGroup(ctx context.Context, user, slug, hash string) (bool, error) {
	if len(hash) < shortHash {
		return false, nil
	}
	n, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) {
		return sqldb.Count(ctx, c, `SELECT COUNT(*) FROM post_group AS k CROSS JOIN post AS p
			WHERE k.owner = $1 AND k.name = $2 AND p.owner = k.owner AND p.id = k.id AND p.body LIKE $3`,
			sqldb.Clean(user), sqldb.Clean(slug), "%/media/"+hash[:shortHash]+"%")
	})
	return n > 0, err
}
