package sqldb

import (
	"context"

	"cloudburst/internal/event"
)

// AppendEvents adds events to the log within a transaction.
func AppendEvents(ctx context.Context, c Conn, events []event.Event) error {
	rows := make([][]any, 0, len(events))
	for _, e := range events {
		if e.IsPrivate() {
			continue
		}
		rows = append(rows, []any{e.Node, e.Seq, Millis(e.At), e.Kind, e.TopicID, Clean(e.Topic), e.OK, Clean(e.Text), Clean(e.Via), Clean(e.Peer),
			int64(e.Took), int64(e.Notified), int64(e.Failed), e.Version, []byte(e.Detail)})
	}
	// An event with this key was written by an earlier attempt whose reply was lost. The conflict
	// clause does not name the key: in a partitioned table it includes the topic.
	_, err := c.Bulk(ctx, `rows(node i, seq i, at i, kind t, topic_id i, topic t, ok o, text t, door t, peer t,
			took i, told i, failed i, version i, detail b)
		INSERT INTO event (node, seq, at, kind, topic_id, topic, ok, text, door, peer, took, told, failed, version, detail)
		SELECT :node, :seq, :at, :kind, :topic_id, :topic, :ok, :text, :door, :peer, :took, :told, :failed, :version, :detail
		{FROM ROWS} WHERE true ON CONFLICT DO NOTHING`, rows)
	return err
}
