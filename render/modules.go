package render

import "cloudburst/feed"

// feedModules writes what modules say about a feed.
func (w *writer) feedModules(f *feed.Feed) {}

// itemModules writes what modules say about an item.
func (w *writer) itemModules(it *feed.Item, inAtom bool) {}
