// Package cloudburst_test contains the import rules: a package imports only packages of earlier
// layers, not of its own layer, and imports outside modules only with a grant that states the
// reason.
package cloudburst_test

import (
	"io/fs"
	"os"
	"testing"
)

// The tables below are design decisions. A package that violates them is usually in the wrong
// place. Do not loosen a table only to make a build pass.
func rules() ruleset {
	wire := []string{"client", "feed", "feed/discover", "feed/opml", "feed/polling", "protocol/cnws", "protocol/fever", "protocol/greader", "protocol/indieauth",
		"protocol/metaweblog", "protocol/micropub", "protocol/rsscloud", "protocol/soap", "protocol/weblogs", "protocol/webfinger", "protocol/webmention", "protocol/websub", "protocol/wsse", "protocol/xmlrpc"}
	return ruleset{
		module: "cloudburst",
		layers: []layer{
			{"leaves that every layer may use", []string{"internal/cache", "internal/geo", "internal/lease", "internal/live", "internal/text", "internal/wirehttp"}},
			{"early leaves", []string{"docs", "internal/xmlsafe", "internal/charset", "internal/cputime", "internal/date", "internal/href", "internal/fulltest", "internal/heap", "internal/route", "internal/scan", "internal/validator", "feed/feedtest"}},
			{"wire", []string{"protocol/xmlrpc", "protocol/soap", "feed/opml", "feed/discover", "protocol/wsse", "protocol/greader", "protocol/fever", "protocol/micropub", "protocol/webfinger"}},
			{"wire on wire", []string{"protocol/rsscloud", "client", "feed", "protocol/websub", "protocol/cnws", "protocol/weblogs", "protocol/metaweblog", "protocol/indieauth", "protocol/webmention"}},
			{"wire on feeds", []string{"feed/polling", "internal/advice", "feed/render"}},
			{"what looks at a feed from outside, and what adds to one", []string{"internal/doctor", "internal/feedfile", "internal/readercheck"}},
			{"the error type", []string{"internal/fault"}},
			{"leaves", []string{"internal/bucket", "internal/certs", "internal/checkup", "internal/event", "internal/fetch", "internal/limit", "internal/media", "internal/nettest", "internal/origin", "internal/sanitize", "internal/serve", "internal/stylesheet", "internal/systemd"}},
			{"items of feeds, their locations, names that users give, words to search for, and lists of feeds", []string{"internal/river/item", "internal/river/location", "internal/river/naming", "internal/river/search", "internal/river/rail"}},
			{"forwarding of items, rules about them, and their full texts", []string{"internal/fulltext", "internal/river/filter", "internal/river/forward"}},
			{"parts of the hub, and of what authors write", []string{"internal/author/inspect", "internal/author/markup", "internal/hub/clock", "internal/hub/content", "internal/hub/histogram"}},
			{"what the hub keeps, and the rules of authors for their texts", []string{"internal/hub/record", "internal/author/rules"}},
			{"meaning", []string{"internal/hub", "internal/upstream", "internal/account", "internal/author", "internal/audience", "internal/ownhost", "internal/syndicate", "internal/river", "internal/announce", "internal/conversation"}},
			{"files of what authors write", []string{"internal/author/upload"}},
			{"meaning on meaning", []string{"internal/admin", "internal/author/version", "internal/people", "internal/publish", "internal/push", "internal/testfeed", "internal/transfer"}},
			{"the database as the stores use it", []string{"internal/store/sqldb", "internal/store/storetest"}},
			{"stores of the domains", []string{"internal/store/hubsql", "internal/store/riversql", "internal/store/authorsql", "internal/store/accountsql", "internal/store/upstreamsql"}},
			{"what both stores share", []string{"internal/store/sqlstore", "internal/store/hubtest", "internal/store/rivertest", "internal/store/authortest", "internal/store/accounttest"}},
			{"stores", []string{"internal/store/sqlite", "internal/store/postgres"}},
			{"stores for tests", []string{"internal/store/sqlite/sqlitetest"}},
			{"the choice of store", []string{"internal/store"}},
			{"what endpoints share", []string{"internal/endpoint", "internal/endpoint/endpointtest"}},
			{"the languages of pages", []string{"internal/web/locale"}},
			{"what all pages share", []string{"internal/web/shell"}},
			{"texts of posts and items on pages", []string{"internal/web/content"}},
			{"words about followed feeds on pages", []string{"internal/web/feedview"}},
			{"groups of pages", []string{"internal/web/hubui", "internal/web/docsui", "internal/web/filterui", "internal/web/forwardui", "internal/web/readerui", "internal/web/peopleui", "internal/web/writerui", "internal/web/authorui", "internal/web/accountui", "internal/web/adminui"}},
			{"the JSON form of the API, and its requests and responses", []string{"internal/api/form", "internal/api/exchange"}},
			{"reach", []string{"internal/endpoint/hubhttp", "internal/endpoint/publishhttp", "internal/endpoint/readhttp", "internal/api", "internal/web", "internal/trace"}},
			{"configuration", []string{"internal/config"}},
			{"the program", []string{"internal/app"}},
			{"tests of commands", []string{"internal/cli/clitest"}},
			{"what commands share", []string{"internal/cli/shell"}},
			{"what commands share that call hubs", []string{"internal/cli/hubclient"}},
			{"commands of each audience", []string{"internal/cli/readcli", "internal/cli/writecli", "internal/cli/hubcli", "internal/cli/operatecli", "internal/cli/formatcli"}},
			{"commands", []string{"internal/cli"}},
			{"main", []string{"cmd/cloudburst", "packaging/sbom"}},
			{"databases for measuring", []string{"lab/database"}},
			{"measuring", []string{"lab/bench"}},
			{"comparing", []string{"lab/compare"}},
			{"reckoning with what was measured", []string{"lab/simulate"}},
			{"commands of the laboratory", []string{"lab/labcli"}},
			{"mains of the laboratory", []string{"cmd/cloudburst-lab", "lab/planted"}},
			{"how harnesses run the program, and what is around it", []string{"lab/program", "lab/outside"}},
			{"faults", []string{"lab/abusetest", "lab/browsertest", "lab/crashtest", "lab/diagram", "lab/doctest", "lab/hubsim", "lab/packagetest", "lab/signaltest"}},
			{"faults on faults", []string{"lab/powertest"}},
			{"faults of several machines", []string{"lab/clustertest"}},
			{"checks of the tree itself", []string{".", "spec", "bench"}},
		},
		// These packages do not know the protocols. The endpoints convert protocol messages to
		// their types.
		blind: map[string][]string{
			"internal/fault":             wire,
			"internal/event":             wire,
			"internal/fetch":             wire,
			"internal/sanitize":          wire,
			"internal/hub":               wire,
			"internal/hub/content":       wire,
			"internal/hub/record":        wire,
			"internal/upstream":          wire,
			"internal/announce":          wire,
			"internal/conversation":      wire,
			"internal/ownhost":           wire,
			"internal/serve":             wire,
			"internal/audience":          wire,
			"internal/store/sqldb":       wire,
			"internal/store/hubsql":      wire,
			"internal/store/riversql":    wire,
			"internal/store/authorsql":   wire,
			"internal/store/accountsql":  wire,
			"internal/store/upstreamsql": wire,
			"internal/store/sqlstore":    wire,
			"internal/store/sqlite":      wire,
			"internal/store/postgres":    wire,
			"internal/store":             wire,
		},
		// Only some packages may import these packages. All others get their options from
		// internal/app, which receives the settings from the commands.
		seenBy: map[string][]string{
			"internal/config": {"internal/app", "internal/cli", "internal/cli/shell", "internal/cli/readcli", "internal/cli/writecli", "internal/cli/hubcli", "internal/cli/operatecli"},
		},
		// The laboratory measures the program and tests its failures; the program does not depend
		// on the laboratory. The layers prevent imports by the program, and this table prevents
		// imports by the program's tests.
		within: map[string][]string{
			"lab": {"cmd/cloudburst-lab", "bench"},
		},
		grants:     grants(),
		testGrants: testGrants(),
		// These tests are in a separate package (p_test) and need a later package.
		testsSee: map[string][]string{
			"internal/hub":            {"internal/store", "internal/store/sqlite"}, // the tests run the engine on a real store
			"internal/upstream":       {"internal/store/sqlite"},                   // the tests use a real store
			"internal/account":        {"internal/store/sqlite"},                   // the tests use a real store
			"internal/author":         {"internal/store/sqlite"},                   // the tests use a real store
			"internal/audience":       {"internal/store/sqlite"},                   // the tests use a real store
			"internal/author/version": {"internal/store/sqlite"},                   // the tests use a real store
			"internal/river":          {"internal/store/sqlite"},                   // the tests use a real store
			"internal/transfer":       {"internal/store/sqlite"},                   // the tests use a real store
			// In these tests, two programs notify each other over HTTP.
			"internal/push": {"internal/endpoint/hubhttp", "internal/store", "internal/store/sqlite"},
			// These tests call the XML-RPC endpoint for editors.
			"internal/endpoint/publishhttp": {"internal/endpoint/hubhttp"},
			// These tests also score the program's own reader.
			"internal/readercheck": {"internal/fetch", "internal/nettest", "internal/river", "internal/store/sqlite"},
		},
	}
}

