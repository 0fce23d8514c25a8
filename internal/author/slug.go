package author

import (
	"cmp"
	"crypto/rand"
	"net/url"
)

// assignSlug sets the permanent fields of a first publication: Seq, Slug and GUID.
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
		wish := fold(p.e.Slug, "_", maxSlug)
		if wish == "" {
			wish = slugOf(next)
		}
		if next.Slug, err = free(wish); err != nil {
			return err
		}
	}
	if next.GUID == "" {
		next.GUID = p.e.GUID
	}
	if next.GUID == "" {
		next.GUID, next.PermaLink = p.origin()+p.Path(*next), true // the guid never uses the author's own domain, because the author may give up the domain
	}
	return nil
}

// slugOf returns a slug from a post's title or time.
func slugOf(post *Post) string {
	if s := fold(post.Title, "_", 60); s != "" {
		return s
	}
	return post.PublishedAt.UTC().Format("150405")
}

// PathOf returns the path of a post's page; see [Posts.Path].
func PathOf(post Post) string {
	if post.Slug == "" || post.State == ForGroups {
		return ""
	}
	return "/" + post.User + post.PublishedAt.UTC().Format("/2006/01/02/") + url.PathEscape(post.Slug)
}
