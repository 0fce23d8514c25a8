package account

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"time"

	"cloudburst/internal/fault"
)

// User is a person with feeds on this server.
type User struct {
	Name       string
	CreatedAt  time.Time
	PasswordAt time.Time // time when the password was set
	SeenAt     time.Time // approximate time of the last log-in; zero: never
	Disabled   bool

	// Administrator means that the user manages this server on its pages. The first user is an
	// administrator.
	Administrator bool
}

// maxPlaces is the maximum number of stored log-in addresses of a user.
const maxPlaces = 20

// Check authenticates a user by name and password. Errors: fault.Refused (the name is unknown, the
// password is wrong, or the user is disabled; the message is the same), fault.TooMany,
// fault.Unavailable.
//
// spec:cloudburst#log-in-rejections spec:cloudburst#log-in-limits
func (a *Accounts) Check(ctx context.Context, name, password string, from Caller) (User, error) {
	a.init()
	place := a.keys.place(name, address(from.Addr))
	known := false
	if wellFormed(name) {
		var err error
		if known, err = a.Store.KnowsPlace(ctx, name, place); err != nil {
			return User{}, err
		}
	}
	started, err := a.limits.start(ctx, a.now, loginSource{from: from, name: name, known: known})
	if err != nil {
		return User{}, err
	}
	list := spellings(password)
	u, with, matched, err := a.verify(ctx, name, list)
	switch {
	case err == nil:
		started.passed()
	case fault.CodeOf(err) == fault.Refused:
		if away := started.failed(ctx, a.now()); away != nil {
			return User{}, away
		}
		return User{}, err
	default:
		started.dropped()
		return User{}, err
	}
	if matched > 0 || a.hasher.outdated(with) {
		a.rehash(ctx, name, list[0], with)
	}
	if now := a.now(); !known || now.Sub(u.SeenAt) >= time.Hour {
		a.logUseError("account", a.Store.TouchUser(ctx, name, place, now, maxPlaces))
	}
	return u, nil
}

// verify compares the spellings of a password with a user's hash. matched is the index of the
// matching spelling. To keep the time independent of whether the user exists, verify always reads
// one row and hashes each spelling. Only a password that was verified a short time ago is not
// hashed; only a person who knows the password can observe this.
func (a *Accounts) verify(ctx context.Context, name string, spellings []string) (u User, with passwordHash, matched int, err error) {
	usable := wellFormed(name) // clients know whether a name is well-formed, so the time of the check discloses nothing
	if usable {
		var hash string
		u, hash, err = a.Store.User(ctx, name)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return User{}, passwordHash{}, 0, err
		}
		if usable = err == nil && !u.Disabled; usable {
			if with, err = parseHashed(hash); err != nil {
				a.log.Error("cannot check a password", "user", name, "err", err)
				usable = false
			}
		}
	}
	if usable && a.verified.has(with, spellings[0], a.now()) {
		return u, with, 0, nil
	}
	for i, password := range spellings {
		ok, err := a.hasher.check(ctx, password, with, usable)
		if err != nil {
			return User{}, passwordHash{}, 0, err
		}
		if ok {
			a.verified.put(with, password, a.now())
			return u, with, i, nil
		}
	}
	return User{}, passwordHash{}, 0, refused()
}

// rehash stores a hash of the same password with the current parameters.
func (a *Accounts) rehash(ctx context.Context, name, password string, old passwordHash) {
	hash, err := a.hasher.make(ctx, password)
	if err == nil {
		err = a.Store.RehashUser(ctx, name, old.String(), hash)
	}
	a.logUseError("hash", err)
}

// Add creates a user. Errors: fault.Invalid (the name or the password is not acceptable),
// fault.Conflict (the name is taken), fault.TooMany, fault.Unavailable.
func (a *Accounts) Add(ctx context.Context, name, password string) (User, error) {
	return a.add(ctx, name, password, false)
}

func (a *Accounts) add(ctx context.Context, name, password string, first bool) (User, error) {
	u, hash, err := a.newUser(ctx, name, password)
	if err != nil {
		return User{}, err
	}
	if err := a.Store.AddUser(ctx, u, hash, first); err != nil {
		return User{}, err
	}
	u.Administrator = first
	return u, nil
}

