package accounttest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/storetest"
)

func adminTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"FirstUserIsAdministrator":                 firstAdministrator,
		"SessionFollowsTheRoleOfItsUser":           sessionRole,
		"UsersAreFoundByPartOfTheirName":           findUsers,
		"DeletedUserLeavesNothingButTheName":       deleteUser,
		"FirstUserCannotBeDeleted":                 deleteFirst,
		"InvitationCreatesOneUser":                 inviteOnce,
		"InvitationsOfOneMomentAreAllListed":       inviteBatches,
		"AuditIsFilteredAndPagedNewestFirst":       audit,
		"OldestAuditEntriesAreSweptFirst":          sweepAudit,
		"BlocksAndChangedSettingsAreReadAsWritten": blocksAndSettings,
	}
}

func (e *env) admins(t *testing.T) admin.Store {
	t.Helper()
	s, ok := e.Store.(admin.Store)
	if !ok {
		t.Fatalf("%T is not an admin.Store", e.Store)
	}
	return s
}

func firstAdministrator(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.user(t, "bob")
	for name, want := range map[string]bool{"alice": true, "bob": false} {
		u, _, err := s.User(e.Ctx, name)
		storetest.Must(t, err)
		if u.Administrator != want {
			t.Errorf("%s is an administrator: %v, want %v", name, u.Administrator, want)
		}
	}
	storetest.Must(t, s.SetAdministrator(e.Ctx, "bob", true))
	list, err := s.FindUsers(e.Ctx, account.UserQuery{Administrators: true})
	storetest.Must(t, err)
	if len(list) != 2 {
		t.Errorf("administrators: %+v", list)
	}
	storetest.WantFault(t, s.SetAdministrator(e.Ctx, "nobody", true), fault.NotFound)
}

func sessionRole(t *testing.T, e *env) {
	s := e.accounts(t)
	u := e.user(t, "alice")
	storetest.Must(t, s.AddSession(e.Ctx, account.Session{ID: "s", User: "alice", CreatedAt: e.Now, SeenAt: e.Now, ExpiresAt: e.In(time.Hour)}, u.PasswordAt, 10))
	for _, on := range []bool{false, true} {
		storetest.Must(t, s.SetAdministrator(e.Ctx, "alice", on))
		n, err := s.Session(e.Ctx, "s")
		storetest.Must(t, err)
		if n.Administrator != on {
			t.Errorf("the session has the role: %v, want %v", n.Administrator, on)
		}
	}
}

func findUsers(t *testing.T, e *env) {
	s := e.accounts(t)
	for _, name := range []string{"anna", "hannah", "bob", "joanna"} {
		e.user(t, name)
	}
	for _, c := range []struct {
		q    account.UserQuery
		want []string
	}{
		{account.UserQuery{Match: "anna"}, []string{"anna", "hannah", "joanna"}},
		{account.UserQuery{Match: "ANNA", Limit: 2}, []string{"anna", "hannah"}},
		{account.UserQuery{Match: "anna", After: "hannah"}, []string{"joanna"}},
		{account.UserQuery{Match: "a%a"}, nil},
	} {
		list, err := s.FindUsers(e.Ctx, c.q)
		storetest.Must(t, err)
		var names []string
		for _, u := range list {
			names = append(names, u.Name)
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("%+v finds %v, want %v", c.q, names, c.want)
		}
	}
}

