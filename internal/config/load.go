package config

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Source says who set a value.
type Source string

// Sources, the strongest first.
const (
	FromFlag    Source = "flag"
	FromEnv     Source = "environment"
	FromFile    Source = "file"
	FromProfile Source = "profile"
	FromDefault Source = "default"
)

// Value is a setting with its effective text and where that came from.
type Value struct {
	Setting
	Text   string
	Source Source
	Origin string // --hub.expiry, CLOUDBURST_HUB_EXPIRY, the file's path, the profile; "" for a default
}

// Shown is Text, with the password hidden where there may be one.
func (v Value) Shown() string {
	if v.Secret {
		return Redact(v.Text)
	}
	return v.Text
}

// Effective is the whole configuration and where each value came from.
type Effective struct {
	Config Config
	Values []Value // in the table's order
	File   string  // the file that was read; "" for none
}

// Value is the value of one setting; the zero Value when there is no such one.
func (e *Effective) Value(name string) Value {
	i := slices.IndexFunc(e.Values, func(v Value) bool { return v.Name == name })
	if i < 0 {
		return Value{}
	}
	return e.Values[i]
}

// Options says where to read from. The zero Options give the defaults.
type Options struct {
	Flags    *pflag.FlagSet                    // with what AddFlags added; nil: no flags
	Environ  []string                          // "NAME=value"; an empty value counts as not set
	ReadFile func(path string) ([]byte, error) // nil: os.ReadFile
}

// configFlag names the file; it is no setting, since the file cannot name itself.
const configFlag = "config"

// AddFlags adds a flag for each of the named settings, or for all when no name
// is given, and --config.
func AddFlags(fs *pflag.FlagSet, names ...string) {
	fs.String(configFlag, "", "TOML `file` with settings ("+envName(configFlag)+")")
	for _, s := range Settings() {
		if len(names) == 0 || slices.Contains(names, s.Name) {
			// The usage tells the default: the flag's own is "not set".
			fs.String(s.Name, "", s.usage())
		}
	}
}

func (s Setting) usage() string {
	word := map[Kind]string{Folder: "folder", Address: "address", PublicURL: "URL", Database: "URL",
		Networks: "networks", URLs: "URLs", PingTargets: "sinks", Share: "number", Headers: "fields", Collector: "URL", Duration: "time", Durations: "times", Count: "number", Rate: "number", Choice: "word"}[s.Kind]
	if word == "" {
		word = "text"
	}
	// pflag shows the back-quoted word as the name of the value, and as part of the text.
	text := s.Doc + " (`" + word + "`"
	if s.Kind == Choice {
		text += ": " + strings.Join(s.Choices, ", ")
	}
	if s.Default != "" {
		text += "; default " + s.Default
	}
	return text + ")"
}

// Load reads the configuration. An error is one sentence that names the setting,
// where it was set, its value and what is allowed.
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
		v, err := o.find(s, env, file, e.File)
		if err != nil {
			return nil, err
		}
		// The setting profile is in the table before every setting that a profile changes.
		if text, ok := profiles[e.Config.Profile][s.Name]; ok && v.Source == FromDefault {
			v.Text, v.Source, v.Origin = text, FromProfile, e.Config.Profile
		}
		p, err := s.parse(v.Text)
		if err != nil {
			return nil, v.wrong(err)
		}
		s.set(&e.Config, p)
		e.Values = append(e.Values, v)
	}
	return e, nil
}

// find takes the strongest source that says something about s.
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

// fileSuffix makes the key, in the TOML file, of a secret that is kept elsewhere.
const fileSuffix = "-file"

func (o Options) secret(path string) (string, error) {
	b, err := o.ReadFile(path)
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(string(b), "\r\n")
	if text == "" || strings.ContainsAny(text, "\r\n") {
		return "", fmt.Errorf("%s must hold the value alone, in one line", path)
	}
	return text, nil
}

func wrapSecret(err error, name string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: the file that it names cannot be used: %w", name, err)
}

// wrong makes the sentence about a value that does not fit.
func (v Value) wrong(err error) error {
	where := v.Origin
	if v.Source == FromFile {
		where = v.Name + " in " + v.Origin
	}
	if v.Secret {
		return fmt.Errorf("%s is not right: %w", where, err)
	}
	return fmt.Errorf("%s is %q: %w", where, v.Text, err)
}

// testPrefix begins variables for the tests of this program, which start it with
// the environment that they have.
const testPrefix = envPrefix + "TEST_"

// readEnv takes the program's own variables and refuses the ones it does not know.
func readEnv(environ []string) (map[string]string, error) {
	known := []string{envName(configFlag)}
	for _, s := range Settings() {
		known = append(known, s.Env())
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
		if !slices.Contains(known, name) {
			return nil, unknown("the environment variable "+name, name, known)
		}
		env[name] = value
	}
	return env, nil
}

// orchestrated reports a variable that Kubernetes puts into every container when
// a service is called cloudburst. Nobody wrote it, so it is nobody's mistake.
func orchestrated(name string) bool {
	ok, err := regexp.MatchString(`^CLOUDBURST_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?)$`, name)
	return ok && err == nil
}

// unknown makes the sentence about a name that is not in the table.
func unknown(what, name string, known []string) error {
	if near := Nearest(name, known); near != "" {
		return fmt.Errorf("%s is not known: did you mean %s?", what, near)
	}
	return errors.New(what + " is not known: \"cloudburst config\" lists the settings")
}

// UnknownFlag turns pflag's error about a flag that fs does not have into a
// sentence with the nearest one; other errors come back as they are.
func UnknownFlag(err error, fs *pflag.FlagSet) error {
	e, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	name := e.GetSpecifiedName()
	if e.GetSpecifiedShortnames() != "" {
		return fmt.Errorf("the flag -%s is not known", name)
	}
	var known []string
	fs.VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near := Nearest(name, known); near != "" {
		return fmt.Errorf("the flag --%s is not known: did you mean --%s?", name, near)
	}
	return fmt.Errorf("the flag --%s is not known", name)
}
