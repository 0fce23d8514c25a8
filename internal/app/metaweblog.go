package app

import (
	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/endpoint/publishhttp"
	"maps"
)

// maxByRPC is the largest file in bytes by XML-RPC. A call occupies several times its size in
// memory.
const maxByRPC = 16 << 20

// editors adds the XML-RPC endpoints for weblog editors and their discovery.
func (a *App) editors(gate *hubhttp.Endpoints) {
	m := &publishhttp.MetaWeblog{
		Posts: a.posts, Files: a.files, Accounts: a.accounts, Public: a.names.Public, Known: a.authors.CheckUser,
		Trusted: a.cfg.TrustedProxies, Log: a.log, MaxMedia: min(maxByRPC, int64(a.cfg.Media.MaxSize)), Version: Version,
	}
	gate.Methods, gate.LargeMethods = append(gate.Methods, m.Methods()...), m.LargeMethods()
	maps.Copy(gate.LargeMethods, a.feeds.LargeMethods())
	a.feeds.RSD = m.ServeRSD
}
