package config

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"
)

var comparePrefixes = cmp.Options{
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmpopts.EquateEmpty(),
}

type files map[string]string

func (f files) read(path string) ([]byte, error) {
	text, ok := f[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func load(t *testing.T, args, env []string, f files) (*Effective, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		return nil, UnknownFlag(err, flags)
	}
	return Load(Options{Flags: flags, Environ: env, ReadFile: f.read})
}

func TestDefaultSettingsAreValidAndHaveTheExpectedValues(t *testing.T) {
	t.Parallel()
	for _, s := range Settings() {
		if _, err := s.parse(s.Default); err != nil {
			t.Errorf("the default %q of %s: %v", s.Default, s.Name, err)
		}
	}
	want := Config{
		Listen: ":5337", Data: "cloudburst-data",
		TLS:   TLS{ACMEDirectory: "https://acme-v02.api.letsencrypt.org/directory"},
		Admin: Admin{Listen: "127.0.0.1:5338"},
		Disk:  Disk{MinFree: 64 << 20},
		Hub: Hub{Expiry: 25 * time.Hour, MaxErrors: 3, PingInterval: time.Second, CallbackTimeout: 15 * time.Second,
			Retry:      []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour},
			ClientRate: 200, HostRate: 100, CloudProtocol: "auto"},
		WebSub:     WebSub{Topics: "open", MaxContent: 1 << 20, LargeTopics: "reject", Signature: "sha256", MaxLease: 240 * time.Hour},
		CNWS:       CNWS{DropAfter: 24 * time.Hour},
		Changes:    Changes{When: "minutes", Keep: 720 * time.Hour},
		Accounts:   Accounts{Registration: "closed", Directory: "public"},
		Feeds:      Feeds{Memory: 64 << 20, KeepReaders: 2160 * time.Hour, Window: 20},
		Profile:    "none",
		Write:      Write{Limit: 140, LimitMode: "warn", MaxPosts: 1_000_000},
		Webmention: Webmention{Receive: true, Send: true},
		Media:      Media{MaxSize: 64 << 20, Quota: 1 << 30, BucketRegion: "us-east-1"},
		River:      River{Public: "owner", Concurrency: 32, PerHost: 2, HostInterval: time.Second, Keep: 1000, KeepFor: 4320 * time.Hour, MaxFeeds: 5000, Images: "proxy"},
		SMTP:       SMTP{TLS: "starttls", AccountLimit: 500, RecipientLimit: 200},
		Trace:      Trace{Sample: 1},
		Log:        Log{Level: "info", Format: "text", Keep: 720 * time.Hour},
	}
	if diff := cmp.Diff(want, Default(), comparePrefixes); diff != "" {
		t.Error(diff)
	}
	e, err := load(t, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, e.Config, comparePrefixes); diff != "" {
		t.Error(diff)
	}
}

func TestFlagsOverrideEnvironmentAndEnvironmentOverridesFile(t *testing.T) {
	t.Parallel()
	f := files{"c.toml": "[hub]\nexpiry = \"1h\"\nmax-errors = 4\nping-interval = \"4s\"\n"}
	env := []string{"CLOUDBURST_CONFIG=c.toml", "CLOUDBURST_HUB_EXPIRY=2h", "CLOUDBURST_HUB_MAX_ERRORS=5", "HOME=/root"}
	e, err := load(t, []string{"--hub.expiry", "3h"}, env, f)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Source{}
	for _, name := range []string{"hub.expiry", "hub.max-errors", "hub.ping-interval", "hub.callback-timeout"} {
		got[e.Value(name).Text+" "+e.Value(name).Origin] = e.Value(name).Source
	}
	want := map[string]Source{"3h --hub.expiry": FromFlag, "5 CLOUDBURST_HUB_MAX_ERRORS": FromEnv, "4s c.toml": FromFile, "15s ": FromDefault}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if e.Config.Hub.Expiry != 3*time.Hour || e.Config.Hub.MaxErrors != 5 || e.Config.Hub.PingInterval != 4*time.Second {
		t.Errorf("%+v", e.Config.Hub)
	}
	if e.File != "c.toml" {
		t.Errorf("File is %q", e.File)
	}
}

