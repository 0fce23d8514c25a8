-- read_items is how many items of the source count as read for the reader: those below
-- read_place and those marked one by one. The others of source.items are unread, so that
-- a new item changes no subscription unless it lies below a read_place.
-- before_items is the same for read_before.

ALTER TABLE river_subscription ADD COLUMN read_items BIGINT NOT NULL DEFAULT 0;
ALTER TABLE river_subscription ADD COLUMN before_items BIGINT NOT NULL DEFAULT 0;
CREATE INDEX river_subscription_read ON river_subscription (source_id, read_place);
UPDATE source SET items = (SELECT COUNT(*) FROM item AS i WHERE i.source_id = source.id)
	WHERE items <> (SELECT COUNT(*) FROM item AS i WHERE i.source_id = source.id);
UPDATE river_subscription SET read_before = NULL,
	read_items = (SELECT COUNT(*) FROM item AS i WHERE i.source_id = river_subscription.source_id AND i.place < river_subscription.read_place);
UPDATE river_subscription SET read_items = read_items + n.marked
	FROM (SELECT f.reader, f.source_id, COUNT(*) AS marked FROM river_subscription AS f
			JOIN item_mark AS k ON k.reader = f.reader AND k.source_id = f.source_id
			JOIN item AS i ON i.place = k.place
			WHERE k.read AND k.place >= f.read_place GROUP BY f.reader, f.source_id) AS n
	WHERE n.reader = river_subscription.reader AND n.source_id = river_subscription.source_id;
