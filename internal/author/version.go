package author

import (
	"reflect"
	"time"
)

// MaxVersions is the maximum number of earlier versions of a post that the store keeps.
const MaxVersions = 50

// While an author types, the draft is saved automatically every few seconds. An automatic save
// keeps the replaced text as an earlier version only if the newest earlier version is at least
// versionEvery old, or if the text became shorter by lostText bytes or more.
const (
	versionEvery = 5 * time.Minute
	lostText     = 200
)

// VersionOf returns the ID of the post that the earlier versions of p belong to. If p is a draft
// that holds the change of a post, that is the post; otherwise it is p.
func VersionOf(p Post) int64 {
	if of := EditedPost(p); of != 0 {
		return of
	}
	return p.ID
}

// keepVersion returns the Keep function of a Writing. automatic means that the author did not ask
// for the save.
//
// spec:cloudburst#post-versions
func keepVersion(automatic bool) func(now, next Post, last time.Time) bool {
	return func(now, next Post, last time.Time) bool {
		if now.Revision == 0 || now.empty() || reflect.DeepEqual(now.Content, next.Content) {
			return false
		}
		return !automatic || now.State.HasReaders() || now.UpdatedAt.Sub(last) >= versionEvery || len(now.Source)-len(next.Source) >= lostText
	}
}