func deleteUser(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.Now = e.In(time.Minute)
	bob := e.user(t, "bob")
	storetest.Must(t, s.AddSession(e.Ctx, account.Session{ID: "s", User: "bob", CreatedAt: e.Now, SeenAt: e.Now, ExpiresAt: e.In(time.Hour)}, bob.PasswordAt, 10))
	storetest.Must(t, s.AddToken(e.Ctx, account.Token{ID: "t", User: "bob", CreatedAt: e.Now}, "hash", "", 10))
	files, ok := e.Store.(author.FileStore)
	if !ok {
		t.Fatalf("%T is not an author.FileStore", e.Store)
	}
	storetest.Must(t, files.PutFilePiece(e.Ctx, "temp", 0, []byte("image"), e.Now))
	_, err := files.KeepFile(e.Ctx, author.File{User: "bob", Hash: "abc", Name: "a.png", Size: 5, AddedAt: e.Now}, "temp", 0)
	storetest.Must(t, err)

	storetest.Must(t, s.DeleteUser(e.Ctx, "bob", e.In(time.Hour)))
	_, _, err = s.User(e.Ctx, "bob")
	storetest.WantFault(t, err, fault.NotFound)
	_, err = s.Session(e.Ctx, "s")
	storetest.WantFault(t, err, fault.NotFound)
	_, err = s.TokenByHash(e.Ctx, "hash")
	storetest.WantFault(t, err, fault.NotFound)
	list, err := files.Files(e.Ctx, "bob", nil, 10)
	storetest.Must(t, err)
	if len(list) > 0 {
		t.Errorf("files of a deleted user: %+v", list)
	}
	for name, want := range map[string]bool{"bob": true, "alice": false, "nobody": false} {
		deleted, err := s.IsDeleted(e.Ctx, name)
		storetest.Must(t, err)
		storetest.Same(t, name+" is deleted", deleted, want)
	}
	storetest.WantFault(t, s.DeleteUser(e.Ctx, "bob", e.Now), fault.NotFound)
	storetest.WantFault(t, s.AddUser(e.Ctx, e.newUser("bob"), "hash", false), fault.Conflict)
}

func deleteFirst(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "zoe")
	e.Now = e.In(time.Minute)
	e.user(t, "bob")
	storetest.WantFault(t, s.DeleteUser(e.Ctx, "zoe", e.Now), fault.Conflict)
	if _, _, err := s.User(e.Ctx, "zoe"); err != nil {
		t.Error(err)
	}
}

func inviteOnce(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	i := account.Invite{ID: "i", CreatedAt: e.Now, CreatedBy: "alice", Note: "for Bob", ExpiresAt: e.In(time.Hour)}
	storetest.Must(t, s.AddInvite(e.Ctx, i))
	got, err := s.Invite(e.Ctx, "i")
	storetest.Must(t, err)
	storetest.Same(t, "invitation", got, i)
	// A sign-up with a name that is in use does not use up the invitation.
	storetest.WantFault(t, s.AddInvitedUser(e.Ctx, e.newUser("alice"), "hash", "i", e.Now), fault.Conflict)
	storetest.WantFault(t, s.AddInvitedUser(e.Ctx, e.newUser("bob"), "hash", "i", e.In(time.Hour)), fault.Refused)
	storetest.WantFault(t, s.AddInvitedUser(e.Ctx, e.newUser("bob"), "hash", "other", e.Now), fault.Refused)
	storetest.Must(t, s.AddInvitedUser(e.Ctx, e.newUser("bob"), "hash", "i", e.Now))
	storetest.WantFault(t, s.AddInvitedUser(e.Ctx, e.newUser("carol"), "hash", "i", e.Now), fault.Refused)
	storetest.WantFault(t, s.RemoveInvite(e.Ctx, "i"), fault.NotFound)
	list, err := s.Invites(e.Ctx, time.Time{}, 0)
	storetest.Must(t, err)
	if len(list) != 1 || list[0].UsedBy != "bob" || list[0].UsedAt.IsZero() {
		t.Errorf("invitations: %+v", list)
	}
}

func inviteBatches(t *testing.T, e *env) {
	s := e.accounts(t)
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		storetest.Must(t, s.AddInvite(e.Ctx, account.Invite{ID: id, CreatedAt: e.Now, ExpiresAt: e.In(time.Hour)}))
	}
	var ids []string
	for before := (time.Time{}); ; {
		list, err := s.Invites(e.Ctx, before, 2)
		storetest.Must(t, err)
		if len(list) == 0 {
			break
		}
		for _, i := range list {
			ids = append(ids, i.ID)
		}
		before = list[len(list)-1].CreatedAt
	}
	storetest.Same(t, "invitations", ids, []string{"e", "d", "c", "b", "a"})
}