// grants returns the outside modules of the program, each with the importing package and the
// reason.
func grants() []grant {
	return []grant{
		{"modernc.org/sqlite", "internal/store/sqlite", "the embedded store, without cgo"},
		{"modernc.org/libc", "lab/planted", "how SQLite is called back, to note what it writes"},
		{"modernc.org/sqlite", "lab/planted", "what SQLite calls the system by"},
		{"github.com/jackc/pgx/v5", "internal/store/postgres", "the PostgreSQL driver"},
		{"github.com/jackc/pgx/v5", "internal/store/storetest", "a database for each test"},
		{"github.com/pressly/goose/v3", "internal/store/sqldb", "migrations with the same numbers in both databases"},
		{"github.com/pressly/goose/v3", "internal/store/sqlite", "its dialect of the migrations"},
		{"github.com/pressly/goose/v3", "internal/store/postgres", "its dialect of the migrations, and their lock"},
		{"code.dny.dev/ssrf", "internal/fetch", "the list of addresses that foreign URLs must not reach"},
		{"golang.org/x/net", "internal/href", "hosts in other scripts, in one spelling (idna)"},
		{"golang.org/x/text", "protocol/rsscloud", "answers of hubs in other encodings than UTF-8"},
		{"golang.org/x/text", "internal/charset", "documents in other encodings than UTF-8"},
		{"golang.org/x/text", "internal/text", "names without their accents, to sort by (norm)"},
		{"golang.org/x/text", "internal/river/search", "words without their accents, to search by (norm)"},
		{"golang.org/x/net", "feed/discover", "pages as browsers read them (html)"},
		{"golang.org/x/net", "protocol/indieauth", "pages of programs as browsers read them (html)"},
		{"golang.org/x/net", "protocol/webmention", "pages of other sites as browsers read them (html)"},
		{"golang.org/x/net", "internal/sanitize", "balanced HTML: parsed and written again (html)"},
		{"github.com/spf13/pflag", "internal/config", "flags as cobra has them"},
		{"github.com/spf13/cobra", "internal/cli", "the tree of commands, completion, man page"},
		{"github.com/spf13/cobra", "internal/cli/shell", "groups of commands, arguments and flags"},
		{"github.com/spf13/cobra", "internal/cli/readcli", "its commands"},
		{"github.com/spf13/cobra", "internal/cli/writecli", "its commands"},
		{"github.com/spf13/cobra", "internal/cli/hubcli", "its commands"},
		{"github.com/spf13/cobra", "internal/cli/operatecli", "its commands"},
		{"github.com/spf13/cobra", "internal/cli/formatcli", "its commands"},
		{"github.com/spf13/cobra", "lab/bench", "its commands, which labcli takes in"},
		{"github.com/spf13/cobra", "lab/labcli", "the command above them, and simulate"},
		{"github.com/spf13/pflag", "lab/labcli", "the flags of simulate"},
		{"github.com/jackc/pgx/v5", "lab/database", "databases for measurements"},
		{"github.com/aws/aws-sdk-go-v2", "internal/bucket", "signatures of requests to S3-compatible storage"},
		{"github.com/BurntSushi/toml", "internal/config", "the configuration file"},
		{"github.com/BurntSushi/toml", "internal/transfer", "front matter of Markdown files"},
		{"go.yaml.in/yaml/v3", "internal/transfer", "front matter of Markdown files"},
		{"github.com/spf13/pflag", "internal/cli", "what cobra's flags are made of"},
		{"github.com/spf13/pflag", "internal/cli/shell", "what cobra's flags are made of"},
		{"golang.org/x/sys", "internal/app", "socket filters, and the state of a socket (unix)"},
		{"golang.org/x/term", "internal/cli/shell", "is the output a terminal, and how wide?"},
		{"github.com/prometheus/client_golang", "internal/api", "metrics"},
		{"golang.org/x/crypto", "internal/account", "argon2id for passwords"},
		{"golang.org/x/text", "internal/account", "one spelling for each password (norm)"},
		{"golang.org/x/text", "internal/web/locale", "the language of a request, catalogues, plural forms and numbers (message)"},
		{"golang.org/x/crypto", "internal/certs", "certificates from an authority that is asked by ACME (acme/autocert)"},
		{"github.com/andybalholm/brotli", "internal/serve", "feeds packed as browsers and newer readers ask for it"},
		{"github.com/andybalholm/brotli", "internal/fetch", "feeds that come packed so"},
		{"github.com/tdewolff/parse/v2", "internal/stylesheet", "the tokens of style sheets (css)"},
		{"github.com/yuin/goldmark", "internal/author/markup", "Markdown as people write it (CommonMark, and what GitHub added)"},
		{"codeberg.org/readeck/go-readability/v2", "internal/fulltext", "the article of a page, without what is around it"},
		{"golang.org/x/net", "internal/fulltext", "pages as browsers read them, bounded (html)"},
		{"github.com/rivo/uniseg", "internal/author/rules", "characters as readers see them: grapheme clusters"},
		{"github.com/sergi/go-diff", "internal/web/writerui", "the differences between versions of a post"},
		{"github.com/yuin/goldmark", "internal/web/docsui", "the guides, which are written in it"},
		{"go.opentelemetry.io/otel", "internal/trace", "spans: their attributes, codes and headers"},
		{"go.opentelemetry.io/otel/trace", "internal/trace", "spans and their IDs"},
		{"go.opentelemetry.io/otel/sdk", "internal/trace", "spans made, sampled and handed on"},
		{"go.opentelemetry.io/otel/exporters/otlp/otlptrace", "internal/trace", "spans in the form in which collectors take them, without gRPC"},
		{"go.opentelemetry.io/proto/otlp", "internal/trace", "that form"},
		{"google.golang.org/protobuf", "internal/trace", "that form as bytes"},
		{"github.com/wneessen/go-mail", "internal/endpoint/readhttp", "mail to readers: its form, and the ways to protect it"},
	}
}