// newUser checks the name and the password, and returns the user with the hash of the password.
func (a *Accounts) newUser(ctx context.Context, name, password string) (u User, hash string, err error) {
	a.init()
	if err := CheckName(name); err != nil {
		return User{}, "", err
	}
	password, err = newPassword(name, password)
	if err != nil {
		return User{}, "", err
	}
	if hash, err = a.hasher.make(ctx, password); err != nil {
		return User{}, "", err
	}
	now := stamp(a.now())
	return User{Name: name, CreatedAt: now, PasswordAt: now}, hash, nil
}

// stamp returns a time in UTC with the precision of the store, milliseconds.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Register is like Add for people who create their own account. One source can create five accounts
// in 15 minutes, and all sources together can create a hundred in an hour; then the error is
// fault.TooMany.
func (a *Accounts) Register(ctx context.Context, name, password string, from Caller) (User, error) {
	a.init()
	if err := CheckName(name); err != nil {
		return User{}, err
	}
	if _, err := newPassword(name, password); err != nil {
		return User{}, err
	}
	if err := a.limits.register(ctx, a.now(), from); err != nil {
		return User{}, err
	}
	return a.Add(ctx, name, password)
}

// Users lists users sorted by name. It begins with the name that follows after. limit is at most
// 1,000; 0 means 100.
func (a *Accounts) Users(ctx context.Context, after string, limit int) ([]User, error) {
	return a.Store.Users(ctx, after, limit)
}

// User returns a user. fault.NotFound: the user does not exist.
func (a *Accounts) User(ctx context.Context, name string) (User, error) {
	u, _, err := a.Store.User(ctx, name)
	if err != nil {
		return User{}, err
	}
	return u, nil
}

// Disable disables or enables a user. Disabling ends the user's sessions, rejects the user's
// password, tokens and readers' secrets, and hides the user's content (see [Accounts.IsDisabled]).
// fault.NotFound: the user does not exist.
func (a *Accounts) Disable(ctx context.Context, name string, disabled bool) error {
	err := a.Store.DisableUser(ctx, name, disabled, stamp(a.now()))
	a.disabledUsers.forget() // forget also after an error, because the transaction may have been committed
	if err == nil && a.Disabled != nil {
		a.Disabled(ctx, name, disabled)
	}
	return err
}

// Count returns the number of users.
func (a *Accounts) Count(ctx context.Context) (int64, error) { return a.Store.CountUsers(ctx) }

// SetupToken returns the token that the operator needs to create the first user. The token is
// random, or derived from Key if Shared is set. It is "" if the server has users or the store is
// unreachable.
func (a *Accounts) SetupToken() string {
	a.init()
	if a.hasUsers.Load() {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	n, err := a.Count(ctx)
	if err != nil {
		a.log.Error("cannot count the users", "err", err)
	}
	if err != nil || n > 0 {
		a.hasUsers.Store(err == nil)
		return ""
	}
	return a.setupToken
}

// AddFirst is like Add for the first user and requires the token of SetupToken. Errors: those of
// Add, and fault.Refused (the token is wrong, or a user exists).
func (a *Accounts) AddFirst(ctx context.Context, token, name, password string, from Caller) (User, error) {
	const refusal = "The token is not the one that this server printed when it started, or the first user was already created."
	a.init()
	if err := a.limits.checkSource(ctx, a.now(), from); err != nil {
		return User{}, err
	}
	n, err := a.Count(ctx)
	if err != nil {
		return User{}, err
	}
	given, printed := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.setupToken))
	if subtle.ConstantTimeCompare(given[:], printed[:]) != 1 || n > 0 {
		return User{}, a.refuseAndCount(ctx, from, refusal)
	}
	u, err := a.add(ctx, name, password, true)
	if fault.CodeOf(err) == fault.Conflict {
		return User{}, fault.Wrap(fault.Refused, err, refusal)
	}
	return u, err
}

// Delete deletes a user with their posts, files, private feeds, followed feeds and sessions. The
// deletion cannot be undone, and no user can take the name again. fault.NotFound: the user does not
// exist; fault.Conflict: the first user cannot be deleted.
func (a *Accounts) Delete(ctx context.Context, name string) error {
	if a.Deleting != nil {
		if err := a.Deleting(ctx, name); err != nil {
			return err
		}
	}
	err := a.Store.DeleteUser(ctx, name, stamp(a.now()))
	a.disabledUsers.forget()
	if err == nil && a.Disabled != nil {
		a.Disabled(ctx, name, true) // removes the user's content from the caches of other packages
	}
	return err
}
