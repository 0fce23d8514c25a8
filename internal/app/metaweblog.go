package app

import (
	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/endpoint/publishhttp"
	"maps"
)

// maxByRPC is the maximum size in bytes of a file that an editor uploads by XML-RPC. The limit is
// low, because a call needs several times the size of its file in memory.
const maxByRPC = 16 << 20

// editors adds the XML-RPC endpoints for weblog editors, and the documents by which editors
// discover them.
func (a *App) editors(gate *hubhttp.Endpoints) {
	m := &publishhttp.MetaWeblog{
		Posts: a.posts, Files: a.files, Accounts: a.accounts, Public: a.names.Public, Known: a.authors.CheckUser,
		Trusted: a.cfg.TrustedProxies, Log: a.log, MaxMedia: min(maxByRPC, int64(a.cfg.Media.MaxSize)), Version: Version,
	}
	gate.Methods, gate.LargeMethods = append(gate.Methods, m.Methods()...), m.LargeMethods()
	maps.Copy(gate.LargeMethods, a.feeds.LargeMethods())
	a.feeds.RSD = m.ServeRSD
}
