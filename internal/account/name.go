package account

import (
	"slices"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// MaxName is the maximum length of a user name in bytes.
const MaxName = 32

// CheckName returns a fault.Invalid with the reason if a new user cannot have this name.
func CheckName(name string) error {
	switch {
	case name == "":
		return fault.New(fault.Invalid, "A user name is missing. It must have 1 to %d of the characters a to z, 0 to 9, - and _.", MaxName)
	case !wellFormed(name):
		return fault.New(fault.Invalid, "%q cannot be a user name: it must have 1 to %d of the characters a to z, 0 to 9, - and _, in lowercase.", text.Clip(name, 2*MaxName), MaxName)
	case isYear(name):
		return fault.New(fault.Invalid, "%q cannot be a user name: it is the path of a year's archive.", name)
	}
	if _, found := slices.BinarySearch(Reserved(), name); found {
		return fault.New(fault.Invalid, "%q cannot be a user name: it is a path of this program. Please choose another.", name)
	}
	return nil
}

// wellFormed reports whether a name has the form of a user name. Names are not case-folded, so a
// name with uppercase letters does not exist.
func wellFormed(name string) bool {
	if name == "" || len(name) > MaxName {
		return false
	}
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func isYear(name string) bool { return len(name) == 4 && strings.Trim(name, "0123456789") == "" }

// Reserved returns the sorted list of names that users cannot have. They are, or may become, the
// first segment of a path of this program, or other software requests them on every website.
// CheckName also rejects four digits, which are the archive of a year.
func Reserved() []string {
	return []string{
		"about", "account", "accounts", "admin", "api", "apple-touch-icon", "assets", "atom", "auth", "authorize",
		"backup", "blog", "blogger", "cancel", "category", "changes", "changes.xml", "cloudburst", "cnws", "convert", "css",
		"debug", "do", "docs", "everyone", "explore", "favicon", "favicon.ico", "favicon.svg", "feed", "feeds", "fever", "files",
		"greader", "healthz", "help", "home", "hub", "images", "img", "import", "index", "index.html", "item", "items",
		"js", "json", "log", "login", "logout", "logs", "manifest", "me", "media", "metaweblog", "metrics", "micropub",
		"new", "notify", "offline", "opml", "outline", "password", "people", "ping", "pingsiteform", "please", "pleasenotify", "post", "posts",
		"private", "public", "reader", "readers", "readyz", "register", "river", "rivers", "robots", "robots.txt", "root",
		"rpc", "rpc2", "rsd", "rss", "rsscloud", "search", "secret", "secrets", "security", "server", "sessions", "settings", "setup",
		"share", "shortchanges", "shortchanges.xml", "sign-in", "sign-out", "sign-up", "signin", "signout", "signup", "sitemap", "soap",
		"sources", "static", "stats", "status", "stream", "subscribe", "subscriptions", "support", "sw", "system",
		"tag", "tags", "test", "token", "tokens", "topics", "user", "users", "v1", "v2", "v3",
		"weblogupdates", "webmaster", "webmention", "websub", "well-known", "write", "www", "xmlrpc",
	}
}