func TestFormerNamesOfSettingsAreAccepted(t *testing.T) {
	t.Parallel()
	f := files{"c.toml": "[websub]\noversize = \"thin\"\n[river]\nown-hosts = \"a.example\"\n"}
	env := []string{"CLOUDBURST_CNWS_AGEING=48h", "CLOUDBURST_RIVER_OWN_HOSTS=b.example"}
	e, err := load(t, []string{"--config=c.toml", "--hub.source-rate=7", "--river.at-once", "9", "--ping.sinks", "rsscloud https://a.example/ping"}, env, f)
	if err != nil {
		t.Fatal(err)
	}
	c := e.Config
	if c.Hub.ClientRate != 7 || c.River.Concurrency != 9 || c.River.UnpacedHosts != "b.example" || c.CNWS.DropAfter != 48*time.Hour || c.WebSub.LargeTopics != "without-content" || len(c.Ping.Targets) != 1 {
		t.Errorf("%+v", c)
	}
	if text := e.Value("websub.large-topics").Text; text != "without-content" {
		t.Errorf("the former value is shown as %q", text)
	}
	var got []string
	for _, r := range e.Renamed {
		got = append(got, r.Old+" "+r.New)
	}
	want := []string{"--hub.source-rate --hub.client-rate", "websub.oversize websub.large-topics", `the value "thin" of websub.large-topics "without-content"`, "CLOUDBURST_CNWS_AGEING CLOUDBURST_CNWS_DROP_AFTER",
		"--ping.sinks --ping.targets", "--river.at-once --river.concurrency", "CLOUDBURST_RIVER_OWN_HOSTS CLOUDBURST_RIVER_UNPACED_HOSTS"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPrecedenceAppliesToFormerAndCurrentNamesOfASetting(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args, env []string
		want      int
	}{
		{[]string{"--river.at-once=3"}, []string{"CLOUDBURST_RIVER_CONCURRENCY=4"}, 3},
		{[]string{"--river.concurrency=3"}, []string{"CLOUDBURST_RIVER_AT_ONCE=4"}, 3},
	} {
		if e, err := load(t, tt.args, tt.env, nil); err != nil || e.Config.River.Concurrency != tt.want || len(e.Renamed) != 1 {
			t.Errorf("%q %q: %+v, %v", tt.args, tt.env, e, err)
		}
	}
}

func TestInvalidServerAddressOfCommandsIsRejected(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{"": true, "127.0.0.1:5338": true, "http://127.0.0.1:5338": true, "https://admin.example/": true, "[::1]:5338": true,
		"127.0.0.1": false, "127.0.0.1:0": false, "ftp://x:1": false, "http://u:p@x:1": false, "http://x:1/v1": false, "http://": false} {
		if err := checkServer(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestEmptyEnvironmentVariableCountsAsUnset(t *testing.T) {
	t.Parallel()
	e, err := load(t, nil, []string{"CLOUDBURST_DATA=", "CLOUDBURST_CONFIG="}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := e.Value("data"); v.Source != FromDefault || v.Text != "cloudburst-data" {
		t.Errorf("%+v", v)
	}
}

func TestSettingsWithListsAndNetworksAreParsed(t *testing.T) {
	t.Parallel()
	f := files{"c.toml": "trusted-proxies = [\"10.0.0.0/8\", \"::1\"]\nhub.retry = [\"1s\", \"1d\"]\nhub.client-rate = 0.5\nhub.host-rate = 0\n"}
	e, err := load(t, []string{"--config=c.toml", "--egress.allow-fetch", "127.0.0.1, ::ffff:192.0.2.1,fd00::/8"}, nil, f)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	want.Egress.AllowFetch = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("fd00::/8")}
	want.Hub.Retry = []time.Duration{time.Second, 24 * time.Hour}
	want.Hub.ClientRate, want.Hub.HostRate = 0.5, 0
	if diff := cmp.Diff(want, e.Config, comparePrefixes); diff != "" {
		t.Error(diff)
	}
}

func TestErrorsStateSettingAndValueInOneSentence(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		env  []string
		file string
		want string
	}{
		{name: "misspelled flag", args: []string{"--admin.lisen", ":1"}, want: "the flag --admin.lisen is unknown: did you mean --admin.listen?"},
		{name: "long unknown flag", args: []string{"--zzzzzzzzzzzzzzzzzzzzzzz"}, want: "the flag --zzzzzzzzzzzzzzzzzzzzzzz is unknown"},
		{name: "flag without similar flag", args: []string{"--bird", ":1"}, want: "the flag --bird is unknown"},
		{name: "misspelled variable", env: []string{"CLOUDBURST_HUB_EXPIRE=1h"}, want: "the environment variable CLOUDBURST_HUB_EXPIRE is unknown: did you mean CLOUDBURST_HUB_EXPIRY?"},
		{name: "misspelled key", file: "[hub]\nmaxerrors = 3\n", want: "the key hub.maxerrors in c.toml is unknown: did you mean hub.max-errors?"},
		{name: "misspelled top-level key", file: "lsiten = ':80'\n", want: "the key lsiten in c.toml is unknown: did you mean listen?"},
		{name: "invalid TOML", file: "listen = \n", want: "c.toml, line 1: "},
		{name: "duplicate key", file: "data='a'\ndata='b'\n", want: "c.toml, line 2: "},
		{name: "number for duration", file: "[hub]\nexpiry = 25\n", want: `hub.expiry in c.toml: 25 is invalid: it must be a time in quotes, such as "15s"`},
		{name: "number for text", file: "listen = 5337\n", want: "listen in c.toml: 5337 is invalid: it must be a text in quotes"},
		{name: "list for text", file: "listen = ['a']\n", want: "listen in c.toml: a list is invalid: it must be a text in quotes"},
		{name: "list of numbers", file: "hub.retry = [5]\n", want: "hub.retry in c.toml: 5 is invalid: the list must contain texts in quotes"},
		{name: "boolean for number", file: "hub.max-errors = true\n", want: "hub.max-errors in c.toml: true is invalid: it must be a whole number"},
		{name: "fraction for whole number", file: "hub.max-errors = 3.0\n", want: "hub.max-errors in c.toml: 3.0 is invalid: it must be a whole number"},
		{name: "URL for unpaced host", args: []string{"--river.unpaced-hosts=a.example,http://b.example/"}, want: `"http://b.example/" is not a host such as example.org, example.org:8080 or *`},
		{name: "path for unpaced host", file: "river.unpaced-hosts = 'a.example/feed'\n", want: `"a.example/feed" is not a host`},
		{name: "wildcard for unpaced host", args: []string{"--river.unpaced-hosts=*.a.example"}, want: `"*.a.example" is not a host`},
		{name: "URL for propagation", args: []string{"--trace.propagate=https://a.example"}, want: `"https://a.example" is not a host such as example.org, .example.org or *`},
		{name: "port for propagation", args: []string{"--trace.propagate=a.example:80"}, want: `"a.example:80" is not a host`},
		{name: "plain HTTP listener without port", args: []string{"--tls.http-listen=80"}, want: "it must be host:port"},
		{name: "invalid duration in file", file: "hub.expiry = 'soon'\n", want: `hub.expiry in c.toml is "soon": "soon" is not a time such as`},
		{name: "count below minimum in variable", env: []string{"CLOUDBURST_HUB_MAX_ERRORS=0"}, want: `CLOUDBURST_HUB_MAX_ERRORS is "0": it must be a whole number from 1 to 1000`},
		{name: "unknown choice in flag", args: []string{"--log.level=loud"}, want: `--log.level is "loud": it must be one of debug, info, warn, error`},
		{name: "duration below minimum", args: []string{"--hub.expiry=1ms"}, want: "1ms is too short: the minimum is 1s"},
		{name: "duration above maximum", args: []string{"--hub.callback-timeout=1d"}, want: "1d is too long: the maximum is 5m"},
		{name: "negative duration", args: []string{"--hub.expiry=-1h"}, want: "-1h is too short"},
		{name: "empty list of durations", args: []string{"--hub.retry="}, want: `"" is not a time`},
		{name: "negative rate", args: []string{"--hub.host-rate=-1"}, want: "it must be 0 or more"},
		{name: "rate NaN", args: []string{"--hub.host-rate=NaN"}, want: "it must be 0 or more"},
		{name: "address without host", args: []string{"--listen=5337"}, want: `--listen is "5337": it must be host:port`},
		{name: "port above maximum", args: []string{"--listen=:99999"}, want: "the port must be a number from 0 to 65535"},
		{name: "port name", args: []string{"--listen=:http"}, want: "the port must be a number from 0 to 65535"},
		{name: "listen URL", args: []string{"--listen=http://x:1"}, want: "it must be host:port"},
		{name: "bits outside mask", args: []string{"--trusted-proxies=10.1.2.3/8"}, want: `"10.1.2.3/8" has bits set outside its mask: did you mean 10.0.0.0/8, or 10.1.2.3/32?`},
		{name: "IPv6 zone", args: []string{"--trusted-proxies=fe80::1%eth0"}, want: "is not a network"},
		{name: "IPv4-mapped network", args: []string{"--trusted-proxies=::ffff:10.0.0.0/104"}, want: "write it as IPv4"},
		{name: "public URL with path", args: []string{"--public-url=https://a.example/hub"}, want: "it must contain only scheme, host and port"},
		{name: "public URL with port 0", args: []string{"--public-url=http://a.example:0"}, want: "its port must be from 1 to 65535"},
		{name: "public URL with large port", args: []string{"--public-url=http://a.example:70000"}, want: "its port must be from 1 to 65535"},
		{name: "comma in an element", file: "[ping]\ntargets = [\"weblogs http://x/a,b\"]\n", want: `"weblogs http://x/a,b" is invalid: a comma separates elements; write %2C for a comma in a URL`},
		{name: "public URL without scheme", args: []string{"--public-url=a.example"}, want: "it must be a URL such as"},
		{name: "empty data folder", args: []string{"--data="}, want: "it must be the path of a folder"},
		{name: "invalid size", args: []string{"--media.max-size=many"}, want: `"many" is not a size such as 500kB, 64MiB or 1.5GiB`},
		{name: "large size", args: []string{"--media.max-size=5GiB"}, want: "5GiB is too large: the maximum is 4GiB"},
		{name: "small size", args: []string{"--websub.max-content=1000"}, want: "1000 is too small: the minimum is 1KiB"},
		{name: "former and current flag", args: []string{"--ping.sinks=", "--ping.targets="}, want: "--ping.sinks and --ping.targets are the same setting: keep --ping.targets"},
		{name: "former and current key", file: "[river]\nat-once = 5\nconcurrency = 6\n", want: "river.at-once and river.concurrency are the same setting"},
		{name: "former key with invalid value", file: "[river]\nat-once = 0\n", want: `river.at-once in c.toml is "0": it must be a whole number from 1 to 1024`},
		{name: "missing file", args: []string{"--config=gone.toml"}, want: "the configuration file cannot be read: open gone.toml"},
		{name: "secret and secret file", env: []string{"CLOUDBURST_DATABASE=postgres://a/b", "CLOUDBURST_DATABASE_FILE=x"}, want: "CLOUDBURST_DATABASE and CLOUDBURST_DATABASE_FILE are both set"},
		{name: "missing secret file", env: []string{"CLOUDBURST_DATABASE_FILE=gone"}, want: "CLOUDBURST_DATABASE_FILE: cannot use the file that it names: open gone"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, args := files{}, tt.args
			if tt.file != "" {
				f["c.toml"] = tt.file
				args = append(args, "--config=c.toml")
			}
			_, err := load(t, args, tt.env, f)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v\nwant %s", err, tt.want)
			}
			if strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("more than one line: %v", err)
			}
		})
	}
}