// testGrants returns the outside modules that all tests may import, with the reasons.
func testGrants() []grant {
	return []grant{
		{"github.com/google/go-cmp", "", "differences that a person can read"},
		{"github.com/hanwen/go-fuse/v2", "lab/powertest", "a disk that forgets what was not synced, for a real process"},
		{"modernc.org/sqlite", "lab/powertest", "SQLite's own look at what a power cut left"},
		{"github.com/rclone/gofakes3", "", "an S3-compatible server in memory that verifies signatures"},
		{"golang.org/x/net", "", "reading pages as browsers do (html)"},
		{"go.opentelemetry.io/proto/otlp", "", "a collector of traces (trace)"},
		{"google.golang.org/protobuf", "", "what it is sent (proto)"},
		{"go.yaml.in/yaml/v3", "", "files for containers and alerts as their readers read them"},
		{"github.com/rogpeppe/go-internal", "", "scripts that test the command"},
		{"github.com/chromedp/chromedp", "", "a real browser on the real program"},
		{"github.com/chromedp/cdproto", "", "what chromedp is made of"},
		{"github.com/yuin/goldmark", "lab/doctest", "the guides as their readers see them"},
		{"github.com/BurntSushi/toml", "lab/doctest", "files of settings in them"},
	}
}

func TestPackagesImportEarlierLayersOnly(t *testing.T) {
	t.Parallel()
	for _, w := range findings(t, os.DirFS("."), rules()) {
		t.Error(w)
	}
}

func findings(t *testing.T, tree fs.FS, r ruleset) []string {
	t.Helper()
	wrong, err := r.check(tree)
	if err != nil {
		t.Fatal(err)
	}
	return wrong
}
