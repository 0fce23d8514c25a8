package admin

import (
	"context"
	"time"

	"cloudburst/internal/fault"
)

// Setting is a setting that can be changed at run time. Its users ask Value each time.
type Setting struct {
	// Check returns why a value is not valid, as a sentence.
	Check func(value string) error
	// Configured returns the value of the configuration, which applies without an override.
	Configured string
}

// Override is the value of a setting that an administrator changed at run time. It has priority
// over flags, environment and file.
type Override struct {
	Name, Value string
	ChangedAt   time.Time
	ChangedBy   string // user; "": the operator
}

// SetSetting changes a setting from now on, on every node, also after a restart. fault.NotFound:
// the setting cannot be changed at run time; fault.Invalid: the value.
func (a *Admin) SetSetting(ctx context.Context, by Actor, name, value string) error {
	s, ok := a.Settings[name]
	if !ok {
		return notChangeable(name)
	}
	if err := s.Check(value); err != nil {
		return fault.New(fault.Invalid, "%s", err.Error())
	}
	return a.Do(ctx, by, SettingChange, name, a.Value(name)+" → "+value, func() error {
		o := Override{Name: name, Value: value, ChangedAt: a.now().UTC().Truncate(time.Millisecond), ChangedBy: by.Name}
		if err := a.Store.PutOverride(ctx, o); err != nil {
			return err
		}
		return a.loadOverrides(ctx)
	})
}

// ResetSetting returns a setting to its configured value. fault.NotFound: it was not changed.
func (a *Admin) ResetSetting(ctx context.Context, by Actor, name string) error {
	s, ok := a.Settings[name]
	if !ok {
		return notChangeable(name)
	}
	return a.Do(ctx, by, SettingReset, name, a.Value(name)+" → "+s.Configured, func() error {
		if err := a.Store.RemoveOverride(ctx, name); err != nil {
			return err
		}
		return a.loadOverrides(ctx)
	})
}

func notChangeable(name string) error {
	return fault.New(fault.NotFound, "The setting %q cannot be changed while the server runs. Change the flag, the variable or the file, and restart the server.", name)
}

// Override returns how a setting was changed at run time; ok is false if it was not.
func (a *Admin) Override(name string) (o Override, ok bool) {
	if all := a.overrides.Load(); all != nil {
		o, ok = (*all)[name]
	}
	return o, ok
}

// Value returns the value of a setting in force.
func (a *Admin) Value(name string) string {
	if o, ok := a.Override(name); ok {
		return o.Value
	}
	return a.Settings[name].Configured
}

// loadOverrides reads the overrides. A stored value that is no longer valid is ignored.
func (a *Admin) loadOverrides(ctx context.Context) error {
	rows, err := a.Store.Overrides(ctx)
	if err != nil {
		return err
	}
	all := map[string]Override{}
	for _, o := range rows {
		s, ok := a.Settings[o.Name]
		if !ok {
			continue
		}
		if err := s.Check(o.Value); err != nil {
			a.log().Warn("ignore the stored value of a setting", "setting", o.Name, "value", o.Value, "err", err)
			continue
		}
		all[o.Name] = o
	}
	a.overrides.Store(&all)
	return nil
}