func audit(t *testing.T, e *env) {
	s := e.admins(t)
	var ids []int64
	for _, n := range []admin.Entry{
		{ID: 100, Actor: "alice", Action: admin.UserDisable, Object: "bob", Address: "192.0.2.1", Via: "page"},
		{ID: 100, Actor: "", Action: admin.BlockAdd, Object: "example.org", Detail: "spam", Via: "api"},
		{ID: 200, Actor: "alice", Action: admin.UserDelete, Object: "bob", Via: "page"},
	} {
		id, err := s.AddAudit(e.Ctx, n)
		storetest.Must(t, err)
		ids = append(ids, id)
	}
	storetest.Same(t, "ids", ids, []int64{100, 101, 200})
	storetest.Must(t, s.FailAudit(e.Ctx, 200, "There is no user."))
	for _, c := range []struct {
		q    admin.AuditQuery
		want []int64
	}{
		{admin.AuditQuery{}, []int64{200, 101, 100}},
		{admin.AuditQuery{Limit: 2}, []int64{200, 101}},
		{admin.AuditQuery{Before: 101}, []int64{100}},
		{admin.AuditQuery{Actor: "alice"}, []int64{200, 100}},
		{admin.AuditQuery{Actor: admin.Operator}, []int64{101}},
		{admin.AuditQuery{Action: "user"}, []int64{200, 100}},
		{admin.AuditQuery{Action: admin.UserDisable}, []int64{100}},
		{admin.AuditQuery{Match: "SPAM"}, []int64{101}},
		{admin.AuditQuery{Match: "bob"}, []int64{200, 100}},
	} {
		list, err := s.Audit(e.Ctx, c.q)
		storetest.Must(t, err)
		var got []int64
		for _, n := range list {
			got = append(got, n.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v finds %v, want %v", c.q, got, c.want)
		}
	}
	list, err := s.Audit(e.Ctx, admin.AuditQuery{Limit: 1})
	storetest.Must(t, err)
	storetest.Same(t, "reason", list[0].Failed, "There is no user.")
}

func blocksAndSettings(t *testing.T, e *env) {
	s := e.admins(t)
	b := admin.Block{Kind: admin.BlockHost, Value: "example.org", Reason: "spam", CreatedAt: e.Now, CreatedBy: "alice"}
	storetest.Must(t, s.PutBlock(e.Ctx, b))
	b.Reason = "more spam"
	storetest.Must(t, s.PutBlock(e.Ctx, b))
	list, err := s.Blocks(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "blocks", list, []admin.Block{b})
	gone, err := s.RemoveBlock(e.Ctx, b.Kind, b.Value)
	storetest.Must(t, err)
	storetest.Same(t, "removed block", gone, b)
	_, err = s.RemoveBlock(e.Ctx, b.Kind, b.Value)
	storetest.WantFault(t, err, fault.NotFound)

	o := admin.Override{Name: "accounts.registration", Value: "open", ChangedAt: e.Now, ChangedBy: "alice"}
	storetest.Must(t, s.PutOverride(e.Ctx, o))
	all, err := s.Overrides(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "changed settings", all, []admin.Override{o})
	storetest.Must(t, s.RemoveOverride(e.Ctx, o.Name))
	storetest.WantFault(t, s.RemoveOverride(e.Ctx, o.Name), fault.NotFound)
}

func sweepAudit(t *testing.T, e *env) {
	s := e.admins(t)
	for i := range 4 {
		_, err := s.AddAudit(e.Ctx, admin.Entry{ID: e.In(time.Duration(i) * time.Minute).UnixMicro(), Action: admin.UserCreate, Object: fmt.Sprint(i), Via: "api"})
		storetest.Must(t, err)
	}
	for _, want := range []int{2, 1, 0} {
		n, err := s.SweepAudit(e.Ctx, e.In(3*time.Minute), 2)
		storetest.Must(t, err)
		storetest.Same(t, "swept", n, want)
	}
	left, err := s.Audit(e.Ctx, admin.AuditQuery{})
	storetest.Must(t, err)
	if len(left) != 1 || left[0].Object != "3" {
		t.Errorf("entries left: %+v", left)
	}
}
