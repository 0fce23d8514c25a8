package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Source is where a value was set.
type Source string

// Sources of values, highest priority first.
const (
	FromFlag    Source = "flag"
	FromEnv     Source = "environment"
	FromFile    Source = "file"
	FromProfile Source = "profile"
	FromDefault Source = "default"
)

// fromChange is the source of a value that an administrator changed while the server ran. Only
// [Of] returns it.
const fromChange Source = "changed"

// Overrides reports whether s has a higher priority than other.
func (s Source) Overrides(other Source) bool {
	sources := []Source{FromFlag, FromEnv, FromFile, FromProfile, FromDefault}
	return slices.Index(sources, s) < slices.Index(sources, other)
}

// Value is a setting with its effective text and the origin of that text.
type Value struct {
	Setting
	Text   string
	Source Source
	Origin string // --hub.expiry, CLOUDBURST_HUB_EXPIRY, the file's path or the profile; "": the default
}

// Shown returns Text with passwords hidden.
func (v Value) Shown() string {
	if v.Secret {
		return Redact(v.Text)
	}
	return v.Text
}

// Effective is the whole configuration with the origin of each value.
type Effective struct {
	Config Config
	Values []Value // in the order of the table of settings
	File   string  // path of the file that was read; "": none
	// redacted means that Values contain no passwords any more.
	redacted bool
	// Renamed lists the former setting names in use, in the order of the table of settings.
	Renamed []Renamed
}

// Renamed is a former setting name that a flag, a variable or the file still uses. Former names
// still work.
type Renamed struct{ Old, New string }

func (r Renamed) String() string {
	return r.Old + " is now called " + r.New + "; the old name still works"
}

// Value returns the value of one setting, or the zero Value for an unknown name.
func (e *Effective) Value(name string) Value {
	i := slices.IndexFunc(e.Values, func(v Value) bool { return v.Name == name })
	if i < 0 {
		return Value{}
	}
	return e.Values[i]
}

// Options are the sources of a configuration. The zero Options give the defaults.
type Options struct {
	Flags    *pflag.FlagSet                    // parsed flags of AddFlags; nil: no flags
	Environ  []string                          // entries "NAME=value"; an empty value counts as not set
	ReadFile func(path string) ([]byte, error) // nil: os.ReadFile
}

// configFlag is the flag that names the configuration file. It is not a setting, because the file
// cannot name itself.
const configFlag = "config"

// AddFlags adds --config and a flag for each named setting. Without names, it adds all settings of
// the server.
func AddFlags(fs *pflag.FlagSet, names ...string) {
	fs.String(configFlag, "", "TOML `file` with settings ("+envName(configFlag)+")")
	for _, s := range Settings() {
		if len(names) == 0 || slices.Contains(names, s.Name) {
			if s.Client && len(names) == 0 {
				continue
			}
			// The usage text states the default. The flag's own default is "", which means "not set".
			fs.String(s.Name, "", s.usage())
			if s.Old != "" {
				fs.String(s.Old, "", "former name of --"+s.Name)
				fs.Lookup(s.Old).Hidden = true
			}
		}
	}
}

func (s Setting) usage() string {
	word := map[Kind]string{Folder: "folder", Address: "address", Server: "address", PublicURL: "URL", Database: "URL",
		Networks: "networks", URLs: "URLs", Hosts: "hosts", Domains: "hosts", PingTargets: "targets", Size: "size", Share: "number", Headers: "fields", Collector: "URL", Duration: "time", Durations: "times", Count: "number", Rate: "number", Choice: "word"}[s.Kind]
	word = cmp.Or(word, "text")
	// pflag shows the word in backquotes as the placeholder of the value.
	text := s.Doc + " (`" + word + "`"
	if s.Kind == Choice {
		text += ": " + strings.Join(s.Choices, ", ")
	}
	if s.Default != "" {
		text += "; default " + s.Default
	}
	return text + ")"
}

// Load reads the configuration. An error is one sentence that names the setting, the origin, the
// value and the allowed values.
func Load(o Options) (*Effective, error) {
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	env, err := readEnv(o.Environ)
	if err != nil {
		return nil, err
	}
	e := &Effective{File: env[envName(configFlag)]}
	if o.Flags != nil && o.Flags.Changed(configFlag) {
		e.File, _ = o.Flags.GetString(configFlag)
	}
	var file map[string]string
	if e.File != "" {
		if file, err = readFile(e.File, o.ReadFile); err != nil {
			return nil, err
		}
	}
	for _, s := range Settings() {
		v, old, err := o.findNamed(s, env, file, e.File)
		if err != nil {
			return nil, err
		}
		e.Renamed = append(e.Renamed, old...)
		// The setting profile must precede, in the table, all settings that a profile changes.
		if text, ok := profiles[e.Config.Profile][s.Name]; ok && v.Source == FromDefault {
			v.Text, v.Source, v.Origin = text, FromProfile, e.Config.Profile
		}
		if now, ok := s.OldChoices[strings.TrimSpace(v.Text)]; ok {
			e.Renamed = append(e.Renamed, Renamed{fmt.Sprintf("the value %q of %s", v.Text, s.Name), strconv.Quote(now)})
			v.Text = now
		}
		p, err := s.parse(v.Text)
		if err != nil {
			name := v.Setting.Name
			if len(old) > 0 && v.Source == FromFile {
				name = s.Old
			}
			return nil, v.wrong(name, err)
		}
		s.set(&e.Config, p)
		e.Values = append(e.Values, v)
	}
	return e, nil
}