func TestPrintedSettingsHidePasswords(t *testing.T) {
	t.Parallel()
	const secret = "s3kr1t"
	for _, text := range []string{
		"postgres://u:s3kr1t@", "mysql://u:s3kr1t@h/d", "postgres://u:s3kr1t@h", "host=h password=s3kr1t",
		"postgres://u:s3kr1t@h:port/d", "postgres://u:s3kr1t%zz@h/d", "s3kr1t",
	} {
		for _, args := range [][]string{{"--database", text}} {
			_, err := load(t, args, nil, nil)
			if err == nil {
				t.Errorf("%s was accepted", text)
			} else if strings.Contains(err.Error(), secret) {
				t.Errorf("the password is in the error: %v", err)
			}
		}
		if shown := Redact(text); strings.Contains(shown, secret) {
			t.Errorf("Redact(%q) = %q", text, shown)
		}
	}
	f := files{"/run/db": "postgres://u:s3kr1t@h/d?sslpassword=s3kr1t\n"}
	e, err := load(t, nil, []string{"CLOUDBURST_DATABASE_FILE=/run/db"}, f)
	if err != nil {
		t.Fatal(err)
	}
	if e.Config.Database != "postgres://u:s3kr1t@h/d?sslpassword=s3kr1t" {
		t.Errorf("database is %q", e.Config.Database)
	}
	var out bytes.Buffer
	if err := e.WriteTOML(&out, false); err != nil {
		t.Fatal(err)
	}
	if err := e.WriteJSON(&out, false); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), secret) || !strings.Contains(out.String(), "u:xxxxx@h/d") {
		t.Error(out.String())
	}
}

