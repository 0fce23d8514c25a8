package author

import (
	"reflect"
	"time"
)

// MaxVersions is the number of earlier versions that are kept of a post.
const MaxVersions = 50

// A draft is saved every few seconds while its author types. Of these saves one is kept in
// versionEvery, and also a text that lost lostText bytes or more at once.
const (
	versionEvery = 5 * time.Minute
	lostText     = 200
)

// VersionOf returns the ID of the post to which an earlier version of p belongs: for unpublished
// changes of a post, that post.
func VersionOf(p Post) int64 {
	if of := EditedPost(p); of != 0 {
		return of
	}
	return p.ID
}

// keepVersion returns the rule for earlier versions. automatic is a save without a decision of the
// author.
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
