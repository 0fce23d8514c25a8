package author

import (
	"cmp"
	"crypto/rand"
	"net/url"
	"strings"
	"time"
)

// assignSlug sets the permanent fields of a first publication: Seq, Slug and GUID.
//
// spec:cloudburst#slug-wish
func (p editing) assignSlug(next *Post, w Writer, free func(string) (string, error)) (err error) {
	if next.State == ForGroups { // a slug or a Seq would reveal that the private post exists
		if next.GUID == "" {
			next.GUID = cmp.Or(p.e.GUID, p.origin()+"/"+next.User+"/#"+rand.Text())
		}
		return nil
	}
	if next.Seq == 0 {
		next.Seq = w.LastSeq + 1
	}
	if next.Slug == "" {
		if next.Slug, err = free(cmp.Or(next.SlugWish, slugOf(next))); err != nil {
			return err
		}
		next.SlugWish = ""
	}
	if next.GUID == "" {
		next.GUID = p.e.GUID
	}
	if next.GUID == "" {
		next.GUID, next.PermaLink = p.origin()+p.Path(*next), true // the guid never uses the author's own domain, because the author may give up the domain
	}
	return nil
}

// WantedSlug returns the slug of a post, or the slug that its author wants for it.
func (p Post) WantedSlug() string { return cmp.Or(p.Slug, p.SlugWish) }

// slugOf returns a slug from a post's title or time.
func slugOf(post *Post) string {
	if s := fold(post.Title, "_", 60); s != "" {
		return s
	}
	return post.PublishedAt.UTC().Format("150405")
}

// PathOf returns the path of a post's page; see [Posts.Path].
func PathOf(post Post) string {
	if post.State == ForGroups {
		return ""
	}
	return DatedPath(post)
}

// DatedPath returns the path that a post's page has when the post is public; "": the post has no
// date or no slug. [PathOf] hides the path of a private post.
func DatedPath(post Post) string {
	if post.Slug == "" || post.PublishedAt.IsZero() {
		return ""
	}
	return "/" + post.User + post.PublishedAt.UTC().Format("/2006/01/02/") + url.PathEscape(post.Slug)
}

// SlugAt returns the user and the slug of the post whose page has this path. The path of a post has
// another date after its date changed, so SlugAt accepts any date.
func SlugAt(path string) (user, slug string, ok bool) {
	part := strings.Split(path, "/") // the segments are "", user, year, month, day and slug
	if len(part) != 6 || part[0] != "" || part[1] == "" || part[5] == "" {
		return "", "", false
	}
	if _, err := time.Parse("2006/01/02", strings.Join(part[2:5], "/")); err != nil {
		return "", "", false
	}
	slug, err := url.PathUnescape(part[5])
	return part[1], slug, err == nil
}
