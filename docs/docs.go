// Package docs is the guides as they are served: every page of this folder, in Markdown.
// [Files] has them.
package docs

import "embed"

// Files are the pages.
//
//go:embed *.md
var Files embed.FS
