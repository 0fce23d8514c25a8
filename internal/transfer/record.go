package transfer

import (
	"time"

	"cloudburst/internal/author"
)

// These are the names of the archive's entries.
const (
	nameManifest = "manifest.json"
	namePosts    = "posts.jsonl"
	nameFiles    = "media.jsonl"
	nameProfile  = "profile.json"
	nameReadme   = "README.txt"
	dirMedia     = "media/"
	dirFeeds     = "feeds/"
)

// These are the values of format and version in the manifest.
const (
	formatName    = "cloudburst-author"
	formatVersion = 1
)

// Manifest is the last entry of the file; it describes the other entries.
type Manifest struct {
	Format     string    `json:"format"` // "cloudburst-author"
	Version    int       `json:"version"`
	User       string    `json:"user"`             // owner of the data
	Origin     string    `json:"origin,omitempty"` // URL of the exporting server
	ExportedAt time.Time `json:"exportedAt"`
	Counts     Counts    `json:"counts"`
	Entries    []Entry   `json:"entries"` // all entries except the manifest, in archive order
}

// Counts are the numbers of posts per state, and of files.
type Counts struct {
	Published int   `json:"published"`
	Drafts    int   `json:"drafts"`
	Scheduled int   `json:"scheduled"`
	Private   int   `json:"private,omitempty"` // private posts, which only groups can read
	Deleted   int   `json:"deleted"`           // deleted posts that can still be restored
	Files     int   `json:"files"`
	FileBytes int64 `json:"fileBytes"`
}

// Posts returns the total number of posts.
func (c Counts) Posts() int { return c.Published + c.Drafts + c.Scheduled + c.Private + c.Deleted }

// Entry is one entry of the file.
type Entry struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`   // size in bytes
	SHA256 string `json:"sha256"` // SHA-256 of the content, in hexadecimal
}

// record is a post as a line of posts.jsonl.
type record struct {
	ID          int64        `json:"id"`
	Revision    int64        `json:"revision"`
	State       author.State `json:"state"`
	GUID        string       `json:"guid,omitempty"`
	PermaLink   bool         `json:"permaLink,omitempty"`
	Slug        string       `json:"slug,omitempty"`
	SlugWish    string       `json:"slugWish,omitempty"`
	Seq         int64        `json:"seq,omitempty"`
	Key         string       `json:"key,omitempty"`
	CreatedAt   time.Time    `json:"createdAt,omitzero"`
	UpdatedAt   time.Time    `json:"updatedAt,omitzero"`
	PublishedAt time.Time    `json:"publishedAt,omitzero"`
	DueAt       time.Time    `json:"dueAt,omitzero"`
	author.Content
}

func recordOf(p author.Post) record {
	return record{
		ID: p.ID, Revision: p.Revision, State: p.State, GUID: p.GUID, PermaLink: p.PermaLink, Slug: p.Slug, SlugWish: p.SlugWish, Seq: p.Seq, Key: p.Key,
		CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(), PublishedAt: p.PublishedAt.UTC(), DueAt: p.DueAt.UTC(), Content: p.Content,
	}
}

func (r record) post() author.Post {
	return author.Post{
		State: r.State, GUID: r.GUID, PermaLink: r.PermaLink, Slug: r.Slug, SlugWish: r.SlugWish, Key: r.Key,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, PublishedAt: r.PublishedAt, DueAt: r.DueAt, Content: r.Content,
	}
}

// fileRecord is a file as a line of media.jsonl.
type fileRecord struct {
	Hash    string    `json:"sha256"`
	Name    string    `json:"name"`
	Type    string    `json:"type"`
	Size    int64     `json:"size"`
	Width   int       `json:"width,omitempty"`
	Height  int       `json:"height,omitempty"`
	AddedAt time.Time `json:"addedAt"`
	Path    string    `json:"path"` // path of its entry in the archive
}
