package app

import (
	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/endpoint/publishhttp"
	"maps"
)

// mostByRPC is how large a file may be that comes by XML-RPC, in bytes: a call is in memory
// as a whole, several times over.
const maxByRPC = 16 << 20

// editors opens the door for programs that write weblogs by XML-RPC, and tells them of it.
func (a *App) editors(gate *hubhttp.Endpoints) {
	m := &publishhttp.MetaWeblog{
		Posts: a.posts, Files: a.files, Accounts: a.accounts, Public: a.names.Public, Known: a.authors.CheckUser,
		Trusted: a.cfg.TrustedProxies, Log: a.log, MaxMedia: min(maxByRPC, int64(a.cfg.Media.MaxSize)), Version: Version,
	}
	gate.Methods, gate.LargeMethods = append(gate.Methods, m.Methods()...), m.LargeMethods()
	maps.Copy(gate.LargeMethods, a.feeds.LargeMethods())
	a.feeds.RSD = m.ServeRSD
}
