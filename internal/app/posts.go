package app

import (
	"context"

	"cloudburst/internal/author"
	"cloudburst/internal/store"
	"cloudburst/internal/web"
)

// newPosts makes what people write here. Their feeds are those of a.authors, and say of
// themselves what those say that were saved.
func (a *App) newPosts(st store.Store) {
	a.posts = &author.Posts{
		Store: plantedPosts(st), Feeds: a.authors, Origin: a.publicURL, About: a.feeds.About, Now: a.clock.Now, Log: a.log,
		Limit: a.cfg.Write.Limit, LimitMode: a.cfg.Write.LimitMode, Window: a.cfg.Feeds.Window,
	}
	a.feeds.Views = a.posts
}

// writePages lets people write on the pages.
func (a *App) writePages(pages *web.Web) {
	pages.Posts, pages.LimitMode = a.posts, a.cfg.Write.LimitMode
	pages.FileOf = a.files.Get
	pages.Files, pages.Moves = a.files, a.moves()
}

// tidyPosts forgets what can no longer be taken back.
func (a *App) tidyPosts(ctx context.Context) {
	a.noteHosted(ctx, "tidy posts", a.posts.Sweep(ctx))
}
