package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/author/upload"
	"cloudburst/internal/bucket"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/store"
	"cloudburst/internal/transfer"
)

// newFiles creates the storage for files that users attach to posts.
func (a *App) newFiles(st store.Store) error {
	quota := int64(a.cfg.Media.Quota)
	if quota == 0 {
		quota = -1
	}
	a.files = &upload.Files{
		Store: st, Posts: st, CheckUser: a.authors.CheckUser, Origin: a.names.Public, Remote: remoteFiles{a.client},
		Now: a.clock.Now, Log: a.log, MaxSize: int64(a.cfg.Media.MaxSize), Quota: quota,
	}
	a.feeds.Media = a.files
	m := a.cfg.Media
	if m.Bucket == "" {
		return nil
	}
	b, err := bucket.New(bucket.Options{URL: m.Bucket, Region: m.BucketRegion, KeyID: m.BucketKey, Secret: m.BucketSecret, Now: a.clock.Now})
	if err != nil {
		return fmt.Errorf("media.bucket: %w", err)
	}
	a.files.Objects = b
	return nil
}

// remoteFiles requests metadata of files on other servers through the guarded client.
type remoteFiles struct{ *fetch.Client }

// About implements upload.Remote.
func (r remoteFiles) About(ctx context.Context, url string) (upload.RemoteFile, error) {
	about, err := r.Client.About(ctx, url)
	switch {
	case err != nil:
		return upload.RemoteFile{}, fault.Wrap(fault.Unreadable, err, "The file %s %s.", fetch.Redact(url), strings.TrimRight(fetch.Text(err), "."))
	case about.Status == http.StatusNotFound || about.Status == http.StatusGone:
		return upload.RemoteFile{}, fault.New(fault.Unreadable, "There is no file at %s: its server answered %d.", fetch.Redact(url), about.Status)
	case about.Status < 200 || about.Status > 299:
		return upload.RemoteFile{}, fault.New(fault.Unreadable, "The file %s cannot be read: its server answered %d.", fetch.Redact(url), about.Status)
	}
	return upload.RemoteFile{Type: about.Type, Length: about.Length, Head: about.Head}, nil
}

// moves returns the component that exports and imports all data of an author.
func (a *App) moves() *transfer.Transfer {
	return &transfer.Transfer{Posts: author.Groups{Posts: a.posts}, Files: a.files, Site: a.authorSite, Origin: a.names.Public, Now: a.clock.Now}
}