// findNamed finds the value of s under its current name and its former name. The source with the
// higher priority wins. Both names in one source are an error.
func (o Options) findNamed(s Setting, env, file map[string]string, path string) (v Value, old []Renamed, err error) {
	if v, err = o.find(s, env, file, path); err != nil || s.Old == "" {
		return v, nil, err
	}
	former := s
	former.Name = s.Old
	was, err := o.find(former, env, file, path)
	if err != nil || was.Source == FromDefault {
		return v, nil, err
	}
	if was.Source == v.Source {
		return Value{}, nil, fmt.Errorf("%s and %s are the same setting: keep %s", was.name(), v.name(), v.name())
	}
	old = []Renamed{{was.name(), Value{Setting: s, Source: was.Source}.name()}}
	if was.Source.Overrides(v.Source) {
		was.Setting = s
		v = was
	}
	return v, old, nil
}

// name returns the name of the setting as its source spells it: flag, environment variable or file
// key.
func (v Value) name() string {
	switch v.Source {
	case FromFlag:
		return "--" + v.Setting.Name
	case FromEnv:
		return v.Env()
	default:
		return v.Setting.Name
	}
}

// find returns the value of s from the source with the highest priority.
func (o Options) find(s Setting, env, file map[string]string, path string) (Value, error) {
	if o.Flags != nil && o.Flags.Changed(s.Name) {
		text, err := o.Flags.GetString(s.Name)
		return Value{s, text, FromFlag, "--" + s.Name}, err
	}
	if text := env[s.Env()]; text != "" {
		if s.Secret && env[s.EnvFile()] != "" {
			return Value{}, fmt.Errorf("%s and %s are both set: keep one of them", s.Env(), s.EnvFile())
		}
		return Value{s, text, FromEnv, s.Env()}, nil
	}
	if from := env[s.EnvFile()]; s.Secret && from != "" {
		text, err := o.secret(from)
		return Value{s, text, FromEnv, s.EnvFile()}, wrapSecret(err, s.EnvFile())
	}
	if text, ok := file[s.Name]; ok {
		if _, both := file[s.Name+fileSuffix]; both {
			return Value{}, fmt.Errorf("%s sets both %s and %s: keep one of them", path, s.Name, s.Name+fileSuffix)
		}
		return Value{s, text, FromFile, path}, nil
	}
	if from, ok := file[s.Name+fileSuffix]; ok {
		text, err := o.secret(from)
		return Value{s, text, FromFile, path}, wrapSecret(err, s.Name+fileSuffix)
	}
	return Value{s, s.Default, FromDefault, ""}, nil
}

// fileSuffix ends the TOML keys that name a file with a secret.
const fileSuffix = "-file"

func (o Options) secret(path string) (string, error) {
	b, err := o.ReadFile(path)
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(string(b), "\r\n")
	if text == "" || strings.ContainsAny(text, "\r\n") {
		return "", fmt.Errorf("%s must contain only the value, in one line", path)
	}
	return text, nil
}

func wrapSecret(err error, name string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: cannot use the file that it names: %w", name, err)
}

// wrong returns the error about an invalid value of a setting. name is the setting's name in its
// source.
func (v Value) wrong(name string, err error) error {
	where := v.Origin
	if v.Source == FromFile {
		where = name + " in " + v.Origin
	}
	if v.Secret {
		return fmt.Errorf("%s is invalid: %w", where, err)
	}
	return fmt.Errorf("%s is %q: %w", where, v.Text, err)
}

// testPrefix begins the names of variables for the program's tests. The tests start the program with
// their own environment.
const testPrefix = envPrefix + "TEST_"

// readEnv collects the variables with the program's prefix and rejects unknown ones.
func readEnv(environ []string) (map[string]string, error) {
	known, former := []string{envName(configFlag)}, []string(nil)
	for _, s := range Settings() {
		known = append(known, s.Env())
		if s.Old != "" {
			former = append(former, envName(s.Old))
		}
		if s.Secret {
			known = append(known, s.EnvFile())
		}
	}
	env := map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, envPrefix) || strings.HasPrefix(name, testPrefix) || orchestrated(name) {
			continue
		}
		if !slices.Contains(known, name) && !slices.Contains(former, name) {
			return nil, unknown("the environment variable "+name, name, known)
		}
		env[name] = value
	}
	return env, nil
}

// orchestrated reports whether Kubernetes sets a variable in every container when a service has the
// name cloudburst.
func orchestrated(name string) bool {
	ok, err := regexp.MatchString(`^CLOUDBURST_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?)$`, name)
	return ok && err == nil
}

// unknown returns the error about a name that is not in the table of settings.
func unknown(what, name string, known []string) error {
	if near := Nearest(name, known); near != "" {
		return fmt.Errorf("%s is unknown: did you mean %s?", what, near)
	}
	return errors.New(what + " is unknown: \"cloudburst config\" lists the settings")
}

// UnknownFlag replaces pflag's error about an unknown flag by a sentence that suggests the most
// similar flag of fs. It returns other errors unchanged.
func UnknownFlag(err error, fs *pflag.FlagSet) error {
	e, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	name := e.GetSpecifiedName()
	if e.GetSpecifiedShortnames() != "" {
		return fmt.Errorf("the flag -%s is unknown", name)
	}
	var known []string
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if near := Nearest(name, known); near != "" {
		return fmt.Errorf("the flag --%s is unknown: did you mean --%s?", name, near)
	}
	return fmt.Errorf("the flag --%s is unknown", name)
}
