package hubtest

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func contentTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"ContentIsReadAsWritten":                                wholeContent,
		"ContentIsStoredOnlyWithKeepContent":                    onlyKeepContent,
		"SubscriptionBetweenChecksFindsNextContent":             betweenChecks,
		"ChangeWithoutBodyDeletesContent":                       bodyGoes,
		"UnchangedOrUnreadableFeedKeepsContent":                 bodyStays,
		"RacedCheckWritesNoContent":                             racedContent,
		"SweepKeepsContentOfUnfinishedShard":                    sweepKeepsForShard,
		"SweepKeepsContentOfPendingDelivery":                    sweepKeepsPending,
		"SweepIgnoresPendingDeliveryOfOtherProtocols":           sweepPendingElsewhere,
		"SweepClearsKeepContentWithoutWebSub":                   sweepEndsKeepContent,
		"SweepOfContentsObeysLimit":                             sweepContentLimit,
		"SweepOfTopicDeletesAllItsRows":                         sweepWholeTopic,
		"TopicMetadataIsReadAsWritten":                          wholeAbout,
		"CheckWithoutMetadataKeepsMetadata":                     aboutStays,
		"FollowedTopicsAreFoundByURLBeforeAlias":                followingOrder,
		"OnlyFollowedTopicsAreFound":                            followingLive,
		"FollowedTopicIsFoundByAliasWithOrWithoutTrailingSlash": followingSlash,
		"NumberOfFollowedTopicsFoundIsLimited":                  followingLimit,
		"FollowedTopicsOfTheSameHostAreFoundFirst":              followingOwn,
		"TopicsOfTheSameHostAreListedInBatches":                 followingBatches,
		"FollowedTopicsAreFoundByTheirUsualSpelling":            followingSpellings,
		"FollowedURLsUnderPrefixAreListedInOrder":               followedUnder,
		"RemovedAliasIsNotFound":                                followingRenamed,
		"MetadataOfUnknownTopicIsIgnored":                       aboutOfUnknownTopic,
		"ClaimedShardAndRetryContainTopic":                      fullWithClaims,
	}
}

// websub returns an unexpired WebSub subscription that is not stored yet.
func (e *env) websub(feed, callback string) hub.Subscription {
	s := e.sub(feed, callback)
	s.Protocol = hub.WebSub
	s.ID = hub.SubscriptionID(s.Protocol, s.Callback)
	return s
}

// changeTo commits a check of feed that found a body.
func (e *env) changeTo(t *testing.T, body string) hub.Checked {
	t.Helper()
	return e.check(t, hub.Check{StartedAt: e.Now, Changed: true, Hash: []byte(body), ContentType: "text/xml", Body: []byte(body), Node: storetest.Node})
}

// content checks which content of a feed is stored.
func (e *env) content(t *testing.T, feed string, version int64, body string) {
	t.Helper()
	c, err := e.Content(e.Ctx, hub.TopicID(feed))
	storetest.Must(t, err)
	storetest.Same(t, "content", c, hub.Content{Version: version, Type: "text/xml", Body: []byte(body)})
}

func (e *env) noContent(t *testing.T, feed string) {
	t.Helper()
	_, err := e.Content(e.Ctx, hub.TopicID(feed))
	storetest.WantFault(t, err, fault.NotFound)
}

// finish claims and finishes every due shard.
func (e *env) finish(t *testing.T) {
	t.Helper()
	for _, p := range e.claim(t) {
		_, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p, Now: e.Now, Finish: true})
		storetest.Must(t, err)
	}
}

func (e *env) keepsContent(t *testing.T, feed string, want bool) {
	t.Helper()
	topic, err := e.Topic(e.Ctx, hub.TopicID(feed))
	storetest.Must(t, err)
	storetest.Same(t, "full", topic.KeepContent, want)
}

func wholeContent(t *testing.T, e *env) {
	fulltest.SkipUnderRace(t)
	e.follow(t, feed, e.websub(feed, "http://127.0.0.1/1"))
	var all []byte
	for i := range 256 {
		all = append(all, byte(i))
	}
	for i, c := range []hub.Content{
		{Type: "text/\xff\x00", Body: all},
		{Type: "", Body: []byte{0}},
		{Type: "a", Body: make([]byte, 1<<20)},
	} {
		c.Version = int64(i + 1)
		e.check(t, hub.Check{StartedAt: e.Now, Changed: true, ContentType: c.Type, Body: c.Body})
		got, err := e.Content(e.Ctx, hub.TopicID(feed))
		storetest.Must(t, err)
		storetest.Same(t, "content", got, c)
	}
	e.check(t, hub.Check{StartedAt: e.Now, Changed: true, Body: []byte{}})
	got, err := e.Content(e.Ctx, hub.TopicID(feed))
	storetest.Must(t, err)
	storetest.Same(t, "version and bytes of an empty one", []int64{got.Version, int64(len(got.Body))}, []int64{4, 0})
}

func onlyKeepContent(t *testing.T, e *env) {
	e.followers(t, feed, 3)
	e.keepsContent(t, feed, false)
	e.changeTo(t, "one")
	e.noContent(t, feed)
	e.noContent(t, feed+"unknown")
}

