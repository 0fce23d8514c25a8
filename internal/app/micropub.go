package app

import (
	"cloudburst/internal/api"
	"cloudburst/internal/author"
	"cloudburst/internal/endpoint/publishhttp"
)

// micropub returns the Micropub endpoint.
func (a *App) micropub() *publishhttp.Micropub {
	return &publishhttp.Micropub{
		Posts: a.posts, Accounts: a.accounts, Public: a.names.Public, Path: a.names.Path, Files: a.files, MaxFile: int64(a.cfg.Media.MaxSize), ListFiles: a.files.List, Describe: a.files.Describe,
		Now: a.clock.Now, Trusted: a.cfg.TrustedProxies, Log: a.log,
	}
}

// writing adds the options that give the JSON API access to posts and files.
func (a *App) writing(o api.Options) api.Options {
	o.Posts, o.Files, o.Origin, o.Transfers, o.MaxFile = author.Groups{Posts: a.posts}, a.files, a.names.Public, a.moves(), int64(a.cfg.Media.MaxSize)
	o.Site, o.Domains = a.authorSite, a.hosts.Load()
	o.Versions, o.Rules = a.versions, author.RuleSettings{Posts: a.posts}
	o.People, o.Threads = a.people, a.threads
	o.Replies, o.Sent, o.Mentions = a.conversation, a.mentionSender, author.MentionSettings{Posts: a.posts}
	return o
}
