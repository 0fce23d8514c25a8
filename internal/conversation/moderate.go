package conversation

import (
	"context"
	"time"

	"cloudburst/internal/fault"
)

// Moderation is a decision of an author about a mention.
type Moderation string

// Moderations that authors can choose.
const (
	Approve       Moderation = "approve"
	ApproveAlways Moderation = "trust"  // also approves later mentions of the same author
	Reject        Moderation = "reject" // rejects only this mention
	BlockAuthor   Moderation = "block-author"
	BlockHost     Moderation = "block-host"
)

// judge decides whether a mention is shown, after its page was read: a blocked author is rejected, a
// trusted or known author is approved, and all others wait for a decision. If an approved page has
// changed, it waits again, because the author of the post approved the former text. A foreign page
// proves nothing about its author, so it is not approved for a trusted or known author.
//
// spec:cloudburst#mention-moderation
func (m *Mention) judge(rules []Rule, known, foreign, changed bool) {
	v := verdict(rules, m)
	switch {
	case v == Block:
		m.State = Rejected
	case m.State == Rejected: // the decision of a user stays
	case (known || v == Trust) && !foreign:
		m.State = Approved
	case m.State == Unread, m.State == Approved && changed:
		m.State = Waiting
	}
}

// verdict returns the verdict of the rules on m; "": no rule matches. Block has priority over Trust.
func verdict(rules []Rule, m *Mention) (v Verdict) {
	for _, r := range rules {
		switch {
		case !r.matches(m):
		case r.Verdict == Block:
			return Block
		default:
			v = r.Verdict
		}
	}
	return v
}

// UndoWithin is the period in which [Conversation.Undo] can revert a decision.
const UndoWithin = 10 * time.Minute

// Moderate applies the decision of a user about one of the user's mentions. It returns the mention
// as it was before, with the time of the decision. [Conversation.Undo] takes that time to revert the
// decision. fault.NotFound: the mention does not exist. fault.Conflict: the mention would become
// public, but its page was not read yet. fault.Invalid: the decision is unknown. fault.TooMany: the
// user already has [MaxRules] rules.
//
// spec:cloudburst#mention-moderation
func (c *Conversation) Moderate(ctx context.Context, user string, id int64, d Moderation) (Mention, error) {
	m, err := c.moderate(ctx, user, id, d)
	if err == nil && c.Changed != nil {
		c.Changed(ctx, m.Source)
	}
	return m, err
}

func (c *Conversation) moderate(ctx context.Context, user string, id int64, d Moderation) (Mention, error) {
	c.init()
	m, err := c.Store.Mention(ctx, user, id)
	if err != nil {
		return Mention{}, err
	}
	m.DecidedAt = c.now()
	rule := Rule{Host: m.Host, Author: m.Author, Name: m.Name, At: m.DecidedAt}
	switch d {
	case Approve, Reject:
		return m, c.set(ctx, user, id, d, m.DecidedAt)
	case ApproveAlways:
		rule.Verdict = Trust
		if err := c.set(ctx, user, id, Approve, m.DecidedAt); err != nil {
			return Mention{}, err
		}
	case BlockAuthor:
		rule.Verdict = Block
	case BlockHost:
		rule.Verdict, rule.Author, rule.Name = Block, EveryAuthor, ""
	default:
		return Mention{}, fault.New(fault.Invalid, "Unknown decision %q: use approve, trust, reject, block-author or block-host.", string(d))
	}
	return m, c.Store.SetMentionRule(ctx, user, rule, MaxRules)
}

func (c *Conversation) set(ctx context.Context, user string, id int64, d Moderation, at time.Time) error {
	return c.Store.ChangeMention(ctx, user, id, func(m *Mention, _ []Rule) (Action, error) {
		was := m.State
		switch {
		case d == Reject:
			m.State = Rejected
		case m.ReadAt.IsZero():
			return Leave, fault.New(fault.Conflict, "The page of this mention was not read yet; wait a moment and try again.")
		default:
			m.State = Approved
		}
		if m.State != was {
			m.Was, m.DecidedAt = was, at
		}
		return Keep, nil
	})
}

// Undo reverts the decision that a user made at a time. The mentions return to their previous state,
// and the rule that the decision created is deleted. fault.Conflict: there is nothing to undo, or
// [UndoWithin] has passed.
func (c *Conversation) Undo(ctx context.Context, user string, at time.Time) error {
	c.init()
	n := 0
	if c.now().Sub(at) <= UndoWithin {
		var err error
		if n, err = c.Store.UndoMentions(ctx, user, at); err != nil {
			return err
		}
	}
	if n == 0 {
		return fault.New(fault.Conflict, "There is nothing to undo: a decision can be undone for %d minutes.", int(UndoWithin.Minutes()))
	}
	return nil
}

// RemoveRule deletes the rule about an author or a host. Mentions keep their state.
func (c *Conversation) RemoveRule(ctx context.Context, user, host, author string) error {
	return c.Store.SetMentionRule(ctx, user, Rule{Host: host, Author: author}, MaxRules)
}
