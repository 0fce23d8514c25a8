package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestProfileOverridesOnlyDefaults(t *testing.T) {
	t.Parallel()
	const inFile = "[changes]\nwhen = \"seconds\"\n"
	load := func(environ []string, args ...string) *Effective {
		t.Helper()
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		AddFlags(fs)
		if err := fs.Parse(append(args, "--config", "c.toml")); err != nil {
			t.Fatal(err)
		}
		e, err := Load(Options{Flags: fs, Environ: environ, ReadFile: func(string) ([]byte, error) { return []byte(inFile), nil }})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for name, e := range map[string]*Effective{
		"flag":     load(nil, "--profile", "guide-2009"),
		"variable": load([]string{"CLOUDBURST_PROFILE=guide-2009"}),
	} {
		c := e.Config
		if c.Profile != "guide-2009" || c.Write.LimitMode != "stop" || c.Hub.CloudProtocol != "http-post" || c.Changes.When != "seconds" || len(c.Ping.Targets) != 1 || c.Ping.Targets[0].String() != "weblogs-extended http://rpc.weblogs.com/RPC2" {
			t.Errorf("by %s: %+v %+v %+v %+v", name, c.Write, c.Hub.CloudProtocol, c.Changes, c.Ping)
		}
		if v := e.Value("write.limit-mode"); v.Source != FromProfile || v.Origin != "guide-2009" {
			t.Errorf("by %s: write.limit-mode is from %s %q", name, v.Source, v.Origin)
		}
		if v := e.Value("changes.when"); v.Source != FromFile {
			t.Errorf("by %s: changes.when is from %s", name, v.Source)
		}
		var b strings.Builder
		if err := e.WriteTOML(&b, false); err != nil || !strings.Contains(b.String(), "# From the profile guide-2009. Flag --write.limit-mode") {
			t.Errorf("by %s: %v, %s", name, err, b.String())
		}
	}
	// An explicit value overrides the profile, even if it equals the default.
	e := load([]string{"CLOUDBURST_HUB_CLOUD_PROTOCOL=auto"}, "--profile", "guide-2009", "--write.limit-mode", "warn", "--ping.targets", "")
	if e.Config.Write.LimitMode != "warn" || e.Config.Hub.CloudProtocol != "auto" || len(e.Config.Ping.Targets) != 0 {
		t.Errorf("explicit values: %+v, %s, %+v", e.Config.Write, e.Config.Hub.CloudProtocol, e.Config.Ping)
	}
	if e = load(nil); e.Config.Profile != "none" || e.Config.Write.LimitMode != "warn" || e.Config.Hub.CloudProtocol != "auto" {
		t.Errorf("without a profile: %+v", e.Config)
	}
}

func TestProfilesHaveValidValuesOfKnownSettings(t *testing.T) {
	t.Parallel()
	all := Settings()
	at := func(name string) int { return slices.IndexFunc(all, func(s Setting) bool { return s.Name == name }) }
	for _, choice := range all[at("profile")].Choices {
		values, ok := profiles[choice]
		if !ok {
			t.Errorf("there is no profile %s", choice)
		}
		for name, text := range values {
			i := at(name)
			if i < at("profile") {
				t.Errorf("%s: %s must be in the table after profile", choice, name)
				continue
			}
			if _, err := all[i].parse(text); err != nil {
				t.Errorf("%s: %s is %q: %v", choice, name, text, err)
			}
		}
	}
}