func betweenChecks(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	e.changeTo(t, "one")
	e.follow(t, feed, e.websub(feed, "http://127.0.0.1/1"))
	e.keepsContent(t, feed, true)
	e.noContent(t, feed)
	e.changeTo(t, "two")
	e.content(t, feed, 2, "two")
	e.changeTo(t, "three")
	e.content(t, feed, 3, "three")
}

func bodyGoes(t *testing.T, e *env) {
	e.follow(t, feed, e.websub(feed, "http://127.0.0.1/1"))
	e.changeTo(t, "one")
	e.check(t, hub.Check{StartedAt: e.Now, Changed: true})
	e.noContent(t, feed)
}

func bodyStays(t *testing.T, e *env) {
	e.follow(t, feed, e.websub(feed, "http://127.0.0.1/1"))
	e.changeTo(t, "one")
	e.check(t, hub.Check{StartedAt: e.Now, Body: []byte("ignored")})
	e.check(t, hub.Check{StartedAt: e.Now, Err: "no answer", Changed: true, Body: []byte("ignored")})
	e.content(t, feed, 1, "one")
}

func racedContent(t *testing.T, e *env) {
	e.follow(t, feed, e.websub(feed, "http://127.0.0.1/1"))
	e.changeTo(t, "one")
	done, err := e.CommitCheck(e.Ctx, hub.Check{TopicID: hub.TopicID(feed), StartedAt: e.Now, Now: e.Now, Changed: true, Body: []byte("late"),
		About: &hub.About{Title: "late"}, Listed: []hub.Change{e.listed("late")}})
	storetest.Must(t, err)
	storetest.Same(t, "raced", done.Raced, true)
	e.content(t, feed, 1, "one")
	e.counted(t, 0)
}

func sweepKeepsForShard(t *testing.T, e *env) {
	e.follow(t, feed, e.websub(feed, "http://127.0.0.1/1"))
	e.changeTo(t, "one")
	e.sweep(t, 10)
	e.content(t, feed, 1, "one")
	p := e.claim(t)
	e.sweep(t, 10)
	e.content(t, feed, 1, "one")
	_, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p[0], Now: e.Now, Finish: true})
	storetest.Must(t, err)
	e.sweep(t, 10)
	e.noContent(t, feed)
	e.keepsContent(t, feed, true)
	e.changeTo(t, "two")
	e.content(t, feed, 2, "two")
}

func sweepKeepsPending(t *testing.T, e *env) {
	s := e.websub(feed, "http://127.0.0.1/1")
	e.follow(t, feed, s)
	e.changeTo(t, "one")
	e.finish(t)
	storetest.Must(t, e.Settle(e.Ctx, e.Now, []hub.Result{{Key: s.Key(), Version: 1, Outcome: hub.Failed, NextAt: e.In(time.Minute)}}, nil))
	e.sweep(t, 10)
	e.content(t, feed, 1, "one")
	storetest.Must(t, e.Settle(e.Ctx, e.Now, []hub.Result{{Key: s.Key(), Version: 1, Outcome: hub.Delivered}}, nil))
	e.sweep(t, 10)
	e.noContent(t, feed)
}

func sweepPendingElsewhere(t *testing.T, e *env) {
	s := e.followers(t, feed, 1)[0]
	e.follow(t, feed, e.websub(feed, "http://127.0.0.1/1"))
	e.changeTo(t, "one")
	e.finish(t)
	storetest.Must(t, e.Settle(e.Ctx, e.Now, []hub.Result{{Key: s.Key(), Version: 1, Outcome: hub.Failed, NextAt: e.In(time.Minute)}}, nil))
	e.sweep(t, 10)
	e.noContent(t, feed)
}

func sweepEndsKeepContent(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	long, short := e.websub(feed, "http://127.0.0.1/1"), e.websub(feed, "http://127.0.0.1/2")
	short.ExpiresAt = e.In(time.Minute)
	e.follow(t, feed, long, short)
	e.changeTo(t, "one")
	e.Now = short.ExpiresAt
	storetest.Same(t, "removed", len(e.sweep(t, 10)), 1)
	e.keepsContent(t, feed, true)
	_, err := e.Unsubscribe(e.Ctx, []hub.Key{long.Key()}, nil)
	storetest.Must(t, err)
	e.sweep(t, 10)
	e.keepsContent(t, feed, false)
	e.noContent(t, feed)
	e.changeTo(t, "two")
	e.noContent(t, feed)
	e.follow(t, feed, long)
	e.keepsContent(t, feed, true)
}