func TestSecretSettingIsReadFromAFile(t *testing.T) {
	t.Parallel()
	f := files{"c.toml": "database-file = '/run/db'\n", "/run/db": "postgres://u:p@h/d\n", "bad": "a\nb\n"}
	e, err := load(t, []string{"--config=c.toml"}, nil, f)
	if err != nil || e.Config.Database != "postgres://u:p@h/d" {
		t.Errorf("%v %v", e, err)
	}
	f["c.toml"] = "database-file = 'bad'\n"
	if _, err := load(t, []string{"--config=c.toml"}, nil, f); err == nil || !strings.Contains(err.Error(), "in one line") {
		t.Error(err)
	}
}

func TestPrintedConfigurationCanBeLoadedAgain(t *testing.T) {
	t.Parallel()
	args := []string{"--listen", "[::1]:80", "--data", `a "b" \c`, "--database", "postgres://u:p%22@h/d",
		"--trusted-proxies", "10.0.0.0/8,::1", "--hub.retry", "1s, 1d", "--hub.client-rate", "2.5", "--media.quota", "1.5GiB", "--media.max-size", "1500", "--hub.max-errors", "+07"}
	first, err := load(t, args, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := first.WriteTOML(&out, true); err != nil {
		t.Fatal(err)
	}
	second, err := load(t, []string{"--config=out.toml"}, nil, files{"out.toml": out.String()})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if diff := cmp.Diff(first.Config, second.Config, comparePrefixes); diff != "" {
		t.Errorf("%s\n%s", diff, out.String())
	}
	for _, v := range second.Values {
		if v.Source != FromFile {
			t.Errorf("%s is from %s, so the printed file does not set it", v.Name, v.Source)
		}
	}
	if _, err := load(t, []string{"--config=d.toml"}, nil, files{"d.toml": defaultsPrinted(t)}); err != nil {
		t.Error(err)
	}
}

func defaultsPrinted(t *testing.T) string {
	t.Helper()
	e, err := load(t, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := e.WriteTOML(&out, false); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestJSONOutputHasOneObjectPerLine(t *testing.T) {
	t.Parallel()
	e, err := load(t, nil, []string{"CLOUDBURST_DATA=/x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := e.WriteJSON(&out, false); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(Settings()) {
		t.Errorf("%d lines for %d settings", len(lines), len(Settings()))
	}
	found := false
	for _, line := range lines {
		var row struct{ Name, Value, Source, Origin, Env string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		found = found || row.Name == "data" && row.Value == "/x" && row.Source == "environment" && row.Origin == "CLOUDBURST_DATA"
	}
	if !found {
		t.Error(out.String())
	}
}

func TestEnvironmentVariablesWithTheTestPrefixAreIgnored(t *testing.T) {
	t.Parallel()
	if _, err := load(t, nil, []string{"CLOUDBURST_TEST_POSTGRES=postgres://127.0.0.1/x"}, nil); err != nil {
		t.Errorf("refused: %v", err)
	}
}

func TestEnvironmentVariablesOfKubernetesAreIgnored(t *testing.T) {
	t.Parallel()
	_, err := load(t, nil, []string{"CLOUDBURST_SERVICE_HOST=10.0.0.1", "CLOUDBURST_SERVICE_PORT=80", "CLOUDBURST_SERVICE_PORT_HTTP=80",
		"CLOUDBURST_PORT=tcp://10.0.0.1:80", "CLOUDBURST_PORT_80_TCP=x", "CLOUDBURST_PORT_80_TCP_ADDR=x"}, nil)
	if err != nil {
		t.Error(err)
	}
	if _, err := load(t, nil, []string{"CLOUDBURST_PORTS=1"}, nil); err == nil {
		t.Error("CLOUDBURST_PORTS was accepted")
	}
}

func TestNearestReturnsTheMostSimilarName(t *testing.T) {
	t.Parallel()
	names := []string{"list", "export", "import", "remove"}
	for name, want := range map[string]string{"exprot": "export", "lst": "list", "rm": "", "removal": "remove", "": "", "q": ""} {
		if got := Nearest(name, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestPublicURLIsDerivedFromTheListenAddress(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{":5337": "http://localhost:5337", "0.0.0.0:5337": "http://localhost:5337", "[::]:80": "http://localhost",
		"127.0.0.1:1": "http://127.0.0.1:1", "127.0.0.1:80": "http://127.0.0.1", "[::1]:2": "http://[::1]:2", "[::1]:80": "http://[::1]",
		"192.0.2.7:81": "http://192.0.2.7:81", "hub.example:82": "http://hub.example:82"} {
		if got := (Config{}).Public(addr); got != want {
			t.Errorf("Public(%q) = %q, want %q", addr, got, want)
		}
	}
	if got := (Config{PublicURL: "https://a.example"}).Public(":1"); got != "https://a.example" {
		t.Error(got)
	}
	if got := (Config{Listen: "localhost:83"}).Public("127.0.0.1:83"); got != "http://localhost:83" {
		t.Errorf("a listener that was named localhost is called %s", got)
	}
}

func TestWarningStatesTheHostNameUsedInLinks(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{":5337": "localhost, which no other machine", "127.0.0.1:5337": "127.0.0.1, which no other machine",
		"[::1]:5337": "::1, which no other machine", "192.0.2.7:81": "192.0.2.7, the address that listen has"} {
		c := Default()
		c.Listen = listen
		if w := c.Warnings(); len(w) != 1 || !strings.Contains(w[0], "name "+want) {
			t.Errorf("listen %s: %q, want %q in it", listen, w, want)
		}
	}
}

func TestRiskySettingsCauseWarnings(t *testing.T) {
	t.Parallel()
	c := Default()
	if w := c.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0], "public-url") {
		t.Error(w)
	}
	c.PublicURL, c.Admin.Listen = "https://a.example", ":5338"
	c.Egress.AllowFetch = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	c.Egress.AllowCallback = c.Egress.AllowFetch
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}
	if w := c.Warnings(); len(w) != 4 {
		t.Error(w)
	}
}

func FuzzSettings(f *testing.F) {
	for _, s := range []string{"25h", "1d12h", "10.0.0.0/8,::1", "[::1]:80", "postgres://u:p@h/d", "https://a.example/", "5s,30s", "-1", "1d-2h", "64MiB", "1.5 gb", "9223372036854775807", "127.0.0.1:5338"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range Settings() {
			p, err := s.parse(text)
			if err != nil {
				continue
			}
			// A valid text that is printed as TOML and read again must have the same value.
			v := Value{Setting: s, Text: text}
			table, key, ok := strings.Cut(s.Name, ".")
			if !ok {
				table, key = "", s.Name
			} else {
				table = "[" + table + "]\n"
			}
			got, err := readFile("f", files{"f": table + key + " = " + v.toml()}.read)
			if err != nil {
				t.Fatalf("%s %q: %v", s.Name, text, err)
			}
			q, err := s.parse(got[s.Name])
			if err != nil {
				t.Fatalf("%s %q became %q: %v", s.Name, text, got[s.Name], err)
			}
			if (s.Kind == Count || s.Kind == Size) && p.count != q.count || p.duration != q.duration || len(p.networks) != len(q.networks) {
				t.Fatalf("%s %q became %q", s.Name, text, got[s.Name])
			}
		}
	})
}
