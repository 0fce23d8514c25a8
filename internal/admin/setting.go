package admin

import (
	"context"
	"time"

	"cloudburst/internal/fault"
)

// Setting is a setting that can be changed at run time. Code that uses the setting calls Value each
// time, because the value can change.
type Setting struct {
	// Check returns an error with a full sentence if a value is not valid.
	Check func(value string) error
	// Configured is the value from flags, environment and file. It applies while there is no
	// override.
	Configured string
}

// Override is the value of a setting that an administrator changed at run time. It has priority
// over flags, environment and file.
type Override struct {
	Name, Value string
	ChangedAt   time.Time
	ChangedBy   string // name of the user; "": the operator
}

// SetSetting changes a setting, also across restarts: at once on this node, and on other nodes at
// their next Load. fault.NotFound: the setting cannot be changed at run time; fault.Invalid: the
// value is not valid.
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

// ResetSetting returns a setting to its configured value. fault.NotFound: the setting has no
// override.
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

// Override returns the override of a setting; ok is false if the setting has none.
func (a *Admin) Override(name string) (o Override, ok bool) {
	if all := a.overrides.Load(); all != nil {
		o, ok = (*all)[name]
	}
	return o, ok
}

// Value returns the effective value of a setting.
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