func sweepContentLimit(t *testing.T, e *env) {
	kept := func() (n int) {
		for i := range 5 {
			if _, err := e.Content(e.Ctx, hub.TopicID(fmt.Sprint(feed, i))); err == nil {
				n++
			}
		}
		return n
	}
	for i := range 5 {
		f := fmt.Sprint(feed, i)
		e.follow(t, f, e.websub(f, "http://127.0.0.1/1"))
		_, err := e.CommitCheck(e.Ctx, hub.Check{TopicID: hub.TopicID(f), StartedAt: e.Now, Now: e.Now, Changed: true, Body: []byte("x")})
		storetest.Must(t, err)
	}
	e.sweep(t, 100)
	storetest.Same(t, "stored before delivery", kept(), 5)
	e.finish(t)
	for _, want := range []int{3, 1, 0} {
		_, more, err := e.Sweep(e.Ctx, e.Now, 3, 2, time.Time{}, nil)
		storetest.Must(t, err)
		storetest.Same(t, "kept", kept(), want)
		storetest.Same(t, "more to sweep", more, want > 0)
	}
}

func sweepWholeTopic(t *testing.T, e *env) {
	s := e.websub(feed, "http://127.0.0.1/1")
	e.follow(t, feed, s)
	e.check(t, hub.Check{StartedAt: e.Now, Changed: true, Body: []byte("one"), About: &hub.About{Home: "http://127.0.0.1/"}})
	_, err := e.Unsubscribe(e.Ctx, []hub.Key{s.Key()}, nil)
	storetest.Must(t, err)
	e.idle(t, e.In(time.Hour), false)
	e.noContent(t, feed)
	e.followers(t, feed, 1)
	topic, err := e.Topic(e.Ctx, hub.TopicID(feed))
	storetest.Must(t, err)
	storetest.Same(t, "contents of the new topic", topic, hub.Topic{ID: hub.TopicID(feed), URL: feed})
	e.following(t, []string{"http://127.0.0.1/"}, 10)
}

func wholeAbout(t *testing.T, e *env) {
	about := hub.About{Title: "Wetter & <Regen> ☂", Description: "it's\nlong", ItemTitle: "\u2028", ItemText: "nul \x00", Self: "http://127.0.0.1/self?a=&b", Home: "http://127.0.0.1/"}
	topic := e.check(t, hub.Check{StartedAt: e.Now, Changed: true, About: &about}).Topic
	storetest.Same(t, "metadata from a check", topic.About, about)
	about = hub.About{Title: "broken \xff\xfe"}
	storetest.Must(t, e.SetAbout(e.Ctx, topic.ID, about))
	stored, err := e.Topic(e.Ctx, topic.ID)
	storetest.Must(t, err)
	storetest.Same(t, "repaired metadata", stored.About, hub.About{Title: "broken \uFFFD"})
	topic = e.check(t, hub.Check{StartedAt: e.Now, Changed: true, About: &about}).Topic
	storetest.Same(t, "metadata repaired by a check", topic.About, stored.About)
	storetest.Must(t, e.SetAbout(e.Ctx, topic.ID, hub.About{}))
	topic = e.check(t, hub.Check{StartedAt: e.Now}).Topic
	storetest.Same(t, "nothing", topic.About, hub.About{})
}

func aboutStays(t *testing.T, e *env) {
	about := hub.About{Title: "first", Home: "http://127.0.0.1/"}
	e.followers(t, feed, 1)
	e.check(t, hub.Check{StartedAt: e.Now, Changed: true, About: &about})
	e.check(t, hub.Check{StartedAt: e.Now, About: &hub.About{Title: "unchanged"}})
	e.check(t, hub.Check{StartedAt: e.Now, Err: "no answer", Changed: true, About: &hub.About{Title: "unreadable"}})
	topic := e.check(t, hub.Check{StartedAt: e.Now, Changed: true}).Topic
	storetest.Same(t, "about", topic.About, about)
	e.following(t, []string{"http://127.0.0.1/"}, 10, feed)
}

func aboutOfUnknownTopic(t *testing.T, e *env) {
	storetest.Must(t, e.SetAbout(e.Ctx, hub.TopicID(feed), hub.About{Home: "http://127.0.0.1/"}))
	_, err := e.Topic(e.Ctx, hub.TopicID(feed))
	storetest.WantFault(t, err, fault.NotFound)
	e.followers(t, feed, 1)
	e.following(t, []string{"http://127.0.0.1/"}, 10)
}

func fullWithClaims(t *testing.T, e *env) {
	s := e.websub(feed, "http://127.0.0.1/1")
	s.NextAt, s.Secret = e.Now, "key"
	e.follow(t, feed, s)
	about := hub.About{Title: "title", Home: home}
	e.check(t, hub.Check{StartedAt: e.Now, Changed: true, Body: []byte("one"), About: &about})
	p := e.claim(t)
	storetest.Same(t, "topic of a shard", []any{p[0].Topic.KeepContent, p[0].Topic.About}, []any{true, about})
	page, err := e.Batch(e.Ctx, p[0], 0, e.Now, 10)
	storetest.Must(t, err)
	storetest.Same(t, "secret", page[0].Secret, "key")
	retries, err := e.ClaimRetries(e.Ctx, e.Now, e.In(lease), 10, 1)
	storetest.Must(t, err)
	storetest.Same(t, "topic of a retry", []any{retries[0].Secret, retries[0].Topic.KeepContent, retries[0].Topic.About}, []any{"key", true, about})
}
